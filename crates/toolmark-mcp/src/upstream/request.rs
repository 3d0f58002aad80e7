//! What do we ask a server, and what can come of it? Every failure says whether the server may have acted on the request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use super::credentials::NoCredentials;
use crate::wire::{LogLevel, RawObject, RpcError};

/// One request to a server. It is sent at most once, whatever happens.
pub struct UpstreamRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The parameters; `_meta` keys that belong to the connection are set by us.
    pub params: RawObject,
    /// The name under which the server knows the tool or prompt, or the address of the resource, if it differs from what
    /// stands in the parameters.
    pub name: Option<&'a str>,
    /// `Mcp-Param-*` headers; only servers of the new era behind HTTP see them.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Ends it early. Whoever drops the future when nobody waits any longer, which ends it too, needs none.
    pub cancel: Option<CancellationToken>,
    /// Hears what the server says in between.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// What the client behind this request is able to do, if that differs from the connection (2026-07-28 only).
    pub capabilities: Option<Bytes>,
    /// From which level on the client behind this request wants log messages, if its parameters do not say so (2026-07-28 only).
    pub log_level: Option<LogLevel>,
}

/// Hears what a server says while a request is under way.
pub trait CallObserver: Send + Sync {
    /// `notifications/progress`, with the token that the request came with.
    fn progress(&self, params: Bytes);

    /// `notifications/message`.
    fn message(&self, params: Bytes);

    /// The request goes out with this id.
    fn sent_as(&self, id: u64) {
        let _ = id;
    }

    /// Whether the request may still go out now that its turn has come. Only asked where it had to wait for that.
    fn may_go(&self) -> bool {
        true
    }

    /// The server has closed the stream of its answer and wants us to come back for it.
    fn hung_up(&self) {}

    /// A server of the old era asks something: `elicitation/create`, `sampling/createMessage` or `roots/list`. The future is
    /// dropped when the request ends or the server takes its question back.
    fn ask(&self, question: Question) -> BoxFuture<'static, Answer>;

    /// The server says that a page was visited which it sent this caller's user to (2025-11-25). The request may be long over.
    fn visited(&self, elicitation: &str) {
        let _ = elicitation;
    }

    /// Whether a question has a chance to be answered through this request.
    fn can_answer(&self, question: &Question) -> bool {
        let _ = question;
        true
    }

    /// Whose request it is. A server of the old era does not say which of several requests made it ask; it gets its answer only
    /// if all of them have the same key. Without a key, a request has nothing in common with any other.
    fn caller(&self) -> Option<CallerKey> {
        None
    }
}

/// Tells callers apart: equal only for requests of one caller that are able to answer the same questions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallerKey(Bytes);

/// What a server asks.
#[derive(Clone, Debug)]
pub struct Question {
    /// The method.
    pub method: String,
    /// The parameters.
    pub params: Option<RawObject>,
}

/// What it is told.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The result, as JSON text.
    Result(Bytes),
    /// An error object, as JSON text; see [`error_member`](crate::wire::write::error_member).
    Error(Bytes),
}

/// What a server answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A result; with `resultType` `input_required` if a server of the new era asks something first.
    Result(RawObject),
    /// An error.
    Error(RpcError),
}

/// Whether a request can have had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// The server surely did not act on it.
    Never,
    /// The server may have acted on it.
    Perhaps,
}

/// A request that got no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct UpstreamError {
    kind: UpstreamErrorKind,
    delivery: Delivery,
}

/// Why a request got no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamErrorKind {
    /// It took too long.
    #[error("the server did not answer within {} ms", after.as_millis())]
    Timeout {
        /// How long we waited.
        after: Duration,
    },
    /// It was ended early.
    #[error("the request was cancelled")]
    Cancelled,
    /// The connection ended.
    #[error("the connection to the server is closed: {reason}")]
    Closed {
        /// How it ended.
        reason: String,
    },
    /// The connection failed.
    #[error("the server cannot be reached: {reason}")]
    Transport {
        /// How.
        reason: String,
    },
    /// The answer is larger than allowed.
    #[error("the answer of the server has more than {limit} bytes")]
    TooLarge {
        /// How many are read at most.
        limit: usize,
    },
    /// The answer cannot be understood.
    #[error("the server does not keep to the protocol: {reason}")]
    Protocol {
        /// What it did.
        reason: String,
    },
    /// The answer is an HTTP status.
    #[error("the server answered with HTTP status {status}")]
    Status {
        /// The status.
        status: u16,
        /// `WWW-Authenticate`, if there is one.
        challenge: Option<String>,
        /// `Location`, if there is one. It is not followed.
        location: Option<String>,
        /// What a server says that turns us away (403). For whoever runs this, never for a model.
        said: Option<Box<Said>>,
    },
    /// The server forgot our session. The next request opens a new one.
    #[error("the server has ended the session")]
    SessionLost,
    /// There is nothing to show to the server that says who we are.
    #[error(transparent)]
    Credentials(NoCredentials),
    /// It waited for its turn all the time that it had.
    #[error("it was not its turn within {} ms, since {limit} others are under way at the server", after.as_millis())]
    Queued {
        /// How long it waited.
        after: Duration,
        /// How many may be under way at once.
        limit: usize,
    },
    /// Its turn came, and by then it was not to be sent any more.
    #[error("it changed while the call waited; list the tools again")]
    Outdated,
    /// Too many requests wait for this server.
    #[error("more than {limit} requests wait for the server")]
    Busy {
        /// How many may wait.
        limit: usize,
    },
}

/// What a server says that turns us away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its code, if it is one that says which.
    pub code: Option<String>,
    /// In words.
    pub message: String,
}

impl CallerKey {
    /// A key made of parts; two keys are equal if all their parts are.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut key = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
        for part in parts {
            key.extend_from_slice(&part.len().to_le_bytes());
            key.extend_from_slice(part);
        }
        Self(key.into())
    }
}

impl<'a> UpstreamRequest<'a> {
    /// A request with nothing but a method and parameters.
    #[must_use]
    pub fn new(method: &'a str, params: RawObject) -> Self {
        Self {
            method,
            params,
            name: None,
            headers: Vec::new(),
            timeout: None,
            cancel: None,
            observer: None,
            capabilities: None,
            log_level: None,
        }
    }
}

impl Said {
    /// What stands in a JSON-RPC error, or else in a line of text.
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        if let Ok(Value::Object(body)) = serde_json::from_slice(body) {
            let error = body.get("error")?;
            let text = |path: &str| Some(visible(error.pointer(path)?.as_str()?, 300));
            return Some(Self { code: text("/data/code"), message: text("/message")? });
        }
        let text = str::from_utf8(body).ok()?.trim();
        let plain = !text.is_empty() && !text.starts_with('<');
        plain.then(|| Self { code: None, message: visible(text, 300) })
    }
}

/// Refuses a request that had to wait for its turn and is not to be sent any more.
pub(crate) fn may_go(observer: Option<&dyn CallObserver>) -> Result<(), UpstreamError> {
    match observer.is_none_or(CallObserver::may_go) {
        true => Ok(()),
        false => Err(UpstreamError::never(UpstreamErrorKind::Outdated)),
    }
}

impl UpstreamErrorKind {
    /// The same of a request that nobody has sent, since so many others are under way.
    pub(crate) fn while_queued(self, limit: usize) -> Self {
        match self {
            Self::Timeout { after } => Self::Queued { after, limit },
            other => other,
        }
    }
}

impl UpstreamError {
    /// Keeps what a server said that turned us away.
    pub(crate) fn hear(&mut self, heard: Option<Said>) {
        if let UpstreamErrorKind::Status { said, .. } = &mut self.kind {
            *said = heard.map(Box::new);
        }
    }

    pub(crate) fn never(kind: UpstreamErrorKind) -> Self {
        Self { kind, delivery: Delivery::Never }
    }

    pub(crate) fn perhaps(kind: UpstreamErrorKind) -> Self {
        Self { kind, delivery: Delivery::Perhaps }
    }

    pub(crate) fn new(kind: UpstreamErrorKind, delivery: Delivery) -> Self {
        Self { kind, delivery }
    }

    pub(crate) fn protocol(reason: impl Into<String>) -> Self {
        Self::perhaps(UpstreamErrorKind::Protocol { reason: reason.into() })
    }

    /// Why.
    #[must_use]
    pub fn kind(&self) -> &UpstreamErrorKind {
        &self.kind
    }

    /// Whether the server may have acted on the request.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }
}

impl Explain for UpstreamError {
    fn code(&self) -> Code {
        match self.kind {
            UpstreamErrorKind::Timeout { .. } => Code::new("upstream-timeout"),
            UpstreamErrorKind::Cancelled => Code::new("upstream-cancelled"),
            UpstreamErrorKind::Closed { .. } => Code::new("upstream-closed"),
            UpstreamErrorKind::Transport { .. } => Code::new("upstream-unreachable"),
            UpstreamErrorKind::TooLarge { .. } => Code::new("upstream-too-large"),
            UpstreamErrorKind::Protocol { .. } => Code::new("upstream-protocol"),
            UpstreamErrorKind::Status { .. } => Code::new("upstream-status"),
            UpstreamErrorKind::SessionLost => Code::new("upstream-session-lost"),
            UpstreamErrorKind::Busy { .. } | UpstreamErrorKind::Queued { .. } => Code::new("upstream-busy"),
            UpstreamErrorKind::Credentials(_) => Code::new("upstream-credentials"),
            UpstreamErrorKind::Outdated => Code::new("mcp-tool-changed"),
        }
    }

    fn why(&self) -> String {
        match self.delivery {
            Delivery::Never => "the request did not reach the server, so it had no effect",
            Delivery::Perhaps => {
                "the request may have had an effect, and Toolmark never repeats a call that may have had one"
            }
        }
        .to_owned()
    }

    fn fix(&self) -> String {
        match &self.kind {
            UpstreamErrorKind::Timeout { .. } => "raise the time limit of this pack, or ask for less at once",
            UpstreamErrorKind::Cancelled => "call again if the result is still wanted",
            UpstreamErrorKind::Closed { .. } | UpstreamErrorKind::Transport { .. } => {
                "see that the server runs; its last words are in the log of this pack"
            }
            UpstreamErrorKind::TooLarge { .. } => "ask for less at once, or raise the limit of this pack",
            UpstreamErrorKind::Protocol { .. } => "tell the author of the server",
            UpstreamErrorKind::Status { status: 401 | 403, .. } => {
                "give this pack a credential that the server accepts"
            }
            UpstreamErrorKind::Status { .. } => "see the log of the server",
            UpstreamErrorKind::Credentials(NoCredentials { needs_login: true, .. }) => {
                "log in once with `toolmark login` and the name of the pack"
            }
            UpstreamErrorKind::Credentials(_) => {
                "see that the authorization server can be reached, and that it knows us"
            }
            UpstreamErrorKind::SessionLost => "call again; a new session is opened by itself",
            UpstreamErrorKind::Outdated => "list the tools again, and call what is there now",
            UpstreamErrorKind::Busy { .. } | UpstreamErrorKind::Queued { .. } => {
                "call again later, or raise the limits of this pack"
            }
        }
        .to_owned()
    }

    fn facts(&self) -> Map<String, Value> {
        let delivered = ("mayHaveRun", Value::from(self.delivery == Delivery::Perhaps));
        match &self.kind {
            UpstreamErrorKind::TooLarge { limit } | UpstreamErrorKind::Busy { limit } => {
                facts([delivered, ("limit", Value::from(*limit))])
            }
            UpstreamErrorKind::Status { status, .. } => facts([delivered, ("status", Value::from(*status))]),
            UpstreamErrorKind::Timeout { after } => facts([delivered, milliseconds(*after)]),
            UpstreamErrorKind::Queued { after, limit } => {
                facts([delivered, milliseconds(*after), ("limit", Value::from(*limit))])
            }
            _ => facts([delivered]),
        }
    }
}

fn milliseconds(of: Duration) -> (&'static str, Value) {
    ("milliseconds", Value::from(u64::try_from(of.as_millis()).unwrap_or(u64::MAX)))
}

/// Parameters are not shown: they hold what people work with.
impl fmt::Debug for UpstreamRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamRequest")
            .field("method", &self.method)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
