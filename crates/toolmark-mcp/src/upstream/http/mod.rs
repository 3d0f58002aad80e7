//! How does a request travel over HTTP? One POST for each, answered by JSON or by a stream of events; no task of its own, no
//! second request, no copy of the answer.

mod answer;
mod client;
pub(crate) mod old;
mod pool;
pub(crate) mod streams;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use tokio::sync::{Semaphore, TryAcquireError};
use tokio_util::sync::CancellationToken;

pub(crate) use client::{Client, collect};

use super::desk::{Call, Desk, Outlet};
use super::event::UpstreamEvent;
use super::options::UpstreamLimits;
use super::patience::patience;
use super::pipe::{Exchange, word};
use super::request::{Delivery, Reply, UpstreamError, UpstreamErrorKind, may_go};
use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{headers, write};

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// A server behind streamable HTTP.
pub(crate) struct Http {
    client: Client,
    address: RwLock<Uri>,
    /// What every POST carries.
    base: HeaderMap,
    session: RwLock<Arc<Session>>,
    desk: Arc<Desk>,
    next: AtomicU64,
    slots: Arc<Semaphore>,
    waiting: Semaphore,
    offers: Arc<Semaphore>,
    limits: UpstreamLimits,
    closed: CancellationToken,
}

/// What was agreed on with the server.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// The version; `None` before anything is agreed on.
    pub(crate) version: Option<ProtocolVersion>,
    /// The id that the server gave us (old era).
    pub(crate) id: Option<HeaderValue>,
    /// Ended when the server forgot it, or when another one takes its place.
    pub(crate) over: CancellationToken,
    /// Set once the stream in which the server speaks by itself is open, is known not to be there, or was waited for long enough.
    pub(crate) heard: CancellationToken,
    /// What every request of it carries.
    headers: HeaderMap,
}

/// Answers to questions are posted.
struct HttpOutlet(Arc<Http>);

/// Most answers of no importance that are being posted at the same time.
const MOST_OFFERS: usize = 32;

/// Tells a server of the old era that nobody waits for an answer any longer.
struct Abandoned<'a> {
    http: &'a Arc<Http>,
    session: &'a Arc<Session>,
    id: u64,
    done: bool,
}

/// A call that the desk knows of only while it is under way.
struct Registered<'a> {
    desk: &'a Desk,
    id: u64,
    /// The server has answered, or has never heard of it.
    over: bool,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        drop(if self.over { self.desk.close(self.id) } else { self.desk.abandon(self.id) });
    }
}

impl Http {
    pub(crate) fn new(
        client: Client,
        address: Uri,
        own: &HeaderMap,
        desk: Arc<Desk>,
        limits: UpstreamLimits,
    ) -> Arc<Self> {
        let mut base = own.clone();
        base.insert(CONTENT_TYPE, JSON);
        base.insert(ACCEPT, BOTH);
        if let Some(host) = client.host() {
            base.insert(HOST, host.clone());
        }
        Arc::new(Self {
            client,
            address: RwLock::new(address),
            session: RwLock::new(Arc::new(Session::new(None, None, CancellationToken::new(), &base))),
            base,
            desk,
            next: AtomicU64::new(1),
            slots: Arc::new(Semaphore::new(limits.in_flight.max(1))),
            waiting: Semaphore::new(limits.queue.max(1)),
            offers: Arc::new(Semaphore::new(MOST_OFFERS)),
            limits,
            closed: CancellationToken::new(),
        })
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    pub(crate) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    pub(crate) fn session(&self) -> Arc<Session> {
        self.session.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins a new session; whatever belonged to the old one ends.
    pub(crate) fn set_session(&self, version: Option<ProtocolVersion>, id: Option<HeaderValue>) {
        let new = Arc::new(Session::new(version, id, self.closed.child_token(), &self.base));
        let old = std::mem::replace(&mut *self.session.write().unwrap_or_else(PoisonError::into_inner), new);
        old.over.cancel();
    }

    fn address(&self) -> Uri {
        self.address.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Goes to another path of the same server from now on.
    pub(crate) fn moved(&self, location: &str) -> bool {
        let Some(new) = client::same_origin(&self.address(), location) else { return false };
        *self.address.write().unwrap_or_else(PoisonError::into_inner) = new;
        true
    }

    fn post(&self, session: &Session, extra: Vec<(HeaderName, HeaderValue)>, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.address();
        *request.headers_mut() = session.headers.clone();
        for (name, value) in extra {
            request.headers_mut().insert(name, value);
        }
        request
    }

    /// Sends a request and waits for its answer; also gives the session id that came with the answer.
    pub(crate) async fn exchange(
        self: &Arc<Self>,
        exchange: Exchange,
    ) -> Result<(Reply, Option<HeaderValue>), UpstreamError> {
        let Exchange { id, message, timeout, cancel, observer, token, askable, headers } = exchange;
        let session = self.session();
        let mut abandoned = Abandoned { http: self, session: &session, id, done: true };
        let work = async {
            let place = match Arc::clone(&self.slots).try_acquire_owned() {
                Ok(place) => place,
                Err(TryAcquireError::Closed) => return Err(closed()),
                Err(TryAcquireError::NoPermits) => {
                    let busy = UpstreamErrorKind::Busy { limit: self.limits.queue };
                    let _place = self.waiting.try_acquire().map_err(|_| UpstreamError::never(busy))?;
                    let place = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| closed())?;
                    may_go(observer.as_deref())?;
                    place
                }
            };
            let mut place = Some(place);
            // A request without an observer counts too: a question that comes in another stream may be due to it.
            let known = observer.is_some() || (askable && session.era() == Some(Era::Session));
            let mut registered = known.then(|| {
                let (place, questions) = (place.take(), Vec::new());
                let call = Call { observer, token, askable, waiter: None, sent: true, questions, clock: None, place };
                self.desk.open(id, call);
                Registered { desk: &self.desk, id, over: false }
            });
            let request = self.post(&session, headers, message);
            abandoned.done = false;
            let answer = match self.client.send(request).await {
                Ok(response) => answer::read(self, &session, id, response).await,
                Err(error) => Err(error),
            };
            if let Some(registered) = &mut registered {
                registered.over = !matches!(&answer, Err(error) if error.delivery() == Delivery::Perhaps);
            }
            answer
        };
        let result = {
            tokio::pin!(work);
            tokio::select! {
                biased;
                result = &mut work => Ok(result),
                () = word(cancel.as_ref()) => Err(UpstreamErrorKind::Cancelled),
                () = self.closed.cancelled() => Err(closed().kind().clone()),
                kind = patience(&self.desk, id, timeout) => Err(kind),
            }
        };
        match result {
            Ok(result) => {
                abandoned.done = true;
                if let Err(error) = &result {
                    self.doubt(error);
                }
                result
            }
            // Dropping `abandoned` tells the server; dropping `work` has closed the connection already.
            Err(kind) if abandoned.done => Err(UpstreamError::never(kind.while_queued(self.limits.in_flight))),
            Err(kind) => Err(UpstreamError::perhaps(kind)),
        }
    }

    /// Says that the server may be gone, if this failure is a sign of it.
    pub(super) fn doubt(&self, error: &UpstreamError) {
        // Whoever stands before a server says 502 to 504 when it is not there.
        if matches!(
            error.kind(),
            UpstreamErrorKind::Transport { .. } | UpstreamErrorKind::Status { status: 502..=504, .. }
        ) {
            self.desk.events().send(UpstreamEvent::Unreached(error.to_string()));
        }
    }

    /// The server does not know this session any more. The next request opens a new one.
    pub(super) fn lost(&self, session: &Session) {
        session.over.cancel();
        let why = UpstreamErrorKind::SessionLost.to_string();
        self.desk.events().send(UpstreamEvent::Unreached(why));
    }

    /// Posts a message that has no answer.
    pub(crate) async fn notify(
        &self,
        message: Bytes,
        extra: Vec<(HeaderName, HeaderValue)>,
    ) -> Result<(), UpstreamError> {
        let request = self.post(&self.session(), extra, message);
        let response = tokio::time::timeout(self.limits.request, self.client.send(request)).await;
        let after = self.limits.request;
        let response = response.map_err(|_| UpstreamError::perhaps(UpstreamErrorKind::Timeout { after }))??;
        if response.status().is_success() { Ok(()) } else { Err(client::status(&response, false)) }
    }

    pub(crate) fn outlet(self: &Arc<Self>) -> Arc<dyn Outlet> {
        Arc::new(HttpOutlet(self.clone()))
    }

    /// Ends the session, if there is one, and everything that is under way.
    pub(crate) async fn close(&self) {
        let session = self.session();
        if session.id.is_some() {
            let mut request = self.post(&session, Vec::new(), Bytes::new());
            *request.method_mut() = Method::DELETE;
            let _ = tokio::time::timeout(self.limits.grace, self.client.send(request)).await;
        }
        self.end();
    }

    pub(crate) fn end(&self) {
        self.slots.close();
        self.closed.cancel();
    }
}

fn closed() -> UpstreamError {
    UpstreamError::never(UpstreamErrorKind::Closed { reason: "it was closed by us".to_owned() })
}

impl Session {
    pub(crate) fn era(&self) -> Option<Era> {
        self.version.map(ProtocolVersion::era)
    }

    /// The same under an id that the server has just given.
    fn known_as(&self, id: &HeaderValue) -> Self {
        let mut own = self.clone();
        own.headers.insert(headers::SESSION_ID, id.clone());
        own.id = Some(id.clone());
        own
    }

    fn new(
        version: Option<ProtocolVersion>,
        id: Option<HeaderValue>,
        over: CancellationToken,
        base: &HeaderMap,
    ) -> Self {
        let mut all = base.clone();
        if let Some(version) = version {
            all.insert(headers::PROTOCOL_VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(id) = &id {
            all.insert(headers::SESSION_ID, id.clone());
        }
        Self { version, id, over, heard: CancellationToken::new(), headers: all }
    }
}

impl Outlet for HttpOutlet {
    fn post(&self, message: Bytes) -> BoxFuture<'static, ()> {
        let http = self.0.clone();
        Box::pin(async move {
            if let Err(error) = http.notify(message, Vec::new()).await {
                tracing::debug!(%error, "an answer to a question could not be posted");
            }
        })
    }

    fn offer(&self, message: Bytes) {
        let Ok(place) = self.0.offers.clone().try_acquire_owned() else { return };
        let post = self.post(message);
        tokio::spawn(async move {
            post.await;
            drop(place);
        });
    }
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let old = self.session.era() == Some(Era::Session);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.done || !old || self.http.closed.is_cancelled() {
            return;
        }
        let params = format!(r#"{{"requestId":{},"reason":"the caller does not wait any longer"}}"#, self.id);
        let message = write::notification("notifications/cancelled", Some(params.as_bytes()));
        let http = self.http.clone();
        runtime.spawn(async move {
            let _ = http.notify(message, Vec::new()).await;
        });
    }
}
