//! Approvals over HTTP: what is open, what was decided, and decisions, for whoever shows a token that was made for that.
//!
//! A token of a client never decides: an agent could approve its own calls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolmark_core::approval::{Ask, AskId, Given, GrantId, Way};
use toolmark_core::explain::{Code, Explain};
use toolmark_mcp::downstream::{Body, ReadBodyError, read_body};
use toolmark_runtime::approve::{DecideError, Desk, DeskEvent};
use toolmark_store::approvals::AskFilter;
use toolmark_store::{Micros, Store, StoreError};

use super::ruling::{ReadRulingError, Written};
use super::webhook::AnswerKey;
use super::{ANSWERS, extras};
use crate::console::keeper::{Approver, Keeper, NotKept, bearer};
use crate::console::look::Look;
use crate::console::query::Query;
use crate::console::{assets, is_json};
use crate::gateway::Gateway;

/// No decision is longer.
const LARGEST: usize = 256 * 1024;
/// How many entries a page has, and how many at most.
const PAGE: u32 = 100;
const MOST: u32 = 1000;
/// The states that can be asked for.
const STATES: [&str; 5] = ["pending", "approved", "rejected", "expired", "all"];
/// How often a quiet stream says that it is there.
const PERIOD: Duration = Duration::from_secs(15);

/// The part of the gateway that is for people who decide.
pub(crate) struct Api {
    desk: Desk,
    store: Store,
    answers: AnswerKey,
    gateway: Arc<Gateway>,
    keeper: Arc<Keeper>,
    /// How long a decision may take to arrive.
    body_time: Duration,
    /// When those who look on are sent away.
    leaving: CancellationToken,
}

/// Why a request gets no answer here.
#[derive(Debug, thiserror::Error)]
enum ApiError {
    #[error("a token of an approver is needed: `Authorization: Bearer tmk_…`")]
    NoToken,
    #[error("this token may not decide about approvals")]
    NoApprover,
    #[error("there is nothing at this address")]
    NotFound,
    #[error("this is not possible here")]
    Method,
    #[error("`{0}` of the query cannot be read")]
    Query(&'static str),
    #[error("a decision is sent as `application/json`")]
    Media,
    #[error(transparent)]
    Body(#[from] ReadBodyError),
    #[error(transparent)]
    Read(#[from] ReadRulingError),
    #[error(transparent)]
    Decide(#[from] DecideError),
    #[error(transparent)]
    Store(StoreError),
    #[error(transparent)]
    Id(#[from] toolmark_core::approval::ParseIdError),
}

impl Api {
    /// Over a desk and the store behind it.
    pub(crate) async fn new(
        desk: Desk,
        store: Store,
        gateway: Arc<Gateway>,
        keeper: Arc<Keeper>,
        body_time: Duration,
        leaving: CancellationToken,
    ) -> Result<Self, StoreError> {
        let answers = AnswerKey::new(store.shared_key(ANSWERS).await?);
        Ok(Self { desk, store, answers, gateway, keeper, body_time, leaving })
    }

    /// True for addresses that are answered here.
    pub(crate) fn covers(path: &str) -> bool {
        ["/api/approvals", "/api/grants"]
            .iter()
            .any(|base| path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    /// Answers a request.
    pub(crate) async fn answer<B>(&self, request: Request<B>, peer: SocketAddr) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        self.route(request, peer).await.unwrap_or_else(|error| error.response())
    }

    async fn route<B>(&self, request: Request<B>, peer: SocketAddr) -> Result<Response<Body>, ApiError>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        let path = request.uri().path().to_owned();
        let parts: Vec<&str> = path.trim_matches('/').split('/').skip(1).collect();
        let method = request.method().clone();
        if let (&["approvals", id, "decision"], &Method::POST) = (parts.as_slice(), &method) {
            return self.decide(id.parse()?, request, peer).await;
        }
        let who = self.approver(request.headers()).await?;
        let look = self.look(request.uri().query(), request.headers())?;
        let reader = look.clone();
        let mut response = match (parts.as_slice(), &method) {
            (["approvals"], &Method::GET) => self.list(request.uri().query().unwrap_or_default(), &look).await,
            (["approvals", "events"], &Method::GET) => self.events(look).await,
            (["approvals", id], &Method::GET) => self.show(id.parse()?, &look).await,
            (["grants"], &Method::GET) => {
                let grants = self.store.grants(true).await?;
                let grants: Vec<Value> = grants.iter().map(|grant| extras::grant(grant, &look)).collect();
                Ok(answer(StatusCode::OK, &json!({ "grants": grants })))
            }
            (["grants", id], &Method::DELETE) => {
                let id: GrantId = id.parse()?;
                let by = who.given(peer);
                self.desk.revoke(id, &by).await?;
                Ok(answer(StatusCode::OK, &json!({"id": id, "revoked": by.to_json()})))
            }
            (["approvals", ..] | ["grants", ..], _) if parts.len() <= 3 => Err(ApiError::Method),
            _ => Err(ApiError::NotFound),
        }?;
        reader.mark(&mut response);
        Ok(response)
    }

    /// Who decides here.
    async fn approver(&self, headers: &HeaderMap) -> Result<Approver, ApiError> {
        self.keeper.approver(headers).await.map_err(|refused| match refused {
            NotKept::Missing => ApiError::NoToken,
            NotKept::NoApprover => ApiError::NoApprover,
            NotKept::Store(error) => error.into(),
        })
    }

    /// What whoever asks reads.
    fn look(&self, query: Option<&str>, headers: &HeaderMap) -> Result<Look, ApiError> {
        let lang = query.into_iter().flat_map(|query| query.split('&')).find(|pair| pair.starts_with("lang="));
        let query = Query::read(lang, &[]).map_err(|_| ApiError::Query("lang"))?;
        Look::new(self.gateway.snapshot(), headers, &query).map_err(|_| ApiError::Query("lang"))
    }

    async fn list(&self, query: &str, look: &Look) -> Result<Response<Body>, ApiError> {
        let find = |name: &str| query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name));
        let state = find("state").map_or("pending", |(_, state)| state);
        if !STATES.contains(&state) {
            return Err(ApiError::Query("state"));
        }
        let filter = AskFilter { state: (state != "all").then(|| state.to_owned()), ..AskFilter::default() };
        let before: Option<AskId> = find("before").map(|(_, id)| id.parse()).transpose()?;
        let limit: Option<u32> =
            find("limit").map(|(_, limit)| limit.parse()).transpose().map_err(|_| ApiError::Query("limit"))?;
        let limit = limit.unwrap_or(PAGE).clamp(1, MOST);
        let asks = self.store.asks(&filter, before, limit).await?;
        let asks: Vec<Value> = asks.iter().map(|ask| extras::ask(ask, look)).collect();
        let pending = self.store.pending_asks().await?;
        Ok(answer(StatusCode::OK, &json!({"approvals": asks, "pending": pending})))
    }

    async fn show(&self, id: AskId, look: &Look) -> Result<Response<Body>, ApiError> {
        let ask = self.store.ask(id).await?.ok_or(DecideError::Unknown)?;
        let mut shown = extras::whole(&ask, look);
        let proposals = self.desk.proposals(&ask).await?;
        let proposals: Vec<Value> = proposals
            .iter()
            .take(3)
            .map(|one| json!({"vary": one.differ, "calls": one.calls, "text": one.to_string()}))
            .collect();
        let runs = self.store.runs_of(id).await?;
        let runs: Vec<Value> =
            runs.iter().map(|run| json!({"id": run.id, "state": run.state.as_str(), "node": run.node})).collect();
        if let Some(members) = shown.as_object_mut() {
            members.insert("proposals".into(), proposals.into());
            members.insert("runs".into(), runs.into());
        }
        Ok(answer(StatusCode::OK, &shown))
    }

    async fn decide<B>(&self, id: AskId, request: Request<B>, peer: SocketAddr) -> Result<Response<Body>, ApiError>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        let by = match bearer(request.headers()) {
            Some(shown) if self.answers.fits(id, shown) => given("webhook", Way::Webhook, peer),
            _ => self.approver(request.headers()).await?.given(peer),
        };
        // Pages of others can send forms, but not this.
        if !is_json(request.headers()) {
            return Err(ApiError::Media);
        }
        let (head, body) = request.into_parts();
        let body = read_body(&head.headers, body, LARGEST, self.body_time).await?;
        let written = Written::read(&body)?;
        let ask = self.store.ask(id).await?.ok_or(DecideError::Unknown)?;
        let decided = self.desk.decide(id, &written.ruling(&ask, by)).await?;
        Ok(answer(StatusCode::OK, &decided.to_json()))
    }

    /// What is open now, and everything that happens to questions from now on.
    async fn events(&self, look: Look) -> Result<Response<Body>, ApiError> {
        let mut happening = self.desk.events();
        let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
        let open = self.store.asks(&filter, None, MOST).await?;
        let (sender, receiver) = mpsc::channel::<Bytes>(64);
        let (desk, store, leaving) = (self.desk.clone(), self.store.clone(), self.leaving.clone());
        tokio::spawn(async move {
            let list =
                |open: &[Ask]| json!({"approvals": open.iter().map(|ask| extras::ask(ask, &look)).collect::<Vec<_>>()});
            let mut next = Some(event("open", &list(&open)));
            loop {
                if let Some(event) = next.take()
                    && sender.send(event).await.is_err()
                {
                    return;
                }
                let happened = tokio::select! {
                    event = happening.recv() => event,
                    () = sender.closed() => return,
                    () = leaving.cancelled() => return,
                };
                next = match happened {
                    Ok(DeskEvent::Asked(ask)) => Some(event("asked", &extras::ask(&ask, &look))),
                    Ok(DeskEvent::Settled(ask)) => Some(event("settled", &extras::ask(&ask, &look))),
                    // Too slow for all of it: begin again with what is open.
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {
                        happening = desk.events();
                        store.asks(&filter, None, MOST).await.ok().map(|open| event("open", &list(&open)))
                    }
                    Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
                };
            }
        });
        let mut response = Response::new(Body::following(receiver, PERIOD));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

fn event(name: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

fn given(by: &str, way: Way, peer: SocketAddr) -> Given {
    Given { by: by.to_owned(), way, at: Micros::from(SystemTime::now()), from: Some(peer.to_string()) }
}

fn answer(status: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from(value.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    assets::guard(response.headers_mut());
    response
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::NoApprover => StatusCode::FORBIDDEN,
            Self::NotFound | Self::Decide(DecideError::Unknown) => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Media => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Body(error) => error.status(),
            Self::Read(_) | Self::Id(_) | Self::Query(_) => StatusCode::BAD_REQUEST,
            Self::Decide(DecideError::Ruling(_)) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Decide(DecideError::Ledger(_)) | Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Decide(_) => StatusCode::CONFLICT,
        }
    }

    fn response(&self) -> Response<Body> {
        let report = match self {
            Self::Body(error) => error.report(),
            Self::Read(error) => error.report(),
            Self::Decide(DecideError::Ledger(error)) => {
                tracing::warn!(%error, "a decision is not kept");
                error.for_callers().report()
            }
            Self::Decide(error) => error.report(),
            Self::Store(error) => error.report(),
            Self::Id(error) => error.report(),
            _ => self.report(),
        };
        let mut response = answer(self.status(), &json!({ "error": report.to_json() }));
        if self.status() == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"toolmark\""));
        }
        response
    }
}

/// Where the store is, the log says and whoever asks does not hear.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::warn!(%error, "the store failed a request about approvals");
        Self::Store(error.for_callers())
    }
}

impl Explain for ApiError {
    fn code(&self) -> Code {
        match self {
            Self::NoToken => Code::new("approver-token-missing"),
            Self::NoApprover => Code::new("approver-token-wrong"),
            _ => Code::new("approval-request"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NoToken | Self::NoApprover => {
                "whoever could call tools and approve them would approve its own calls".into()
            }
            _ => "a request that is not understood decides nothing".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::NoToken | Self::NoApprover => "make one with `toolmark token create NAME --approver`".into(),
            _ => "see the page of approvals in the documentation for addresses and bodies".into(),
        }
    }
}
