//! The running gateway: packs under supervision, one snapshot at a time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use toolmark_config::Config;
use toolmark_config::sections::{self, Audit};
use toolmark_core::catalog::{Catalog, CatalogBuilder};
use toolmark_core::explain::Explain as _;
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_core::pins::Pins;
use toolmark_core::problem::Problem;
use toolmark_effects::EffectCache;
use toolmark_mcp::downstream::{Changed, Held, SealKey};
use toolmark_mcp::upstream::oauth::Vault;
use toolmark_runtime::approve::Desk;
use toolmark_runtime::{Pipeline, Workspace};
use toolmark_store::audit::AuditSink;
use toolmark_store::{Store, StoreError};

use crate::assemble::{self, AssembleError, Strictness, Surroundings};
use crate::audit::Ids;
use crate::baselines::{self, Baselines};
use crate::builder::{StartGatewayError, handles};
use crate::listing::Listed;
use crate::metrics::{Metrics, Standing};
use crate::names::Names;
use crate::pack::{News, PackHandle, PackState};
use crate::pins::PinBook;
use crate::snapshot::Snapshot;
use crate::telemetry::{SpanStats, Traces};

/// How long packs that start wait for each other.
const TOGETHER: Duration = Duration::from_millis(10);

/// How long what is new waits for more of it before it is written down.
const SAVE: Duration = Duration::from_millis(200);

/// How long after a failure that is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// A gateway that runs. Cheap to share behind an `Arc`.
pub struct Gateway {
    pub(crate) directory: PathBuf,
    pub(crate) state: Mutex<State>,
    pub(crate) current: ArcSwap<Snapshot>,
    pub(crate) pipeline: Pipeline,
    pub(crate) desk: Option<Desk>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) traces: Option<Traces>,
    pub(crate) audit: Option<AuditSink>,
    /// Names every call.
    pub(crate) ids: Ids,
    pub(crate) store: Option<Store>,
    pub(crate) vault: Option<Vault>,
    /// Under which name it writes.
    pub(crate) node: Arc<str>,
    pub(crate) names: Arc<Names>,
    pub(crate) pins: PinBook,
    pub(crate) changes: broadcast::Sender<Changed>,
    pub(crate) news: mpsc::Sender<News>,
    pub(crate) tasks: Mutex<Vec<JoinHandle<()>>>,
    /// Held while something is written down, so that nobody ends it halfway.
    pub(crate) saving: tokio::sync::Mutex<()>,
}

/// What snapshots are made from. Replaced as a whole by a reload.
pub(crate) struct State {
    pub(crate) config: Arc<Config>,
    pub(crate) lock: Option<Lock>,
    pub(crate) packs: HashMap<PackName, Arc<PackHandle>>,
    pub(crate) listed: BTreeMap<PackName, Arc<Listed>>,
    /// Packs whose lists are not written down yet.
    /// The baselines that tasks take from the store, as they were when the configuration was read.
    pub(crate) baselines: Baselines,
    pub(crate) unsaved: HashSet<PackName>,
}

/// What a reload changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Packs that are new.
    pub added: Vec<PackName>,
    /// Packs that are gone.
    pub removed: Vec<PackName>,
    /// Packs that are reached in another way and start again.
    pub restarted: Vec<PackName>,
    /// Parts of the configuration that hold from the next start on.
    pub later: Vec<&'static str>,
}

impl Gateway {
    pub(crate) fn run(self: &Arc<Self>, heard: mpsc::Receiver<News>) {
        let packs: Vec<_> = self.state().packs.values().cloned().collect();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.extend(packs.into_iter().map(|pack| tokio::spawn(pack.supervise(self.news.clone()))));
        tasks.push(tokio::spawn(Arc::clone(self).attend(heard)));
        if let Some(desk) = self.desk.clone() {
            tasks.push(tokio::spawn(async move { desk.follow().await }));
        }
        if self.store.is_some() {
            tasks.push(tokio::spawn(Arc::clone(self).write_down()));
            tasks.push(tokio::spawn(Arc::clone(self).forget_old_records()));
            tasks.push(tokio::spawn(Arc::clone(self).follow_pins()));
        }
    }

    /// Takes in what packs say, until the gateway stops. What several say at once makes one snapshot: at the start, all of them do.
    async fn attend(self: Arc<Self>, mut heard: mpsc::Receiver<News>) {
        while let Some(first) = heard.recv().await {
            let (mut lists, mut taken, mut moved) = (Vec::new(), Vec::new(), false);
            let begun = tokio::time::Instant::now();
            let mut next = Some(first);
            while let Some(news) = next {
                match news {
                    News::Listed(pack, listed, done) => {
                        lists.push((pack, *listed));
                        taken.push(done);
                    }
                    News::Resource(pack, uri) => {
                        let uri = self.snapshot().offers().exposed_resource(&pack, uri);
                        let _ = self.changes.send(Changed::Resource(uri.into()));
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

    /// Writes down names and lists from time to time.
    async fn write_down(self: Arc<Self>) {
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

    /// Makes the snapshot in which packs offer this, if anything is new. True when there is one.
    fn take_in(&self, lists: Vec<(Arc<PackHandle>, Listed)>) -> bool {
        let mut state = self.state();
        let before = state.listed.clone();
        for (pack, listed) in lists {
            let name = pack.name();
            // One that was replaced in the meantime has nothing to say any more.
            let current = state.packs.get(name).is_some_and(|current| Arc::ptr_eq(current, &pack));
            if current && state.listed.get(name).is_none_or(|known| **known != listed) {
                state.listed.insert(name.clone(), Arc::new(listed));
                state.unsaved.insert(name.clone());
            }
        }
        let new: Vec<PackName> = state
            .listed
            .iter()
            .filter(|(name, own)| before.get(*name) != Some(*own))
            .map(|(name, _)| name.clone())
            .collect();
        if new.is_empty() {
            return false;
        }
        self.names.bell().notify_one();
        match self.workspace_of(&state) {
            Ok(workspace) => {
                self.look_at_pins(&state, &workspace);
                self.current.store(Arc::new(self.snapshot_of(&state, Arc::new(workspace))));
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
                false
            }
        }
    }

    /// Uses another configuration from now on. Calls under way end under the old one; servers that are reached as before are not
    /// started again.
    ///
    /// # Errors
    /// [`StartGatewayError`] with everything that is wrong; then everything is as before.
    pub async fn reload(self: &Arc<Self>, config: Config, lock: Option<Lock>) -> Result<Reloaded, StartGatewayError> {
        let mut made = handles(&config, &self.directory, self.vault.as_ref())?;
        let recalled = self.recalled(&made).await;
        let baselines = match &self.store {
            Some(store) => baselines::read(&config, store)
                .await
                .map_err(|error| StartGatewayError::new(vec![Problem::refused(error.report(), None)]))?,
            None => Baselines::default(),
        };
        let (mut reloaded, mut retired, mut started) = (Reloaded::default(), Vec::new(), Vec::new());
        {
            let mut state = self.state();
            let mut packs: HashMap<PackName, Arc<PackHandle>> = state
                .packs
                .iter()
                .filter(|(_, pack)| pack.is_built_in())
                .map(|(name, pack)| (name.clone(), Arc::clone(pack)))
                .collect();
            let mut listed = BTreeMap::new();
            for name in packs.keys() {
                listed.extend(state.listed.get_key_value(name).map(|(name, own)| (name.clone(), Arc::clone(own))));
            }
            for (name, _) in &config.packs {
                let Some(new) = made.remove(name) else { continue };
                let old = state.packs.get(name);
                let known = state.listed.get(name).filter(|_| old.is_some_and(|old| old.source() == new.source()));
                let known = known.or_else(|| recalled.get(name)).cloned();
                let locked = || Listed::locked(lock.as_ref()?, name, new.source()).map(Arc::new);
                listed.extend(known.or_else(locked).map(|own| (name.clone(), own)));
                let pack = match old {
                    Some(old) if old.is_reached_like(&new) => Arc::clone(old),
                    Some(old) => {
                        reloaded.restarted.push(name.clone());
                        retired.push(Arc::clone(old));
                        Arc::new(new.in_place_of(old))
                    }
                    None => {
                        reloaded.added.push(name.clone());
                        Arc::new(new)
                    }
                };
                if old.is_none_or(|old| !Arc::ptr_eq(old, &pack)) {
                    started.push(Arc::clone(&pack));
                }
                packs.insert(name.clone(), pack);
            }
            for (name, pack) in state.packs.iter().filter(|(name, _)| !packs.contains_key(*name)) {
                reloaded.removed.push(name.clone());
                retired.push(Arc::clone(pack));
            }
            reloaded.removed.sort();
            let before = &state.config;
            // Lists are written anew by the next snapshot; everything else of `[gateway]` holds for as long as it runs.
            let gateway = sections::Gateway { list_meta: config.gateway.list_meta, ..before.gateway.clone() };
            // What is old enough to go is read anew each time; the rest of it holds for the process.
            let audit = |config: &Config| Audit { retention: None, ..config.audit.clone() };
            for (part, same) in [
                ("gateway", gateway == config.gateway),
                ("audit", audit(before) == audit(&config)),
                ("telemetry", before.telemetry == config.telemetry),
            ] {
                reloaded.later.extend((!same).then_some(part));
            }
            let unsaved = std::mem::take(&mut state.unsaved);
            let new = State { config: Arc::new(config), lock, packs, listed, baselines, unsaved };
            let workspace = match self.workspace_of(&new) {
                Ok(workspace) => Arc::new(workspace),
                Err(error) => {
                    state.unsaved = new.unsaved;
                    return Err(StartGatewayError::new(error.problems().to_vec()));
                }
            };
            self.look_at_pins(&new, &workspace);
            self.current.store(Arc::new(self.snapshot_of(&new, workspace)));
            *state = new;
        }
        if let Some(desk) = &self.desk {
            desk.configure(crate::approvals::settings(self.snapshot().config()));
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.extend(started.into_iter().map(|pack| tokio::spawn(pack.supervise(self.news.clone()))));
        tasks.extend(retired.into_iter().map(|pack| tokio::spawn(pack.retire())));
        drop(tasks);
        let names = |packs: &[PackName]| packs.iter().map(PackName::as_str).collect::<Vec<_>>().join(",");
        let (added, removed, restarted) =
            (names(&reloaded.added), names(&reloaded.removed), names(&reloaded.restarted));
        tracing::info!(added, removed, restarted, "the configuration was taken over");
        self.tell([Changed::Tools, Changed::Prompts, Changed::Resources]);
        Ok(reloaded)
    }

    /// What the store knows of packs that are new here.
    async fn recalled(&self, made: &HashMap<PackName, PackHandle>) -> HashMap<PackName, Arc<Listed>> {
        let mut recalled = HashMap::new();
        let Some(store) = &self.store else { return recalled };
        for (name, pack) in made {
            match Listed::recall(store, name, pack.source()).await {
                Ok(listed) => recalled.extend(listed.map(|listed| (name.clone(), Arc::new(listed)))),
                Err(error) => tracing::warn!(pack = %name, %error, "what the pack listed before is not known"),
            }
        }
        recalled
    }

    /// What judges calls under a state.
    pub(crate) fn workspace_of(&self, state: &State) -> Result<Workspace, AssembleError> {
        let effects = Arc::clone(self.snapshot().workspace().effects());
        assembled(state, &self.pins, &self.directory, Some(effects), Strictness::Running)
    }

    pub(crate) fn snapshot_of(&self, state: &State, workspace: Arc<Workspace>) -> Snapshot {
        let (config, names) = (Arc::clone(&state.config), Arc::clone(&self.names));
        Snapshot::new(workspace, config, &state.packs, state.listed.clone(), names)
    }

    /// Settings that name tools which nobody has. They hold nothing; whoever wrote them should know.
    #[must_use]
    pub fn doubts(&self) -> Vec<Problem> {
        let state = self.state();
        match assembled(&state, &self.pins, &self.directory, None, Strictness::Checking) {
            Ok(_) => Vec::new(),
            Err(error) => error.problems().to_vec(),
        }
    }

    pub(crate) fn tell(&self, changes: impl IntoIterator<Item = Changed>) {
        for changed in changes {
            // Nobody may be listening.
            let _ = self.changes.send(changed);
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The way that calls go.
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Where spans go, if anywhere.
    pub(crate) fn traces(&self) -> Option<&Traces> {
        self.traces.as_ref()
    }

    /// What became of spans, where they are sent.
    #[must_use]
    pub fn spans(&self) -> Option<SpanStats> {
        self.traces.as_ref().map(Traces::stats)
    }

    /// What is counted.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// All figures as OpenMetrics text, as they are now.
    pub(crate) fn figures(&self, held: Held) -> String {
        let state = Standing {
            packs: &self.packs(),
            held,
            audit: self.audit.as_ref().map(AuditSink::stats),
            spans: self.spans(),
        };
        self.metrics.text(&state)
    }

    /// What seals the states that clients come back with: one key for all nodes that share a store.
    ///
    /// # Errors
    /// [`StoreError`] when the store has none and cannot keep one.
    pub async fn seal(&self) -> Result<SealKey, StoreError> {
        match &self.store {
            Some(store) => Ok(SealKey::new(store.shared_key(crate::approvals::SEAL).await?)),
            None => Ok(SealKey::random()),
        }
    }

    /// Where people are asked.
    #[must_use]
    pub fn desk(&self) -> Option<&Desk> {
        self.desk.as_ref()
    }

    /// Where it remembers, if anywhere.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Hears of changes from now on.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.changes.subscribe()
    }

    /// The packs, by name.
    #[must_use]
    pub fn packs(&self) -> Vec<Arc<PackHandle>> {
        let mut packs: Vec<_> = self.state().packs.values().cloned().collect();
        packs.sort_by(|one, other| one.name().cmp(other.name()));
        packs
    }

    /// Waits until no pack is starting any more, however that ended.
    pub async fn settled(&self) {
        while self.packs().iter().any(|pack| pack.state() == PackState::Starting) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Ends every pack and whatever it started, and writes down what is new.
    pub async fn stop(&self) {
        let packs = self.packs();
        futures_util::future::join_all(packs.iter().map(|pack| pack.stop())).await;
        // A task that is ended while it writes would take along what it was about to write.
        let saving = self.saving.lock().await;
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
        }
        drop(saving);
        self.save().await;
        if let Some(traces) = &self.traces {
            traces.close().await;
        }
        tracing::info!("the gateway has stopped");
    }
}

/// The workspace of a state.
pub(crate) fn assembled(
    state: &State,
    pins: &PinBook,
    directory: &std::path::Path,
    effects: Option<Arc<EffectCache>>,
    strictness: Strictness,
) -> Result<Workspace, AssembleError> {
    let environment = |name: &str| std::env::var(name).ok();
    let surroundings = Surroundings { directory, environment: &environment, baselines: &state.baselines, effects };
    let pins = Pins::new(state.lock.clone()).accepted(pins.accepted());
    assemble::workspace(&state.config, state.catalog(), pins, &surroundings, strictness)
}

impl State {
    /// The tools of all packs. The order of the configuration decides who keeps a name that two have.
    pub(crate) fn catalog(&self) -> Catalog {
        let mut builder: CatalogBuilder = Catalog::builder();
        let order = self.config.packs.iter().map(|(name, _)| name);
        let rest = self.listed.keys().filter(|name| self.config.packs.get(name).is_none());
        for name in order.chain(rest) {
            let (Some(own), Some(handle)) = (self.listed.get(name), self.packs.get(name)) else { continue };
            builder = builder.pack(own.pack(name, self.config.packs.get(name), handle.source()));
        }
        let catalog = builder.build_partly();
        for problem in catalog.problems() {
            tracing::warn!("{problem}");
        }
        catalog
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("packs", &self.state().packs.len()).finish_non_exhaustive()
    }
}
