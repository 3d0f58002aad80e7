//! What is written down, and when? Names, lists and pins that are new, a moment after they came; what fails is tried again.

use std::sync::Arc;
use std::time::Duration;

use toolmark_core::names::PackName;
use toolmark_mcp::downstream::Changed;

use super::Gateway;

/// How long what is new waits for more of it before it is written down.
const SAVE: Duration = Duration::from_millis(200);

/// How long after a failure that is tried again.
const AGAIN: Duration = Duration::from_secs(5);

impl Gateway {
    /// Writes down names and lists from time to time.
    pub(super) async fn write_down(self: Arc<Self>) {
        loop {
            self.names.bell().notified().await;
            tokio::time::sleep(SAVE).await;
            self.save().await;
            if self.names.is_unsaved() || self.pins.is_unsaved() || !self.state().unsaved.is_empty() {
                tokio::time::sleep(AGAIN).await;
                self.names.bell().notify_one();
            }
        }
    }

    /// Writes down what is new since the last time.
    pub(crate) async fn save(&self) {
        let Some(store) = &self.store else { return };
        let _saving = self.saving.lock().await;
        let unsaved: Vec<_> = {
            let mut state = self.state();
            let names = std::mem::take(&mut state.unsaved);
            let both = |name: PackName| Some((state.packs.get(&name)?.clone(), state.listed.get(&name)?.clone()));
            names.into_iter().filter_map(both).collect()
        };
        for (pack, listed) in unsaved {
            if let Err(error) = listed.save(store, pack.name(), pack.source()).await {
                tracing::warn!(pack = %pack.name(), %error, "the list is not written down; tried again");
                self.state().unsaved.insert(pack.name().clone());
            }
        }
        if self.pins.is_unsaved() && self.pins.save(store, &self.node).await {
            self.renew();
        }
        if self.names.is_unsaved() && self.names.save(store).await {
            let state = self.state();
            let workspace = Arc::clone(self.snapshot().shared_workspace());
            self.current.store(Arc::new(self.snapshot_of(&state, workspace)));
            drop(state);
            self.tell([Changed::Tools, Changed::Prompts, Changed::Resources]);
        }
    }
}
