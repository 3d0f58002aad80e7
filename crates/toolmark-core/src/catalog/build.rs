//! Building a catalog: every problem is found and reported together, and nothing is shadowed.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use hashbrown::HashTable;
use serde_json::{Map, Value};

use super::{Catalog, Entry, Inner, Owners, Slot, ToolRef};
use crate::explain::{Code, Explain, facts};
use crate::names::{PackName, RawName};
use crate::pack::Pack;
use crate::problem::Problem;
use crate::tool::Source;

/// The packs of a catalog to be, in load order.
#[derive(Default)]
pub struct CatalogBuilder {
    slots: Vec<Slot>,
    hasher: RandomState,
    problems: Vec<Problem>,
    refused: Vec<RawName>,
    absent: Vec<PackName>,
}

/// A catalog that cannot be built, with all its problems.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildCatalogError {
    problems: Vec<Problem>,
}

impl CatalogBuilder {
    pub(super) fn from_slots(
        slots: Vec<Slot>,
        hasher: RandomState,
        problems: Vec<Problem>,
        refused: Vec<RawName>,
    ) -> Self {
        Self { slots, hasher, problems, refused, absent: Vec::new() }
    }

    /// Adds a pack at the end of the load order.
    #[must_use]
    pub fn pack(mut self, pack: Pack) -> Self {
        self.slots.push(Slot { pack, enabled: true });
        self
    }

    /// Adds packs in their order.
    #[must_use]
    pub fn packs(self, packs: impl IntoIterator<Item = Pack>) -> Self {
        packs.into_iter().fold(self, Self::pack)
    }

    /// Puts a pack in the place of the one that has its name, or at the end.
    #[must_use]
    pub fn replace(mut self, pack: Pack) -> Self {
        match self.slots.iter_mut().find(|slot| slot.pack.name() == pack.name()) {
            Some(slot) => slot.pack = pack,
            None => self.slots.push(Slot { pack, enabled: true }),
        }
        self
    }

    /// Takes a pack out.
    #[must_use]
    pub fn remove(mut self, name: &PackName) -> Self {
        let before = self.slots.len();
        self.slots.retain(|slot| slot.pack.name() != Some(name));
        if self.slots.len() == before {
            self.absent.push(name.clone());
        }
        self
    }

    /// Keeps a pack but none of its names.
    #[must_use]
    pub fn disable(self, name: &PackName) -> Self {
        self.set_enabled(name, false)
    }

    /// Takes a disabled pack back in.
    #[must_use]
    pub fn enable(self, name: &PackName) -> Self {
        self.set_enabled(name, true)
    }

    /// Adds a problem that was found before the packs came together, so that all are reported at once.
    #[must_use]
    pub fn problem(mut self, problem: Problem) -> Self {
        self.problems.push(problem);
        self
    }

    /// Builds the catalog, or says everything that stands in the way.
    ///
    /// # Errors
    /// [`BuildCatalogError`] with every problem, each naming every owner.
    pub fn build(self) -> Result<Catalog, BuildCatalogError> {
        let catalog = self.build_partly();
        if catalog.problems().is_empty() {
            Ok(catalog)
        } else {
            Err(BuildCatalogError { problems: catalog.problems().to_vec() })
        }
    }

    /// Builds the catalog of everything that has no problem; the rest is listed in [`Catalog::problems`].
    ///
    /// Packs that share a name are all left out, as tools are: none of them is the one that was meant.
    #[must_use]
    pub fn build_partly(self) -> Catalog {
        let Self { mut slots, hasher, mut problems, mut refused, absent } = self;
        problems.extend(absent.iter().map(|name| Problem::refused(NoSuchPack(name.clone()).report(), None)));
        problems.extend(refuse_shared_pack_names(&mut slots, &mut refused));
        let outer = problems.clone();
        problems.extend(slots.iter().flat_map(|slot| slot.pack.problems().iter().cloned()));
        let mut inner = Inner {
            hasher,
            packs: slots,
            names: String::new(),
            index: HashTable::new(),
            shared: Vec::new(),
            problems,
            outer,
            refused,
        };
        inner.link();
        Catalog(Arc::new(inner))
    }

    fn set_enabled(mut self, name: &PackName, enabled: bool) -> Self {
        match self.slots.iter_mut().find(|slot| slot.pack.name() == Some(name)) {
            Some(slot) => slot.enabled = enabled,
            None => self.absent.push(name.clone()),
        }
        self
    }
}

impl Inner {
    /// Fills the index. Definitions are not read again: this only enters names.
    fn link(&mut self) {
        let enabled = || (0u32..).zip(&self.packs).filter(|(_, slot)| slot.enabled);
        let tools = || enabled().flat_map(|(_, slot)| slot.pack.tools());
        let mut names = String::with_capacity(tools().map(|tool| tool.canonical().as_str().len()).sum());
        let mut index: HashTable<Entry> = HashTable::with_capacity(tools().count() * 2);
        let mut shared: Vec<Vec<ToolRef>> = Vec::new();
        let hash = |name: &str| self.hasher.hash_one(name);
        for (at, slot) in enabled() {
            for (tool_at, tool) in (0u32..).zip(slot.pack.tools()) {
                let reference = ToolRef { pack: at, tool: tool_at };
                let (canonical, short) = (tool.canonical().as_str(), tool.raw().as_str());
                names.push_str(canonical);
                // Invariant: names are bounded by `PackName::MAX` and `RawName::MAX_BYTES`, so that a length fits 16 bits.
                let entry = |name: &str| Entry {
                    start: u32::try_from(names.len() - name.len()).unwrap_or(u32::MAX),
                    length: u16::try_from(name.len()).unwrap_or(u16::MAX),
                    tool: reference,
                    owners: Owners::One,
                };
                if tool.pack().is_some() {
                    index.insert_unique(hash(canonical), entry(canonical), |entry| hash(entry.name(&names)));
                }
                if short.contains('.') {
                    continue;
                }
                match index.find_mut(hash(short), |entry| entry.name(&names) == short) {
                    None => {
                        index.insert_unique(hash(short), entry(short), |entry| hash(entry.name(&names)));
                    }
                    Some(known) => match known.owners {
                        Owners::Several(list) => {
                            if let Some(owners) = shared.get_mut(list as usize) {
                                owners.push(reference);
                            }
                        }
                        Owners::One => {
                            known.owners = Owners::Several(u32::try_from(shared.len()).unwrap_or(u32::MAX));
                            shared.push(vec![known.tool, reference]);
                        }
                    },
                }
            }
        }
        // Invariant: a short name does not become unique because one of its owners was refused.
        let refused = enabled().flat_map(|(_, slot)| slot.pack.refused()).chain(&self.refused);
        for short in refused.map(RawName::as_str) {
            if let Some(known) = index.find_mut(hash(short), |entry| entry.name(&names) == short)
                && known.owners == Owners::One
            {
                known.owners = Owners::Several(u32::try_from(shared.len()).unwrap_or(u32::MAX));
                shared.push(vec![known.tool]);
            }
        }
        self.names = names;
        self.index = index;
        self.shared = shared;
    }
}

/// Takes out packs that share a name, and says so. Tools without a pack count as one such pack.
fn refuse_shared_pack_names(slots: &mut Vec<Slot>, refused: &mut Vec<RawName>) -> Vec<Problem> {
    let mut owners: HashMap<Option<PackName>, Vec<Pack>> = HashMap::new();
    let mut order = Vec::new();
    for slot in slots.iter() {
        let name = slot.pack.name().cloned();
        let entry = owners.entry(name.clone()).or_default();
        if entry.len() == 1 {
            order.push(name);
        }
        entry.push(slot.pack.clone());
    }
    owners.retain(|_, packs| packs.len() > 1);
    let mut problems = Vec::new();
    for name in order {
        let packs = owners.get(&name).map(Vec::as_slice).unwrap_or_default();
        let sources: Vec<Source> = packs.iter().map(|pack| pack.source().clone()).collect();
        let identical = packs.windows(2).all(|pair| matches!(pair, [one, other] if one.says_the_same_as(other)));
        refused.extend(packs.iter().flat_map(Pack::tools).map(|tool| tool.raw().clone()));
        problems.push(Problem::duplicate_pack(name.as_ref(), &sources, identical));
    }
    slots.retain(|slot| !owners.contains_key(&slot.pack.name().cloned()));
    problems
}

impl BuildCatalogError {
    /// Every problem, in load order.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for BuildCatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => f.write_str(only.report().what()),
            many => write!(f, "the catalog has {} problems", many.len()),
        }
    }
}

impl std::error::Error for BuildCatalogError {}

impl Explain for BuildCatalogError {
    fn code(&self) -> Code {
        Code::new("catalog-invalid")
    }

    fn why(&self) -> String {
        "a catalog with a problem in it would have to guess what a call means".into()
    }

    fn fix(&self) -> String {
        self.problems.iter().map(|problem| problem.report().fix()).collect::<Vec<_>>().join("\n")
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problems", self.problems.iter().map(Problem::to_json).collect())])
    }
}

/// A pack was named that is not there.
#[derive(Debug, thiserror::Error)]
#[error("there is no pack named `{0}`")]
struct NoSuchPack(PackName);

impl Explain for NoSuchPack {
    fn code(&self) -> Code {
        Code::new("no-such-pack")
    }

    fn why(&self) -> String {
        "a setting that names nothing protects nothing".into()
    }

    fn fix(&self) -> String {
        format!("add `[packs.{0}]`, or remove `{0}` where it is disabled", self.0)
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("pack", self.0.as_str().into())])
    }
}
