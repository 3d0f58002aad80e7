//! Agents for user interfaces: `POST /agui/<agent>` runs one, `GET /agui` says which there are, `GET /agui/live` shows the calls of the
//! gateway as they happen. Whoever may call tools here may run agents here.

mod answers;
mod cards;
mod error;
mod frontend;
mod hosted;
mod live;
mod models;
mod out;
mod reconcile;
mod retention;
mod run;
mod thread;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolmark_agui::input::RunAgentInput;
use toolmark_agui::sse;
use toolmark_config::values::Name;
use toolmark_core::display::{LanguageTag, Languages};
use toolmark_mcp::downstream::{Binding, Body, ReadBodyError, read_body};
use toolmark_store::{Location, Micros, Settings, Store, StoreError};

use self::error::AguiError;
use self::models::Models;
use self::out::Out;
use self::run::Job;
use crate::agents::AgentUnknown;
use crate::console::{is_json, look};
use crate::gateway::Gateway;
use crate::snapshot::Snapshot;
use crate::telemetry;

/// How often a quiet stream says that it is there.
const PERIOD: Duration = Duration::from_secs(15);
/// How many bundles of events wait for a page.
const WAITING: usize = 64;
/// How much of a request that is too long is read, so that its sender hears why it is refused.
const DRAINED: usize = 64 << 20;
/// What a page may send along to say which language it is in, where its header does not.
const LANGUAGE_KEYS: [&str; 4] = ["acceptLanguage", "locale", "language", "lang"];

/// The part of the gateway that is for user interfaces.
pub(crate) struct Agui {
    gateway: Arc<Gateway>,
    store: Store,
    models: Arc<Models>,
    runs: Arc<Semaphore>,
    most: u32,
    /// How long a request may take to arrive.
    body_time: Duration,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Agui {
    /// Over a gateway. Without a store, threads are forgotten with the process.
    pub(crate) async fn new(gateway: Arc<Gateway>, body_time: Duration) -> Result<Self, StoreError> {
        let store = match gateway.store() {
            Some(store) => store.clone(),
            None => Store::open(&Location::Memory, &Settings::new(|| Micros::from(SystemTime::now()))).await?,
        };
        let most = gateway.snapshot().config().agui.runs;
        Ok(Self {
            gateway,
            store,
            models: Arc::default(),
            runs: Arc::new(Semaphore::new(most as usize)),
            most,
            body_time,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        })
    }

    /// True for addresses that are answered here.
    pub(crate) fn covers(path: &str) -> bool {
        path == "/agui" || path.starts_with("/agui/")
    }

    /// Where a request wants to go, as far as that decides who may.
    pub(crate) fn wants(&self, path: &str) -> Wanted {
        match path.strip_prefix("/agui/") {
            Some("live") => Wanted::Live,
            Some(agent) => {
                let snapshot = self.gateway.snapshot();
                let written = snapshot.config().agents.iter().find(|(name, _)| name.as_str() == agent);
                let task = written.and_then(|(_, agent)| agent.task.as_ref()).map(ToString::to_string);
                Wanted::Agent(Binding { task, profile: None })
            }
            None => Wanted::List,
        }
    }

    /// Nothing new is begun, and runs under way end at the next moment at which nothing is torn apart.
    pub(crate) fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
    }

    /// Waits until all of them have ended.
    pub(crate) async fn ended(&self) {
        self.tasks.wait().await;
    }

    /// Answers a request of somebody who was let in.
    pub(crate) async fn answer<B>(&self, request: Request<B>, principal: &Arc<str>) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        let path = request.uri().path().to_owned();
        let answered = match (request.method(), path.strip_prefix("/agui/")) {
            (&Method::GET, None) => Ok(self.list(request.headers())),
            (&Method::GET, Some("live")) => Ok(self.live(request.headers())),
            (&Method::POST, Some(agent)) if !agent.contains('/') => {
                self.run(agent.to_owned(), request, principal).await
            }
            (_, Some(agent)) if agent.contains('/') => Err(AguiError::NotFound),
            _ => Err(AguiError::Method),
        };
        answered.unwrap_or_else(|error| error.response())
    }

    /// The agents that there are.
    fn list(&self, headers: &HeaderMap) -> Response<Body> {
        let snapshot = self.gateway.snapshot();
        let (languages, _) = languages(headers, None);
        let agents = snapshot.config().agents.iter().map(|(name, agent)| {
            let mut all = serde_json::Map::new();
            all.insert("name".into(), name.as_str().into());
            all.extend(cards::agent_json(&snapshot, name.as_str(), &languages));
            all.extend(agent.description.as_ref().map(|text| ("description".to_owned(), text.as_str().into())));
            all.extend(agent.task.as_ref().map(|task| ("task".to_owned(), task.as_str().into())));
            all.insert("url".into(), format!("/agui/{name}").into());
            Value::Object(all)
        });
        let body = json!({"protocolVersion": toolmark_agui::PROTOCOL_VERSION, "agents": agents.collect::<Vec<_>>()});
        let mut response = Response::new(Body::whole(Bytes::from(body.to_string())));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        look::spoken(&look::best(&snapshot, &languages), &mut response);
        response
    }

    async fn run<B>(
        &self,
        agent: String,
        request: Request<B>,
        principal: &Arc<str>,
    ) -> Result<Response<Body>, AguiError>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        let snapshot = self.gateway.snapshot();
        let agent: Name = AgentUnknown::find(snapshot.config(), &agent)?.0.clone();
        // Pages of others can send forms, but not this.
        if !is_json(request.headers()) {
            return Err(AguiError::Media);
        }
        let headers = request.headers().clone();
        let input = RunAgentInput::read(&body(request, &snapshot, self.body_time).await?)?;
        let (languages, problem) = languages(&headers, input.forwarded_props.as_ref());
        if let Some(problem) = problem {
            tracing::debug!(%problem, "a language that cannot be read is left out");
        }
        let spoken = look::best(&snapshot, &languages);
        let Ok(place) = Arc::clone(&self.runs).try_acquire_owned() else { return Err(AguiError::Busy(self.most)) };
        let (sender, receiver) = mpsc::channel(WAITING);
        let job = Job {
            gateway: Arc::clone(&self.gateway),
            store: self.store.clone(),
            models: Arc::clone(&self.models),
            principal: Arc::clone(principal),
            input,
            languages,
            span: telemetry::served(agent.as_str(), &headers),
            agent,
            stop: self.stop.clone(),
        };
        // Apart from the connection: whoever goes away does not tear calls apart that are under way.
        self.tasks.spawn(async move {
            job.go(Out::new(sender)).await;
            drop(place);
        });
        Ok(stream(receiver, &spoken))
    }
}

/// Who may come to an address.
pub(crate) enum Wanted {
    /// Whoever may call tools.
    List,
    /// Whoever may call tools in the task of an agent.
    Agent(Binding),
    /// Whoever may see what everybody does.
    Live,
}

/// A stream of events, with names in this language.
fn stream(receiver: mpsc::Receiver<Bytes>, spoken: &LanguageTag) -> Response<Body> {
    let mut response = Response::new(Body::following(receiver, PERIOD));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(sse::CONTENT_TYPE));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    look::spoken(spoken, &mut response);
    response
}

/// The body of a request, as long as it may be. Of one that is longer, the rest is read and thrown away, so that its sender is there to hear
/// why it is refused.
async fn body<B>(request: Request<B>, snapshot: &Snapshot, time: Duration) -> Result<Bytes, AguiError>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
{
    let most = snapshot.config().gateway.limits.body_bytes.as_usize();
    let (head, mut body) = request.into_parts();
    match read_body(&head.headers, &mut body, most, time).await {
        Ok(read) => Ok(read),
        Err(ReadBodyError::TooLarge(most)) => {
            let mut rest = Limited::new(body, DRAINED);
            let thrown_away = async { while let Some(Ok(_)) = rest.frame().await {} };
            let _ = tokio::time::timeout(time, thrown_away).await;
            Err(AguiError::TooLarge(most))
        }
        Err(ReadBodyError::Incomplete) => Err(AguiError::Unfinished),
        Err(late) => Err(AguiError::Body(late)),
    }
}

/// The languages that somebody wants: what the header says, else what the page sends along. Also why that cannot be read.
fn languages(headers: &HeaderMap, forwarded: Option<&Value>) -> (Languages, Option<String>) {
    let header = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let sent = forwarded.and_then(|props| LANGUAGE_KEYS.iter().find_map(|key| props.get(key)?.as_str()));
    let mut problem = None;
    for text in header.into_iter().chain(sent) {
        match Languages::accept(text) {
            // `*` is what programs send that have no language.
            Ok(languages) if languages.wanted().is_empty() => {}
            Ok(languages) => return (languages, problem),
            Err(error) => problem = Some(error.to_string()),
        }
    }
    (Languages::default(), problem)
}

/// What a browser asks before it sends a request of another origin.
pub(crate) fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    let allowed = HeaderValue::from_static("authorization, content-type, accept, accept-language");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
