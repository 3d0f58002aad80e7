//! A client for what the gateway itself asks or tells others: over TLS with the certificates of this machine, or without.

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

/// Sends requests with this kind of body.
pub(crate) type Client<B> = legacy::Client<HttpsConnector<HttpConnector>, B>;

/// A client that waits so long for a connection. An error says why there can be none.
pub(crate) fn client<B>(patience: Duration) -> Result<Client<B>, String>
where
    B: Body<Data = Bytes> + Send,
{
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(patience));
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let tls = HttpsConnectorBuilder::new()
        .with_provider_and_platform_verifier(provider)
        .map_err(|error| format!("no certificates to trust: {error}"))?;
    let connector = tls.https_or_http().enable_http1().enable_http2().wrap_connector(connector);
    Ok(legacy::Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector))
}
