//! Connections to one server without TLS, kept for the next call. Every call passes here, so this does what a call needs and nothing
//! else: no second attempt of what may have been sent, no redirects, no other server.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::client::legacy::connect::HttpConnector;
use tower::Service as _;

use super::client::innermost;
use crate::upstream::request::{UpstreamError, UpstreamErrorKind};

type Sender = SendRequest<Full<Bytes>>;

/// The connections to one server.
pub(crate) struct Pool {
    connector: HttpConnector,
    address: Uri,
    host: HeaderValue,
    /// The longest unused first.
    idle: Mutex<Vec<Idle>>,
    most_idle: usize,
    patience: Duration,
    sweeping: AtomicBool,
}

struct Idle {
    sender: Sender,
    since: Instant,
}

/// An answer on its way. Its connection is free again when all of it has come; one that is dropped before takes the connection along.
pub(crate) struct Arriving {
    body: Incoming,
    lease: Option<Lease>,
}

struct Lease {
    sender: Sender,
    pool: Arc<Pool>,
}

impl Pool {
    /// Connections to the server of this address; none is made yet. Those that were not used for `patience` are closed.
    pub(super) fn new(
        connector: HttpConnector,
        address: &Uri,
        most_idle: usize,
        patience: Duration,
    ) -> Option<Arc<Self>> {
        let host = address.host()?;
        let host = match address.port_u16().filter(|port| *port != 80) {
            Some(port) => HeaderValue::from_str(&format!("{host}:{port}")),
            None => HeaderValue::from_str(host),
        };
        Some(Arc::new(Self {
            connector,
            address: address.clone(),
            host: host.ok()?,
            idle: Mutex::default(),
            most_idle,
            patience,
            sweeping: AtomicBool::new(false),
        }))
    }

    /// Sends a request. A connection that turns out to be closed before anything was written to it is replaced by another.
    pub(super) async fn send(
        self: &Arc<Self>,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Arriving>, UpstreamError> {
        let mut request = request;
        if let Some(path) = request.uri().path_and_query().cloned() {
            *request.uri_mut() = Uri::from(path);
        }
        request.headers_mut().insert(HOST, self.host.clone());
        loop {
            let (mut sender, used) = match self.take().await {
                Some(sender) => (sender, true),
                // Boxed: most requests find a connection, and need no room for making one.
                None => (Box::pin(self.connect()).await?, false),
            };
            match sender.try_send_request(request).await {
                Ok(response) => {
                    let lease = Some(Lease { sender, pool: Arc::clone(self) });
                    return Ok(response.map(|body| Arriving { body, lease }.settled()));
                }
                Err(mut error) => {
                    let kind = UpstreamErrorKind::Transport { reason: innermost(error.error()) };
                    match error.take_message() {
                        Some(unsent) if used => request = unsent,
                        Some(_) => return Err(UpstreamError::never(kind)),
                        None => return Err(UpstreamError::perhaps(kind)),
                    }
                }
            }
        }
    }

    /// A connection that can be used at once.
    async fn take(&self) -> Option<Sender> {
        loop {
            // Not in the loop's head: the lock must be gone before anything is waited for.
            let last = self.idle().pop();
            let Idle { mut sender, since } = last?;
            if since.elapsed() < self.patience && sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    async fn connect(&self) -> Result<Sender, UpstreamError> {
        let never = |reason| UpstreamError::never(UpstreamErrorKind::Transport { reason });
        let stream = self.connector.clone().call(self.address.clone()).await;
        let stream = stream.map_err(|error| never(innermost(&error)))?;
        let (mut sender, connection) = http1::handshake(stream).await.map_err(|error| never(innermost(&error)))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to a server ended");
            }
        });
        sender.ready().await.map_err(|error| never(innermost(&error)))?;
        Ok(sender)
    }

    fn give_back(self: &Arc<Self>, sender: Sender) {
        if sender.is_closed() {
            return;
        }
        let mut idle = self.idle();
        if idle.len() < self.most_idle {
            idle.push(Idle { sender, since: Instant::now() });
        }
        drop(idle);
        if !self.sweeping.swap(true, Ordering::AcqRel) {
            tokio::spawn(sweep(Arc::downgrade(self), self.patience));
        }
    }

    /// Closes what was not used for too long; true while anything is left to watch.
    fn close_unused(&self) -> bool {
        let mut idle = self.idle();
        idle.retain(|idle| idle.since.elapsed() < self.patience && !idle.sender.is_closed());
        idle.shrink_to_fit();
        if idle.is_empty() {
            // Still under the lock, so that nothing that is given back now is overlooked.
            self.sweeping.store(false, Ordering::Release);
        }
        !idle.is_empty()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks for unused connections for as long as there are any.
async fn sweep(pool: Weak<Pool>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        match pool.upgrade() {
            Some(pool) if pool.close_unused() => {}
            _ => return,
        }
    }
}

impl Arriving {
    /// An answer whose connection nobody keeps here.
    pub(super) fn alone(body: Incoming) -> Self {
        Self { body, lease: None }
    }

    /// The same; the connection of one that has come already is free.
    fn settled(mut self) -> Self {
        if self.body.is_end_stream() {
            self.end();
        }
        self
    }

    fn end(&mut self) {
        if let Some(Lease { sender, pool }) = self.lease.take() {
            pool.give_back(sender);
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Err(_)) => self.lease = None,
            Some(Ok(_)) if !self.body.is_end_stream() => {}
            Some(Ok(_)) | None => self.end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
