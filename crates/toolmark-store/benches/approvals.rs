//! The budgets of approvals, over stores in files. Exits with 1 when one is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | a call that a standing grant covers, at the desk, with 1 and with 100,000 other grants: median | at most 20 µs |
//! | such a call when the store is closed | runs: nothing is read on its way |
//! | a call that nobody is asked about, and a granted one, with 100,000 open questions: median | at most 1.10 × with none |
//!
//! Half of the other grants are for exact arguments of the same tool, the rest for other callers or other tools. The rest is printed to
//! be looked at: it depends on the disk. With `TOOLMARK_BENCH_APPROVALS`, another number than 100,000.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, clippy::panic, reason = "a benchmark may stop")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::task::JoinHandle;
use toolmark_core::approval::{Ask, AskId, AskKey, Covers, Given, Grant, GrantId, Ruling, Scope, Way};
use toolmark_core::digest::ArgumentDigest;
use toolmark_policy::Caller;
use toolmark_runtime::approve::{Approval, Approvals, Asking, Desk, DeskSettings, Ending, Later, NoClient, Pass};
use toolmark_runtime::{Arrived, Brought, NoRecords, Origin, Pipeline, Request, Settled, Workspace, WorkspaceBuilder};
use toolmark_store::approvals::{AskFilter, StoreLedger};
use toolmark_store::{Location, Micros, Settings, Store};
use uuid::Uuid;

const MANY: u64 = 100_000;
const ROUNDS: usize = 41;
const CALLS: usize = 300;
const DESK: Duration = Duration::from_micros(20);
const RATIO: f64 = 1.10;
const TOOL: &str = "db.write_query";

/// A gateway's part in approvals: a pipeline with its desk over a store.
struct Node {
    path: PathBuf,
    store: Store,
    desk: Desk,
    timed: Arc<Timed>,
    pipeline: Pipeline,
    workspace: Workspace,
    follower: JoinHandle<()>,
}

/// The desk, and how long it took for each call.
struct Timed {
    desk: Desk,
    took: Mutex<Vec<Duration>>,
}

/// What is called with, as it came.
struct Call {
    who: &'static str,
    text: String,
    value: Value,
}

impl Approvals for Timed {
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Later<'a, Approval> {
        Box::pin(async move {
            let start = Instant::now();
            let approval = self.desk.ask(asking).await;
            let took = start.elapsed();
            self.took.lock().expect("nobody panics with it").push(took);
            approval
        })
    }

    fn ended(&self, pass: &Pass, ending: Ending) {
        self.desk.ended(pass, ending);
    }
}

impl Call {
    fn new(who: &'static str, query: &str) -> Self {
        let value = json!({"query": query});
        Self { who, text: value.to_string(), value }
    }

    fn digest(&self) -> ArgumentDigest {
        ArgumentDigest::of(&toolmark_core::json::read(&self.text).expect("JSON"))
    }
}

impl Node {
    async fn open(folder: &Path, name: &str) -> Self {
        let path = folder.join(name);
        let store = Store::open(&Location::File(path.clone()), &Settings::new(now)).await.expect("a store");
        let ledger = StoreLedger::open(store.clone(), "bench").await.expect("a ledger");
        let desk = Desk::new(Arc::new(ledger), DeskSettings::default(), Vec::new());
        desk.open().await.expect("grants");
        let timed = Arc::new(Timed { desk: desk.clone(), took: Mutex::default() });
        let approvals: Arc<dyn Approvals> = Arc::clone(&timed) as _;
        let following = desk.clone();
        Self {
            path,
            store,
            desk,
            timed,
            pipeline: Pipeline::new(approvals, Arc::new(NoRecords)),
            workspace: workspace(),
            follower: tokio::spawn(async move { following.follow().await }),
        }
    }

    /// What let a call through, if it ran, and how long it was on its way.
    async fn call(&self, call: &Call) -> (Option<Pass>, Duration) {
        let read = toolmark_core::json::read(&call.text).expect("JSON");
        let tool = self.workspace.catalog().find(TOOL, |_| true).expect("a tool");
        let request = Request { tool, arguments: &call.value, task: None, caller: Caller::new(call.who) };
        let arrived = Arrived {
            id: Uuid::now_v7(),
            lookup: TOOL,
            request,
            read: &read,
            size: call.text.len(),
            origin: Origin::default(),
        };
        let start = Instant::now();
        let settled = self.pipeline.run(
            &self.workspace,
            &arrived,
            &NoClient,
            |tool| Some(tool.canonical().to_string()),
            |(): &()| Brought { failed: false, unfinished: false, bytes: b"" },
            |_| std::future::ready(Ok(())),
        );
        let settled = settled.await.expect("a tool of this workspace");
        let took = start.elapsed();
        match settled {
            Settled::Ran((), passage) => (Some(passage.pass.unwrap_or_default()), took),
            Settled::Refused(..) => (None, took),
            Settled::Handed(..) | Settled::Failed(..) => panic!("{settled:?}"),
        }
    }

    /// How long calls are on their way that run: the median, and that of the desk alone where it was asked.
    async fn pass(&self, call: &Call, granted: bool) -> (Duration, Option<Duration>) {
        self.timed.took.lock().expect("nobody panics with it").clear();
        let mut took = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let (pass, time) = self.call(call).await;
            assert_eq!(pass.expect("it runs").grant.is_some(), granted, "{}", call.text);
            took.push(time);
        }
        let desk = std::mem::take(&mut *self.timed.took.lock().expect("nobody panics with it"));
        (median(took), granted.then(|| median(desk)))
    }

    /// A question that was really asked, and stays open.
    async fn question(&self, call: &Call) -> Ask {
        assert!(self.call(call).await.0.is_none(), "a person is asked");
        let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
        self.store.asks(&filter, None, 1).await.expect("questions").pop().expect("a question")
    }

    async fn decide(&self, ask: &Ask, scope: Scope) {
        let given = Given { by: "bob".into(), way: Way::Cli, at: now(), from: None };
        let ruling = Ruling { scope, ..Ruling::once(true, given) };
        self.desk.decide(ask.id, &ruling).await.expect("decided");
    }

    /// A standing yes for what one caller does, and one for the exact arguments of another.
    async fn grant(&self, effect: &Call, exact: &Call) -> Grant {
        let ask = self.question(effect).await;
        self.decide(&ask, Scope::Effect).await;
        // The call that waited runs, so that only what stays of the answer is left.
        assert!(self.call(effect).await.0.is_some_and(|pass| pass.run.is_some()));
        let grant = self.store.grants(false).await.expect("grants").pop().expect("it stays");
        let covers = Covers::Arguments(exact.digest());
        let other = Grant { id: grant_id(), principal: exact.who.into(), covers, ..grant.clone() };
        self.store.add_grant(&other).await.expect("a grant");
        grant
    }

    async fn connect(&self) -> SqliteConnection {
        SqliteConnectOptions::new().filename(&self.path).connect().await.expect("a connection")
    }

    /// Adds grants that cover none of the calls that are measured: all at once, as their number is what matters.
    async fn add_grants(&self, like: &Grant, count: u64) {
        let mut connection = self.connect().await;
        let mut transaction = connection.begin().await.expect("a transaction");
        for number in 0..count {
            let grant = other_grant(like, number);
            let query = sqlx::query(
                "INSERT INTO grants (id, mark, principal, used, uses, expires_us, revoked_us, body) VALUES (?, ?, ?, 0, ?, NULL, NULL, ?)",
            );
            let query = query.bind(grant.id.to_string()).bind(grant.mark.to_string()).bind(grant.principal.clone());
            let query = query.bind(grant.uses).bind(serde_json::to_string(&grant).expect("text"));
            query.execute(&mut *transaction).await.expect("a row");
        }
        transaction.commit().await.expect("written");
        settle(&mut connection).await;
    }

    /// Adds questions that stay open.
    async fn add_questions(&self, like: &Ask, count: u64) {
        let mut connection = self.connect().await;
        let mut transaction = connection.begin().await.expect("a transaction");
        for number in 0..count {
            let ask = other_question(like, number);
            let query = sqlx::query(
                "INSERT INTO asks (id, key, state, principal, canonical, mark, created_us, expires_us, body) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            );
            let query = query.bind(ask.id.to_string()).bind(ask.key.as_str()).bind(ask.state.as_str());
            let query = query.bind(ask.principal.clone()).bind(ask.canonical.clone()).bind(ask.mark.to_string());
            let query = query.bind(ask.created.get()).bind(ask.expires.get());
            let query = query.bind(serde_json::to_string(&ask).expect("text"));
            query.execute(&mut *transaction).await.expect("a row");
        }
        // So that whoever follows sees them.
        let noted = sqlx::query("UPDATE counters SET value = value + 1 WHERE name = 'asks'");
        noted.execute(&mut *transaction).await.expect("noted");
        transaction.commit().await.expect("written");
        settle(&mut connection).await;
    }
}

fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    Micros::new(i64::try_from(since.as_micros()).expect("this millennium"))
}

/// Moves what was written to where it stays, so that nobody who is measured does it.
async fn settle(connection: &mut SqliteConnection) {
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(connection).await.expect("settled");
}

fn grant_id() -> GrantId {
    GrantId::new(Uuid::now_v7().as_u128())
}

fn workspace() -> Workspace {
    let query = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let description = "Execute an INSERT, UPDATE, or DELETE query on the SQLite database";
    let tools = json!([{"name": "write_query", "description": description, "inputSchema": query}]);
    WorkspaceBuilder::new().build(toolmark_testkit::catalog(&[("db", &tools.to_string())])).expect("a workspace")
}

/// Half are for exact arguments of the tool, for both callers; the rest are for other callers of it, or for other tools.
fn other_grant(like: &Grant, number: u64) -> Grant {
    let grant = Grant { id: grant_id(), ..like.clone() };
    let digest = || Call::new("", &format!("DELETE FROM table_{number}")).digest();
    match number % 4 {
        0 => Grant { covers: Covers::Arguments(digest()), uses: Some(1), ..grant },
        1 => Grant { principal: "bea".into(), covers: Covers::Arguments(digest()), uses: Some(1), ..grant },
        2 => Grant { principal: format!("caller-{number}"), covers: Covers::Anything, ..grant },
        _ => Grant { mark: format!("tm1:{number:064x}").parse().expect("a mark"), ..grant },
    }
}

fn other_question(like: &Ask, number: u64) -> Ask {
    let call = Call::new("", &format!("DELETE FROM table_{number}"));
    let (digest, principal) = (call.digest(), format!("caller-{}", number % 1000));
    let key = AskKey::of(&principal, &like.mark, &digest, None, &like.policy);
    let expires = like.created.after(Duration::from_secs(24 * 3600));
    let id = AskId::new(Uuid::now_v7().as_u128());
    Ask { id, key, principal, arguments: call.text, digest, expires, ..like.clone() }
}

fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|one, other| one.partial_cmp(other).expect("comparable"));
    *values.get(values.len() / 2).expect("something was measured")
}

fn row(what: &str, measured: &str, budget: &str, held: bool) -> bool {
    println!("{what:<66} {measured:>12} ≤ {budget:<8} {}", if held { "ok" } else { "EXCEEDED" });
    held
}

async fn told<T>(what: &str, work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let value = work.await;
    println!("{what:<66} {:>12}", format!("{:.2?}", start.elapsed()));
    value
}

/// Both take turns, so that whatever else the machine does is in both. Returns medians and the median of the ratios within a round.
async fn compare(one: &Node, other: &Node, call: &Call, granted: bool) -> ([Duration; 2], Option<[Duration; 2]>, f64) {
    let (mut ones, mut others, mut desks, mut ratios) = (vec![], vec![], (vec![], vec![]), vec![]);
    for round in 0..ROUNDS {
        let (a, b) = if round % 2 == 0 {
            let first = one.pass(call, granted).await;
            (first, other.pass(call, granted).await)
        } else {
            let first = other.pass(call, granted).await;
            (one.pass(call, granted).await, first)
        };
        ones.push(a.0);
        others.push(b.0);
        desks.0.extend(a.1);
        desks.1.extend(b.1);
        ratios.push(b.0.as_secs_f64() / a.0.as_secs_f64());
    }
    let desks = granted.then(|| [median(desks.0), median(desks.1)]);
    ([median(ones), median(others)], desks, median(ratios))
}

async fn measure(count: u64) -> bool {
    let folder = tempfile::TempDir::new().expect("a folder");
    let (effect, exact) = (Call::new("ann", "DELETE FROM orders"), Call::new("bea", "DELETE FROM orders"));
    let allowed = Call::new("ann", "INSERT INTO orders VALUES (1)");
    let few = Node::open(folder.path(), "few.db").await;
    let many = Node::open(folder.path(), "many.db").await;
    let asked = Node::open(folder.path(), "asked.db").await;
    for (node, others) in [(&few, 1), (&many, count), (&asked, 1)] {
        let like = node.grant(&effect, &exact).await;
        node.add_grants(&like, others).await;
        told(&format!("reading {} grants", others + 2), node.desk.open()).await.expect("grants");
    }
    let like = asked.question(&Call::new("eve", "DELETE FROM orders")).await;
    asked.add_questions(&like, count).await;

    let mut held = true;
    for (what, call) in [("what it does", &effect), ("its exact arguments", &exact)] {
        let ([one, other], desks, _) = compare(&few, &many, call, true).await;
        for (others, desk, whole) in
            desks.into_iter().flatten().zip([one, other]).zip([1, count]).map(|((d, w), o)| (o, d, w))
        {
            let what = format!("granted by {what}, {others} other grants: at the desk");
            held &= row(&what, &format!("{desk:.1?}"), &format!("{DESK:?}"), desk <= DESK);
            println!("{:<66} {:>12}", "  the whole way", format!("{whole:.1?}"));
        }
    }
    for (what, call, granted) in
        [("nobody is asked", &allowed, false), ("by effect", &effect, true), ("by arguments", &exact, true)]
    {
        let ([none, open], _, ratio) = compare(&few, &asked, call, granted).await;
        let what = format!("{what}, {count} open questions ({open:.1?}), of none ({none:.1?})");
        held &= row(&what, &format!("{ratio:.3}"), &format!("{RATIO:.2}"), ratio <= RATIO);
    }

    for (node, questions) in [(&few, 0), (&asked, count)] {
        let new = Call::new("zoe", "DELETE FROM carts");
        let ask = told(&format!("asking a question and finding it, {questions} open"), node.question(&new)).await;
        told(&format!("answering it, {questions} open"), node.decide(&ask, Scope::Once)).await;
    }
    let ask = many.question(&Call::new("zoe", "DELETE FROM carts")).await;
    told(&format!("a standing answer, {count} grants"), many.decide(&ask, Scope::Always)).await;
    let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
    let newest = told("the newest 50 open questions", asked.store.asks(&filter, None, 50)).await.expect("questions");
    assert_eq!(newest.len() as u64, count.min(50));
    let open = told("how many are open", asked.store.pending_asks()).await.expect("a number");
    assert!(open >= count, "{open}");
    told("all grants, as a list", many.store.grants(true)).await.expect("grants");

    // What needs the store fails from here on.
    many.follower.abort();
    many.store.close().await.expect("closed");
    assert!(many.store.pending_asks().await.is_err(), "it is closed");
    for call in [&effect, &exact] {
        let ran = many.call(call).await.0.is_some_and(|pass| pass.grant.is_some());
        let what = format!("a granted call of {} while the store is closed", call.who);
        println!("{what:<66} {:>12}", if ran { "ok" } else { "EXCEEDED" });
        held &= ran;
    }
    few.follower.abort();
    asked.follower.abort();
    held
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    // `cargo test --benches` runs this file too, without a wish for figures.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let count = std::env::var("TOOLMARK_BENCH_APPROVALS").ok().and_then(|count| count.parse().ok()).unwrap_or(MANY);
    if measure(count).await { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
