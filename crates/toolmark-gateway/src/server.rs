//! The way in: HTTP on one address. Origin and Host are checked on every route before anything else is looked at.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::exposure::ProfileName;
use toolmark_mcp::downstream::origin::{Guard, RefuseRequestError};
use toolmark_mcp::downstream::{Binding, Body, Endpoint, Listening, Pieces, Settings};
use toolmark_store::StoreError;

use crate::access::{Access, AccessError, Limiter, Permit, Refusal, WELL_KNOWN, refused};
use crate::again::{Again, Heard};
use crate::agui::{self, Agui, Wanted};
use crate::approvals::Api;
use crate::connections::{ConnectionLimits, Line, Open, Watched};
use crate::console::error::ConsoleError;
use crate::console::keeper::{ConsoleKey, Keeper};
use crate::console::{Console, assets};
use crate::cors;
use crate::gateway::Gateway;
use crate::metrics;
use crate::pack::PackState;
use crate::service::Front;
use crate::snapshot::Snapshot;

/// How long requests under way may take once the gateway is told to stop.
const GRACE: Duration = Duration::from_secs(10);

const PLAIN: &str = "text/plain; charset=utf-8";

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
        let api = match (gateway.desk(), gateway.store()) {
            (Some(desk), Some(store)) => Some(
                Api::new(desk.clone(), store.clone(), Arc::clone(&gateway), Arc::clone(&keeper), within.body).await?,
            ),
            _ => None,
        };
        let console = shown.then(|| Console::new(Arc::clone(&gateway), Arc::clone(&keeper), within.body));
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

/// What every connection leads to.
struct Within {
    gateway: Arc<Gateway>,
    endpoint: Endpoint<Front>,
    way: Arc<WayIn>,
    /// How many connections are open.
    open: Arc<AtomicUsize>,
    /// How many of them may wait for their next request.
    kept: usize,
}

/// One connection, seen from within.
#[derive(Clone)]
struct Door {
    within: Arc<Within>,
    line: Arc<Line>,
    peer: SocketAddr,
    /// The address of this machine that it came to, where it listens on all of them.
    local: Option<SocketAddr>,
}

impl std::ops::Deref for Door {
    type Target = Within;

    fn deref(&self) -> &Within {
        &self.within
    }
}

/// What a request has to pass, in this order.
struct WayIn {
    guard: Guard,
    /// The pages that may read answers: those that the configuration names.
    pages: Guard,
    access: Access,
    limiter: Limiter,
    addresses: Addresses,
    /// Whether figures are served.
    metrics: bool,
    /// Where people decide.
    api: Option<Api>,
    /// What people look at.
    console: Option<Console>,
    /// What user interfaces talk to.
    agui: Option<Agui>,
    /// Who may look and decide.
    keeper: Arc<Keeper>,
    /// Whether every pack of the first start has started or failed. What is added later does not take that back.
    settled: AtomicBool,
}

/// What the addresses below `/mcp` stand for under one snapshot, so that it is found out once.
#[derive(Default)]
struct Addresses {
    known: RwLock<(Weak<Snapshot>, Bindings)>,
    unbound: Arc<Binding>,
}

type Bindings = HashMap<Box<str>, Arc<Binding>>;

/// A body that holds its caller's place until it was sent.
struct Counted {
    body: Body,
    _permit: Option<Permit>,
    /// Whoever was let in uses their connection until then; others have what they get once it is written.
    _line: Option<Arc<Line>>,
}

impl Door {
    /// Boxed, so that a connection that waits for its next request holds no room for answering it, and a call none for what else there is.
    fn answer(self, request: Request<Incoming>) -> BoxFuture<'static, Result<Response<Counted>, Infallible>> {
        let one_at_a_time = request.version() < Version::HTTP_2;
        let origin = match self.guard(&request) {
            Ok(origin) => origin,
            Err(error) => {
                self.turn_away(error.status(), error.code());
                // Clients of MCP show what they can read; pages and people get the words.
                let response = match is_mcp(request.uri().path()) {
                    true => refused(error.status(), error.code(), &error.to_string()),
                    false => text(error.status(), PLAIN, error.to_string()),
                };
                return Box::pin(std::future::ready(Ok(self.last_look(response, one_at_a_time, None, false))));
            }
        };
        let path = request.uri().path();
        let mcp = is_mcp(path);
        if origin.is_some()
            && (mcp || path.starts_with(WELL_KNOWN))
            && self.way.pages.check_origin(request.headers()).is_ok()
        {
            let origin = origin.cloned();
            return Box::pin(async move {
                let mut permit = None;
                let mut response = match cors::is_preflight(&request) {
                    true => cors::preflight(request.headers()),
                    false if mcp => self.mcp(request, &mut permit).await,
                    false => self.elsewhere(request, &mut permit).await,
                };
                cors::share(origin.as_ref(), &mut response);
                cors::expose(&mut response);
                Ok(self.last_look(response, one_at_a_time, permit, mcp))
            });
        }
        if mcp {
            return Box::pin(async move {
                let mut permit = None;
                let response = self.mcp(request, &mut permit).await;
                Ok(self.last_look(response, one_at_a_time, permit, true))
            });
        }
        let for_people = Agui::covers(path) || Console::covers(path);
        Box::pin(async move {
            let mut permit = None;
            let response = self.elsewhere(request, &mut permit).await;
            Ok(self.last_look(response, one_at_a_time, permit, for_people))
        })
    }

    /// May a request with this host and this origin come here at all? On a machine with several addresses, the one that it came to is ours
    /// too: looked at only where nothing else lets it in.
    fn guard<'a>(&self, request: &'a Request<Incoming>) -> Result<Option<&'a HeaderValue>, RefuseRequestError> {
        let guard = &self.way.guard;
        guard.check(request.uri(), request.headers()).or_else(|error| match self.local {
            Some(local) => guard.clone().allow_address(local).check(request.uri(), request.headers()),
            None => Err(error),
        })
    }

    fn last_look(
        self,
        mut response: Response<Body>,
        one_at_a_time: bool,
        permit: Option<Permit>,
        in_use: bool,
    ) -> Response<Counted> {
        if one_at_a_time && self.open.load(Ordering::Relaxed) > self.kept {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let line = in_use.then_some(self.line);
        response.map(|body| Counted { body, _permit: permit, _line: line })
    }

    /// Everything but MCP.
    async fn elsewhere(&self, request: Request<Incoming>, permit: &mut Option<Permit>) -> Response<Body> {
        let (uri, headers) = (request.uri(), request.headers());
        let path = uri.path();
        if Agui::covers(path)
            && let Some(agui) = &self.way.agui
        {
            return Box::pin(self.agui(agui, request, permit)).await;
        }
        if Api::covers(path)
            && let Some(api) = &self.way.api
        {
            // Boxed, as below, so that calls make no room for what few requests are.
            return self.noted(Box::pin(api.answer(request, self.peer)).await);
        }
        if let Some(console) = &self.way.console {
            if Console::covers(path) {
                return self.noted(Box::pin(console.answer(request, self.endpoint.held())).await);
            }
            if assets::covers(path) {
                return assets::answer(request.method(), path, headers);
            }
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return text(StatusCode::NOT_FOUND, PLAIN, "not found".into());
        }
        match path {
            "/healthz" => text(StatusCode::OK, PLAIN, "ok".into()),
            "/readyz" => Box::pin(self.ready(uri, headers)).await,
            "/metrics" if self.way.metrics => match Box::pin(self.way.access.admit_to_all(uri, headers)).await {
                Ok(_) => text(StatusCode::OK, metrics::CONTENT_TYPE, self.gateway.figures(self.endpoint.held())),
                Err(refusal) => self.refuse(&refusal),
            },
            _ if path.starts_with(WELL_KNOWN) => match self.way.access.metadata(uri, headers) {
                Some(document) => text(StatusCode::OK, "application/json", document),
                None => text(StatusCode::NOT_FOUND, PLAIN, "not found".into()),
            },
            _ => text(StatusCode::NOT_FOUND, PLAIN, "not found; MCP is at /mcp".into()),
        }
    }

    /// Who is it, may they come here, and do they not take too much? Only then the request is read.
    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
    fn mcp(
        &self,
        request: Request<Incoming>,
        permit: &mut Option<Permit>,
    ) -> impl Future<Output = Response<Body>> + Send {
        async move {
            let (uri, headers) = (request.uri(), request.headers());
            let name = uri.path().strip_prefix("/mcp/");
            let binding = match name {
                None => Some(Arc::clone(&self.way.addresses.unbound)),
                Some(name) => self.way.addresses.find(&self.gateway.snapshot(), name),
            };
            // Whoever is not let in does not learn which addresses there are.
            let wanted = binding.as_ref().unwrap_or(&self.way.addresses.unbound);
            let admitted = match self.way.access.admit(uri, headers, wanted).await {
                Ok(admitted) => admitted,
                Err(refusal) => return self.refuse(&refusal),
            };
            let Some(binding) = binding else {
                return text(StatusCode::NOT_FOUND, PLAIN, "there is no such task or profile".into());
            };
            if request.method() == Method::POST {
                match self.way.limiter.take(&admitted.principal) {
                    Ok(taken) => *permit = Some(taken),
                    Err(error) => {
                        let response = error.response();
                        self.turn_away(response.status(), error.code());
                        return response;
                    }
                }
            }
            let response = self.endpoint.http(request, admitted.caller.clone().bound_to(binding)).await;
            if response.extensions().get::<Listening>().is_some() {
                // A client that listens must be able to call meanwhile. Such streams are limited by their own number.
                *permit = None;
                self.line.listens();
            }
            response
        }
    }

    /// The same for user interfaces. Pages of origins that may come here read the answer.
    async fn agui(&self, agui: &Agui, request: Request<Incoming>, permit: &mut Option<Permit>) -> Response<Body> {
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut response = match *request.method() == Method::OPTIONS {
            true => agui::preflight(),
            false => self.agui_admitted(agui, request, permit).await,
        };
        cors::share(origin.as_ref(), &mut response);
        response
    }

    async fn agui_admitted(
        &self,
        agui: &Agui,
        request: Request<Incoming>,
        permit: &mut Option<Permit>,
    ) -> Response<Body> {
        let (uri, headers) = (request.uri(), request.headers());
        let unbound = &self.way.addresses.unbound;
        let by_key = self.way.keeper.has_key(headers);
        let admitted = match (agui.wants(uri.path()), by_key) {
            (_, true) => Ok(format!("console:{}", self.way.keeper.user()).into()),
            (Wanted::Live, false) => match self.way.keeper.approver(headers).await {
                Ok(approver) => Ok(approver.name.into()),
                Err(error) => return self.noted(ConsoleError::from(error).response()),
            },
            (Wanted::List, false) => {
                self.way.access.admit(uri, headers, unbound).await.map(|own| own.principal.clone())
            }
            (Wanted::Agent(binding), false) => {
                self.way.access.admit(uri, headers, &binding).await.map(|own| own.principal.clone())
            }
        };
        let principal: Arc<str> = match admitted {
            Ok(principal) => principal,
            Err(refusal) => return self.refuse(&refusal),
        };
        if request.method() == Method::POST {
            match self.way.limiter.take(&principal) {
                Ok(taken) => *permit = Some(taken),
                Err(error) => {
                    let response = error.response();
                    self.turn_away(response.status(), error.code());
                    return response;
                }
            }
        }
        agui.answer(request, &principal).await
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        let response = refusal.response();
        self.turn_away(response.status(), refusal.why().code());
        response
    }

    /// What the console and the approvals answered; whom they turned away is counted as everywhere.
    fn noted(&self, response: Response<Body>) -> Response<Body> {
        match response.status() {
            status @ StatusCode::UNAUTHORIZED => self.turn_away(status, Code::new("approver-token-missing")),
            status @ StatusCode::FORBIDDEN => self.turn_away(status, Code::new("approver-token-wrong")),
            _ => {}
        }
        response
    }

    /// Counts a request that was not let in. Whoever sends many must not fill the log.
    fn turn_away(&self, status: StatusCode, code: Code) {
        tracing::debug!(status = status.as_u16(), %code, "a request was not let in");
        self.gateway.metrics().turn_away(status, code);
    }

    /// Ready once the first start is over, however it ended, and from then on: a pack that is added later takes nobody's calls away. Which
    /// packs there are is for whoever may see all of them.
    async fn ready(&self, uri: &Uri, headers: &HeaderMap) -> Response<Body> {
        let packs = self.gateway.packs();
        let starts = packs.iter().any(|pack| pack.state() == PackState::Starting);
        let ready = self.way.settled.load(Ordering::Relaxed) || !starts;
        let mut states = BTreeMap::<&str, usize>::new();
        for pack in &packs {
            *states.entry(pack.state().as_str()).or_default() += 1;
        }
        let mut body = json!({"ready": ready, "states": states});
        if self.way.access.admit_to_all(uri, headers).await.is_ok()
            && let Some(members) = body.as_object_mut()
        {
            let all = packs.iter().map(|pack| (pack.name().to_string(), json!(pack.state().as_str())));
            members.insert("packs".into(), Value::Object(all.collect()));
        }
        let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        text(status, "application/json", body.to_string())
    }
}

fn is_mcp(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/mcp/")
}

impl Addresses {
    fn find(&self, snapshot: &Arc<Snapshot>, name: &str) -> Option<Arc<Binding>> {
        {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            if std::ptr::eq(known.0.as_ptr(), Arc::as_ptr(snapshot))
                && let Some(binding) = known.1.get(name)
            {
                return Some(Arc::clone(binding));
            }
        }
        let binding = Arc::new(binding(snapshot, name)?);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(known.0.as_ptr(), Arc::as_ptr(snapshot)) {
            *known = (Arc::downgrade(snapshot), HashMap::new());
        }
        // Only names that mean something are kept, so there are only so many.
        known.1.insert(name.into(), Arc::clone(&binding));
        Some(binding)
    }
}

/// What an address below `/mcp` stands for.
fn binding(snapshot: &Snapshot, name: &str) -> Option<Binding> {
    if snapshot.workspace().tasks().find(name).is_ok() {
        let written = snapshot.config().tasks.iter().find(|(task, _)| task.as_str() == name);
        let profile = written.and_then(|(_, task)| task.profile.as_ref()).map(ToString::to_string);
        return Some(Binding { task: Some(name.to_owned()), profile });
    }
    let known = snapshot.config().profiles.iter().any(|(profile, _)| profile.as_str() == name)
        || name.parse::<ProfileName>().is_ok();
    known.then(|| Binding { task: None, profile: Some(name.to_owned()) })
}

impl hyper::body::Body for Counted {
    type Data = Pieces;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Pieces>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
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

fn text(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}

impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("address", &self.address).finish_non_exhaustive()
    }
}
