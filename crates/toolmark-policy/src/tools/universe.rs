//! All tools that a rule can mean: those of the catalog, switched on or not, and the names they had before.

use std::cell::OnceCell;
use std::collections::HashMap;

use toolmark_core::catalog::Catalog;
use toolmark_core::names::{CanonicalName, PackName};
use toolmark_core::tool::Tool;

use super::spelling::{fold_pack, fold_raw};

/// Where a tool stands in one universe; means nothing in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ToolAt(pub(crate) u32);

/// The tools of one catalog with what is needed to find them by any spelling.
pub(crate) struct Universe<'c> {
    pub(super) catalog: &'c Catalog,
    tools: Vec<(&'c Tool, bool)>,
    canonical: HashMap<&'c str, ToolAt>,
    short: HashMap<&'c str, Vec<ToolAt>>,
    loose: OnceCell<HashMap<String, Vec<ToolAt>>>,
    former: Vec<(CanonicalName, ToolAt)>,
    awaited: &'c [PackName],
}

/// Renames are followed at most this far.
const LONGEST_CHAIN: usize = 16;

impl<'c> Universe<'c> {
    /// Takes in a catalog, old names with what became of them, and packs that are configured but not listed yet.
    pub(crate) fn new(
        catalog: &'c Catalog,
        former: &[(CanonicalName, CanonicalName)],
        awaited: &'c [PackName],
    ) -> Self {
        let packs = catalog.packs();
        let tools: Vec<(&Tool, bool)> =
            packs.flat_map(|(pack, enabled)| pack.tools().iter().map(move |tool| (tool, enabled))).collect();
        let mut canonical = HashMap::with_capacity(tools.len());
        let mut short: HashMap<&str, Vec<ToolAt>> = HashMap::with_capacity(tools.len());
        for (at, (tool, _)) in (0..).map(ToolAt).zip(&tools) {
            canonical.insert(tool.canonical().as_str(), at);
            short.entry(tool.raw().as_str()).or_default().push(at);
        }
        let mut universe =
            Self { catalog, tools, canonical, short, loose: OnceCell::new(), former: Vec::new(), awaited };
        universe.former = universe.follow(former);
        universe
    }

    fn follow(&self, former: &[(CanonicalName, CanonicalName)]) -> Vec<(CanonicalName, ToolAt)> {
        let became: HashMap<&str, &CanonicalName> = former.iter().map(|(old, new)| (old.as_str(), new)).collect();
        let target = |old: &CanonicalName| {
            let mut name = *became.get(old.as_str())?;
            for _ in 0..LONGEST_CHAIN {
                match self.canonical.get(name.as_str()) {
                    Some(at) => return Some(*at),
                    None => name = became.get(name.as_str())?,
                }
            }
            None
        };
        former.iter().filter_map(|(old, _)| Some((old.clone(), target(old)?))).collect()
    }

    /// How many tools there are.
    pub(crate) fn len(&self) -> usize {
        self.tools.len()
    }

    /// A tool.
    pub(crate) fn tool(&self, at: ToolAt) -> Option<&'c Tool> {
        self.tools.get(at.0 as usize).map(|(tool, _)| *tool)
    }

    /// All tools.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ToolAt, &'c Tool)> {
        (0..).map(ToolAt).zip(self.tools.iter().map(|(tool, _)| *tool))
    }

    /// The tool of exactly this canonical name.
    pub(super) fn by_canonical(&self, name: &str) -> Option<ToolAt> {
        self.canonical.get(name).copied()
    }

    /// The owners of a short name: those that are switched on, else the others.
    pub(super) fn by_short(&self, name: &str) -> Vec<ToolAt> {
        let owners = self.short.get(name).map(Vec::as_slice).unwrap_or_default();
        let is_on = |at: &&ToolAt| self.tools.get(at.0 as usize).is_some_and(|(_, enabled)| *enabled);
        let on: Vec<ToolAt> = owners.iter().filter(is_on).copied().collect();
        if on.is_empty() { owners.to_vec() } else { on }
    }

    /// The tools whose pack and name look like these to a client.
    pub(super) fn by_loose(&self, pack: &str, raw: &str) -> &[ToolAt] {
        let key = |pack: &str, raw: &str| format!("{}.{}", fold_pack(pack), fold_raw(raw));
        let index = self.loose.get_or_init(|| {
            let mut index: HashMap<String, Vec<ToolAt>> = HashMap::with_capacity(self.tools.len());
            for (at, tool) in self.all() {
                if let Some(pack) = tool.pack() {
                    index.entry(key(pack, tool.raw().as_str())).or_default().push(at);
                }
            }
            index
        });
        index.get(&key(pack, raw)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Old names, each with the tool that it became.
    pub(super) fn former(&self) -> &[(CanonicalName, ToolAt)] {
        &self.former
    }

    /// Packs that are configured but not listed yet.
    pub(super) fn awaited(&self) -> &[PackName] {
        self.awaited
    }
}
