//! All tools there are, and which of them a name means: built once, immutable, shared.

mod build;
mod declared;
mod resolve;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use hashbrown::HashTable;

pub use build::{BuildCatalogError, CatalogBuilder};
pub use declared::{DeclareToolsError, Declared, UnknownTool};
pub use resolve::{Candidates, Resolution, ResolveError};

use crate::names::{PackName, RawName};
use crate::pack::Pack;
use crate::problem::Problem;
use crate::tool::Tool;

/// An immutable set of packs with one index over all their names. Cloning it copies a pointer.
#[derive(Clone)]
pub struct Catalog(Arc<Inner>);

struct Inner {
    hasher: RandomState,
    packs: Vec<Slot>,
    /// The canonical names of all enabled tools, one after another, so that a lookup touches no tool but the one it finds.
    names: String,
    index: HashTable<Entry>,
    /// The owners of each short name that has several.
    shared: Vec<Vec<ToolRef>>,
    problems: Vec<Problem>,
    /// Those of them that no pack of this catalog knows of; they stay when a pack is replaced.
    outer: Vec<Problem>,
    /// The names of tools whose packs were left out.
    refused: Vec<RawName>,
}

/// A pack at its place in the load order.
#[derive(Clone)]
struct Slot {
    pack: Pack,
    enabled: bool,
}

/// Where a tool stands in one catalog; means nothing in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ToolRef {
    pack: u32,
    tool: u32,
}

/// A name in the index. Canonical names hold a dot and short names do not, so that one table serves both.
#[derive(Clone, Copy)]
struct Entry {
    /// Where the name stands in `names`; a short name is the end of its canonical name.
    start: u32,
    length: u16,
    tool: ToolRef,
    owners: Owners,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owners {
    One,
    /// A short name with several owners, listed in `shared`.
    Several(u32),
}

impl Catalog {
    /// Begins a catalog.
    #[must_use]
    pub fn builder() -> CatalogBuilder {
        CatalogBuilder::default()
    }

    /// All enabled tools: packs in load order, their tools as listed.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.enabled().flat_map(|(_, pack)| pack.tools())
    }

    /// How many tools are enabled.
    #[must_use]
    pub fn len(&self) -> usize {
        self.enabled().map(|(_, pack)| pack.tools().len()).sum()
    }

    /// True when no tool is enabled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All packs in load order, each with whether it is enabled.
    pub fn packs(&self) -> impl Iterator<Item = (&Pack, bool)> {
        self.0.packs.iter().map(|slot| (&slot.pack, slot.enabled))
    }

    /// A pack by its name.
    #[must_use]
    pub fn pack(&self, name: &str) -> Option<&Pack> {
        let named = |pack: &&Pack| pack.name().is_some_and(|own| own.as_str() == name);
        self.packs().map(|(pack, _)| pack).find(named)
    }

    /// What was left out while it was built. Empty unless it was built with [`CatalogBuilder::build_partly`].
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// The same catalog with one pack replaced, or added at the end. The other packs are not prepared again.
    ///
    /// # Errors
    /// [`BuildCatalogError`] with all problems of the result.
    pub fn with_pack(&self, pack: Pack) -> Result<Self, BuildCatalogError> {
        self.rebuild().replace(pack).build()
    }

    /// The same catalog without one pack.
    ///
    /// # Errors
    /// [`BuildCatalogError`] when other problems remain.
    pub fn without_pack(&self, name: &PackName) -> Result<Self, BuildCatalogError> {
        self.rebuild().remove(name).build()
    }

    /// The same catalog with one pack switched on or off. Switching one off may resolve an ambiguity.
    ///
    /// # Errors
    /// [`BuildCatalogError`] when no pack has that name.
    pub fn with_enabled(&self, name: &PackName, enabled: bool) -> Result<Self, BuildCatalogError> {
        let builder = self.rebuild();
        if enabled { builder.enable(name) } else { builder.disable(name) }.build()
    }

    /// Begins a catalog with the packs of this one, which are not prepared again.
    #[must_use]
    pub fn rebuild(&self) -> CatalogBuilder {
        let inner = &self.0;
        CatalogBuilder::from_slots(
            inner.packs.clone(),
            inner.hasher.clone(),
            inner.outer.clone(),
            inner.refused.clone(),
        )
    }

    fn enabled(&self) -> impl Iterator<Item = (u32, &Pack)> {
        (0u32..).zip(&self.0.packs).filter(|(_, slot)| slot.enabled).map(|(at, slot)| (at, &slot.pack))
    }

    pub(crate) fn references(&self) -> impl Iterator<Item = (ToolRef, &Pack, &Tool)> {
        self.enabled().flat_map(|(at, pack)| {
            (0u32..).zip(pack.tools()).map(move |(index, tool)| (ToolRef { pack: at, tool: index }, pack, tool))
        })
    }

    pub(crate) fn tool(&self, at: ToolRef) -> Option<&Tool> {
        self.0.tool(at)
    }

    pub(crate) fn hasher(&self) -> &RandomState {
        &self.0.hasher
    }
}

impl ToolRef {
    /// Where its pack stands in the load order.
    pub(crate) fn pack_order(self) -> u32 {
        self.pack
    }
}

impl Entry {
    fn name(self, names: &str) -> &str {
        let start = self.start as usize;
        names.get(start..start + usize::from(self.length)).unwrap_or_default()
    }
}

impl Inner {
    fn tool(&self, at: ToolRef) -> Option<&Tool> {
        self.packs.get(at.pack as usize)?.pack.tools().get(at.tool as usize)
    }

    fn name_of(&self, entry: Entry) -> &str {
        entry.name(&self.names)
    }

    fn find(&self, name: &str) -> Option<Entry> {
        self.index.find(self.hasher.hash_one(name), |&entry| self.name_of(entry) == name).copied()
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").field("packs", &self.0.packs.len()).field("tools", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests;
