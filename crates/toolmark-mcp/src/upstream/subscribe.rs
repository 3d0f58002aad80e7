//! How do we learn that something changed? By the GET stream of the old era or a `subscriptions/listen` of the new one, kept
//! open for as long as the connection lives. A new subscription takes the place of the one before it only when the server has
//! acknowledged it, so that nothing is missed in between.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::future::{BoxFuture, OptionFuture};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::event::UpstreamEvent;
use super::http::streams::{Ended, Pause};
use super::pipe::Exchange;
use super::request::{Reply, UpstreamError, UpstreamRequest};
use super::{Inner, Link, Upstream, compose, mirror};
use crate::wire::params::meta;
use crate::wire::version::Era;
use crate::wire::{RawObject, codes, write};

/// How long a server may take to acknowledge a subscription, or to open its stream. One that says nothing for as long is taken to
/// have done so.
const ACKNOWLEDGED: Duration = Duration::from_secs(3);

/// Which resources we want to be told about, and how far the server has agreed to it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    wanted: watch::Sender<Wanted>,
    settled: watch::Sender<Settled>,
    /// Whether somebody listens.
    followed: AtomicBool,
}

/// What is wanted now; every change of it has a number.
#[derive(Clone, Debug, Default)]
struct Wanted {
    number: u64,
    uris: Vec<String>,
}

/// What the server said to the wishes up to this number.
#[derive(Clone, Debug, Default)]
struct Settled {
    number: u64,
    told: Told,
}

/// What a server tells about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Told {
    /// Everything that was wanted.
    #[default]
    All,
    /// These resources.
    Only(Vec<String>),
    /// Nothing.
    Nothing,
}

/// The server's word that a subscription stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acknowledged {
    /// The request that it is about; `None` if the server does not say.
    id: Option<u64>,
    /// What it tells about; `None` if it does not say.
    filter: Option<RawObject>,
}

/// A wish to hear about resources that a server has been told or will be.
#[derive(Debug)]
pub struct Wish {
    number: u64,
    settled: watch::Receiver<Settled>,
    closed: CancellationToken,
}

impl Wish {
    /// Waits for the server's word that it tells about this resource from now on.
    ///
    /// # Errors
    /// When it refuses, cannot be asked, or the connection ends before it has said anything.
    pub async fn granted(mut self, uri: &str) -> Result<(), UpstreamError> {
        let told = tokio::select! {
            biased;
            settled = self.settled.wait_for(|settled| settled.number >= self.number) => settled.is_ok_and(|settled| settled.told.has(uri)),
            () = self.closed.cancelled() => false,
            () = tokio::time::sleep(2 * ACKNOWLEDGED) => false,
        };
        if told {
            Ok(())
        } else {
            Err(UpstreamError::protocol("the server does not tell about changes of this resource"))
        }
    }
}

impl Told {
    fn has(&self, uri: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(uris) => uris.iter().any(|told| told == uri),
            Self::Nothing => false,
        }
    }
}

impl Watched {
    fn want(&self, uris: Vec<String>, closed: CancellationToken) -> Wish {
        self.wanted.send_if_modified(|wanted| {
            let other = wanted.uris != uris;
            if other {
                *wanted = Wanted { number: wanted.number + 1, uris };
            }
            other
        });
        let number = self.wanted.borrow().number;
        Wish { number, settled: self.settled.subscribe(), closed }
    }

    /// Has the server told again, of the same.
    pub(crate) fn again(&self) {
        self.wanted.send_modify(|_| {});
    }

    fn settle(&self, number: u64, told: Told) {
        self.settled.send_replace(Settled { number, told });
    }
}

impl Acknowledged {
    pub(crate) fn read(params: &RawObject) -> Self {
        let id = params.object("_meta").and_then(|own| own.count(meta::SUBSCRIPTION_ID));
        Self { id, filter: params.object("notifications") }
    }

    fn is_about(&self, id: u64) -> bool {
        self.id.is_none_or(|about| about == id)
    }

    /// Whether it comes after another one: a word to an earlier request may be heard late.
    pub(crate) fn is_newer_than(&self, other: &Self) -> bool {
        self.id.is_none() || self.id >= other.id
    }

    /// What it says the server tells about. Where it may be about another subscription, that is not known.
    fn told(&self, alone: bool) -> Told {
        let Some(filter) = self.filter.as_ref().filter(|_| alone || self.id.is_some()) else { return Told::All };
        let uris = filter.get("resourceSubscriptions").and_then(|uris| serde_json::from_slice(uris).ok());
        Told::Only(uris.unwrap_or_default())
    }
}

impl Upstream {
    /// Begins to listen, if the server is one that says something by itself.
    pub(crate) fn follow(&self) {
        match (&self.0.link, self.era()) {
            (Link::Http(http), Era::Session) => http.follow_session(),
            (_, Era::Stateless) if !self.0.watched.followed.swap(true, Ordering::Relaxed) => {
                let desk = match &self.0.link {
                    Link::Pipe(pipe) => pipe.desk(),
                    Link::Http(http) => http.desk(),
                };
                let (closed, wanted) = (self.0.closed().clone(), self.0.watched.wanted.subscribe());
                tokio::spawn(listen(Arc::downgrade(&self.0), closed, Arc::clone(desk), wanted));
            }
            (Link::Pipe(_), Era::Session) | (_, Era::Stateless) => {}
        }
    }

    /// Waits until we hear what the server says by itself, where that takes a stream of its own; not for ever.
    pub async fn listening(&self) {
        if let (Link::Http(http), Era::Session) = (&self.0.link, self.era()) {
            let session = http.session();
            tokio::select! {
                () = session.heard.cancelled() => {}
                () = session.over.cancelled() => {}
                () = tokio::time::sleep(ACKNOWLEDGED) => session.heard.cancel(),
            }
        }
    }

    /// Says which resources we want to hear about. Only for servers of the new era; older ones take `resources/subscribe`.
    pub fn watch_resources(&self, uris: Vec<String>) -> Wish {
        // One that was of the old era when the connection was made is not listened to yet.
        if self.era() == Era::Stateless {
            self.follow();
        }
        self.0.watched.want(uris, self.0.closed().clone())
    }
}

/// Keeps a subscription open, and opens a new one when the wishes change. It holds the connection only while it works.
async fn listen(inner: Weak<Inner>, closed: CancellationToken, desk: Arc<Desk>, mut wanted: watch::Receiver<Wanted>) {
    let mut pause = Pause::new();
    // The subscription before, which goes on until the new one stands.
    let mut before: Option<BoxFuture<'static, Ended>> = None;
    let mut again = false;
    loop {
        let Wanted { number, uris } = wanted.borrow_and_update().clone();
        let mut acknowledged = desk.acknowledgements();
        let Some(subscription) = inner.upgrade().map(|inner| Subscription::new(&inner, &uris)) else { return };
        let settle = |told: Told| inner.upgrade().inspect(|inner| inner.watched.settle(number, told));
        let ended = match subscription {
            None => {
                before = None;
                settle(Told::All);
                Ended::Never
            }
            Some(subscription) => {
                let id = subscription.exchange.id;
                let anew = again && before.is_none();
                // Whether nobody listened for a while. Over HTTP that is said when the stream is open.
                let mut missed = anew && matches!(subscription.link, Link::Pipe(_));
                let mut running: BoxFuture<'static, Ended> = Box::pin(subscription.run(anew));
                let mut standing = false;
                let patience = tokio::time::sleep(ACKNOWLEDGED);
                tokio::pin!(patience);
                let ended = loop {
                    let told = tokio::select! {
                        biased;
                        word = acknowledged.wait_for(|word| word.as_ref().is_some_and(|word| word.is_about(id))), if !standing => {
                            word.ok().and_then(|word| Some(word.as_ref()?.told(before.is_none()))).unwrap_or_default()
                        }
                        () = &mut patience, if !standing => {
                            tracing::debug!("a server does not acknowledge a subscription");
                            missed |= before.is_some();
                            Told::All
                        }
                        ended = &mut running => break Some(ended),
                        Some(_) = OptionFuture::from(before.as_mut()) => {
                            before = None;
                            missed |= !standing;
                            continue;
                        }
                        changed = wanted.changed() => match changed {
                            Ok(()) => break None,
                            Err(_) => return,
                        },
                        () = closed.cancelled() => return,
                    };
                    (standing, before) = (true, None);
                    settle(told);
                    if std::mem::take(&mut missed) {
                        desk.events().send(UpstreamEvent::ListeningAgain);
                    }
                };
                again = true;
                match ended {
                    Some(ended) => {
                        // It may be tried again, but whoever waits for it is not kept waiting.
                        if !standing {
                            settle(Told::Nothing);
                        }
                        ended
                    }
                    None => {
                        // One that does not stand yet does not take the place of one that does.
                        if standing || before.is_none() {
                            before = Some(running);
                        }
                        continue;
                    }
                }
            }
        };
        // What was heard before is still heard. Where there is no such stream, only other wishes can change that.
        let over = async {
            match ended {
                Ended::Never => std::future::pending().await,
                ended => pause.after(&ended, None).await,
            }
        };
        tokio::pin!(over);
        loop {
            tokio::select! {
                changed = wanted.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                Some(_) = OptionFuture::from(before.as_mut()) => before = None,
                () = &mut over => break,
                () = closed.cancelled() => return,
            }
        }
    }
}

struct Subscription {
    link: Link,
    exchange: Exchange,
}

impl Subscription {
    /// `None` if there is nothing to subscribe to.
    fn new(inner: &Inner, uris: &[String]) -> Option<Self> {
        let params = wishes(&inner.peer().capabilities, uris)?;
        let params = RawObject::read(params, inner.wire_limits()).ok()?;
        let request = UpstreamRequest::new("subscriptions/listen", params);
        let link = match &inner.link {
            Link::Pipe(pipe) => Link::Pipe(pipe.clone()),
            Link::Http(http) => Link::Http(http.clone()),
        };
        let id = match &link {
            Link::Pipe(pipe) => pipe.next_id(),
            Link::Http(http) => http.next_id(),
        };
        let message = compose(&inner.options, Era::Stateless, id, &request).message;
        let exchange = Exchange {
            id,
            message,
            timeout: None,
            cancel: None,
            observer: None,
            token: None,
            askable: false,
            headers: mirror(Era::Stateless, &request),
        };
        Some(Self { link, exchange })
    }

    async fn run(self, again: bool) -> Ended {
        match self.link {
            Link::Http(http) => http.listen_once(self.exchange.message, self.exchange.headers, again).await,
            Link::Pipe(pipe) => match pipe.exchange(self.exchange).await {
                Ok(Reply::Result(_)) => Ended::Opened,
                Ok(Reply::Error(error)) if error.code() == Some(codes::INTERNAL_ERROR) => Ended::Failed,
                Ok(Reply::Error(_)) | Err(_) => Ended::Never,
            },
        }
    }
}

/// The parameters of a subscription to all lists that may change, and to these resources.
fn wishes(capabilities: &RawObject, uris: &[String]) -> Option<Bytes> {
    let may_change =
        |key: &str| capabilities.object(key).is_some_and(|capability| capability.flag("listChanged") == Some(true));
    let mut out = BytesMut::new();
    for (key, wish) in [
        ("tools", r#""toolsListChanged":true,"#),
        ("prompts", r#""promptsListChanged":true,"#),
        ("resources", r#""resourcesListChanged":true,"#),
    ] {
        if may_change(key) {
            out.put_slice(wish.as_bytes());
        }
    }
    if !uris.is_empty() {
        out.put_slice(br#""resourceSubscriptions":["#);
        for (index, uri) in uris.iter().enumerate() {
            if index > 0 {
                out.put_u8(b',');
            }
            write::quote_into(&mut out, uri);
        }
        out.put_slice(b"],");
    }
    if out.is_empty() {
        return None;
    }
    out.truncate(out.len() - 1);
    Some(Bytes::from([br#"{"notifications":{"#, &out[..], b"}}"].concat()))
}
