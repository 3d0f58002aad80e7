//! Connections to one server without TLS, kept for the next call. Every call passes here, so this does what a call needs and nothing
//! else: no second attempt of what may have been sent, no redirects, no other server.
//!
//! A connection has no task of its own. Whoever waits for its answer drives it, so that a call is not handed from task to task on its
//! way to the server and back. While it is idle nobody drives it: whether the server has closed it is seen when it is taken.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
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

/// A connection, driven by whoever uses it.
struct Line {
    sender: Sender,
    /// Gone once it has ended, which tells the sender.
    driven: Option<Driven>,
}

type Driven = Pin<Box<Connection<TokioIo<TcpStream>, Full<Bytes>>>>;

struct Idle {
    line: Line,
    since: Instant,
}

/// An answer on its way. Its connection is free again when all of it has come; one that is dropped before takes the connection along.
pub(crate) struct Arriving {
    body: Incoming,
    lease: Option<Lease>,
}

struct Lease {
    line: Line,
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

    /// What requests to the server say is their host.
    pub(super) fn host(&self) -> &HeaderValue {
        &self.host
    }

    /// Sends a request. A connection that turns out to be closed before anything was written to it is replaced by another.
    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
    pub(super) fn send(
        self: &Arc<Self>,
        mut request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Result<Response<Arriving>, UpstreamError>> + Send {
        async move {
            if let Some(path) = request.uri().path_and_query().cloned() {
                *request.uri_mut() = Uri::from(path);
            }
            if request.headers().get(HOST) != Some(&self.host) {
                request.headers_mut().insert(HOST, self.host.clone());
            }
            loop {
                let (mut line, used) = match self.take().await {
                    Some(line) => (line, true),
                    // Boxed: most requests find a connection, and need no room for making one.
                    None => (Box::pin(self.connect()).await?, false),
                };
                let mut answer = pin!(line.sender.try_send_request(request));
                let driven = &mut line.driven;
                let answered = poll_fn(|cx| {
                    drive(driven, cx);
                    // Only the connection brings an answer: nobody has to be woken for it.
                    answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
                });
                match answered.await {
                    Ok(response) => {
                        let lease = Some(Lease { line, pool: Arc::clone(self) });
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
    }

    /// A connection that can be used at once.
    async fn take(&self) -> Option<Line> {
        loop {
            // Not in the loop's head: the lock must be gone before anything is waited for.
            let last = self.idle().pop();
            let Idle { mut line, since } = last?;
            if since.elapsed() < self.patience && line.ready().await.is_ok() {
                return Some(line);
            }
        }
    }

    async fn connect(&self) -> Result<Line, UpstreamError> {
        let never = |reason| UpstreamError::never(UpstreamErrorKind::Transport { reason });
        let stream = self.connector.clone().call(self.address.clone()).await;
        let stream = stream.map_err(|error| never(innermost(&error)))?;
        let (sender, connection) = http1::handshake(stream).await.map_err(|error| never(innermost(&error)))?;
        let mut line = Line { sender, driven: Some(Box::pin(connection)) };
        line.ready().await.map_err(|error| never(innermost(&error)))?;
        Ok(line)
    }

    fn give_back(self: &Arc<Self>, line: Line) {
        if line.sender.is_closed() {
            return;
        }
        let mut idle = self.idle();
        if idle.len() < self.most_idle {
            idle.push(Idle { line, since: Instant::now() });
        }
        drop(idle);
        if !self.sweeping.swap(true, Ordering::AcqRel) {
            tokio::spawn(sweep(Arc::downgrade(self), self.patience));
        }
    }

    /// Closes what was not used for too long; true while anything is left to watch.
    fn close_unused(&self) -> bool {
        let mut idle = self.idle();
        idle.retain(|idle| idle.since.elapsed() < self.patience && !idle.line.sender.is_closed());
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

impl Line {
    /// Lets the connection do what it can now; whoever does this is woken when it can do more.
    fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.driven, cx);
    }

    /// Waits until a request can be sent.
    async fn ready(&mut self) -> Result<(), hyper::Error> {
        poll_fn(|cx| {
            let nobody = &mut Context::from_waker(Waker::noop());
            // Most are ready. Whoever were to be woken by such a connection would be woken by their own request.
            self.drive(nobody);
            if let Poll::Ready(ready) = self.sender.poll_ready(nobody) {
                return Poll::Ready(ready);
            }
            self.drive(cx);
            self.sender.poll_ready(nobody)
        })
        .await
    }
}

fn drive(driven: &mut Option<Driven>, cx: &mut Context<'_>) {
    let Some(connection) = driven else { return };
    if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection to a server ended");
        }
        *driven = None;
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
        if let Some(Lease { line, pool }) = self.lease.take() {
            pool.give_back(line);
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let frame = match &mut this.lease {
            Some(lease) => {
                lease.line.drive(cx);
                ready!(Pin::new(&mut this.body).poll_frame(&mut Context::from_waker(Waker::noop())))
            }
            None => ready!(Pin::new(&mut this.body).poll_frame(cx)),
        };
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
