//! What is a snapshot made from, and how? Everything that was configured, locked and listed, in one place.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use toolmark_config::Config;
use toolmark_core::catalog::{Catalog, CatalogBuilder};
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_core::pins::Pins;
use toolmark_core::problem::Problem;
use toolmark_effects::EffectCache;
use toolmark_runtime::{Workspace, WorkspaceBuilder};

use super::Gateway;
use crate::assemble::{self, AssembleError, Strictness, Surroundings};
use crate::baselines::Baselines;
use crate::files::Files;
use crate::labels::Labels;
use crate::listing::Listed;
use crate::pack::PackHandle;
use crate::pins::PinBook;
use crate::snapshot::Snapshot;

/// What snapshots are made from. Replaced as a whole by a reload.
pub(crate) struct State {
    pub(crate) config: Arc<Config>,
    pub(crate) lock: Option<Lock>,
    pub(crate) packs: HashMap<PackName, Arc<PackHandle>>,
    pub(crate) listed: BTreeMap<PackName, Arc<Listed>>,
    /// The baselines that tasks take from the store, as they were when the configuration was read.
    pub(crate) baselines: Baselines,
    /// What the files said that the configuration names.
    pub(crate) files: Files,
    /// What people call things.
    pub(crate) labels: Arc<Labels>,
    /// Packs whose lists are not written down yet.
    pub(crate) unsaved: HashSet<PackName>,
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
        builder.build_partly()
    }
}

impl Gateway {
    /// What judges calls under a state.
    pub(crate) fn workspace_of(&self, state: &State) -> Result<Workspace, AssembleError> {
        let effects = Arc::clone(self.snapshot().workspace().effects());
        let workspace = assembled(state, &self.pins, &self.directory, Some(effects), Strictness::Running)?;
        tell_problems(workspace.catalog(), Some(self.snapshot().workspace().catalog()));
        Ok(workspace)
    }

    /// The rules that judge calls now, for whoever holds some of the tools.
    pub(crate) fn rules(&self) -> Result<WorkspaceBuilder, AssembleError> {
        let state = self.state();
        let environment = |name: &str| std::env::var(name).ok();
        let effects = Some(Arc::clone(self.snapshot().workspace().effects()));
        let (directory, baselines) = (self.directory.as_path(), &state.baselines);
        let surroundings = Surroundings { directory, environment: &environment, baselines, effects };
        let pins = Pins::new(state.lock.clone()).accepted(self.pins.accepted());
        assemble::rules(&state.config, self.snapshot().workspace().catalog(), pins, &surroundings, &state.files)
    }

    pub(crate) fn snapshot_of(&self, state: &State, workspace: Arc<Workspace>) -> Snapshot {
        let (config, names) = (Arc::clone(&state.config), Arc::clone(&self.names));
        Snapshot::new(workspace, config, &state.packs, state.listed.clone(), names, Arc::clone(&state.labels))
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
}

/// Says which tools are left out, and why; each once, however often the others change.
pub(crate) fn tell_problems(catalog: &Catalog, before: Option<&Catalog>) {
    for problem in untold(catalog, before) {
        tracing::warn!("{problem}");
    }
}

fn untold<'c>(catalog: &'c Catalog, before: Option<&'c Catalog>) -> impl Iterator<Item = &'c Problem> {
    let known = before.map(Catalog::problems).unwrap_or_default();
    catalog.problems().iter().filter(move |problem| !known.contains(problem))
}

/// The workspace of a state.
pub(crate) fn assembled(
    state: &State,
    pins: &PinBook,
    directory: &Path,
    effects: Option<Arc<EffectCache>>,
    strictness: Strictness,
) -> Result<Workspace, AssembleError> {
    let environment = |name: &str| std::env::var(name).ok();
    let surroundings = Surroundings { directory, environment: &environment, baselines: &state.baselines, effects };
    let pins = Pins::new(state.lock.clone()).accepted(pins.accepted());
    assemble::workspace_keeping(&state.config, state.catalog(), pins, &surroundings, strictness, &state.files)
}

#[cfg(test)]
mod tests;
