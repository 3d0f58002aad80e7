//! The running gateway: packs under supervision, one snapshot at a time.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use toolmark_config::Config;
use toolmark_core::catalog::{Catalog, CatalogBuilder};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;
use toolmark_mcp::downstream::Changed;
use toolmark_runtime::{Approvals, NoRecords, Pipeline, Recorder, Unattended};
use toolmark_store::Store;

use crate::assemble::{self, Strictness, Surroundings};
use crate::listing::Listed;
use crate::metrics::{Measured, Metrics};
use crate::pack::{News, PackHandle, PackState, Way};
use crate::snapshot::Snapshot;

/// Collects what a gateway is made of.
pub struct GatewayBuilder {
    config: Config,
    directory: PathBuf,
    lock: Option<Lock>,
    built: Vec<PackHandle>,
    approvals: Arc<dyn Approvals>,
    recorder: Arc<dyn Recorder>,
    store: Option<Store>,
}

/// A gateway that runs. Cheap to share behind an `Arc`.
pub struct Gateway {
    config: Arc<Config>,
    directory: PathBuf,
    lock: Option<Lock>,
    packs: HashMap<PackName, Arc<PackHandle>>,
    listed: Mutex<BTreeMap<PackName, Arc<Listed>>>,
    current: ArcSwap<Snapshot>,
    pipeline: Pipeline,
    metrics: Arc<Metrics>,
    store: Option<Store>,
    changes: broadcast::Sender<Changed>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A gateway that cannot be started, with every reason.
#[derive(Debug, thiserror::Error)]
#[error("the gateway cannot be started")]
pub struct StartGatewayError {
    problems: Vec<Problem>,
}

/// A pack that cannot even be tried.
#[derive(Debug, thiserror::Error)]
#[error("the pack `{pack}` cannot be started: {why}")]
struct PackUnusable {
    pack: String,
    why: String,
}

impl GatewayBuilder {
    /// A gateway for this configuration, whose relative paths start from a directory.
    #[must_use]
    pub fn new(config: Config, directory: PathBuf) -> Self {
        Self {
            config,
            directory,
            lock: None,
            built: Vec::new(),
            approvals: Arc::new(Unattended),
            recorder: Arc::new(NoRecords),
            store: None,
        }
    }

    /// What was approved.
    #[must_use]
    pub fn lock(mut self, lock: Option<Lock>) -> Self {
        self.lock = lock;
        self
    }

    /// Who keeps records.
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = recorder;
        self
    }

    /// Where it remembers: the tokens of callers are there.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// A server in this process. `build` gives our end of two pipes: what we read from it, and what we write to it.
    #[must_use]
    pub fn built_in(
        mut self,
        name: PackName,
        build: impl Fn() -> (tokio::io::DuplexStream, tokio::io::DuplexStream) + Send + Sync + 'static,
    ) -> Self {
        let source = toolmark_core::tool::Source::new(&format!("built-in:{name}"));
        let timeout = std::time::Duration::from_secs(30);
        self.built.push(PackHandle::new(name, source, timeout, Way::Built(Box::new(build))));
        self
    }

    /// Starts every pack, all at once, and returns while they are starting.
    ///
    /// # Errors
    /// [`StartGatewayError`] when the configuration cannot be used, whatever the servers say later.
    pub fn start(self) -> Result<Arc<Gateway>, StartGatewayError> {
        let environment = |name: &str| std::env::var(name).ok();
        let expanded = self.config.expand(&environment);
        let expanded = expanded.map_err(|error| StartGatewayError::of(error.report()))?;
        let mut problems = Vec::new();
        let mut packs: HashMap<PackName, Arc<PackHandle>> =
            self.built.into_iter().map(|pack| (pack.name().clone(), Arc::new(pack))).collect();
        for (name, connection) in &expanded.connections {
            let Some(settings) = self.config.packs.get(name) else { continue };
            match PackHandle::configured(name.clone(), settings, connection) {
                Ok(pack) => {
                    packs.insert(name.clone(), Arc::new(pack));
                }
                Err(why) => {
                    let error = PackUnusable { pack: name.to_string(), why };
                    problems.push(Problem::refused(error.report(), None));
                }
            }
        }
        if !problems.is_empty() {
            return Err(StartGatewayError { problems });
        }
        let surroundings = Surroundings { directory: &self.directory, environment: &environment };
        let empty = Catalog::builder().build_partly();
        let workspace = assemble::workspace(&self.config, empty, self.lock.clone(), &surroundings, Strictness::Running)
            .map_err(|error| StartGatewayError { problems: error.problems().to_vec() })?;
        let config = Arc::new(self.config);
        let snapshot = Snapshot::new(workspace, Arc::clone(&config), packs.clone(), BTreeMap::new());
        let (changes, _) = broadcast::channel(256);
        let metrics = Arc::new(Metrics::new());
        let recorder = Arc::new(Measured::new(Arc::clone(&metrics), self.recorder));
        let gateway = Arc::new(Gateway {
            config,
            directory: self.directory,
            lock: self.lock,
            packs,
            listed: Mutex::default(),
            current: ArcSwap::from_pointee(snapshot),
            pipeline: Pipeline::new(self.approvals, recorder),
            metrics,
            store: self.store,
            changes,
            tasks: Mutex::default(),
        });
        gateway.run();
        Ok(gateway)
    }
}

impl Gateway {
    fn run(self: &Arc<Self>) {
        let (news, heard) = mpsc::channel(64);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for pack in self.packs.values() {
            tasks.push(tokio::spawn(Arc::clone(pack).supervise(news.clone())));
        }
        tasks.push(tokio::spawn(Arc::clone(self).attend(heard)));
    }

    /// Takes in what packs say, until all of them are gone.
    async fn attend(self: Arc<Self>, mut heard: mpsc::Receiver<News>) {
        while let Some(news) = heard.recv().await {
            match news {
                News::Listed(pack, listed, taken) => {
                    self.take_in(&pack, *listed);
                    let _ = taken.send(());
                }
                News::Resource(pack, uri) => {
                    let uri = self.snapshot().exposed_resource(&pack, uri);
                    let _ = self.changes.send(Changed::Resource(uri.into()));
                }
                News::State => {}
            }
        }
    }

    /// Makes the snapshot in which a pack offers this.
    fn take_in(&self, pack: &PackName, listed: Listed) {
        let mut all = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(pack.clone(), Arc::new(listed));
        let mut builder: CatalogBuilder = Catalog::builder();
        // The order of the configuration decides who keeps a name that two have.
        let order = self.config.packs.iter().map(|(name, _)| name);
        let rest = all.keys().filter(|name| self.config.packs.get(name).is_none());
        for name in order.chain(rest) {
            let (Some(own), Some(handle)) = (all.get(name), self.packs.get(name)) else { continue };
            builder = builder.pack(own.pack(name, self.config.packs.get(name), handle.source()));
        }
        let catalog = builder.build_partly();
        for problem in catalog.problems() {
            tracing::warn!(%pack, "{problem}");
        }
        let environment = |name: &str| std::env::var(name).ok();
        let surroundings = Surroundings { directory: &self.directory, environment: &environment };
        let made = assemble::workspace(&self.config, catalog, self.lock.clone(), &surroundings, Strictness::Running);
        match made {
            Ok(workspace) => {
                let snapshot = Snapshot::new(workspace, Arc::clone(&self.config), self.packs.clone(), all.clone());
                self.current.store(Arc::new(snapshot));
                drop(all);
                for changed in [Changed::Tools, Changed::Prompts, Changed::Resources] {
                    let _ = self.changes.send(changed);
                }
            }
            // What was there goes on: half a policy protects less than an old list.
            Err(error) => {
                for problem in error.problems() {
                    tracing::error!(%pack, "the new list is not used: {problem}");
                }
            }
        }
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

    /// What is counted.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
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
        let mut packs: Vec<_> = self.packs.values().cloned().collect();
        packs.sort_by(|one, other| one.name().cmp(other.name()));
        packs
    }

    /// Waits until no pack is starting any more, however that ended.
    pub async fn settled(&self) {
        while self.packs.values().any(|pack| pack.state() == PackState::Starting) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Ends every pack and whatever it started.
    pub async fn stop(&self) {
        futures_util::future::join_all(self.packs.values().map(|pack| pack.stop())).await;
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
        }
    }
}

impl StartGatewayError {
    fn of(report: Report) -> Self {
        Self { problems: vec![Problem::refused(report, None)] }
    }

    /// Every reason.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl Explain for PackUnusable {
    fn code(&self) -> Code {
        Code::new("pack-unusable")
    }

    fn why(&self) -> String {
        "a pack that is left out silently would be missed by nobody until its tools are needed".into()
    }

    fn fix(&self) -> String {
        format!("correct `[packs.{}]`, or set `enabled = false`", self.pack)
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("pack", self.pack.as_str().into())])
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("packs", &self.packs.len()).finish_non_exhaustive()
    }
}
