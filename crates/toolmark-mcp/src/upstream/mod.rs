//! What do we say to a server, whatever its era and wherever it is? One `Upstream` is one server: started or connected to,
//! asked who it is, and sent requests as raw JSON. Nothing is ever sent twice.

mod compose;
mod desk;
mod event;
mod handshake;
mod http;
mod list;
mod options;
mod pipe;
mod request;
mod stdio;
mod subscribe;

use std::sync::{Arc, PoisonError, RwLock};

use ::http::{HeaderValue, Uri};
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

pub use event::{EventSender, UpstreamEvent};
pub use handshake::ConnectError;
pub use list::{ListError, ListKind, Listing};
pub use options::{ConnectOptions, Target, UpstreamLimits, minimal_environment};
pub use request::{Answer, CallObserver, Delivery, Question, Reply, UpstreamError, UpstreamErrorKind, UpstreamRequest};

use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Limits, RawObject};
use compose::{compose, mirror};
use desk::Desk;
use handshake::Peer;
use http::{Client, Http};
use pipe::{Exchange, Pipe, read_lines, write_lines};
use stdio::{Program, Tail};

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
    watched: watch::Sender<Vec<String>>,
}

enum Link {
    Pipe(Arc<Pipe>),
    Http(Arc<Http>),
}

impl Upstream {
    /// Starts or reaches a server and asks it who it is.
    ///
    /// # Errors
    /// When it cannot be started or reached, does not answer in time, or speaks no revision that we speak.
    pub async fn connect(target: Target, options: ConnectOptions, events: EventSender) -> Result<Self, ConnectError> {
        let after = options.limits.connect;
        let late = || ConnectError::Request(UpstreamError::never(UpstreamErrorKind::Timeout { after }));
        let connecting = async {
            match target {
                Target::Stdio { command, args, env, cwd } => {
                    let start = |options: &ConnectOptions| {
                        stdio::start(&command, &args, &env, &options.inherited, cwd.as_deref()).map_err(|error| {
                            ConnectError::Start { command: command.clone(), reason: error.to_string() }
                        })
                    };
                    match Self::attend(start(&options)?, options.clone(), events.clone()).await {
                        // Some old programs give up when they hear something that they do not know.
                        Err(ConnectError::Request(error))
                            if options.era.is_none() && matches!(error.kind(), UpstreamErrorKind::Closed { .. }) =>
                        {
                            let options = ConnectOptions { era: Some(Era::Session), ..options };
                            Self::attend(start(&options)?, options, events).await
                        }
                        other => other,
                    }
                }
                Target::Http { url, headers } => Self::reach(url, &headers, options, events).await,
                Target::Sse { url, headers } => {
                    let client = client(&url, &options)?;
                    let desk = Desk::new(events, options.limits.bytes);
                    let pipe = http::old::connect(client, &url, &headers, desk, options.limits).await?;
                    Inner::new(Link::Pipe(pipe), options, None, true).open().await
                }
            }
        };
        tokio::time::timeout(after, connecting).await.map_err(|_| late())?
    }

    /// Talks to a server over two streams, a message a line, as with a program: for servers in the same process.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn over(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        options: ConnectOptions,
        events: EventSender,
    ) -> Result<Self, ConnectError> {
        let after = options.limits.connect;
        let (pipe, outgoing) = Pipe::new(Desk::new(events, options.limits.bytes), options.limits);
        tokio::spawn(write_lines(pipe.clone(), outgoing, output));
        tokio::spawn(read_lines(pipe.clone(), input, |_| tracing::debug!("a line that is no message")));
        let opening = Inner::new(Link::Pipe(pipe), options, None, false).open();
        let late = |_| ConnectError::Request(UpstreamError::never(UpstreamErrorKind::Timeout { after }));
        tokio::time::timeout(after, opening).await.map_err(late)?
    }

    async fn attend(
        child: tokio::process::Child,
        options: ConnectOptions,
        events: EventSender,
    ) -> Result<Self, ConnectError> {
        let limits = options.limits;
        let (pipe, outgoing) = Pipe::new(Desk::new(events, limits.bytes), limits);
        let program = Program::attend(child, &pipe, outgoing, Tail::new(limits.stderr_lines), limits.grace);
        Inner::new(Link::Pipe(pipe), options, Some(program), false).open().await
    }

    async fn reach(
        url: Uri,
        headers: &::http::HeaderMap,
        options: ConnectOptions,
        events: EventSender,
    ) -> Result<Self, ConnectError> {
        let client = client(&url, &options)?;
        let desk = Desk::new(events, options.limits.bytes);
        let http = Http::new(client.clone(), url.clone(), headers, desk.clone(), options.limits);
        let inner = Inner::new(Link::Http(http.clone()), options.clone(), None, false);
        let mut result = inner.introduce().await;
        for _ in 0..3 {
            // The usual missing or superfluous slash at the end; never to another server.
            let Err(ConnectError::Request(error)) = &result else { break };
            let UpstreamErrorKind::Status { status: 307 | 308, location: Some(location), .. } = error.kind() else {
                break;
            };
            if !http.moved(location) {
                break;
            }
            result = inner.introduce().await;
        }
        let error = match result {
            Ok(peer) => return Ok(inner.opened(peer)),
            Err(error) => error,
        };
        // A server that takes no POST at this address may be one of 2024-11-05.
        let maybe_old = options.era != Some(Era::Stateless)
            && matches!(&error, ConnectError::Request(error)
                if matches!(error.kind(), UpstreamErrorKind::Status { status: 400 | 404 | 405, .. }));
        if maybe_old && let Ok(pipe) = http::old::connect(client, &url, headers, desk, options.limits).await {
            return Inner::new(Link::Pipe(pipe), options, None, true).open().await;
        }
        Err(error)
    }

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
        match &self.0.link {
            Link::Pipe(pipe) => pipe.closed().is_cancelled(),
            Link::Http(http) => http.closed().is_cancelled(),
        }
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
    pub async fn request(&self, request: UpstreamRequest<'_>) -> Result<Reply, UpstreamError> {
        self.0.renew_if_lost().await?;
        let era = self.0.peer().version.era();
        let timeout = request.timeout.unwrap_or(self.0.options.limits.request);
        self.0.exchange_as(era, request, Some(timeout)).await.map(|(reply, _)| reply)
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

fn client(url: &Uri, options: &ConnectOptions) -> Result<Client, ConnectError> {
    Client::new(url, options.limits.connect, options.limits.in_flight)
        .map_err(|reason| ConnectError::Address { reason })
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
            watched: watch::Sender::default(),
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
        let id = match &self.link {
            Link::Pipe(pipe) => pipe.next_id(),
            Link::Http(http) => http.next_id(),
        };
        let composed = compose(&self.options, era, id, &request);
        let askable = matches!(
            request.method,
            "tools/call" | "prompts/get" | "resources/read" | "completion/complete" | "tasks/result"
        );
        let extra = match &self.link {
            Link::Pipe(_) => Vec::new(),
            Link::Http(_) => mirror(era, &request),
        };
        let exchange = Exchange {
            id,
            message: composed.message,
            timeout,
            cancel: request.cancel,
            observer: request.observer,
            token: composed.token,
            askable,
        };
        match &self.link {
            Link::Pipe(pipe) => pipe.exchange(exchange).await.map(|reply| (reply, None)),
            Link::Http(http) => http.exchange(exchange, extra).await,
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
        let Link::Http(http) = &self.link else { return Ok(()) };
        let lost = || http.session().over.is_cancelled() && !http.closed().is_cancelled();
        if !lost() {
            return Ok(());
        }
        let _alone = self.renewing.lock().await;
        if !lost() {
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
