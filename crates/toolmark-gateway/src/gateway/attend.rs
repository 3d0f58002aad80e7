//! What do packs say, and what comes of it? Lists that are new make a new snapshot, and clients hear what changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolmark_core::names::PackName;
use toolmark_mcp::downstream::Changed;
use toolmark_mcp::upstream::Upstream;

use super::Gateway;
use crate::listing::Listed;
use crate::offers;
use crate::pack::{News, PackHandle, PackState};

/// How long packs that start wait for each other.
const TOGETHER: Duration = Duration::from_millis(10);

impl Gateway {
    /// Takes in what packs say, until the gateway stops. What several say at once makes one snapshot: at the start, all of them do.
    pub(super) async fn attend(self: Arc<Self>, mut heard: mpsc::Receiver<News>) {
        while let Some(first) = heard.recv().await {
            let (mut lists, mut taken, mut moved) = (Vec::new(), Vec::new(), false);
            let begun = tokio::time::Instant::now();
            let mut next = Some(first);
            while let Some(news) = next {
                match news {
                    News::Listed(pack, listed, upstream, done) => {
                        lists.push((pack, *listed, upstream));
                        taken.push(done);
                    }
                    News::Resource(pack, uri) => {
                        // Each client hears of the address that it watches.
                        let all = self.snapshot().offers().watched(&pack, uri);
                        self.tell(all.into_iter().map(|uri| Changed::Resource(uri.into())));
                    }
                    // Lists say which packs are away.
                    News::State => moved = true,
                }
                next = match heard.try_recv().ok() {
                    Some(news) => Some(news),
                    // Packs that start together are taken in together, unless one of them keeps the others waiting.
                    None if !lists.is_empty() && lists.len() < self.starting() => {
                        let left = TOGETHER.saturating_sub(begun.elapsed());
                        tokio::time::timeout(left, heard.recv()).await.ok().flatten()
                    }
                    None => None,
                };
            }
            let renewed = self.take_in(lists);
            if moved && !renewed {
                let state = self.state();
                let workspace = Arc::clone(self.snapshot().shared_workspace());
                self.current.store(Arc::new(self.snapshot_of(&state, workspace)));
            }
            for done in taken {
                let _ = done.send(());
            }
        }
    }

    /// How many packs have not listed anything yet.
    fn starting(&self) -> usize {
        self.state().packs.values().filter(|pack| pack.state() == PackState::Starting).count()
    }

    /// Makes the snapshot in which packs offer this, if anything is new, and lets calls go to them. True when there is one.
    fn take_in(&self, lists: Vec<(Arc<PackHandle>, Listed, Arc<Upstream>)>) -> bool {
        let mut state = self.state();
        let before = state.listed.clone();
        let mut opened = Vec::new();
        for (pack, listed, upstream) in lists {
            let name = pack.name();
            // One that was replaced in the meantime has nothing to say any more.
            let current = state.packs.get(name).is_some_and(|current| Arc::ptr_eq(current, &pack));
            if current && state.listed.get(name).is_none_or(|known| **known != listed) {
                let told = state.listed.get(name).map(|known| offers::problems(name, known)).unwrap_or_default();
                for problem in offers::problems(name, &listed).iter().filter(|problem| !told.contains(problem)) {
                    tracing::warn!("{problem}");
                }
                state.listed.insert(name.clone(), Arc::new(listed));
                state.unsaved.insert(name.clone());
            }
            if current {
                opened.push((pack, upstream));
            }
        }
        // Who sees tools may call them: it is open a moment before they are seen, and no call is judged by what was known before for longer.
        let open = || opened.into_iter().for_each(|(pack, upstream)| pack.open(upstream));
        let new: Vec<PackName> = state
            .listed
            .iter()
            .filter(|(name, own)| before.get(*name) != Some(*own))
            .map(|(name, _)| name.clone())
            .collect();
        if new.is_empty() {
            open();
            return false;
        }
        self.names.bell().notify_one();
        match self.workspace_of(&state) {
            Ok(workspace) => {
                self.look_at_pins(&state, &workspace);
                let snapshot = Arc::new(self.snapshot_of(&state, Arc::new(workspace)));
                open();
                self.current.store(snapshot);
                let empty = Arc::new(Listed::default());
                let differs = |has: fn(&Listed, &Listed) -> bool| {
                    new.iter().any(|name| {
                        let of = |all: &BTreeMap<PackName, Arc<Listed>>| Arc::clone(all.get(name).unwrap_or(&empty));
                        has(&of(&before), &of(&state.listed))
                    })
                };
                let changed = [
                    (Changed::Tools, differs(|one, other| one.tools != other.tools)),
                    (Changed::Prompts, differs(|one, other| one.prompts != other.prompts)),
                    (
                        Changed::Resources,
                        differs(|one, other| one.resources != other.resources || one.templates != other.templates),
                    ),
                ];
                drop(state);
                self.tell(changed.into_iter().filter_map(|(what, changed)| changed.then_some(what)));
                true
            }
            // What was there goes on: half a policy protects less than an old list.
            Err(error) => {
                for problem in error.problems() {
                    tracing::error!("new lists are not used: {problem}");
                }
                state.listed = before;
                for name in &new {
                    state.unsaved.remove(name);
                }
                open();
                false
            }
        }
    }
}
