//! What do packs say, and what comes of it? Lists that are new make a new snapshot, and clients hear what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolmark_core::names::PackName;
use toolmark_mcp::downstream::Changed;
use toolmark_mcp::upstream::Upstream;
use toolmark_runtime::Workspace;

use super::{Gateway, State};
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
                        taken.push((pack.name().clone(), done));
                        lists.push((pack, *listed, upstream));
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
            let (changed, refused) = self.take_in(lists);
            if moved && changed.is_empty() {
                let state = self.state();
                let workspace = Arc::clone(self.snapshot().shared_workspace());
                self.current.store(Arc::new(self.snapshot_of(&state, workspace)));
            }
            for (pack, done) in taken {
                let _ = done.send(refused.get(&pack).cloned().map_or(Ok(changed.contains(&pack)), Err));
            }
        }
    }

    /// How many packs have not listed anything yet.
    fn starting(&self) -> usize {
        self.state().packs.values().filter(|pack| pack.state() == PackState::Starting).count()
    }

    /// Makes the snapshot in which packs offer this, if anything is new, and lets calls go to them. Says which packs offer something new, and
    /// which something that cannot be used: no call goes to those, and what they offered before stays listed.
    fn take_in(
        &self,
        lists: Vec<(Arc<PackHandle>, Listed, Arc<Upstream>)>,
    ) -> (BTreeSet<PackName>, BTreeMap<PackName, String>) {
        let mut state = self.state();
        let before = state.listed.clone();
        let (mut new, mut opened) = (BTreeMap::new(), Vec::new());
        for (pack, listed, upstream) in lists {
            let name = pack.name();
            // One that was replaced in the meantime has nothing to say any more.
            if !state.packs.get(name).is_some_and(|current| Arc::ptr_eq(current, &pack)) {
                continue;
            }
            if before.get(name).is_none_or(|known| **known != listed) {
                let told = before.get(name).map(|known| offers::problems(name, known)).unwrap_or_default();
                for problem in offers::problems(name, &listed).iter().filter(|problem| !told.contains(problem)) {
                    tracing::warn!("{problem}");
                }
                new.insert(name.clone(), Arc::new(listed));
            } else {
                new.remove(name);
            }
            opened.push((pack, upstream));
        }
        let (workspace, refused) =
            if new.is_empty() { (None, BTreeMap::new()) } else { self.fit(&mut state, &mut new) };
        // Who sees tools may call them: it is open a moment before they are seen, and no call is judged by what was known before for longer.
        let open = || {
            for (pack, upstream) in opened {
                if refused.contains_key(pack.name()) { pack.shut() } else { pack.open(upstream) }
            }
        };
        let Some(workspace) = workspace else {
            open();
            return (BTreeSet::new(), refused);
        };
        state.unsaved.extend(new.keys().cloned());
        self.names.bell().notify_one();
        self.look_at_pins(&state, &workspace);
        let snapshot = Arc::new(self.snapshot_of(&state, Arc::new(workspace)));
        open();
        self.current.store(snapshot);
        let empty = Arc::new(Listed::default());
        let differs = |has: fn(&Listed, &Listed) -> bool| {
            new.iter().any(|(name, own)| has(before.get(name).unwrap_or(&empty), own))
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
        (new.into_keys().collect(), refused)
    }

    /// Puts new lists into the state, and makes what judges calls with them. Where that cannot be, because of a rule that would mean several
    /// tools for example, each is put in by itself, in the order of the configuration: one pack must not keep out the others, nor go on
    /// under what it listed before. Left in `new` are those that fit.
    fn fit(
        &self,
        state: &mut State,
        new: &mut BTreeMap<PackName, Arc<Listed>>,
    ) -> (Option<Workspace>, BTreeMap<PackName, String>) {
        let before = state.listed.clone();
        state.listed.extend(new.iter().map(|(name, own)| (name.clone(), Arc::clone(own))));
        if let Ok(workspace) = self.workspace_of(state) {
            return (Some(workspace), BTreeMap::new());
        }
        state.listed = before;
        let (mut made, mut refused) = (None, BTreeMap::new());
        let place = |name: &PackName| state.config.packs.iter().position(|(own, _)| own == name).unwrap_or(usize::MAX);
        let mut names: Vec<(usize, PackName)> = new.keys().map(|name| (place(name), name.clone())).collect();
        names.sort();
        for (_, name) in names {
            let Some(own) = new.get(&name).cloned() else { continue };
            let known = state.listed.insert(name.clone(), own);
            match self.workspace_of(state) {
                Ok(workspace) => made = Some(workspace),
                Err(error) => {
                    for problem in error.problems() {
                        tracing::error!(pack = %name, "what it lists is not used: {problem}");
                    }
                    match known {
                        Some(known) => state.listed.insert(name.clone(), known),
                        None => state.listed.remove(&name),
                    };
                    let why = error
                        .problems()
                        .first()
                        .map_or_else(|| error.to_string(), |problem| problem.report().what().to_owned());
                    new.remove(&name);
                    refused.insert(name, format!("what it lists cannot be used: {why}"));
                }
            }
        }
        (made, refused)
    }
}
