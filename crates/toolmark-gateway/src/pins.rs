//! Which definitions of tools were accepted: compared whenever lists change, written down a moment later.
//!
//! What is new and trusted counts as pinned at once, here; the store has the last word. Should another process have pinned another
//! version in that moment, the one that was written first stands, and the tool is held here.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolmark_core::digest::Mark;
use toolmark_core::drift::exactly;
use toolmark_core::lock::{Lock, Pinned};
use toolmark_core::pins::Standing;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_mcp::downstream::Changed;
use toolmark_runtime::Workspace;
use toolmark_store::{Change, Pin, Store, StoreError};

use crate::gateway::{Gateway, State};

/// How soon the store is tried again when it cannot be read or watched.
const AGAIN: Duration = Duration::from_secs(1);

/// What was accepted beside the lock.
#[derive(Debug, Default)]
pub(crate) struct PinBook {
    state: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    /// As the store has it.
    stored: Arc<Lock>,
    /// Seen first here, and not written down yet.
    unsaved: BTreeMap<String, Pinned>,
    /// Both.
    accepted: Arc<Lock>,
    /// Which changes were told already.
    told: HashMap<String, Mark>,
}

impl PinBook {
    /// All pins of a store.
    pub(crate) async fn recall(store: &Store) -> Result<Self, StoreError> {
        let book = Self::default();
        book.take(store.pinned().await?);
        Ok(book)
    }

    /// What was accepted.
    pub(crate) fn accepted(&self) -> Arc<Lock> {
        Arc::clone(&self.state().accepted)
    }

    /// Pins the tools that are new and trusted, and tells which are not as they were pinned. True when there is something to write.
    fn look<'w>(&self, workspace: &Workspace, tools: impl Iterator<Item = &'w Tool>) -> bool {
        let mut book = self.state();
        let mut new = false;
        for tool in tools {
            let name = tool.canonical().as_str();
            match workspace.standing(tool) {
                Standing::New if book.accepted.get(name).is_none() => {
                    book.unsaved.insert(name.to_owned(), Pinned::whole(tool));
                    new = true;
                }
                Standing::Changed => book.tell(workspace, tool),
                Standing::Pinned => {
                    book.told.remove(name);
                }
                Standing::New | Standing::FirstUse | Standing::NotInLock => {}
            }
        }
        if new {
            book.join();
        }
        new
    }

    /// Takes what the store has. True when that is something else than before.
    fn take(&self, stored: Lock) -> bool {
        let mut book = self.state();
        // Whatever another process pinned first stands.
        book.unsaved.retain(|name, _| stored.get(name).is_none());
        let before = Arc::clone(&book.accepted);
        // What is the same is kept once: there may be thousands of them, each with its definition.
        if *before == stored {
            book.stored = Arc::clone(&before);
        } else if *book.stored != stored {
            book.stored = Arc::new(stored);
        }
        book.join();
        let changed = before != book.accepted;
        if !changed {
            book.accepted = before;
        }
        changed
    }

    /// True when there is something to write down.
    pub(crate) fn is_unsaved(&self) -> bool {
        !self.state().unsaved.is_empty()
    }

    /// Writes down what is new. True when something else turned out to be pinned, so that tools must be judged again.
    pub(crate) async fn save(&self, store: &Store, node: &str) -> bool {
        let new: Vec<(String, Pinned)> =
            self.state().unsaved.iter().map(|(name, pinned)| (name.clone(), pinned.clone())).collect();
        match store.pin_new(&new, node).await {
            Ok(standing) => self.written(new, standing),
            Err(error) => {
                tracing::warn!(%error, "pins of new tools are not written down; tried again");
                false
            }
        }
    }

    /// These are written down, but for those in whose place something else stands. True when there are such. All others are known
    /// already: they are not read again.
    fn written(&self, new: Vec<(String, Pinned)>, standing: Vec<Pin>) -> bool {
        let stored = {
            let book = self.state();
            let mut stored = Lock::clone(&book.stored);
            // What was heard of meanwhile is newer than what was written.
            for (name, pinned) in new.into_iter().filter(|(name, _)| book.unsaved.contains_key(name)) {
                stored.insert(name, pinned);
            }
            for Pin { tool, pinned, .. } in standing {
                stored.insert(tool, pinned);
            }
            stored
        };
        self.take(stored)
    }

    /// Reads the store again. True when something else is pinned now.
    async fn reread(&self, store: &Store) -> Result<bool, StoreError> {
        Ok(self.take(store.pinned().await?))
    }

    fn state(&self) -> MutexGuard<'_, Book> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn join(&mut self) {
        if self.unsaved.is_empty() {
            self.accepted = Arc::clone(&self.stored);
            return;
        }
        let mut accepted = Lock::clone(&self.stored);
        for (name, pinned) in &self.unsaved {
            accepted.insert(name.clone(), pinned.clone());
        }
        self.accepted = Arc::new(accepted);
    }

    /// Says once of each version that it is held, and what changed.
    fn tell(&mut self, workspace: &Workspace, tool: &Tool) {
        let (name, mark) = (tool.canonical().as_str(), tool.mark());
        if self.told.insert(name.to_owned(), mark) == Some(mark) {
            return;
        }
        let parts: Vec<String> =
            exactly(workspace.pins().get(name), tool).iter().map(|text| text.part().to_owned()).collect();
        let (shown, changed) = (visible(name, 300), parts.join(", "));
        tracing::warn!(tool = shown, changed, %mark, "a tool is not the one that was pinned; its calls ask");
    }
}

impl Gateway {
    /// Pins what is new and trusted in a workspace that is about to be used. Packs in this process are part of the program, and come and
    /// go with it; without a store nobody could ever accept a change, so nothing is pinned.
    pub(crate) fn look_at_pins(&self, state: &State, workspace: &Workspace) {
        if self.store.is_none() {
            return;
        }
        let own = |tool: &&Tool| {
            let named = tool.pack().and_then(|name| state.packs.iter().find(|(pack, _)| pack.as_str() == name));
            !named.is_some_and(|(_, pack)| pack.is_built_in())
        };
        if self.pins.look(workspace, workspace.catalog().tools().filter(own)) {
            self.names.bell().notify_one();
        }
    }

    /// Judges by what is pinned now.
    pub(crate) fn renew(&self) {
        let state = self.state();
        match self.workspace_of(&state) {
            Ok(workspace) => {
                self.look_at_pins(&state, &workspace);
                self.current.store(Arc::new(self.snapshot_of(&state, Arc::new(workspace))));
            }
            Err(error) => {
                for problem in error.problems() {
                    tracing::error!("new pins are not used: {problem}");
                }
                return;
            }
        }
        drop(state);
        self.tell([Changed::Tools]);
    }

    /// Hears of pins that others make or forget, until the gateway stops.
    pub(crate) async fn follow_pins(self: Arc<Self>) {
        let Some(store) = self.store.clone() else { return };
        loop {
            let Ok(mut changes) = store.watch().await else {
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            // Something may have changed before anybody watched.
            let mut change = Some(Change::Unknown);
            while let Some(told) = change {
                if matches!(told, Change::Pins | Change::Unknown) {
                    self.hear_of_pins(&store).await;
                }
                change = changes.next().await;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn hear_of_pins(&self, store: &Store) {
        loop {
            match self.pins.reread(store).await {
                Ok(true) => return self.renew(),
                Ok(false) => return,
                Err(error) if error.may_pass() => tokio::time::sleep(AGAIN).await,
                Err(error) => return tracing::warn!(%error, "the pins of tools are not read; those known stand"),
            }
        }
    }
}

#[cfg(test)]
mod tests;
