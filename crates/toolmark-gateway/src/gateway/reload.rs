//! How does a running gateway take over another configuration? Whole, or not at all; servers that are reached as before go on.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};

use toolmark_config::sections::{self, Audit};
use toolmark_config::{Config, ExpandConfigError};
use toolmark_core::explain::Explain as _;
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;
use toolmark_mcp::downstream::Changed;

use super::{Gateway, State};
use crate::baselines::{self, Baselines};
use crate::builder::{StartGatewayError, handles};
use crate::files::Files;
use crate::labels::Labels;
use crate::listing::Listed;
use crate::pack::PackHandle;

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
    /// Uses another configuration from now on. Calls under way end under the old one; servers that are reached as before are not
    /// started again.
    ///
    /// # Errors
    /// [`StartGatewayError`] with everything that is wrong; then everything is as before.
    pub async fn reload(self: &Arc<Self>, config: Config, lock: Option<Lock>) -> Result<Reloaded, StartGatewayError> {
        let mut made = self.tried(&config)?;
        let labels = Arc::new(Labels::read(&config, &self.directory).map_err(StartGatewayError::new)?);
        let recalled = self.recalled(&made).await;
        let baselines = match &self.store {
            Some(store) => baselines::read(&config, store)
                .await
                .map_err(|error| StartGatewayError::new(vec![Problem::refused(error.report(), None)]))?,
            None => Baselines::default(),
        };
        let (mut reloaded, mut retired, mut started) = (Reloaded::default(), Vec::new(), Vec::new());
        let mut kept = Vec::new();
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
                    Some(old) if old.is_reached_like(&new) => {
                        kept.push((Arc::clone(old), new));
                        Arc::clone(old)
                    }
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
            // Whether agents are served, and for how many at once; the rest is read anew for each run.
            let agui = |config: &Config| (config.agui.enabled, config.agui.runs);
            for (part, same) in [
                ("gateway", gateway == config.gateway),
                ("audit", audit(before) == audit(&config)),
                ("telemetry", before.telemetry == config.telemetry),
                ("approvals.webhook", before.approvals.webhook == config.approvals.webhook),
                ("console", before.console == config.console),
                ("agui", agui(before) == agui(&config)),
            ] {
                reloaded.later.extend((!same).then_some(part));
            }
            let unsaved = std::mem::take(&mut state.unsaved);
            let (config, files) = (Arc::new(config), Files::default());
            let new = State { config, lock, packs, listed, baselines, files, labels, unsaved };
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
        for (pack, new) in kept {
            pack.adopt(&new);
        }
        if let Some(desk) = &self.desk {
            desk.configure(crate::approvals::settings(self.snapshot().config(), &self.options));
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.extend(
            started.into_iter().map(|pack| tokio::spawn(pack.supervise(self.news.clone(), Arc::clone(&self.live)))),
        );
        tasks.extend(retired.into_iter().map(|pack| tokio::spawn(pack.retire())));
        drop(tasks);
        let names = |packs: &[PackName]| packs.iter().map(PackName::as_str).collect::<Vec<_>>().join(",");
        let (added, removed, restarted) =
            (names(&reloaded.added), names(&reloaded.removed), names(&reloaded.restarted));
        tracing::info!(added, removed, restarted, "the configuration was taken over");
        self.tell([Changed::Tools, Changed::Prompts, Changed::Resources]);
        Ok(reloaded)
    }

    /// The packs of a configuration. One that cannot even be tried is taken over only where it could not be before either.
    fn tried(&self, config: &Config) -> Result<HashMap<PackName, PackHandle>, StartGatewayError> {
        let refused = |error: ExpandConfigError| vec![Problem::refused(error.report(), None)];
        let environment = |name: &str| std::env::var(name).ok();
        config.expand_itself(&environment).map_err(|error| StartGatewayError::new(refused(error)))?;
        let made = handles(config, &self.directory, self.vault.as_ref(), self.grace);
        let state = self.state();
        let known = |name: &PackName| state.packs.get(name).is_some_and(|old| old.is_unusable());
        let new = made.problems.into_iter().filter(|(name, _)| !known(name));
        let problems: Vec<Problem> = new.map(|(_, problem)| problem).collect();
        if problems.is_empty() { Ok(made.packs) } else { Err(StartGatewayError::new(problems)) }
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
}
