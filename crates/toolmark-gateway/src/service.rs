//! What clients of the gateway get: lists from the snapshot, calls through the pipeline, the rest from the pack that it belongs to.

mod addresses;
mod ask;
pub(crate) mod call;
mod language;
mod relay;
mod subscribe;
mod tasks;
mod theirs;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::broadcast;
use toolmark_config::values::ListMeta;
use toolmark_core::display::{LanguageTag, Languages};
use toolmark_core::explain::{Code, Explain as _};
use toolmark_mcp::downstream::{
    About, Answer, Caller, Changed, Context, Endpoint, Fault, Incoming, Notification, Service, Spoken,
};
use toolmark_mcp::wire::headers::ParamHeaders;
use toolmark_mcp::wire::{Limits, LogLevel, RawObject, codes, mentions};

use self::language::Wish;
use crate::gateway::Gateway;
use crate::offers::{Kind, Offers};
use crate::snapshot::Snapshot;
use crate::view::{View, ViewError, ViewName};

/// The key under which a request for a list says how much it wants to be told.
pub(crate) const LIST: &str = "dev.toolmark/list";

/// The key under which a request names the task that it belongs to.
const TASK: &str = "dev.toolmark/task";

/// The service behind every address of a gateway.
#[derive(Debug)]
pub struct Front {
    gateway: Arc<Gateway>,
    /// The log levels that sessions chose.
    levels: Mutex<HashMap<Arc<str>, LogLevel>>,
    listeners: AtomicU64,
    /// The calls that go on as tasks.
    tasks: tasks::Tasks,
    /// How long requests wait for packs that are starting, where they do.
    patience: Option<Patience>,
}

/// Until when requests wait for packs that are starting.
#[derive(Debug)]
struct Patience {
    until: tokio::time::Instant,
    over: AtomicBool,
}

/// How much a request for a list wants to be told of each tool.
fn asked(request: &Incoming) -> Result<Option<ListMeta>, Fault> {
    let Some(list) = request.params.object("_meta").and_then(|meta| meta.slice(LIST)) else { return Ok(None) };
    let said = RawObject::read(list, Limits::ADMITTED).ok();
    let word = said.as_ref().and_then(|said| said.text("meta")).and_then(|word| ListMeta::of_word(&word));
    word.map(Some).ok_or_else(|| {
        let words = ListMeta::WORDS.join("`, `");
        let message = format!("`_meta[\"{LIST}\"]` must be an object with `meta`, one of `{words}`");
        Fault::new(codes::INVALID_PARAMS, message).coded(Code::new("list-meta"))
    })
}

/// How much is said of all servers together in `instructions`, in bytes.
const INSTRUCTIONS: usize = 16 << 10;

impl Front {
    /// Answers for a gateway.
    #[must_use]
    pub fn new(gateway: Arc<Gateway>) -> Self {
        Self {
            gateway,
            levels: Mutex::default(),
            listeners: AtomicU64::new(1),
            tasks: tasks::Tasks::default(),
            patience: None,
        }
    }

    /// The same for a client that starts the gateway itself, and so always comes before the packs: what it asks of them waits until they
    /// have started or failed, but no longer than this. Who we are is told at once.
    #[must_use]
    pub fn patient(mut self, most: Duration) -> Self {
        let until = tokio::time::Instant::now() + most;
        self.patience = Some(Patience { until, over: AtomicBool::new(false) });
        self
    }

    /// True once nobody waits for packs any more.
    fn is_settled(&self) -> bool {
        self.patience.as_ref().is_none_or(|patience| patience.over.load(Ordering::Relaxed))
    }

    async fn wait_for_packs(&self) {
        let Some(patience) = &self.patience else { return };
        // Whoever has waited long enough gets what there is.
        let _ = tokio::time::timeout_at(patience.until, self.gateway.settled()).await;
        patience.over.store(true, Ordering::Relaxed);
    }

    /// Tells clients of an endpoint what changes, for as long as the gateway lives.
    pub async fn tell(endpoint: Endpoint<Self>, mut changes: broadcast::Receiver<Changed>) {
        loop {
            match changes.recv().await {
                Ok(change) => endpoint.broadcast(&change),
                // Nobody knows what was missed, so everything may have changed.
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    [Changed::Tools, Changed::Prompts, Changed::Resources]
                        .iter()
                        .for_each(|all| endpoint.broadcast(all));
                }
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    fn list_tools(&self, request: &Incoming) -> Answer {
        let (era, asked) = (request.era(), asked(request));
        let asked = match asked {
            Ok(asked) => asked,
            Err(fault) => return Answer::Fault(fault),
        };
        self.list_in(
            request,
            |snapshot, view, cursor| view.page(snapshot, asked, era, cursor),
            |snapshot, view, languages, cursor| view.page_in(snapshot, languages, asked, era, cursor),
        )
    }

    fn list(&self, request: &Incoming, kind: Kind) -> Answer {
        let era = request.era();
        self.list_in(
            request,
            |_, view, cursor| view.offers().page(kind, era, cursor),
            |snapshot, view, languages, cursor| view.offers().page_in(kind, snapshot.labels(), languages, era, cursor),
        )
    }

    /// A list as it is, or in the languages that a client wants.
    fn list_in(
        &self,
        request: &Incoming,
        plain: impl Fn(&Snapshot, &View, Option<&str>) -> Option<Bytes>,
        translated: impl Fn(&Snapshot, &View, &Languages, Option<&str>) -> Option<(Bytes, Option<LanguageTag>)>,
    ) -> Answer {
        let snapshot = self.gateway.snapshot();
        let names = &snapshot.config().names;
        let by_header = language::counts_header(request, names);
        let plain =
            |snapshot: &Snapshot, view: &View, cursor: Option<&str>| Some((plain(snapshot, view, cursor)?, None));
        match language::wish(request, names) {
            Ok(Wish::Any) => self.page(request, by_header, plain),
            Ok(Wish::In(languages)) => {
                self.page(request, by_header, |snapshot, view, cursor| translated(snapshot, view, &languages, cursor))
            }
            Ok(Wish::Unreadable(error)) => match self.page(request, by_header, plain) {
                Answer::Listed(page, spoken) => Answer::Listed(language::told(&page, &error), spoken),
                other => other,
            },
            Err(fault) => Answer::Fault(fault),
        }
    }

    /// A page of a list, for the cursor of the request.
    fn page(
        &self,
        request: &Incoming,
        by_header: bool,
        page: impl Fn(&Snapshot, &View, Option<&str>) -> Option<(Bytes, Option<LanguageTag>)>,
    ) -> Answer {
        let snapshot = self.gateway.snapshot();
        let view = match view_of(&snapshot, request) {
            Ok(view) => view,
            Err(fault) => return Answer::Fault(fault),
        };
        let bad = || {
            let fault = Fault::new(codes::INVALID_PARAMS, "this cursor was not given out by this gateway");
            Answer::Fault(fault.coded(Code::new("cursor-unknown")))
        };
        let cursor = match request.params.get("cursor") {
            None | Some(b"null") => None,
            Some(_) => match request.params.text("cursor") {
                Some(cursor) => Some(cursor),
                None => return bad(),
            },
        };
        page(&snapshot, &view, cursor.as_deref()).map_or_else(bad, |(page, language)| {
            let language = language.map(|tag| tag.as_str().into());
            Answer::Listed(page, Spoken { language, by_header })
        })
    }
}

impl Service for Front {
    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
    fn call(&self, mut request: Incoming, context: Context) -> impl Future<Output = Answer> + Send {
        async move {
            if !self.is_settled() {
                Box::pin(self.wait_for_packs()).await;
            }
            // Everything but calls is boxed, so that a call makes no room for it.
            match &*request.method {
                "tools/call" => self.call_tool(&mut request, &context).await,
                "tools/list" => self.list_tools(&request),
                "resources/list" => self.list(&request, Kind::Resource),
                "resources/templates/list" => self.list(&request, Kind::Template),
                "prompts/list" => self.list(&request, Kind::Prompt),
                "resources/read" => Box::pin(self.relay_resource(request, context)).await,
                "resources/subscribe" | "resources/unsubscribe" => Box::pin(self.subscribe(&request)).await,
                "prompts/get" => Box::pin(self.relay_prompt(request, context)).await,
                "completion/complete" => Box::pin(self.relay_completion(request, context)).await,
                "tasks/get" | "tasks/update" | "tasks/cancel" => Box::pin(self.relay_task(request, context)).await,
                "subscriptions/listen" => Box::pin(self.listen(&request, &context)).await,
                _ => {
                    let fault = Fault::new(codes::METHOD_NOT_FOUND, "this method is not known here");
                    Answer::Fault(fault.coded(Code::new("method-unknown")))
                }
            }
        }
    }

    fn about(&self, caller: &Caller) -> Arc<About> {
        let snapshot = self.gateway.snapshot();
        // An address without a view has no tools either, and says so when it is asked for them.
        match snapshot.view(&view_name(caller)) {
            Ok(view) => view.about(|offers, list_meta| about(&snapshot, offers, list_meta)),
            Err(_) => Arc::new(about(&snapshot, snapshot.offers(), snapshot.config().gateway.list_meta)),
        }
    }

    async fn notified(&self, notification: Notification) {
        if let ("logging/setLevel", Some(session)) = (&*notification.method, &notification.session)
            && let Some(Ok(level)) = notification.params.text("level").map(|level| level.parse())
        {
            self.choose_level(session, level).await;
        }
    }

    fn param_headers(&self, caller: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.gateway.snapshot().view(&view_name(caller)).ok()?.param_headers(tool).cloned()
    }

    fn session_ended(&self, session: &str) {
        self.forget_session(session);
    }
}

/// Who we are. What packs may come to offer is declared whether they do by now or not: old clients hear of it once, at the beginning.
fn about(snapshot: &Snapshot, offers: &Offers, list_meta: ListMeta) -> About {
    let mut capabilities = vec![
        r#""tools":{"listChanged":true}"#,
        r#""resources":{"listChanged":true,"subscribe":true}"#,
        r#""prompts":{"listChanged":true}"#,
        r#""completions":{}"#,
        r#""logging":{}"#,
    ];
    // How much lists say of who a tool is; `auto` says that requests may ask for more, or less.
    let identity = format!(r#""dev.toolmark/identity":{{"list_meta":"{}"}}"#, list_meta.as_str());
    let tasks = if offers.tasks { r#","io.modelcontextprotocol/tasks":{}"# } else { "" };
    let extensions = format!(r#""extensions":{{{identity}{tasks}}}"#);
    capabilities.push(&extensions);
    let text = Bytes::from(format!("{{{}}}", capabilities.join(",")));
    About {
        server_info: Bytes::from_static(
            concat!(r#"{"name":"toolmark","title":"Toolmark","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#)
                .as_bytes(),
        ),
        capabilities: object(text),
        instructions: instructions(snapshot, offers),
        ttl_ms: snapshot.ttl_ms(),
        public: false,
    }
}

/// What the servers of packs tell those who use them, each under its pack's name. Every line of theirs is marked, so that no server can
/// speak for another, or for us.
fn instructions(snapshot: &Snapshot, offers: &Offers) -> Option<String> {
    let mut text = String::new();
    for pack in offers.packs() {
        let Some(own) = snapshot.instructions(pack) else { continue };
        let quoted: String = own.lines().map(|line| format!("> {}\n", line.trim_end())).collect();
        let part = format!("The server of the pack `{pack}` says:\n{quoted}\n");
        if text.len() + part.len() > INSTRUCTIONS {
            text.push_str("Other servers say more than fits here.\n");
            break;
        }
        text.push_str(&part);
    }
    (!text.is_empty()).then(|| text.trim_end().to_owned())
}

fn view_name(caller: &Caller) -> ViewName {
    let binding = caller.binding();
    ViewName { task: binding.task.clone(), profile: binding.profile.clone(), narrowed: None }
}

/// What a request sees: what its address shows, and of that only what fits the task that it names itself.
fn view_of(snapshot: &Snapshot, request: &Incoming) -> Result<Arc<View>, Fault> {
    let name = ViewName { narrowed: named_task(&request.params)?, ..view_name(&request.caller) };
    snapshot.view(&name).map_err(|error| no_view(&error))
}

/// The task that a request names in its `_meta`.
fn named_task(params: &RawObject) -> Result<Option<String>, Fault> {
    // Few requests name one, so few are looked through.
    if !params.get("_meta").is_some_and(|meta| mentions(meta, TASK.as_bytes())) {
        return Ok(None);
    }
    let meta = params.object("_meta").unwrap_or_else(RawObject::empty);
    match meta.get(TASK) {
        None => Ok(None),
        Some(_) => match meta.text(TASK) {
            Some(name) => Ok(Some(name.into_owned())),
            None => {
                let message = format!("`_meta[\"{TASK}\"]` is not the name of a task");
                Err(Fault::new(codes::INVALID_PARAMS, message).coded(Code::new("task-name")))
            }
        },
    }
}

/// Why nothing can be shown or called at an address.
fn no_view(error: &ViewError) -> Fault {
    let code = match error {
        ViewError::Task(_) => codes::INVALID_PARAMS,
        _ => codes::INTERNAL_ERROR,
    };
    Fault::new(code, error.to_string()).coded(error.code())
}

/// Text of ours as an object; an empty one for what is none, which ours always is.
fn object(text: Bytes) -> RawObject {
    RawObject::read(text, Limits::ADMITTED).unwrap_or_else(|_| RawObject::empty())
}
