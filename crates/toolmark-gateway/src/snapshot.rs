//! Everything that decides about calls at one moment: the workspace, the packs behind it, and what each client sees.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use foldhash::HashMap;
use toolmark_config::Config;
use toolmark_core::display::{LanguageTag, Languages, NameTable, Shown};
use toolmark_core::names::PackName;
use toolmark_core::tool::Tool;
use toolmark_runtime::Workspace;

use crate::labels::Labels;
use crate::listing::Listed;
use crate::names::Names;
use crate::offers::Offers;
use crate::pack::{PackHandle, PackState};
use crate::pages::{STARTING_TTL_MS, TTL_MS};
use crate::view::{View, ViewError, ViewName};

/// An immutable view of the gateway. A new one takes its place when anything changes.
pub struct Snapshot {
    workspace: Arc<Workspace>,
    config: Arc<Config>,
    packs: HashMap<Box<str>, Arc<PackHandle>>,
    listed: BTreeMap<PackName, Arc<Listed>>,
    /// How packs stood when this was made, as far as lists say so.
    away: HashMap<Box<str>, PackState>,
    names: Arc<Names>,
    /// What people call things.
    labels: Arc<Labels>,
    /// What people call each tool, made when somebody first asks.
    shown: OnceLock<NameTable>,
    languages: OnceLock<BTreeSet<LanguageTag>>,
    /// What all packs offer beside tools, made when somebody first asks.
    offers: OnceLock<Arc<Offers>>,
    /// What each address has shown so far, made when somebody first asks.
    views: RwLock<HashMap<ViewName, Arc<View>>>,
}

impl Snapshot {
    pub(crate) fn new(
        workspace: Arc<Workspace>,
        config: Arc<Config>,
        packs: &std::collections::HashMap<PackName, Arc<PackHandle>>,
        listed: BTreeMap<PackName, Arc<Listed>>,
        names: Arc<Names>,
        labels: Arc<Labels>,
    ) -> Self {
        let states = packs.iter().map(|(name, pack)| (name.as_str().into(), pack.state()));
        let away = states.filter(|(_, state)| *state != PackState::Ready).collect();
        let packs = packs.iter().map(|(name, pack)| (name.as_str().into(), Arc::clone(pack))).collect();
        Self {
            workspace,
            config,
            packs,
            listed,
            away,
            names,
            labels,
            shown: OnceLock::new(),
            languages: OnceLock::new(),
            offers: OnceLock::new(),
            views: RwLock::default(),
        }
    }

    /// What judges calls.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) fn shared_workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// What the operator wrote.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A pack by its name.
    #[must_use]
    pub fn pack(&self, name: &str) -> Option<&Arc<PackHandle>> {
        self.packs.get(name)
    }

    /// How a pack stood when this was made; nothing for one that was ready.
    pub(crate) fn away(&self, pack: &str) -> Option<&PackState> {
        self.away.get(pack)
    }

    /// How long clients may keep its lists: only shortly while packs are starting, since nobody knows yet what those will list.
    pub(crate) fn ttl_ms(&self) -> u64 {
        let starting = self.away.values().any(|state| *state == PackState::Starting);
        if starting { STARTING_TTL_MS } else { TTL_MS }
    }

    /// What the server of a pack tells those who use it.
    pub(crate) fn instructions(&self, pack: &PackName) -> Option<&str> {
        self.listed.get(pack)?.instructions.as_deref()
    }

    /// Who was given which name.
    pub(crate) fn exposed_names(&self) -> &Names {
        &self.names
    }

    /// What people call things.
    #[must_use]
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// What people call each tool, prepared.
    #[must_use]
    pub fn display(&self) -> &NameTable {
        self.shown.get_or_init(|| self.labels.table(self.workspace.catalog().tools()))
    }

    /// What somebody is shown of a tool who wants these languages.
    #[must_use]
    pub fn shown(&self, tool: &Tool, languages: &Languages) -> Shown {
        self.display().shown(tool, languages)
    }

    /// What a tool is called in each language that has a name for it; `und` is the operator's name for all others.
    #[must_use]
    pub fn names(&self, tool: &Tool) -> BTreeMap<String, String> {
        self.display().by_language(tool)
    }

    /// The languages in which any tool has a name.
    pub(crate) fn languages(&self) -> &BTreeSet<LanguageTag> {
        self.languages.get_or_init(|| self.display().all_languages(self.workspace.catalog().tools()))
    }

    /// What clients at one address see.
    ///
    /// # Errors
    /// When names that must be bare collide, or the address means nothing any more.
    pub fn view(&self, name: &ViewName) -> Result<Arc<View>, ViewError> {
        if let Some(view) = self.views.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(View::of(self, name)?);
        let mut views = self.views.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(views.entry(name.clone()).or_insert(view)))
    }

    /// What all packs offer beside tools.
    pub(crate) fn offers(&self) -> &Arc<Offers> {
        self.offers.get_or_init(|| Arc::new(self.offers_of(|_| true)))
    }

    /// What some packs offer beside tools, in the order of the configuration.
    pub(crate) fn offers_of(&self, shown: impl Fn(&PackName) -> bool) -> Offers {
        let order = self.config.packs.iter().map(|(name, _)| name);
        let rest = self.listed.keys().filter(|name| self.config.packs.get(name).is_none());
        let listed = |name| self.listed.get_key_value(name).map(|(name, listed)| (name, &**listed));
        let named = |pack: &PackName| {
            let own = self.config.packs.get(pack);
            let prefix = own.and_then(|own| own.prefix.clone()).unwrap_or_else(|| pack.to_string());
            (prefix, own.and_then(|own| own.exposure).unwrap_or(self.config.names.exposure))
        };
        Offers::of(&self.names, &order.chain(rest).filter_map(listed), shown, named, self.ttl_ms())
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("tools", &self.workspace.catalog().len()).finish_non_exhaustive()
    }
}
