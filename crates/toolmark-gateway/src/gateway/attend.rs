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
use crate::pack::{News, PackHandle, PackState, Untaken};

/// What became of lists.
struct Taken {
    /// Whose offer something new.
    changed: BTreeSet<PackName>,
    /// Whose cannot be used, and why: no call goes to them, and what they offered before stays listed.
    refused: BTreeMap<PackName, String>,
    /// Whoever is not in the configuration any more, or in another way.
    gone: Vec<Arc<PackHandle>>,
}

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
                        taken.push((Arc::clone(&pack), done));
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
            let Taken { changed, refused, gone } = self.take_in(lists);
            if moved && changed.is_empty() {
                let state = self.state();
                let workspace = Arc::clone(self.snapshot().shared_workspace());
                self.current.store(Arc::new(self.snapshot_of(&state, workspace)));
            }
            for (pack, done) in taken {
                let name = pack.name();
                let why = match gone.iter().any(|gone| Arc::ptr_eq(gone, &pack)) {
                    true => Some(Untaken::Replaced),
                    false => refused.get(name).cloned().map(Untaken::Refused),
                };
                let _ = done.send(why.map_or(Ok(changed.contains(name)), Err));
            }
        }
    }

    /// How many packs have not listed anything yet.
    fn starting(&self) -> usize {
        self.state().packs.values().filter(|pack| pack.state() == PackState::Starting).count()
    }

    /// Makes the snapshot in which packs offer this, if anything is new, and lets calls go to them.
    fn take_in(&self, lists: Vec<(Arc<PackHandle>, Listed, Arc<Upstream>)>) -> Taken {
        let mut state = self.state();
        let before = state.listed.clone();
        let (mut new, mut opened, mut gone) = (BTreeMap::new(), Vec::new(), Vec::new());
        for (pack, listed, upstream) in lists {
            let name = pack.name();
            // One that was replaced in the meantime has nothing to say any more.
            if !state.packs.get(name).is_some_and(|current| Arc::ptr_eq(current, &pack)) {
                gone.push(pack);
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
        // Calls go to it once what judges them is there: whoever was judged by what was known before finds that out first.
        let open = || {
            for (pack, upstream) in opened {
                if refused.contains_key(pack.name()) { pack.shut() } else { pack.open(upstream) }
            }
        };
        let Some(workspace) = workspace else {
            open();
            return Taken { changed: BTreeSet::new(), refused, gone };
        };
        state.unsaved.extend(new.keys().cloned());
        self.names.bell().notify_one();
        self.look_at_pins(&state, &workspace);
        let snapshot = Arc::new(self.snapshot_of(&state, Arc::new(workspace)));
        self.current.store(snapshot);
        open();
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
        Taken { changed: new.into_keys().collect(), refused, gone }
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
