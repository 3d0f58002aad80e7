//! Who is told when a list or a resource changes: new clients by the stream they listen on, old ones by a plain notification.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, SubscriptionContext, SubscriptionSendError};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::timeout;

/// How often it is looked whether an old client is still there.
const LOOK: Duration = Duration::from_secs(10);

/// Something that clients may want to know.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

/// Where changes are announced.
#[derive(Clone, Debug)]
pub(crate) struct Changes(broadcast::Sender<Change>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(256).0)
    }
}

/// The resources that one old client wants to hear about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched(Arc<Mutex<BTreeSet<String>>>);

impl Watched {
    pub(crate) fn add(&self, uri: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    fn contains(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }
}

impl Changes {
    pub(crate) fn announce(&self, change: Change) {
        // Nobody listening is fine.
        let _ = self.0.send(change);
    }

    /// Tells an old client for as long as it is connected.
    pub(crate) fn tell(&self, peer: Peer<RoleServer>, watched: Watched) {
        let mut changes = self.0.subscribe();
        tokio::spawn(async move {
            loop {
                let change = match timeout(LOOK, changes.recv()).await {
                    Ok(Ok(change)) => change,
                    Ok(Err(RecvError::Lagged(_))) => continue,
                    Ok(Err(RecvError::Closed)) => return,
                    // Nothing tells that a client is gone, so look now and then.
                    Err(_) if peer.is_transport_closed() => return,
                    Err(_) => continue,
                };
                let told = match change {
                    Change::Tools => peer.notify_tool_list_changed().await,
                    Change::Prompts => peer.notify_prompt_list_changed().await,
                    Change::Resources => peer.notify_resource_list_changed().await,
                    Change::Resource(uri) if watched.contains(&uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
                    }
                    Change::Resource(_) => continue,
                };
                if told.is_err() {
                    return;
                }
            }
        });
    }

    /// Tells a new client what it asked for, until it goes away.
    pub(crate) async fn stream(&self, subscription: &SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.subscribe();
        let sink = subscription.sink();
        loop {
            let change = tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                change = changes.recv() => match change {
                    Ok(change) => change,
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return Ok(()),
                },
            };
            let told = match change {
                Change::Tools => sink.notify_tool_list_changed().await,
                Change::Prompts => sink.notify_prompt_list_changed().await,
                Change::Resources => sink.notify_resource_list_changed().await,
                Change::Resource(uri) => sink.notify_resource_updated(uri).await,
            };
            match told {
                Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => {}
                Err(_) => return Ok(()),
            }
        }
    }
}
