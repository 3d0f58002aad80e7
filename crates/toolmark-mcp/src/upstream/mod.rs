//! What do we say to a server, whatever its era and wherever it is? One `Upstream` is one server: started or connected to,
//! asked who it is, and sent requests as raw JSON. Nothing is ever sent twice.

mod compose;
mod connect;
mod credentials;
mod desk;
mod event;
mod handshake;
#[cfg(target_os = "linux")]
mod held;
mod http;
mod list;
pub mod oauth;
mod options;
mod pace;
mod patience;
mod pipe;
#[cfg(target_os = "linux")]
mod proc;
mod processors;
mod questions;
mod relatives;
mod request;
mod stdio;
mod subscribe;
#[cfg(target_os = "linux")]
mod trial;
mod visits;
mod wanted;

use std::sync::{Arc, PoisonError, RwLock};

use ::http::HeaderValue;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

pub use credentials::{Credentials, NoCredentials};
pub use event::{EventSender, UpstreamEvent};
pub use handshake::ConnectError;
pub use list::{ListError, ListKind, Listing};
pub use options::{ConnectOptions, Target, UpstreamLimits, minimal_environment};
pub use processors::Processors;
pub use request::{
    Answer, CallObserver, CallerKey, Delivery, Question, Reply, Said, UpstreamError, UpstreamErrorKind, UpstreamRequest,
};
pub use stdio::StderrTail;
pub use subscribe::Wish;

use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Limits, RawObject, ResultType};
use compose::{compose, mirror};
use handshake::Peer;
use http::Http;
use pipe::{Exchange, Pipe};
use stdio::Program;
use subscribe::Watched;

/// A connection to one server. Clones share it; it ends with the last of them, or with [`close`](Self::close).
#[derive(Clone)]
pub struct Upstream(Arc<Inner>);

pub(crate) struct Inner {
    link: Link,
    options: ConnectOptions,
    peer: RwLock<Arc<Peer>>,
    /// Held while a new session is opened, so that many requests open one.
    renewing: tokio::sync::Mutex<()>,
    program: Option<Program>,
    /// The link is the event stream of 2024-11-05.
    old_transport: bool,
    /// Which resources to be told about (2026-07-28).
    watched: Watched,
}

enum Link {
    Pipe(Arc<Pipe>),
    Http(Arc<Http>),
}

impl Upstream {
    /// The era that the server is of.
    #[must_use]
    pub fn era(&self) -> Era {
        self.0.peer().version.era()
    }

    /// The revision that was agreed on.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.0.peer().version
    }

    /// Who the server says it is, as JSON text.
    #[must_use]
    pub fn server_info(&self) -> Option<Bytes> {
        self.0.peer().info.clone()
    }

    /// What the server says it is able to do.
    #[must_use]
    pub fn capabilities(&self) -> RawObject {
        self.0.peer().capabilities.clone()
    }

    /// What the server tells those who use it, as a JSON string.
    #[must_use]
    pub fn instructions(&self) -> Option<Bytes> {
        self.0.peer().instructions.clone()
    }

    /// The last lines that a program wrote to its standard error; empty for other servers.
    #[must_use]
    pub fn stderr_tail(&self) -> Vec<String> {
        self.0.program.as_ref().map(|program| program.tail.lines()).unwrap_or_default()
    }

    /// True once nothing can be sent any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.closed().is_cancelled()
    }

    /// True while a question of the server waits for somebody's answer.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        match &self.0.link {
            Link::Pipe(pipe) => pipe.desk().is_asking(),
            Link::Http(http) => http.desk().is_asking(),
        }
    }

    /// Asks a server behind an address again who it is and what it is able to do. Without sessions nothing tells that another one has
    /// taken its place; with them, and with programs, a new connection does, and nothing is asked.
    ///
    /// # Errors
    /// When it does not answer, or is no longer a server of its era.
    pub async fn renew_acquaintance(&self) -> Result<(), ConnectError> {
        if !matches!(self.0.link, Link::Http(_)) || self.era() != Era::Stateless {
            return Ok(());
        }
        let peer = self.0.discover_again().await?;
        let other = peer.capabilities.raw() != self.0.peer().capabilities.raw();
        self.0.set_peer(peer);
        if other {
            // What can be listened to is another thing now.
            self.0.watched.again();
        }
        Ok(())
    }

    /// Whether the server has ended the session. The next request opens another, perhaps with another server.
    #[must_use]
    pub fn has_lost_its_session(&self) -> bool {
        matches!(&self.0.link, Link::Http(http) if is_lost(http))
    }

    pub(crate) fn limits(&self) -> UpstreamLimits {
        self.0.options.limits
    }

    pub(crate) fn wire_limits(&self) -> Limits {
        self.0.wire_limits()
    }

    /// Sends a request, once, and waits for its answer.
    ///
    /// # Errors
    /// Says why there is no answer and whether the server may have acted on the request.
    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
    pub fn request(&self, request: UpstreamRequest<'_>) -> impl Future<Output = Result<Reply, UpstreamError>> + Send {
        async move {
            self.0.renew_if_lost().await?;
            let timeout = request.timeout.unwrap_or(self.0.options.limits.request);
            let era = self.0.peer().version.era();
            let exchange = self.0.prepare(era, request, Some(timeout));
            let (reply, _) = self.0.send(exchange).await?;
            match reply {
                Reply::Result(result) if result.result_type() != ResultType::Complete => {
                    wanted::understood(era, result).map(Reply::Result)
                }
                reply => Ok(reply),
            }
        }
    }

    /// Tells the server something that has no answer; `message` is a whole notification.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub async fn notify(&self, message: Bytes) -> Result<(), UpstreamError> {
        self.0.notify(message).await
    }

    /// Ends the connection: a program gets time to end by itself before it and all it started is made to.
    pub async fn close(&self) {
        match &self.0.link {
            Link::Http(http) => http.close().await,
            Link::Pipe(pipe) => {
                pipe.close("it was closed by us");
                if let Some(program) = &self.0.program {
                    program.close().await;
                }
            }
        }
    }
}

impl Inner {
    fn new(link: Link, options: ConnectOptions, program: Option<Program>, old_transport: bool) -> Self {
        let nobody = Peer {
            version: ProtocolVersion::ASSUMED,
            info: None,
            capabilities: RawObject::empty(),
            instructions: None,
        };
        Self {
            link,
            options,
            peer: RwLock::new(Arc::new(nobody)),
            renewing: tokio::sync::Mutex::default(),
            program,
            old_transport,
            watched: Watched::default(),
        }
    }

    /// Cancelled once nothing can be sent any more.
    fn closed(&self) -> &CancellationToken {
        match &self.link {
            Link::Pipe(pipe) => pipe.closed(),
            Link::Http(http) => http.closed(),
        }
    }

    async fn open(self) -> Result<Upstream, ConnectError> {
        let peer = self.introduce().await?;
        Ok(self.opened(peer))
    }

    fn opened(self, peer: Peer) -> Upstream {
        if peer.version.era() == Era::Stateless {
            self.settle(peer.version, None);
        }
        self.set_peer(peer);
        let upstream = Upstream(Arc::new(self));
        upstream.follow();
        upstream
    }

    fn peer(&self) -> Arc<Peer> {
        self.peer.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_peer(&self, peer: Peer) {
        *self.peer.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(peer);
    }

    fn wire_limits(&self) -> Limits {
        Limits { bytes: self.options.limits.bytes, depth: Limits::DEEPEST }
    }

    /// Sends a request as it looks in this era; also gives the session id that came with the answer.
    async fn exchange_as(
        &self,
        era: Era,
        request: UpstreamRequest<'_>,
        timeout: Option<std::time::Duration>,
    ) -> Result<(Reply, Option<HeaderValue>), UpstreamError> {
        self.send(self.prepare(era, request, timeout)).await
    }

    fn prepare(&self, era: Era, request: UpstreamRequest<'_>, timeout: Option<std::time::Duration>) -> Exchange {
        let id = match &self.link {
            Link::Pipe(pipe) => pipe.next_id(),
            Link::Http(http) => http.next_id(),
        };
        if let Some(observer) = &request.observer {
            observer.sent_as(id);
        }
        let composed = compose(&self.options, era, id, &request);
        let askable = matches!(
            request.method,
            "tools/call" | "prompts/get" | "resources/read" | "completion/complete" | "tasks/result"
        );
        let headers = match &self.link {
            Link::Pipe(_) => Vec::new(),
            Link::Http(_) => mirror(era, &request),
        };
        Exchange {
            id,
            message: composed.message,
            timeout,
            cancel: request.cancel,
            observer: request.observer,
            token: composed.token,
            askable,
            headers,
        }
    }

    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
    fn send(
        &self,
        exchange: Exchange,
    ) -> impl Future<Output = Result<(Reply, Option<HeaderValue>), UpstreamError>> + Send {
        async move {
            match &self.link {
                // Boxed, so that a call over HTTP makes no room for it.
                Link::Pipe(pipe) => Box::pin(pipe.exchange(exchange)).await.map(|reply| (reply, None)),
                Link::Http(http) => http.exchange(exchange).await,
            }
        }
    }

    async fn notify(&self, message: Bytes) -> Result<(), UpstreamError> {
        match &self.link {
            Link::Pipe(pipe) => {
                pipe.notify(message).await;
                Ok(())
            }
            Link::Http(http) => http.notify(message, Vec::new()).await,
        }
    }

    /// Opens a new session if the server forgot the old one.
    async fn renew_if_lost(&self) -> Result<(), UpstreamError> {
        match &self.link {
            // Boxed, since it is rare and every call would have to make room for it.
            Link::Http(http) if is_lost(http) => Box::pin(self.renew(http)).await,
            _ => Ok(()),
        }
    }

    async fn renew(&self, http: &Arc<Http>) -> Result<(), UpstreamError> {
        let _alone = self.renewing.lock().await;
        if !is_lost(http) {
            return Ok(());
        }
        http.set_session(None, None);
        let after = self.options.limits.connect;
        let renewed = tokio::time::timeout(after, self.introduce()).await;
        let renewed = match renewed {
            Ok(Ok(peer)) => Ok(peer),
            Ok(Err(ConnectError::Request(error))) => Err(error.kind().clone()),
            Ok(Err(error)) => Err(UpstreamErrorKind::Protocol { reason: error.to_string() }),
            Err(_) => Err(UpstreamErrorKind::Timeout { after }),
        };
        match renewed {
            Ok(peer) => {
                if peer.version.era() == Era::Session {
                    http.follow_session();
                } else {
                    self.settle(peer.version, None);
                }
                self.set_peer(peer);
                http.desk().events().send(UpstreamEvent::Reconnected);
                Ok(())
            }
            Err(kind) => {
                // The next request tries again.
                http.session().over.cancel();
                Err(UpstreamError::never(kind))
            }
        }
    }
}

/// Whether the server forgot the session.
fn is_lost(http: &Http) -> bool {
    http.session().over.is_cancelled() && !http.closed().is_cancelled()
}

impl Drop for Inner {
    fn drop(&mut self) {
        match &self.link {
            Link::Pipe(pipe) => pipe.close("it was closed by us"),
            Link::Http(http) => http.end(),
        }
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("version", &self.version()).field("closed", &self.is_closed()).finish()
    }
}
