//! Everything that decides about calls, as one immutable snapshot that is replaced whole.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, OnceLock};

use toolmark_core::behavior::{Behavior, Disagreement, KnownBehavior};
use toolmark_core::catalog::Catalog;
use toolmark_core::digest::{DefinitionDigest, Mark};
use toolmark_core::gate::Preset;
use toolmark_core::lock::Lock;
use toolmark_core::names::{CanonicalName, PackName};
use toolmark_core::pins::{Pins, Standing};
use toolmark_core::tool::Tool;
use toolmark_effects::settings::Settings;
use toolmark_effects::{Analyzer, EffectCache};
use toolmark_policy::{LoadPolicyError, Policy, PolicyConfig, SettledTool};

use crate::judged::Judged;
use crate::task::{Task, Tasks};

/// The catalog, and beside it all that judging needs. Cheap to share behind an `Arc`.
#[derive(Debug)]
pub struct Workspace {
    catalog: Catalog,
    /// By where the tool is in memory: the catalog beside it keeps every tool where it is.
    /// Boxed, because a table has room for twice as many.
    tools: HashMap<usize, Box<Prepared>, BuildHasherDefault<Address>>,
    policy: Policy,
    /// The version of the policy in words, for records.
    version: Arc<str>,
    tasks: Tasks,
    pins: Pins,
    effects: Arc<EffectCache>,
}

/// What judging needs to know about one tool, found when somebody first asks and kept.
#[derive(Debug)]
pub struct Prepared {
    operator: Option<Behavior>,
    opinions: Vec<Disagreement>,
    settings: Arc<Settings>,
    task: Option<Arc<Task>>,
    settled: SettledTool,
    known: OnceLock<KnownBehavior>,
    analyzer: OnceLock<Analyzer>,
    /// The tasks, by address, in which every call without facts is allowed; 0 is a call without a task.
    plain: OnceLock<Box<[usize]>>,
    identity: OnceLock<Box<Identity>>,
    standing: Standing,
}

/// Which tool a call was of, as records and results say it; written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// This tool in this version.
    pub mark: Mark,
    /// The same in words.
    pub mark_text: Arc<str>,
    /// What its publisher says.
    pub definition: DefinitionDigest,
    /// `pack.raw`.
    pub canonical: Arc<str>,
    /// What its calls are judged by as long as their arguments are no fact, as records keep it.
    pub(crate) judged: Arc<str>,
}

/// Collects what a workspace is made of.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceBuilder {
    policy: PolicyConfig,
    tasks: Tasks,
    pins: Pins,
    behaviors: BTreeMap<CanonicalName, Behavior>,
    opinions: BTreeMap<CanonicalName, Vec<Disagreement>>,
    settings: BTreeMap<CanonicalName, Arc<Settings>>,
    pack_settings: BTreeMap<PackName, Arc<Settings>>,
    pack_tasks: BTreeMap<PackName, Arc<Task>>,
    effects: Arc<EffectCache>,
}

/// Spreads the addresses of tools; they are not chosen by anybody, so nothing has to be hidden.
#[derive(Default)]
struct Address(u64);

fn address(tool: &Tool) -> usize {
    std::ptr::from_ref(tool).addr()
}

impl Hasher for Address {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, value: usize) {
        self.0 = (self.0 ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl WorkspaceBuilder {
    /// Nothing but the defaults: no rules, the built-in tasks, the preset `balanced`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Rules, Cedar policies and the preset.
    #[must_use]
    pub fn policy(mut self, policy: PolicyConfig) -> Self {
        self.policy = policy;
        self
    }

    /// A pack whose tools may come later; rules may name them already.
    #[must_use]
    pub fn awaited(mut self, pack: PackName) -> Self {
        self.policy = self.policy.awaited(pack);
        self
    }

    /// The tasks that can be named.
    #[must_use]
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        self.tasks = tasks;
        self
    }

    /// What was approved. A tool that is not as it was approved is asked for.
    #[must_use]
    pub fn lock(self, lock: Option<Lock>) -> Self {
        self.pins(Pins::new(lock))
    }

    /// The same with what was accepted beside the lock, and with what holds for tools that are pinned nowhere.
    #[must_use]
    pub fn pins(mut self, pins: Pins) -> Self {
        self.pins = pins;
        self
    }

    /// What the operator says a tool does.
    #[must_use]
    pub fn behavior(mut self, tool: CanonicalName, behavior: Behavior) -> Self {
        self.behaviors.insert(tool, behavior);
        self
    }

    /// What others say against what the publisher of a tool claims.
    #[must_use]
    pub fn opinions(mut self, tool: CanonicalName, against: Vec<Disagreement>) -> Self {
        self.opinions.insert(tool, against);
        self
    }

    /// What the operator says about a tool's arguments.
    #[must_use]
    pub fn settings(mut self, tool: CanonicalName, settings: Arc<Settings>) -> Self {
        self.settings.insert(tool, settings);
        self
    }

    /// What was found out about earlier calls. Whoever replaces a workspace hands on its cache: facts are kept by what a tool and its
    /// arguments are, so that those of another version are never taken for these.
    #[must_use]
    pub fn effects(mut self, effects: Arc<EffectCache>) -> Self {
        self.effects = effects;
        self
    }

    /// What the operator says about the arguments of every tool of a pack for which nothing else is said.
    #[must_use]
    pub fn pack_settings(mut self, pack: PackName, settings: Arc<Settings>) -> Self {
        self.pack_settings.insert(pack, settings);
        self
    }

    /// A task whose expectation holds for every tool of a pack, whatever the caller came for.
    #[must_use]
    pub fn pack_task(mut self, pack: PackName, task: Arc<Task>) -> Self {
        self.pack_tasks.insert(pack, task);
        self
    }

    /// Puts it together.
    ///
    /// # Errors
    /// [`LoadPolicyError`] with everything that is wrong with rules and policies.
    pub fn build(self, catalog: Catalog) -> Result<Workspace, LoadPolicyError> {
        let policy = Policy::load(&self.policy, &catalog)?;
        let usual = Arc::new(Settings::default());
        let prepare = |tool: &Tool| Prepared {
            operator: self.behaviors.get(tool.canonical()).copied(),
            opinions: self.opinions.get(tool.canonical()).cloned().unwrap_or_default(),
            settings: Arc::clone(
                self.settings.get(tool.canonical()).or_else(|| of_pack(&self.pack_settings, tool)).unwrap_or(&usual),
            ),
            task: of_pack(&self.pack_tasks, tool).cloned(),
            settled: policy.settle(tool),
            known: OnceLock::new(),
            analyzer: OnceLock::new(),
            plain: OnceLock::new(),
            identity: OnceLock::new(),
            standing: self.pins.standing(tool),
        };
        let tools = catalog.tools().map(|tool| (address(tool), Box::new(prepare(tool)))).collect();
        let version = policy.version().to_string().into();
        Ok(Workspace { catalog, tools, policy, version, tasks: self.tasks, pins: self.pins, effects: self.effects })
    }
}

fn of_pack<'m, T>(map: &'m BTreeMap<PackName, T>, tool: &Tool) -> Option<&'m T> {
    let pack = tool.pack()?;
    map.iter().find(|(name, _)| name.as_str() == pack).map(|(_, value)| value)
}

impl Workspace {
    /// Which tools there are.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The rules and policies.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The version of the rules and policies, in words.
    #[must_use]
    pub fn policy_version(&self) -> &Arc<str> {
        &self.version
    }

    /// How strict the gate is beside them.
    #[must_use]
    pub fn preset(&self) -> Preset {
        self.policy.preset()
    }

    /// The tasks that can be named.
    #[must_use]
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// What was approved, where anything was.
    #[must_use]
    pub fn lock(&self) -> Option<&Lock> {
        self.pins.lock()
    }

    /// Everything that is pinned.
    #[must_use]
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// How a tool of this workspace stands to what is pinned.
    #[must_use]
    pub fn standing(&self, tool: &Tool) -> Standing {
        self.prepared(tool).map_or_else(|| self.pins.standing(tool), Prepared::standing)
    }

    /// What was found out about earlier calls.
    #[must_use]
    pub fn effects(&self) -> &Arc<EffectCache> {
        &self.effects
    }

    /// What a person must see of a tool that is not the one that was approved, or that nobody has approved yet, one line each; nothing
    /// where it is as it was.
    #[must_use]
    pub fn changes(&self, tool: &Tool) -> Vec<String> {
        self.pins.shown(tool)
    }

    /// What is known about a tool of this workspace.
    #[must_use]
    pub fn prepared(&self, tool: &Tool) -> Option<&Prepared> {
        self.tools.get(&address(tool)).map(|prepared| &**prepared)
    }

    /// What a tool is known to do; from its definition alone where it does not belong to this workspace.
    #[must_use]
    pub fn known(&self, tool: &Tool) -> KnownBehavior {
        match self.prepared(tool) {
            Some(prepared) => prepared.known(tool).clone(),
            None => KnownBehavior::of(tool.definition(), None),
        }
    }
}

impl Prepared {
    /// What the tool is known to do.
    pub fn known(&self, tool: &Tool) -> &KnownBehavior {
        let known = || KnownBehavior::of(tool.definition(), self.operator).contradicted(self.opinions.clone());
        self.known.get_or_init(known)
    }

    /// What reads its arguments.
    pub fn analyzer(&self, tool: &Tool) -> &Analyzer {
        self.analyzer.get_or_init(|| Analyzer::of(tool, Settings::clone(&self.settings)))
    }

    /// Which tool it is.
    pub fn identity(&self, tool: &Tool) -> &Identity {
        self.identity.get_or_init(|| Box::new(Identity::of(tool, self.known(tool))))
    }

    /// The task that its pack is bound to.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        self.task.as_deref()
    }

    /// The tasks in which every call without facts is allowed.
    pub(crate) fn plain(&self) -> &OnceLock<Box<[usize]>> {
        &self.plain
    }

    /// Where the policy keeps its rules.
    pub(crate) fn settled(&self) -> SettledTool {
        self.settled
    }

    /// True when it is not the tool that was approved.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.standing.is_changed()
    }

    /// How it stands to what is pinned.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing
    }
}

impl Identity {
    fn of(tool: &Tool, known: &KnownBehavior) -> Self {
        let mark = tool.mark();
        Self {
            mark,
            mark_text: mark.to_string().into(),
            definition: tool.digest(),
            canonical: tool.canonical().as_str().into(),
            judged: Judged::plain(known.behavior()).to_text().into(),
        }
    }
}

#[cfg(test)]
mod tests;
