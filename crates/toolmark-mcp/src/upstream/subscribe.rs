//! How do we learn that something changed? By the GET stream of the old era or a `subscriptions/listen` of the new one, kept
//! open for as long as the connection lives.

use std::sync::{Arc, Weak};

use bytes::{BufMut, Bytes, BytesMut};
use tokio_util::sync::CancellationToken;

use super::http::streams::{Ended, Pause};
use super::pipe::Exchange;
use super::request::{Reply, UpstreamRequest};
use super::{Inner, Link, Upstream, compose, mirror};
use crate::wire::version::Era;
use crate::wire::{RawObject, codes, write};

impl Upstream {
    /// Begins to listen, if the server is one that says something by itself.
    pub(crate) fn follow(&self) {
        match (&self.0.link, self.era()) {
            (Link::Http(http), Era::Session) => http.follow_session(),
            (_, Era::Stateless) => {
                let closed = match &self.0.link {
                    Link::Pipe(pipe) => pipe.closed().clone(),
                    Link::Http(http) => http.closed().clone(),
                };
                tokio::spawn(listen(Arc::downgrade(&self.0), closed, self.0.watched.subscribe()));
            }
            (Link::Pipe(_), Era::Session) => {}
        }
    }

    /// Says which resources we want to hear about. Only for servers of the new era; older ones take `resources/subscribe`.
    pub fn watch_resources(&self, uris: Vec<String>) {
        self.0.watched.send_replace(uris);
    }
}

/// Keeps a subscription open, and opens a new one when the wishes change. It holds the connection only while it works.
async fn listen(inner: Weak<Inner>, closed: CancellationToken, mut watched: tokio::sync::watch::Receiver<Vec<String>>) {
    let mut pause = Pause::new();
    for again in std::iter::once(false).chain(std::iter::repeat(true)) {
        let wishes = watched.borrow_and_update().clone();
        let Some(subscription) = inner.upgrade().map(|inner| Subscription::new(&inner, &wishes)) else { return };
        let ended = match subscription {
            None => Ended::Never,
            Some(subscription) => tokio::select! {
                ended = subscription.run(again) => ended,
                changed = watched.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return,
                },
                () = closed.cancelled() => return,
            },
        };
        if matches!(ended, Ended::Never) {
            // Nothing to hear as things are; but wishes may change.
            tokio::select! {
                changed = watched.changed() => if changed.is_err() { return },
                () = closed.cancelled() => return,
            }
            continue;
        }
        tokio::select! {
            () = pause.after(&ended, None) => {}
            () = closed.cancelled() => return,
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
