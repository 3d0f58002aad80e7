//! Who wants to hear of what: resources that are watched, and log levels. Servers are told what at least one client wants.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use futures_util::future::ready;
use futures_util::stream::{self, StreamExt as _};
use serde_json::Value;
use toolmark_core::explain::Explain as _;
use toolmark_mcp::downstream::{Answer, Context, Fault, Incoming};
use toolmark_mcp::upstream::{Reply, Upstream};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, LogLevel, RawObject, codes};

use super::relay::not_found;
use super::theirs::passed_on;
use super::{Front, object, view_of};
use crate::gateway::Gateway;
use crate::pack::PackHandle;
use crate::wishes::Holder;

/// How many resources a server is asked to watch at the same time for one client.
const AT_ONCE: usize = 32;

/// Takes back what somebody watches when it is dropped.
struct Watching {
    gateway: Arc<Gateway>,
    holder: Holder,
}

impl Drop for Watching {
    fn drop(&mut self) {
        // Without a runtime the servers end too.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (gateway, holder) = (Arc::clone(&self.gateway), self.holder.clone());
            runtime.spawn(async move { release(&gateway, &holder).await });
        }
    }
}

impl Front {
    /// `resources/subscribe` and `resources/unsubscribe` of an old client.
    pub(super) async fn subscribe(&self, request: &Incoming) -> Answer {
        let snapshot = self.gateway.snapshot();
        let Some(uri) = request.params.text("uri") else {
            return Answer::fault(codes::INVALID_PARAMS, "the parameters have no `uri`");
        };
        let view = match view_of(&snapshot, request) {
            Ok(view) => view,
            Err(fault) => return Answer::Fault(fault),
        };
        let Some((pack, own)) = view.offers().resource(&uri) else {
            return Answer::Fault(not_found(&uri, request.era()));
        };
        let Some(session) = &request.session else {
            return Answer::fault(codes::METHOD_NOT_FOUND, "this method is for clients with a session");
        };
        let holder = Holder::Session(Arc::clone(session));
        let handle = snapshot.pack(pack.as_str());
        let Some((handle, upstream)) = handle.and_then(|handle| Some((handle, handle.upstream()?))) else {
            return Answer::fault(codes::INTERNAL_ERROR, format!("the server of the pack `{pack}` is not there"));
        };
        let told = if request.method == "resources/subscribe" {
            handle.wishes().watch(&upstream, &own, holder).await
        } else {
            handle.wishes().unwatch(Some(&upstream), &own, &holder).await
        };
        match told {
            Ok(Reply::Result(result)) => Answer::Result(result),
            Ok(Reply::Error(error)) => Answer::Fault(passed_on(&error, request)),
            Err(error) => Answer::Fault(Fault::new(codes::INTERNAL_ERROR, error.to_string()).coded(error.code())),
        }
    }

    /// Accepts what a new client wants to hear of, and watches its resources for as long as it listens. What cannot be watched is left out
    /// of what is accepted.
    pub(super) async fn listen(&self, request: &Incoming, context: &Context) -> Answer {
        let wanted = request.params.object("notifications").unwrap_or_else(RawObject::empty);
        let uris =
            wanted.get("resourceSubscriptions").and_then(|uris| serde_json::from_slice::<Vec<String>>(uris).ok());
        let snapshot = self.gateway.snapshot();
        let view = match view_of(&snapshot, request) {
            Ok(view) => view,
            Err(fault) => return Answer::Fault(fault),
        };
        let holder = Holder::Listener(self.listeners.fetch_add(1, Ordering::Relaxed));
        // Also when whoever asked goes away meanwhile.
        let watching = Watching { gateway: Arc::clone(&self.gateway), holder: holder.clone() };
        // Many at once: a server of the new era is told of them together.
        let asked = uris.unwrap_or_default().into_iter().map(|uri| {
            let (view, snapshot, holder) = (&view, &snapshot, holder.clone());
            async move {
                let (pack, own) = view.offers().resource(&uri)?;
                let handle = snapshot.pack(pack.as_str())?;
                let upstream = handle.upstream().filter(|upstream| tells(upstream))?;
                match handle.wishes().watch(&upstream, &own, holder).await {
                    Ok(Reply::Result(_)) => Some(uri),
                    Ok(Reply::Error(_)) | Err(_) => {
                        tracing::debug!(%pack, "a resource cannot be watched");
                        None
                    }
                }
            }
        });
        let watched: Vec<String> = stream::iter(asked).buffered(AT_ONCE).filter_map(ready).collect().await;
        if !watched.is_empty() {
            let over = context.cancelled();
            tokio::spawn(async move {
                over.cancelled().await;
                drop(watching);
            });
        }
        if wanted.get("resourceSubscriptions").is_none() {
            return Answer::Result(wanted);
        }
        let watched = Value::from(watched).to_string();
        Answer::Result(object(wanted.rewrite(&[Change::Set("resourceSubscriptions", watched.as_bytes())])))
    }

    /// A session chooses the least important log messages it takes.
    pub(super) async fn choose_level(&self, session: &Arc<str>, level: LogLevel) {
        let least = {
            let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
            levels.insert(Arc::clone(session), level);
            least(&levels)
        };
        tell_level(&self.gateway, least).await;
    }

    /// A session is over: nothing is kept for it.
    pub(super) fn forget_session(&self, session: &str) {
        let least = {
            let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
            levels.remove(session).map(|_| least(&levels))
        };
        let holder = Holder::Session(session.into());
        let watching = |pack: &Arc<PackHandle>| !pack.wishes().watched_by(&holder).is_empty();
        if least.is_none() && !self.gateway.packs().iter().any(watching) {
            return;
        }
        // Sessions also end with the runtime; then the servers end too.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let gateway = Arc::clone(&self.gateway);
            runtime.spawn(async move {
                release(&gateway, &holder).await;
                if let Some(least) = least {
                    tell_level(&gateway, least).await;
                }
            });
        }
    }
}

/// Whether a server tells about single resources. One of the old era says so when it is asked to.
fn tells(upstream: &Upstream) -> bool {
    let capabilities = upstream.capabilities();
    let declared = || capabilities.object("resources").is_some_and(|own| own.flag("subscribe") == Some(true));
    upstream.era() == Era::Session || declared()
}

/// What servers are told. Each client is sent only what it wants, so they hear what the most curious one wants; who has not chosen
/// must not lose what others do not want.
fn least(levels: &HashMap<Arc<str>, LogLevel>) -> LogLevel {
    levels.values().copied().fold(LogLevel::Info, LogLevel::min)
}

async fn tell_level(gateway: &Gateway, level: LogLevel) {
    for pack in gateway.packs() {
        pack.wishes().set_level(pack.upstream().as_deref(), level).await;
    }
}

async fn release(gateway: &Gateway, holder: &Holder) {
    for pack in gateway.packs() {
        let upstream = pack.upstream();
        for uri in pack.wishes().watched_by(holder) {
            if let Err(error) = pack.wishes().unwatch(upstream.as_deref(), &uri, holder).await {
                tracing::debug!(%error, "a server could not be told that nobody watches a resource");
            }
        }
    }
}
