//! The fixture over streamable HTTP, on one path, for callers on this machine only: Host and Origin are each checked on their own.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::fixture::Fixture;
use crate::options::Era;
use crate::sessions::Sessions;

/// Pages that a browser on this machine may have loaded from here.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// A fixture that listens; it stops when this is dropped.
#[derive(Debug)]
pub struct Listening {
    address: SocketAddr,
    task: JoinHandle<io::Result<()>>,
    stop: CancellationToken,
}

impl Listening {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of its MCP endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Waits until it no longer listens, which by itself it never does.
    ///
    /// # Errors
    ///
    /// When the socket fails.
    pub async fn stopped(mut self) -> io::Result<()> {
        match (&mut self.task).await {
            Ok(result) => result,
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

/// Starts to serve on an address; port 0 takes a free one.
///
/// # Errors
///
/// When the address cannot be listened on.
pub async fn serve_http(fixture: Fixture, address: SocketAddr) -> io::Result<Listening> {
    let stop = CancellationToken::new();
    let era = fixture.era();
    let config = StreamableHttpServerConfig::default()
        .with_json_response(fixture.answers_json())
        .with_allowed_origins(ORIGINS)
        .enforce_origin_validation()
        .with_cancellation_token(stop.child_token());
    let service =
        StreamableHttpService::new(move || Ok(fixture.for_another_peer()), Arc::new(Sessions::default()), config);
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    // Small events would otherwise wait for the acknowledgement of the one before. A socket that refuses is slow, not wrong.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let mut router = Router::new().route_service("/mcp", service);
    if era == Era::Old {
        router = router.layer(middleware::from_fn(only_old));
    }
    let task = tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(Listening { address, task, stop })
}

/// What a server from before 2026-07-28 says to a client that names that revision.
async fn only_old(request: Request, next: Next) -> Response {
    let version = request.headers().get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    if version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28.as_str()) {
        return next.run(request).await;
    }
    let error = json!({ "code": -32000, "message": "Bad Request: Unsupported protocol version" });
    (StatusCode::BAD_REQUEST, Json(json!({ "jsonrpc": "2.0", "error": error, "id": null }))).into_response()
}
