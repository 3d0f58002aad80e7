//! The console: pages in the binary, and the interface that they are made from. It shows everything and changes nothing but
//! approvals; no server can be added or started here.

mod agents;
pub(crate) mod assets;
mod calls;
mod card;
mod catalog;
mod confusables;
pub(crate) mod error;
mod health;
pub(crate) mod keeper;
mod live;
pub(crate) mod look;
mod me;
mod policy;
pub(crate) mod query;
mod replay;
mod trace;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use toolmark_mcp::downstream::{Body, Held};

pub(crate) use self::card::diff;
use self::error::{ConsoleError, answer};
use self::keeper::Keeper;
use self::look::Look;
use self::query::{Query, decoded};
use crate::gateway::Gateway;

/// The interface that the pages are made from.
pub(crate) struct Console {
    gateway: Arc<Gateway>,
    keeper: Arc<Keeper>,
    /// How long a request may take to arrive.
    body_time: Duration,
    /// When those who look on are sent away.
    leaving: CancellationToken,
    started: SystemTime,
    /// One replay at a time.
    replays: Arc<Semaphore>,
    written_catalog: catalog::Written,
    found: confusables::Found,
}

/// What a request brought, once it was let in.
pub(crate) struct Asked {
    pub(crate) query: Query,
    pub(crate) look: Look,
}

impl Console {
    /// Over a gateway, for those whom a keeper lets in.
    pub(crate) fn new(
        gateway: Arc<Gateway>,
        keeper: Arc<Keeper>,
        body_time: Duration,
        leaving: CancellationToken,
    ) -> Self {
        Self {
            gateway,
            keeper,
            body_time,
            leaving,
            started: SystemTime::now(),
            replays: Arc::new(Semaphore::new(1)),
            written_catalog: catalog::Written::default(),
            found: confusables::Found::default(),
        }
    }

    /// True for addresses that are answered here.
    pub(crate) fn covers(path: &str) -> bool {
        path == "/api" || path.starts_with("/api/")
    }

    /// Answers a request. Who sends it is found out before anything else is looked at.
    pub(crate) async fn answer<B>(&self, request: Request<B>, held: Held) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        self.route(request, held).await.unwrap_or_else(|error| error.response())
    }

    async fn route<B>(&self, request: Request<B>, held: Held) -> Result<Response<Body>, ConsoleError>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        let who = self.keeper.approver(request.headers()).await?;
        let path = request.uri().path().to_owned();
        let parts: Vec<&str> = path.split('/').skip(2).collect();
        let get = request.method() == Method::GET;
        let known: &[&str] = match parts.as_slice() {
            ["live"] => &["calls"],
            ["calls"] => calls::PARAMETERS,
            ["policy"] => &["since"],
            _ => &[],
        };
        match parts.as_slice() {
            ["replay"] if request.method() == Method::POST => {
                let asked = self.asked(request.uri().query(), request.headers(), known)?;
                let look = asked.look.clone();
                let mut response = self.replay(request, asked.look).await?;
                look.mark(&mut response);
                return Ok(response);
            }
            ["replay"] => return Err(ConsoleError::Method("POST")),
            ["me" | "live" | "calls" | "catalog" | "confusables" | "policy" | "health" | "agents"]
            | ["calls" | "catalog", _]
                if !get =>
            {
                return Err(ConsoleError::Method("GET"));
            }
            _ => {}
        }
        let asked = self.asked(request.uri().query(), request.headers(), known)?;
        let look = asked.look.clone();
        let mut response = match parts.as_slice() {
            ["me"] => shown(&self.me(&asked, &who).await?),
            ["live"] => self.live(&asked).await?,
            ["calls"] => shown(&self.calls(&asked).await?),
            ["calls", id] => shown(&self.call(id, &asked).await?),
            ["catalog"] => self.catalog(&asked, request.headers()),
            ["catalog", name] => {
                let name = decoded(name, false).ok_or(ConsoleError::NotFound)?;
                shown(&self.card(&name, &asked).await?)
            }
            ["confusables"] => shown(&self.confusables(&asked).await?),
            ["policy"] => shown(&self.policy(&asked).await?),
            ["health"] => shown(&self.health(&asked, held).await?),
            ["agents"] => shown(&self.agents(&asked)),
            _ => return Err(ConsoleError::NotFound),
        };
        look.mark(&mut response);
        Ok(response)
    }

    fn asked(&self, query: Option<&str>, headers: &HeaderMap, known: &[&str]) -> Result<Asked, ConsoleError> {
        let query = Query::read(query, known)?;
        let look = Look::new(self.gateway.snapshot(), headers, &query)?;
        Ok(Asked { query, look })
    }
}

fn shown(value: &Value) -> Response<Body> {
    answer(StatusCode::OK, value)
}

/// True for a body in JSON. Pages of others can send forms and plain text, but not this.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| {
        kind.as_bytes()
            .split(|byte| *byte == b';')
            .next()
            .is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"application/json"))
    })
}

/// A stream of events.
pub(crate) fn stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    assets::guard(headers);
    response
}

/// One event of a stream. JSON text has no line ends of its own.
pub(crate) fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}
