//! Collects what a gateway is made of, and starts it.

use std::borrow::Borrow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc};
use toolmark_config::locale::Offered;
use toolmark_config::{Config, ExpandConfigError, Missing};
use toolmark_core::catalog::Catalog;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;
use toolmark_mcp::upstream::UpstreamLimits;
use toolmark_mcp::upstream::oauth::Vault;
use toolmark_models::Model;
use toolmark_runtime::approve::Desk;
use toolmark_runtime::{Approvals, NoRecords, Pipeline, Recorder, Unattended};
use toolmark_store::Store;
use toolmark_store::audit::AuditSink;

use crate::approvals::ApprovalsError;
use crate::assemble::Strictness;
use crate::audit::{AuditRecorder, Ids};
use crate::baselines::{self, Baselines};
use crate::files::Files;
use crate::gateway::{Gateway, State, assembled, tell_problems};
use crate::labels::Labels;
use crate::listing::Listed;
use crate::live::{Hub, Shown};
use crate::metrics::{Measured, Metrics};
use crate::names::Names;
use crate::pack::{PackHandle, Way};
use crate::pins::PinBook;
use crate::snapshot::Snapshot;
use crate::telemetry::{Told, Traces};

/// Collects what a gateway is made of.
pub struct GatewayBuilder {
    config: Config,
    directory: PathBuf,
    lock: Option<Lock>,
    built: Vec<PackHandle>,
    desk: Option<Desk>,
    asks: bool,
    node: Arc<str>,
    options: String,
    recorder: Arc<dyn Recorder>,
    audit: Option<AuditSink>,
    store: Option<Store>,
    vault: Option<Vault>,
    model: Option<Arc<dyn Model>>,
    names: Names,
    pins: PinBook,
    listed: BTreeMap<PackName, Arc<Listed>>,
    baselines: Baselines,
    grace: Duration,
}

/// What is remembered of packs that need not be there.
#[derive(Debug)]
pub struct Remembered {
    /// Their tools, without what has problems.
    pub catalog: Catalog,
    /// Their prompts, resources and templates.
    pub offers: Vec<RememberedOffer>,
    /// Packs that have never been seen as they are configured now.
    pub unseen: Vec<PackName>,
}

/// Something that a pack offers beside tools.
#[derive(Debug)]
pub struct RememberedOffer {
    /// What it is.
    pub kind: Offered,
    /// Whose it is.
    pub pack: PackName,
    /// What the pack calls it: a name, an address or a template.
    pub key: Arc<str>,
    /// All that was said about it.
    pub definition: Bytes,
}

/// A gateway that cannot be started, or not with another configuration, with every reason.
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
            desk: None,
            asks: true,
            node: "local".into(),
            options: String::new(),
            recorder: Arc::new(NoRecords),
            audit: None,
            store: None,
            vault: None,
            model: None,
            names: Names::default(),
            pins: PinBook::default(),
            listed: BTreeMap::new(),
            baselines: Baselines::default(),
            grace: UpstreamLimits::default().grace,
        }
    }

    /// How long a server may take to end once its input is closed, and again once it is asked to.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
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

    /// Keeps records in a sink, whose figures are served with the others; unless the configuration wants none.
    #[must_use]
    pub fn audit(mut self, sink: AuditSink) -> Self {
        if !self.config.audit.enabled {
            tracing::warn!("calls are not recorded: `enabled = false` in `[audit]`");
            return self;
        }
        self.recorder = Arc::new(AuditRecorder::configured(sink.clone(), &self.config.audit));
        self.node = Arc::clone(sink.node());
        self.audit = Some(sink);
        self
    }

    /// Where it remembers: the tokens of callers, names, and what packs list.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.vault = self.vault.or_else(|| store.path().map(Vault::beside));
        self.store = Some(store);
        self
    }

    /// The options with which `toolmark approvals` finds this gateway, such as ` --config /etc/toolmark.toml`, for whoever is told to use it.
    #[must_use]
    pub fn found_with(mut self, options: String) -> Self {
        self.options = options;
        self
    }

    /// Where tokens of logins are, if not beside the store.
    #[must_use]
    pub fn vault(mut self, vault: Vault) -> Self {
        self.vault = Some(vault);
        self
    }

    /// Agents beside those of the configuration, all of one model, whatever they say.
    pub(crate) fn agents(mut self, of: &Config, model: Arc<dyn Model>) -> Self {
        if self.config.agents.iter().next().is_none() {
            self.config.agents = of.agents.clone();
            self.model = Some(model);
        }
        self
    }

    /// Asks nobody, and leaves the runs of this node alone: for whoever only looks at what a gateway would be. A gateway that asks must
    /// have the name of its node for itself (`Store::claim_node`), or others take its runs for abandoned.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.asks = false;
        self
    }

    /// Takes up what the store remembers: the names that were given out, the tools that were pinned, and what packs listed when they were last seen, so that their
    /// tools are there while they start.
    ///
    /// # Errors
    /// [`ApprovalsError`] when the store cannot be used, or people cannot be asked as configured.
    pub async fn recall(mut self) -> Result<Self, ApprovalsError> {
        let Some(store) = &self.store else { return Ok(self) };
        self.names = Names::recall(store).await?;
        self.pins = PinBook::recall(store).await?;
        self.baselines = baselines::read(&self.config, store).await?;
        if self.asks {
            self.desk = Some(crate::approvals::desk(&self.config, store, &self.node, &self.options).await?);
        }
        // What is wrong with packs is said when they are started.
        let packs = if self.asks {
            handles(&self.config, &self.directory, self.vault.as_ref(), self.grace).packs
        } else {
            recognised(&self.config, &self.directory, self.vault.as_ref(), self.grace).unwrap_or_default()
        };
        for (name, pack) in packs {
            if let Some(listed) = Listed::recall(store, &name, pack.source()).await? {
                self.listed.insert(name, Arc::new(listed));
            }
        }
        Ok(self)
    }

    /// The tools of all packs as they are remembered, or else as the lock keeps them. Variables that only a server would be given need not
    /// be set.
    ///
    /// # Errors
    /// [`StartGatewayError`] when the configuration cannot be used.
    pub fn remembered(&self) -> Result<Remembered, StartGatewayError> {
        let packs = recognised(&self.config, &self.directory, self.vault.as_ref(), self.grace)?;
        let listed = with_locked(self.listed.clone(), self.lock.as_ref(), &packs);
        let mut unseen: Vec<_> = packs.keys().filter(|name| !listed.contains_key(*name)).cloned().collect();
        unseen.sort();
        let state = State {
            config: Arc::new(self.config.clone()),
            lock: None,
            packs: packs.into_iter().map(|(name, pack)| (name, Arc::new(pack))).collect(),
            listed,
            baselines: self.baselines.clone(),
            files: Files::default(),
            labels: Arc::new(Labels::of(&self.config)),
            unsaved: HashSet::new(),
        };
        let mut offers = Vec::new();
        for (pack, listed) in &self.listed {
            let all = [
                (Offered::Prompt, &listed.prompts),
                (Offered::Resource, &listed.resources),
                (Offered::Template, &listed.templates),
            ];
            for (kind, own) in all {
                offers.extend(own.iter().map(|offer| RememberedOffer {
                    kind,
                    pack: pack.clone(),
                    key: Arc::clone(&offer.key),
                    definition: offer.object.raw().clone(),
                }));
            }
        }
        Ok(Remembered { catalog: state.catalog(), offers, unseen })
    }

    /// A server in this process. `build` gives our end of two pipes: what we read from it, and what we write to it.
    #[must_use]
    pub fn built_in(
        mut self,
        name: PackName,
        build: impl Fn() -> (tokio::io::DuplexStream, tokio::io::DuplexStream) + Send + Sync + 'static,
    ) -> Self {
        let source = toolmark_core::tool::Source::new(&format!("built-in:{name}"));
        let timeout = Duration::from_secs(30);
        self.built.push(PackHandle::new(name, source, timeout, Way::Built(Box::new(build))));
        self
    }

    /// Starts every pack, all at once, and returns while they are starting. A pack that cannot even be tried, such as one whose variables
    /// are not set, is unavailable and says why; the others run.
    ///
    /// # Errors
    /// [`StartGatewayError`] when the configuration cannot be used, whatever the servers say later.
    pub fn start(self) -> Result<Arc<Gateway>, StartGatewayError> {
        let configured = handles(&self.config, &self.directory, self.vault.as_ref(), self.grace).packs;
        let traces = traces(&self.config)?;
        let built = self.built.into_iter().map(|pack| (pack.name().clone(), pack));
        let packs: HashMap<_, _> = built.chain(configured).map(|(name, pack)| (name, Arc::new(pack))).collect();
        let listed = with_locked(self.listed, self.lock.as_ref(), &packs);
        let (baselines, files, unsaved) = (self.baselines, Files::default(), HashSet::new());
        let labels = Arc::new(Labels::read(&self.config, &self.directory).map_err(StartGatewayError::new)?);
        let (config, lock) = (Arc::new(self.config), self.lock);
        let state = State { config, lock, packs, listed, baselines, files, labels, unsaved };
        let workspace = assembled(&state, &self.pins, &self.directory, None, Strictness::Running)
            .map_err(|error| StartGatewayError::new(error.problems().to_vec()))?;
        tell_problems(workspace.catalog(), None);
        let names = Arc::new(self.names);
        let snapshot = Snapshot::new(
            Arc::new(workspace),
            Arc::clone(&state.config),
            &state.packs,
            state.listed.clone(),
            Arc::clone(&names),
            Arc::clone(&state.labels),
        );
        let (changes, _) = broadcast::channel(256);
        let (news, heard) = mpsc::channel(64);
        let metrics = Arc::new(Metrics::new());
        let recorder = Arc::new(Measured::new(Arc::clone(&metrics), Arc::new(Told::new(self.recorder))));
        // First of all: whether anybody looks is asked of it for every call.
        let live = Arc::new(Hub::new(&state.config.audit));
        let recorder = Arc::new(Shown::new(Arc::clone(&live), recorder));
        let approvals: Arc<dyn Approvals> = match &self.desk {
            Some(desk) => Arc::new(desk.clone()),
            None => Arc::new(Unattended),
        };
        let gateway = Arc::new(Gateway {
            directory: self.directory,
            state: Mutex::new(state),
            current: ArcSwap::from_pointee(snapshot),
            pipeline: Pipeline::new(approvals, recorder),
            desk: self.desk,
            metrics,
            live,
            traces,
            audit: self.audit,
            ids: Ids::new(),
            store: self.store,
            vault: self.vault,
            model: self.model,
            node: self.node,
            options: self.options,
            grace: self.grace,
            names,
            pins: self.pins,
            changes,
            news,
            tasks: Mutex::default(),
            saving: tokio::sync::Mutex::default(),
        });
        gateway.look_at_pins(&gateway.state(), gateway.snapshot().workspace());
        gateway.run(heard);
        Ok(gateway)
    }
}

/// Where the spans of calls go, if anywhere.
fn traces(config: &Config) -> Result<Option<Traces>, StartGatewayError> {
    let environment = |name: &str| std::env::var(name).ok();
    let refused = |report| StartGatewayError::new(vec![Problem::refused(report, None)]);
    let expanded = config.expand_itself(&environment).map_err(|error| refused(error.report()))?;
    Traces::of(config, expanded.otlp.as_ref()).map_err(|error| refused(error.report()))
}

/// What packs listed, with what a lock keeps of those that were never seen.
fn with_locked<P: Borrow<PackHandle>>(
    mut listed: BTreeMap<PackName, Arc<Listed>>,
    lock: Option<&Lock>,
    packs: &HashMap<PackName, P>,
) -> BTreeMap<PackName, Arc<Listed>> {
    let Some(lock) = lock else { return listed };
    for (name, pack) in packs {
        if let Entry::Vacant(place) = listed.entry(name.clone())
            && let Some(own) = Listed::locked(lock, name, pack.borrow().source())
        {
            place.insert(Arc::new(own));
        }
    }
    listed
}

/// The packs of a configuration, none of them started.
pub(crate) struct Handles {
    /// All that are enabled, those that cannot be tried among them.
    pub(crate) packs: HashMap<PackName, PackHandle>,
    /// What is wrong with those.
    pub(crate) problems: Vec<(PackName, Problem)>,
}

/// The packs of a configuration, none of them started.
pub(crate) fn handles(config: &Config, directory: &Path, vault: Option<&Vault>, grace: Duration) -> Handles {
    handles_in(config, directory, vault, grace, &|name| std::env::var(name).ok())
}

/// A variable that is not set, such as a token, stands for itself.
fn standing_in(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).or_else(|| Some(name.to_owned()))
}

/// The same for whoever starts none of them and only wants to know which they are: a variable that is not set stands for itself. Where that
/// leads nowhere, as in an address, it is missing after all.
fn recognised(
    config: &Config,
    directory: &Path,
    vault: Option<&Vault>,
    grace: Duration,
) -> Result<HashMap<PackName, PackHandle>, StartGatewayError> {
    let made = handles(config, directory, vault, grace);
    if made.problems.is_empty() {
        return Ok(made.packs);
    }
    let guessed = handles_in(config, directory, vault, grace, &standing_in);
    match guessed.problems.is_empty() {
        true => Ok(guessed.packs),
        false => Err(StartGatewayError::new(made.problems.into_iter().map(|(_, problem)| problem).collect())),
    }
}

fn handles_in(
    config: &Config,
    directory: &Path,
    vault: Option<&Vault>,
    grace: Duration,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Handles {
    let mut made = Handles { packs: HashMap::new(), problems: Vec::new() };
    for (name, settings) in config.packs.iter().filter(|(_, pack)| pack.enabled) {
        let usable = match settings.expand(name, &environment) {
            Ok(connection) => PackHandle::configured(name.clone(), settings, &connection, directory, vault, grace)
                .map_err(|why| {
                    let error = PackUnusable { pack: name.to_string(), why: why.clone() };
                    (why, error.report())
                }),
            Err(error) => Err((unset(&error), error.report())),
        };
        let pack = usable.unwrap_or_else(|(why, report)| {
            made.problems.push((name.clone(), Problem::refused(report, None)));
            let guess = settings.expand(name, &standing_in).ok();
            PackHandle::unusable(name.clone(), settings, guess.as_ref(), &why)
        });
        made.packs.insert(name.clone(), pack);
    }
    made
}

/// Which variables are not set, for whoever knows the pack.
fn unset(error: &ExpandConfigError) -> String {
    let one = |missing: &Missing| format!("the variable `{}` is not set (`{}`)", missing.variable, missing.key);
    error.missing().iter().map(one).collect::<Vec<_>>().join("; ")
}

impl StartGatewayError {
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
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
