//! One connection with TLS, or without where that is allowed, within a time that includes the handshake.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;

use crate::trust::Trust;

/// Makes connections for a client of `hyper-util`.
#[derive(Clone, Debug)]
pub struct Connector {
    inner: HttpsConnector<HttpConnector>,
    patience: Duration,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A connector that believes whom `trust` says and waits so long for a connection. `plain` says whether `http://` is allowed too.
///
/// # Errors
/// Why no connection could ever be made.
pub fn connector(trust: &Trust, patience: Duration, plain: bool) -> Result<Connector, String> {
    let mut tcp = HttpConnector::new();
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(patience));
    tcp.enforce_http(false);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    // The one place where a verifier is chosen; each of those that a trust has looks at everything.
    let config = config.dangerous().with_custom_certificate_verifier(trust.verifier(provider)?).with_no_client_auth();
    let builder = HttpsConnectorBuilder::new().with_tls_config(config);
    let builder = if plain { builder.https_or_http() } else { builder.https_only() };
    let inner = builder.enable_http1().enable_http2().wrap_connector(tcp);
    Ok(Connector { inner, patience })
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Failure>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let connecting = tokio::time::timeout(self.patience, self.inner.call(address));
        Box::pin(async move {
            // A server that takes the connection and then says nothing is as late as one that does not take it.
            connecting.await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        })
    }
}
