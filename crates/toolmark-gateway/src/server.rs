//! The way in: HTTP on one address. Origin and Host are checked on every route before anything else is looked at.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolmark_core::exposure::ProfileName;
use toolmark_mcp::downstream::origin::Guard;
use toolmark_mcp::downstream::{Binding, Body, Caller, Endpoint, Settings};
use toolmark_mcp::wire::Limits;

use crate::gateway::Gateway;
use crate::pack::PackState;
use crate::service::Front;

/// How long requests under way may take once the gateway is told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// A gateway that listens.
pub struct Serve {
    address: SocketAddr,
    gateway: Arc<Gateway>,
    endpoint: Endpoint<Front>,
    guard: Arc<Guard>,
    listener: TcpListener,
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
    /// This version lets in everybody who reaches it, so it must be out of reach.
    #[error("this version knows no callers by token, so it listens on loopback only and takes no `[gateway.auth]`")]
    Open,
    /// A host or origin in the configuration is none.
    #[error("`{text}` is neither a host nor an origin")]
    Guard {
        /// What is written.
        text: String,
    },
}

impl Serve {
    /// Takes the address; nobody is answered before [`run`](Self::run).
    ///
    /// # Errors
    /// When the address is taken, or a host or origin of the configuration is none.
    pub async fn bind(gateway: Arc<Gateway>, address: SocketAddr) -> Result<Self, ServeError> {
        let snapshot = gateway.snapshot();
        let settings = &snapshot.config().gateway;
        // Invariant: nobody who asked for callers to be checked gets a gateway that checks nobody.
        if settings.auth.tokens || settings.auth.jwt.is_some() || !address.ip().is_loopback() {
            return Err(ServeError::Open);
        }
        let mut guard = Guard::loopback();
        for host in &settings.allowed_hosts {
            guard = guard.allow_host(host).map_err(|_| ServeError::Guard { text: host.clone() })?;
        }
        for origin in &settings.allowed_origins {
            guard = guard.allow_origin(origin).map_err(|_| ServeError::Guard { text: origin.clone() })?;
        }
        let limits = Limits { bytes: settings.limits.body_bytes.as_usize(), depth: settings.limits.depth };
        let endpoint = Endpoint::new(
            Arc::new(Front::new(Arc::clone(&gateway))),
            Settings {
                limits,
                sessions: settings.limits.sessions as usize,
                session_idle: settings.limits.session_idle,
                ..Settings::default()
            },
        );
        let listener = TcpListener::bind(address).await.map_err(|error| ServeError::Listen { address, error })?;
        let address = listener.local_addr().unwrap_or(address);
        Ok(Self { address, gateway, endpoint, guard: Arc::new(guard), listener })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until it is told to stop; those under way are ended in peace.
    pub async fn run(self, stop: CancellationToken) {
        let Self { gateway, endpoint, guard, listener, .. } = self;
        let mut changes = gateway.changes();
        let told = endpoint.clone();
        let teller = tokio::spawn(async move {
            loop {
                match changes.recv().await {
                    Ok(change) => told.broadcast(&change),
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                    Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
                }
            }
        });
        let graceful = GracefulShutdown::new();
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors: wait for some to come back.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let door = Door { gateway: Arc::clone(&gateway), endpoint: endpoint.clone(), guard: Arc::clone(&guard) };
            let service = service_fn(move |request| {
                let door = door.clone();
                async move { Ok::<_, Infallible>(door.answer(request).await) }
            });
            let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service).into_owned());
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection ended");
                }
            });
        }
        drop(listener);
        endpoint.close();
        if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not end in time");
        }
        teller.abort();
        gateway.stop().await;
    }
}

#[derive(Clone)]
struct Door {
    gateway: Arc<Gateway>,
    endpoint: Endpoint<Front>,
    guard: Arc<Guard>,
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if let Err(error) = self.guard.check(request.uri(), request.headers()) {
            return text(error.status(), "text/plain; charset=utf-8", error.to_string());
        }
        let path = request.uri().path();
        if path == "/mcp" {
            return self.endpoint.http(request, Caller::new("local")).await;
        }
        if let Some(name) = path.strip_prefix("/mcp/") {
            return match self.binding(name) {
                Some(binding) => {
                    let caller = Caller::new("local").bound_to(Arc::new(binding));
                    self.endpoint.http(request, caller).await
                }
                None => {
                    text(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "there is no such task or profile".into())
                }
            };
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return text(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "not found".into());
        }
        match path {
            "/healthz" => text(StatusCode::OK, "text/plain; charset=utf-8", "ok".into()),
            "/readyz" => self.ready(),
            _ => text(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "not found; MCP is at /mcp".into()),
        }
    }

    /// What an address below `/mcp` stands for.
    fn binding(&self, name: &str) -> Option<Binding> {
        let snapshot = self.gateway.snapshot();
        if snapshot.workspace().tasks().find(name).is_ok() {
            let written = snapshot.config().tasks.iter().find(|(task, _)| task.as_str() == name);
            let profile = written.and_then(|(_, task)| task.profile.as_ref()).map(ToString::to_string);
            return Some(Binding { task: Some(name.to_owned()), profile });
        }
        let known = snapshot.config().profiles.iter().any(|(profile, _)| profile.as_str() == name)
            || name.parse::<ProfileName>().is_ok();
        known.then(|| Binding { task: None, profile: Some(name.to_owned()) })
    }

    fn ready(&self) -> Response<Body> {
        let packs = self.gateway.packs();
        let ready = packs.iter().all(|pack| pack.state() != PackState::Starting);
        let state = |state: PackState| match state {
            PackState::Starting => "starting",
            PackState::Ready => "ready",
            PackState::Unavailable(_) => "unavailable",
            PackState::Stopped => "stopped",
        };
        let all: serde_json::Map<_, _> =
            packs.iter().map(|pack| (pack.name().to_string(), json!(state(pack.state())))).collect();
        let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        text(status, "application/json", json!({"ready": ready, "packs": all}).to_string())
    }
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
