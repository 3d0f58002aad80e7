//! Everything that decides about calls at one moment: the workspace, the packs behind it, and what each client sees of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use toolmark_config::Config;
use toolmark_core::exposure::ExposeError;
use toolmark_core::names::PackName;
use toolmark_runtime::Workspace;

use crate::listing::{Listed, Offer};
use crate::pack::PackHandle;
use crate::view::{View, ViewName};

/// An immutable view of the gateway. A new one takes its place when anything changes.
pub struct Snapshot {
    workspace: Workspace,
    config: Arc<Config>,
    packs: HashMap<PackName, Arc<PackHandle>>,
    listed: BTreeMap<PackName, Arc<Listed>>,
    /// What each address has shown so far, made when somebody first asks.
    views: RwLock<HashMap<ViewName, Arc<View>>>,
}

/// Something that a pack offers beside tools, under the name that clients know it by.
#[derive(Clone, Debug)]
pub(crate) struct Offered<'s> {
    pub(crate) pack: &'s PackName,
    pub(crate) offer: &'s Offer,
    pub(crate) exposed: String,
}

/// What else there is beside tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Resource,
    Template,
    Prompt,
}

impl Snapshot {
    pub(crate) fn new(
        workspace: Workspace,
        config: Arc<Config>,
        packs: HashMap<PackName, Arc<PackHandle>>,
        listed: BTreeMap<PackName, Arc<Listed>>,
    ) -> Self {
        Self { workspace, config, packs, listed, views: RwLock::default() }
    }

    /// What judges calls.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
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

    /// What clients at one address see.
    ///
    /// # Errors
    /// When names that must be bare collide.
    pub fn view(&self, name: &ViewName) -> Result<Arc<View>, ExposeError> {
        if let Some(view) = self.views.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(View::of(self, name)?);
        let mut views = self.views.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(views.entry(name.clone()).or_insert(view)))
    }

    /// What packs say they can do.
    pub(crate) fn any(&self, what: impl Fn(&Listed) -> bool) -> bool {
        self.listed.values().any(|listed| what(listed))
    }

    /// Resources, templates or prompts of all packs in the order of the configuration. Of those that share a name, the first keeps it.
    pub(crate) fn offered(&self, kind: Kind) -> Vec<Offered<'_>> {
        let mut taken = std::collections::HashSet::new();
        let mut all = Vec::new();
        let order = self.config.packs.iter().map(|(name, _)| name);
        let rest = self.listed.keys().filter(|name| self.config.packs.get(name).is_none());
        for pack in order.chain(rest) {
            let Some(listed) = self.listed.get(pack) else { continue };
            let offers = match kind {
                Kind::Resource => &listed.resources,
                Kind::Template => &listed.templates,
                Kind::Prompt => &listed.prompts,
            };
            for offer in offers {
                let exposed = if taken.insert(offer.key.to_string()) {
                    offer.key.to_string()
                } else {
                    let other = second(kind, pack, &offer.key);
                    taken.insert(other.clone());
                    other
                };
                all.push(Offered { pack, offer, exposed });
            }
        }
        all
    }

    /// The address that clients know a pack's resource by.
    pub(crate) fn exposed_resource(&self, pack: &PackName, uri: String) -> String {
        let offered = self.offered(Kind::Resource);
        let found = offered.into_iter().find(|offered| offered.pack == pack && *offered.offer.key == *uri);
        found.map_or(uri, |offered| offered.exposed)
    }

    /// Who has the resource at this address: whoever lists it, or else the one pack whose template could mean it.
    pub(crate) fn resource(&self, uri: &str) -> Option<(&PackName, String)> {
        let listed = self.offered(Kind::Resource);
        if let Some(found) = listed.iter().find(|offered| offered.exposed == uri) {
            return Some((found.pack, found.offer.key.to_string()));
        }
        let templates = self.offered(Kind::Template);
        let mut fitting: Vec<&PackName> = templates
            .iter()
            .filter(|offered| {
                let fixed = offered.offer.key.split('{').next().unwrap_or_default();
                !fixed.is_empty() && uri.starts_with(fixed)
            })
            .map(|offered| offered.pack)
            .collect();
        fitting.dedup();
        let offering: Vec<&PackName> = self
            .listed
            .iter()
            .filter(|(_, own)| !own.resources.is_empty() || !own.templates.is_empty())
            .map(|(name, _)| name)
            .collect();
        match (fitting.as_slice(), offering.as_slice()) {
            ([one], _) => Some((one, uri.to_owned())),
            // One pack alone may know addresses that it does not list.
            ([], [one]) => Some((one, uri.to_owned())),
            _ => None,
        }
    }
}

/// The name of something whose own name is taken.
fn second(kind: Kind, pack: &PackName, key: &str) -> String {
    match kind {
        Kind::Prompt => format!("{pack}__{key}"),
        Kind::Resource | Kind::Template => format!("toolmark://{pack}/{key}"),
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("tools", &self.workspace.catalog().len()).finish_non_exhaustive()
    }
}
