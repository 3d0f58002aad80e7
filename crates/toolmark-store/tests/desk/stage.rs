//! A pipeline with a desk over a store, a tool that remembers how it was called, and clients whose users can be asked or not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use toolmark_core::approval::{Ask, AskId, Given, Prompt, Ruling, Run, RunId, RunState, Scope, Way};
use toolmark_core::catalog::Catalog;
use toolmark_policy::{Caller, PolicyConfig, Rule};
use toolmark_runtime::approve::{Client, ClientAnswer, DecideError, Desk, DeskSettings, Later, Pass, Reach, Returned};
use toolmark_runtime::{
    Arrived, Brought, NoRecords, Origin, Pipeline, Recorder, Request, Settled, Workspace, WorkspaceBuilder,
};
use toolmark_store::approvals::{AskFilter, StoreLedger};
use toolmark_store::audit::NodeClaim;
use toolmark_store::{Micros, Store};
use uuid::Uuid;

use crate::place::Place;

/// When every test begins, in microseconds.
pub(crate) const START: i64 = 1_800_000_000_000_000;
pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const HOUR: i64 = 3600 * SECOND;

/// Deletes all rows, so a person is asked.
pub(crate) fn sweep(table: &str) -> Value {
    json!({"query": format!("DELETE FROM {table}")})
}

/// One node: a pipeline with its desk. Clones are the same node.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) desk: Desk,
    pub(crate) store: Store,
    pipeline: Pipeline,
    workspace: Arc<Workspace>,
    tool: &'static str,
    ran: Arc<Mutex<Vec<String>>>,
    wants_more: Arc<AtomicBool>,
    follower: Arc<Following>,
    /// As long as it is held, no other node takes its runs for forsaken.
    _claim: Option<Arc<NodeClaim>>,
}

struct Following(Mutex<Option<JoinHandle<()>>>);

impl Drop for Following {
    fn drop(&mut self) {
        if let Some(task) = self.0.lock().expect("no test panics with it").take() {
            task.abort();
        }
    }
}

/// What became of a call.
#[derive(Debug)]
pub(crate) enum Came {
    Ran(Option<Pass>),
    Refused { code: String, text: String },
    Handed(RunId, AskId),
}

pub(crate) fn catalog(description: &str) -> Catalog {
    let query = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let db = json!([
        {"name": "write_query", "description": description, "inputSchema": query},
        {"name": "erase_query", "description": description, "inputSchema": query},
    ]);
    toolmark_testkit::catalog(&[("db", &db.to_string())])
}

pub(crate) fn workspace(description: &str, rules: Vec<Rule>) -> Arc<Workspace> {
    let policy = rules.into_iter().fold(PolicyConfig::new(), PolicyConfig::rule);
    Arc::new(WorkspaceBuilder::new().policy(policy).build(catalog(description)).expect("a workspace"))
}

pub(crate) const WRITES: &str = "Execute an INSERT, UPDATE, or DELETE query on the SQLite database";

impl Stage {
    pub(crate) async fn new(place: &impl Place) -> Self {
        Self::with(place, DeskSettings::default()).await
    }

    pub(crate) async fn with(place: &impl Place, settings: DeskSettings) -> Self {
        place.clock().set(START);
        Self::node(place, "n1", settings).await
    }

    /// One more node, or the same one started again.
    pub(crate) async fn node(place: &impl Place, name: &str, settings: DeskSettings) -> Self {
        let store = place.open().await;
        let claim = Arc::new(store.claim_node(name).await.expect("a name"));
        Self { _claim: Some(claim), ..Self::over(store, name, settings).await }
    }

    pub(crate) async fn over(store: Store, name: &str, settings: DeskSettings) -> Self {
        let ledger = StoreLedger::open(store.clone(), name).await.expect("a ledger");
        let desk = Desk::new(Arc::new(ledger), settings, Vec::new());
        desk.open().await.expect("grants");
        Self {
            pipeline: Pipeline::new(Arc::new(desk.clone()), Arc::new(NoRecords)),
            desk,
            store,
            workspace: workspace(WRITES, Vec::new()),
            tool: "db.write_query",
            ran: Arc::default(),
            wants_more: Arc::default(),
            follower: Arc::new(Following(Mutex::default())),
            _claim: None,
        }
    }

    /// Hears of what others decide, and of time.
    pub(crate) fn following(self) -> Self {
        let desk = self.desk.clone();
        let task = tokio::spawn(async move { desk.follow().await });
        *self.follower.0.lock().expect("no test panics with it") = Some(task);
        self
    }

    /// The same node with another catalog and policy.
    pub(crate) fn reloaded(&self, workspace: Arc<Workspace>) -> Self {
        Self { workspace, ..self.clone() }
    }

    /// The same node with somebody who keeps its records.
    pub(crate) fn recorded(&self, recorder: Arc<dyn Recorder>) -> Self {
        Self { pipeline: Pipeline::new(Arc::new(self.desk.clone()), recorder), ..self.clone() }
    }

    /// The same node, calling another tool.
    pub(crate) fn of_tool(&self, tool: &'static str) -> Self {
        Self { tool, ..self.clone() }
    }

    /// Whether the tool wants to know more instead of ending.
    pub(crate) fn wants_more(&self, wants: bool) {
        self.wants_more.store(wants, Ordering::SeqCst);
    }

    /// The arguments that the tool was called with, each time.
    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().expect("no test panics with it").clone()
    }

    pub(crate) async fn call(&self, who: &str, arguments: &Value, client: &dyn Client) -> Came {
        self.call_in(who, None, arguments, client).await
    }

    pub(crate) async fn call_in(
        &self,
        who: &str,
        session: Option<&str>,
        arguments: &Value,
        client: &dyn Client,
    ) -> Came {
        let text = arguments.to_string();
        let read = toolmark_core::json::read(&text).expect("JSON");
        let tool = self.workspace.catalog().find(self.tool, |_| true).expect("a tool");
        let caller = Caller::new(who);
        let caller = session.map_or(caller, |session| caller.in_session(session));
        let request = Request { tool, arguments, task: None, caller };
        let arrived = Arrived {
            id: Uuid::now_v7(),
            lookup: self.tool,
            request,
            read: &read,
            size: text.len(),
            origin: Origin::default(),
        };
        let settled = self.pipeline.run(
            &self.workspace,
            &arrived,
            client,
            |tool| Some(tool.canonical().to_string()),
            |more: &bool| Brought { failed: false, unfinished: *more, bytes: b"" },
            |edited| async {
                self.ran.lock().expect("no test panics with it").push(edited.unwrap_or_else(|| text.clone()));
                Ok(self.wants_more.load(Ordering::SeqCst))
            },
        );
        match settled.await.expect("a tool of this workspace") {
            Settled::Ran(_, passage) => Came::Ran(passage.pass),
            Settled::Refused(refusal, _) => {
                Came::Refused { code: refusal.code().to_owned(), text: refusal.text().to_owned() }
            }
            Settled::Handed(handed, _) => Came::Handed(handed.run, handed.ask),
            Settled::Failed(error, _) => panic!("{error}"),
        }
    }

    /// Calls beside the test.
    pub(crate) fn calling(
        &self,
        who: &'static str,
        arguments: Value,
        client: impl Client + 'static,
    ) -> JoinHandle<Came> {
        let stage = self.clone();
        tokio::spawn(async move { stage.call(who, &arguments, &client).await })
    }

    /// The questions that are open, newest first.
    pub(crate) async fn open(&self) -> Vec<Ask> {
        let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
        self.store.asks(&filter, None, 100).await.expect("questions")
    }

    /// The one question that is open, once so many wait for it.
    pub(crate) async fn asked_by(&self, waiting: usize) -> Ask {
        until(async || {
            let ask = self.open().await.into_iter().next()?;
            let runs = self.store.runs_of(ask.id).await.expect("runs");
            (runs.iter().filter(|run| run.state == RunState::Waiting).count() == waiting).then_some(ask)
        })
        .await
    }

    /// The one question that is open.
    pub(crate) async fn asked(&self) -> Ask {
        let mut open = self.open().await;
        assert_eq!(open.len(), 1, "{open:?}");
        open.remove(0)
    }

    /// The one run of a question, once it stands there.
    pub(crate) async fn run_stands(&self, ask: AskId, state: RunState) -> Run {
        until(async || {
            let runs = self.store.runs_of(ask).await.expect("runs");
            runs.into_iter().find(|run| run.state == state)
        })
        .await
    }

    pub(crate) fn given(&self, by: &str) -> Given {
        Given { by: by.into(), way: Way::Cli, at: self.desk.ledger().now(), from: None }
    }

    pub(crate) async fn approve(&self, id: AskId) -> Ask {
        self.decide(id, Ruling::once(true, self.given("bob"))).await.expect("it is open")
    }

    pub(crate) async fn reject(&self, id: AskId, message: Option<&str>) -> Ask {
        let ruling = Ruling { message: message.map(str::to_owned), ..Ruling::once(false, self.given("bob")) };
        self.decide(id, ruling).await.expect("it is open")
    }

    /// Yes, this far.
    pub(crate) async fn grant(&self, id: AskId, scope: Scope, uses: Option<u32>) -> Ask {
        let ruling = Ruling { scope, uses, ..Ruling::once(true, self.given("bob")) };
        self.decide(id, ruling).await.expect("it is open")
    }

    pub(crate) async fn decide(&self, id: AskId, ruling: Ruling) -> Result<Ask, DecideError> {
        self.desk.decide(id, &ruling).await
    }
}

impl Came {
    #[track_caller]
    pub(crate) fn refused(self, code: &str) -> String {
        match self {
            Self::Refused { code: found, text } => {
                assert_eq!(found, code, "{text}");
                text
            }
            other => panic!("{other:?}"),
        }
    }

    /// It waits for a person.
    #[track_caller]
    pub(crate) fn waits(self) {
        let text = self.refused("effect-unbounded");
        assert!(text.contains("waits for a person") && text.contains("has not run"), "{text}");
    }

    /// A person said no.
    #[track_caller]
    pub(crate) fn rejected(self) -> String {
        let text = self.refused("effect-unbounded");
        assert!(!text.contains("waits for a person"), "{text}");
        text
    }

    #[track_caller]
    pub(crate) fn passed(self) -> Pass {
        match self {
            Self::Ran(Some(pass)) => pass,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn handed(self) -> (RunId, AskId) {
        match self {
            Self::Handed(run, ask) => (run, ask),
            other => panic!("{other:?}"),
        }
    }
}

/// Waits until something is so. The patience only keeps a broken test from hanging.
pub(crate) async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..2_000 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never came to that")
}

/// A client whose user sees a form, and answers when the test says so.
#[derive(Clone)]
pub(crate) struct Form {
    shown: mpsc::UnboundedSender<(String, Vec<Scope>)>,
    answer: Arc<Mutex<Option<ClientAnswer>>>,
    answered: Arc<Notify>,
    withdrawn: Arc<AtomicBool>,
}

/// The user before the form.
pub(crate) struct User {
    shown: mpsc::UnboundedReceiver<(String, Vec<Scope>)>,
    form: Form,
}

impl User {
    pub(crate) fn new() -> (Self, Form) {
        let (shown, seen) = mpsc::unbounded_channel();
        let form = Form { shown, answer: Arc::default(), answered: Arc::default(), withdrawn: Arc::default() };
        (Self { shown: seen, form: form.clone() }, form)
    }

    /// Waits until the form is shown; its text, and how far an answer may reach.
    pub(crate) async fn sees(&mut self) -> (String, Vec<Scope>) {
        self.shown.recv().await.expect("a form")
    }

    pub(crate) fn answers(&self, answer: ClientAnswer) {
        *self.form.answer.lock().expect("no test panics with it") = Some(answer);
        self.form.answered.notify_one();
    }

    /// Whether the form was taken away before it was answered.
    pub(crate) fn lost_the_form(&self) -> bool {
        self.form.withdrawn.load(Ordering::SeqCst)
    }
}

impl Client for Form {
    fn reach(&self) -> Reach {
        Reach::Waiting
    }

    fn ask<'a>(&'a self, prompt: &'a Prompt, offered: &'a [Scope]) -> Later<'a, Option<ClientAnswer>> {
        struct Shown<'f>(&'f Form, bool);
        impl Drop for Shown<'_> {
            fn drop(&mut self) {
                if !self.1 {
                    self.0.withdrawn.store(true, Ordering::SeqCst);
                }
            }
        }
        Box::pin(async move {
            let mut shown = Shown(self, false);
            self.shown.send((prompt.text().to_owned(), offered.to_vec())).expect("the user is there");
            self.answered.notified().await;
            shown.1 = true;
            self.answer.lock().expect("no test panics with it").take()
        })
    }

    fn returned(&self) -> Option<Returned> {
        None
    }
}

/// A client that is sent away with its question, and perhaps comes back with an answer.
#[derive(Clone, Default)]
pub(crate) struct Traveller(Option<Returned>);

impl Traveller {
    pub(crate) fn back(run: RunId, answer: Option<ClientAnswer>) -> Self {
        Self(Some(Returned { run, answer, round: None }))
    }

    /// Back with what the tool wanted to know.
    pub(crate) fn going_on(run: RunId, round: u32) -> Self {
        Self(Some(Returned { run, answer: None, round: Some(round) }))
    }
}

impl Client for Traveller {
    fn reach(&self) -> Reach {
        Reach::HandingOver
    }

    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a [Scope]) -> Later<'a, Option<ClientAnswer>> {
        panic!("nobody waits with this client")
    }

    fn returned(&self) -> Option<Returned> {
        self.0.clone()
    }
}

pub(crate) fn moved(place: &impl Place, micros: i64) -> Micros {
    place.clock().set(START + micros);
    Micros::new(START + micros)
}
