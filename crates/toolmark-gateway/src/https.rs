//! A client for what the gateway itself asks or tells others: over TLS with the certificates of this machine, or without.

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Body;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use toolmark_tls::{Connector, Trust, connector};

/// Sends requests with this kind of body.
pub(crate) type Client<B> = legacy::Client<Connector, B>;

/// A client that waits so long for a connection. An error says why there can be none.
pub(crate) fn client<B>(patience: Duration) -> Result<Client<B>, String>
where
    B: Body<Data = Bytes> + Send,
{
    let connector = connector(&Trust::machine(), patience, true)?;
    Ok(legacy::Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector))
}
