//! The way in: HTTP on one address. Origin and Host are checked on every route before anything else is looked at.

mod bindings;
mod door;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolmark_core::explain::{Code, Explain};
use toolmark_mcp::downstream::origin::Guard;
use toolmark_mcp::downstream::{Endpoint, Settings};
use toolmark_store::StoreError;

use self::bindings::Addresses;
use self::door::{Door, WayIn, Within};
use crate::access::{Access, AccessError, Limiter};
use crate::again::{Again, Heard};
use crate::agui::Agui;
use crate::approvals::Api;
use crate::connections::{ConnectionLimits, Line, Open, Watched};
use crate::console::Console;
use crate::console::keeper::{ConsoleKey, Keeper};
use crate::gateway::Gateway;
use crate::service::Front;

/// How long requests under way may take once the gateway is told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// A gateway that listens.
pub struct Serve {
    address: SocketAddr,
    gateway: Arc<Gateway>,
    endpoint: Endpoint<Front>,
    way: Arc<WayIn>,
    listener: TcpListener,
    key: Option<ConsoleKey>,
    limits: ConnectionLimits,
}

/// Why a gateway cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be had.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// A host or origin in the configuration is none.
    #[error("`{text}` is neither a host nor an origin")]
    Guard {
        /// What is written.
        text: String,
    },
    /// Others could reach it, and nobody would have to say who they are.
    #[error("{address} can be reached from elsewhere, and callers need no token")]
    Open {
        /// The address.
        address: SocketAddr,
    },
    /// Nobody could be let in.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Serve {
    /// Takes the address; nobody is answered before [`run`](Self::run).
    ///
    /// # Errors
    /// When the address is taken, or a host or origin of the configuration is none.
    pub async fn bind(gateway: Arc<Gateway>, address: SocketAddr) -> Result<Self, ServeError> {
        Self::bind_for(gateway, address, "local").await
    }

    /// The same; whoever decides with the console's key is recorded under the name of who started the gateway.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub async fn bind_for(gateway: Arc<Gateway>, address: SocketAddr, user: &str) -> Result<Self, ServeError> {
        Self::bind_within(gateway, address, user, ConnectionLimits::default()).await
    }

    /// Whether an address is free. Whoever finds that out before servers are started need not end them again.
    ///
    /// # Errors
    /// [`ServeError::Listen`] when somebody else listens there.
    pub async fn is_free(address: SocketAddr) -> Result<(), ServeError> {
        TcpListener::bind(address).await.map(drop).map_err(|error| ServeError::Listen { address, error })
    }

    /// The same with other limits for connections.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub async fn bind_within(
        gateway: Arc<Gateway>,
        address: SocketAddr,
        user: &str,
        within: ConnectionLimits,
    ) -> Result<Self, ServeError> {
        let snapshot = gateway.snapshot();
        let settings = &snapshot.config().gateway;
        if settings.would_be_open(address) {
            return Err(ServeError::Open { address });
        }
        let access = Access::of(&settings.auth, gateway.store().cloned(), settings.public_url.as_deref())?;
        let (mut guard, mut pages) = (Guard::loopback(), Guard::closed());
        if let Some(url) = &settings.public_url {
            guard = guard.allow_url(url).map_err(|_| ServeError::Guard { text: url.clone() })?;
        }
        for host in &settings.allowed_hosts {
            guard = guard.allow_host(host).map_err(|_| ServeError::Guard { text: host.clone() })?;
        }
        for origin in &settings.allowed_origins {
            guard = guard.allow_origin(origin).map_err(|_| ServeError::Guard { text: origin.clone() })?;
            pages = pages.allow_origin(origin).map_err(|_| ServeError::Guard { text: origin.clone() })?;
        }
        let served = gateway.settings().await?;
        let shown = snapshot.config().console.enabled;
        // A system without random numbers has no key; tokens of the store are good all the same.
        let key = shown.then(ConsoleKey::random).flatten();
        let keeper = Arc::new(Keeper::new(gateway.store().cloned(), key.as_ref()).of(user));
        let leaving = CancellationToken::new();
        let api = match (gateway.desk(), gateway.store()) {
            (Some(desk), Some(store)) => {
                let (desk, store, gateway) = (desk.clone(), store.clone(), Arc::clone(&gateway));
                Some(Api::new(desk, store, gateway, Arc::clone(&keeper), within.body, leaving.clone()).await?)
            }
            _ => None,
        };
        let console = || Console::new(Arc::clone(&gateway), Arc::clone(&keeper), within.body, leaving.clone());
        let console = shown.then(console);
        let agui = match snapshot.config().agui.enabled {
            true => Some(Agui::new(Arc::clone(&gateway), within.body).await?),
            false => None,
        };
        let served = Settings { body_time: within.body, ..served };
        let endpoint = Endpoint::new(Arc::new(Front::new(Arc::clone(&gateway))), served);
        let listener = TcpListener::bind(address).await.map_err(|error| ServeError::Listen { address, error })?;
        let address = listener.local_addr().unwrap_or(address);
        if !address.ip().is_unspecified() {
            guard = guard.allow_address(address);
        }
        let limiter = Limiter::new(&settings.limits);
        let metrics = snapshot.config().telemetry.metrics;
        let way = WayIn {
            guard,
            pages,
            access,
            limiter,
            addresses: Addresses::default(),
            metrics,
            api,
            console,
            agui,
            keeper,
            leaving,
            settled: AtomicBool::new(false),
        };
        Ok(Self { address, gateway, endpoint, way: Arc::new(way), listener, key, limits: within })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The key of the console, to be shown once to whoever started the gateway and to nobody else; nothing without a console.
    #[must_use]
    pub fn console_key(&self) -> Option<&str> {
        self.key.as_ref().map(ConsoleKey::reveal)
    }

    /// Answers requests until it is told to stop; those under way are ended in peace.
    pub async fn run(self, stop: CancellationToken) {
        let Self { address, gateway, endpoint, way, listener, key: _, limits } = self;
        tracing::info!(%address, "the gateway listens");
        let teller = tokio::spawn(Front::tell(endpoint.clone(), gateway.changes()));
        let forgetting = Arc::clone(&way);
        let forgetter = tokio::spawn(async move {
            if let Some(agui) = &forgetting.agui {
                agui.forget_old_threads().await;
            }
        });
        let starting = (Arc::clone(&gateway), Arc::clone(&way));
        let starter = tokio::spawn(async move {
            let (gateway, way) = starting;
            gateway.settled().await;
            way.settled.store(true, Ordering::Relaxed);
        });
        let everywhere = address.ip().is_unspecified();
        let (told, stopping) = watch::channel(());
        let mut open = Open::default();
        let within = Arc::new(Within {
            gateway: Arc::clone(&gateway),
            endpoint: endpoint.clone(),
            way: Arc::clone(&way),
            open: Arc::clone(open.count()),
            kept: limits.kept,
        });
        let builder = limits.builder();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    // Out of file descriptors: one that nobody uses gives its own back, or some come back by themselves.
                    if is_out_of_files(&error) {
                        open.make_room();
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            if !open.has_room(limits.most) {
                continue;
            }
            let _ = stream.set_nodelay(true);
            let (counted, line) = (open.one_more(), Arc::<Line>::default());
            let local = everywhere.then(|| stream.local_addr().ok()).flatten();
            let (watched, door) = (Arc::downgrade(&line), Door { within: Arc::clone(&within), line, peer, local });
            let service = service_fn(move |request: Request<Incoming>| {
                door.line.heard(request.version() >= Version::HTTP_2);
                Heard::new(door.clone().answer(request))
            });
            let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
            let connection = Watched::new(connection, watched.clone(), limits, stopping.clone());
            let task = tokio::spawn(async move {
                if let Err(error) = Again::new(connection).await {
                    tracing::debug!(%error, "a connection ended");
                }
                drop(counted);
            });
            open.keep(watched, task.abort_handle());
        }
        drop(listener);
        tracing::info!("the gateway is stopping");
        endpoint.close();
        way.leaving.cancel();
        if let Some(agui) = &way.agui {
            agui.close();
        }
        drop(stopping);
        let _ = told.send(());
        // All at once: one time for everything that is under way, not one after the other.
        let requests = async {
            if tokio::time::timeout(GRACE, told.closed()).await.is_err() {
                tracing::warn!("some requests did not end in time");
            }
        };
        let runs = async {
            if let Some(agui) = &way.agui
                && tokio::time::timeout(GRACE, agui.ended()).await.is_err()
            {
                tracing::warn!("some runs of agents did not end in time");
            }
        };
        tokio::join!(requests, runs, way.access.note_uses());
        for task in [teller, forgetter, starter] {
            task.abort();
        }
        gateway.stop().await;
    }
}
impl Explain for ServeError {
    fn code(&self) -> Code {
        match self {
            Self::Listen { .. } => Code::new("gateway-listen"),
            Self::Guard { .. } => Code::new("gateway-host"),
            Self::Open { .. } => Code::new("config-listen-without-auth"),
            Self::Access(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Listen { .. } => "clients would look for it there and find somebody else, or nobody".into(),
            Self::Guard { .. } => {
                "a host that is left out would be refused later, and one that is misread let in".into()
            }
            Self::Open { .. } => {
                "whoever reaches the address could call every tool, with the credentials held here".into()
            }
            Self::Access(error) => error.why(),
            Self::Store(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Listen { .. } => "end what listens there, or choose another port".into(),
            Self::Guard { .. } => "write a host as `tools.example.com`, an origin as `https://app.example.com`".into(),
            Self::Open { .. } => "set `tokens = true` in `[gateway.auth]`, or listen on `127.0.0.1`".into(),
            Self::Access(error) => error.fix(),
            Self::Store(error) => error.fix(),
        }
    }
}
/// Whether there are more open files than this process, or the system, may have.
fn is_out_of_files(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("address", &self.address).finish_non_exhaustive()
    }
}
