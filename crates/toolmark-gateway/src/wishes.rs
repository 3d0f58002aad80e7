//! What clients want to hear from one server: which resources they watch and which log messages they take. It outlives connections, so
//! that a server that comes back is told again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use toolmark_mcp::upstream::{Reply, Upstream, UpstreamError, UpstreamRequest};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Limits, LogLevel, RawObject, write};

/// Who wants something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A session of an old client.
    Session(Arc<str>),
    /// A stream of `subscriptions/listen`.
    Listener(u64),
}

/// The wishes of all clients for one server.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    watched: Mutex<HashMap<String, HashSet<Holder>>>,
    level: Mutex<Option<LogLevel>>,
}

impl Wishes {
    /// Somebody watches a resource. A server that refuses says so, and nothing is noted. It is watched once this has returned: what
    /// happens from then on is heard.
    pub(crate) async fn watch(&self, upstream: &Upstream, uri: &str, holder: Holder) -> Result<Reply, UpstreamError> {
        if upstream.era() == Era::Session {
            upstream.listening().await;
            let reply = upstream.request(about("resources/subscribe", "uri", uri)).await?;
            if matches!(reply, Reply::Result(_)) {
                self.watched().entry(uri.to_owned()).or_default().insert(holder);
            }
            return Ok(reply);
        }
        let wish = {
            let mut watched = self.watched();
            watched.entry(uri.to_owned()).or_default().insert(holder.clone());
            upstream.watch_resources(uris(&watched))
        };
        if let Err(refused) = wish.granted(uri).await {
            if self.forget(uri, &holder) {
                self.tell_stateless(upstream);
            }
            return Err(refused);
        }
        Ok(Reply::Result(RawObject::empty()))
    }

    /// Somebody no longer watches a resource. The server hears of it when nobody else does either.
    pub(crate) async fn unwatch(
        &self,
        upstream: Option<&Upstream>,
        uri: &str,
        holder: &Holder,
    ) -> Result<Reply, UpstreamError> {
        let last = self.forget(uri, holder);
        let Some(upstream) = upstream.filter(|_| last) else { return Ok(Reply::Result(RawObject::empty())) };
        self.tell_stateless(upstream);
        match upstream.era() {
            Era::Session => upstream.request(about("resources/unsubscribe", "uri", uri)).await,
            Era::Stateless => Ok(Reply::Result(RawObject::empty())),
        }
    }

    /// What somebody watches.
    pub(crate) fn watched_by(&self, holder: &Holder) -> Vec<String> {
        self.watched().iter().filter(|(_, holders)| holders.contains(holder)).map(|(uri, _)| uri.clone()).collect()
    }

    /// The least important log messages that anybody wants. Until somebody says so, it is left to the server.
    pub(crate) async fn set_level(&self, upstream: Option<&Upstream>, level: LogLevel) {
        let before = self.level.lock().unwrap_or_else(PoisonError::into_inner).replace(level);
        if let Some(upstream) = upstream.filter(|_| before != Some(level)) {
            tell_level(upstream, level).await;
        }
    }

    /// Tells a server that has just been connected to.
    pub(crate) async fn renew(&self, upstream: &Upstream) {
        let level = *self.level.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = level {
            tell_level(upstream, level).await;
        }
        self.tell_stateless(upstream);
        if upstream.era() == Era::Session {
            let uris = uris(&self.watched());
            for uri in uris {
                if let Err(error) = upstream.request(about("resources/subscribe", "uri", &uri)).await {
                    tracing::warn!(%error, "a resource is no longer watched");
                }
            }
        }
    }

    fn tell_stateless(&self, upstream: &Upstream) {
        if upstream.era() == Era::Stateless {
            // Held until the server is told, so that of two changes the later one is told last.
            let watched = self.watched();
            upstream.watch_resources(uris(&watched));
        }
    }

    /// Takes a holder's wish back; true if nobody else has it.
    fn forget(&self, uri: &str, holder: &Holder) -> bool {
        let mut watched = self.watched();
        let last = watched.get_mut(uri).is_some_and(|holders| holders.remove(holder) && holders.is_empty());
        if last {
            watched.remove(uri);
        }
        last
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<String, HashSet<Holder>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that somebody watches, always in the same order.
fn uris(watched: &HashMap<String, HashSet<Holder>>) -> Vec<String> {
    let mut uris: Vec<String> = watched.keys().cloned().collect();
    uris.sort_unstable();
    uris
}

async fn tell_level(upstream: &Upstream, level: LogLevel) {
    if upstream.era() == Era::Session && upstream.capabilities().get("logging").is_some() {
        // Log messages are a courtesy: a server that keeps its own level is used all the same.
        if let Err(error) = upstream.request(about("logging/setLevel", "level", level.as_str())).await {
            tracing::debug!(%error, "a server does not take a log level");
        }
    }
}

fn about<'a>(method: &'a str, key: &str, value: &'a str) -> UpstreamRequest<'a> {
    let text = [b"{\"".as_slice(), key.as_bytes(), b"\":", &write::quote(value), b"}"].concat();
    let params = RawObject::read(Bytes::from(text), Limits::default()).unwrap_or_else(|_| RawObject::empty());
    UpstreamRequest::new(method, params)
}
