//! The table itself: deterministic, sticky, and injective, or it says why not.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::BuildHasher as _;
use std::str::FromStr;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use serde_json::{Map, Value};

use super::profile::{Profile, ProfileName};
use super::render::{fit, with_hash};
use crate::catalog::{Catalog, ToolRef};
use crate::explain::{Code, Explain, facts};
use crate::names::ExposedName;
use crate::pack::Pack;
use crate::text::visible;
use crate::tool::Tool;

/// How names are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Bare while unique; of two that collide at first publication, the later pack is prefixed.
    #[default]
    Auto,
    /// Always `pack__tool`.
    Prefixed,
    /// Always bare; a collision is an error.
    Bare,
}

/// A word that is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a way to expose names: use auto, prefixed or bare")]
pub struct ParseModeError(String);

/// Names that were published before. They stay with their tools; nobody else may take them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    current: BTreeMap<String, String>,
    former: BTreeMap<String, String>,
}

/// Every name that one consumer sees, and the tool behind it.
pub struct ExposedTable {
    catalog: Catalog,
    profile: Profile,
    rows: Vec<Row>,
    index: HashTable<u32>,
    before: Published,
    visible: usize,
}

struct Row {
    name: ExposedName,
    tool: ToolRef,
    alias: bool,
}

/// What an exposed name leads to.
#[derive(Clone, Copy, Debug)]
pub struct Exposed<'t> {
    /// The name.
    pub name: &'t ExposedName,
    /// The tool.
    pub tool: &'t Tool,
    /// True for a former name: it still works, but is not listed.
    pub alias: bool,
}

/// Tools that cannot be given a name under the rules that were asked for. All of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposeError {
    profile: ProfileName,
    refused: Vec<Refused>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refused {
    name: String,
    tool: String,
    owner: Option<String>,
}

/// Names under construction: exposed name → canonical name of its owner.
struct Taken<'a>(HashMap<Cow<'a, str>, &'a str>);

impl Mode {
    /// The mode in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Prefixed => "prefixed",
            Self::Bare => "bare",
        }
    }
}

impl FromStr for Mode {
    type Err = ParseModeError;

    fn from_str(text: &str) -> Result<Self, ParseModeError> {
        let known = [Self::Auto, Self::Prefixed, Self::Bare].into_iter().find(|mode| mode.as_str() == text);
        known.ok_or_else(|| ParseModeError(crate::text::visible(text, 40)))
    }
}

impl Published {
    /// Remembers that `exposed` is the name of `canonical`. A name it had before becomes a former one.
    pub fn remember(&mut self, canonical: &str, exposed: &str) {
        self.former.remove(exposed);
        if let Some(before) = self.current.insert(canonical.into(), exposed.into())
            && before != exposed
        {
            self.former.insert(before, canonical.into());
        }
    }

    /// Remembers a former name of `canonical`.
    pub fn remember_former(&mut self, canonical: &str, exposed: &str) {
        self.former.insert(exposed.into(), canonical.into());
    }

    /// A tool was renamed by its source: the name it was published under becomes a former name of the new tool.
    pub fn renamed(&mut self, old: &str, new: &str) {
        if let Some(exposed) = self.current.remove(old) {
            self.former.insert(exposed, new.into());
        }
        for owner in self.former.values_mut().filter(|owner| *owner == old) {
            *owner = new.into();
        }
    }

    /// The names in use: canonical name and exposed name.
    pub fn current(&self) -> impl Iterator<Item = (&str, &str)> {
        self.current.iter().map(|(canonical, exposed)| (canonical.as_str(), exposed.as_str()))
    }

    /// The names that were in use: exposed name and canonical name.
    pub fn former(&self) -> impl Iterator<Item = (&str, &str)> {
        self.former.iter().map(|(exposed, canonical)| (exposed.as_str(), canonical.as_str()))
    }
}

impl ExposedTable {
    /// Gives every tool of the catalog a name that the profile takes and that no other tool has. A pack that says how its own names
    /// are exposed is followed before `mode`.
    ///
    /// # Errors
    /// [`ExposeError`] with every tool that gets none; only [`Mode::Bare`] can fail for a collision.
    pub fn build(catalog: &Catalog, profile: &Profile, mode: Mode, published: &Published) -> Result<Self, ExposeError> {
        match Self::build_partly(catalog, profile, mode, published) {
            (table, None) => Ok(table),
            (_, Some(refused)) => Err(refused),
        }
    }

    /// The same without the tools that get no name, and which they are: a tool that comes later must not take the others down.
    #[must_use]
    pub fn build_partly(
        catalog: &Catalog,
        profile: &Profile,
        mode: Mode,
        published: &Published,
    ) -> (Self, Option<ExposeError>) {
        let mut taken = Taken(HashMap::with_capacity(catalog.len()));
        let mut named: Vec<(ToolRef, Cow<'_, str>)> = Vec::with_capacity(catalog.len());
        // Names that were published stay reserved, whether their tool is there or not.
        for (exposed, owner) in published.former().chain(published.current().map(|(owner, exposed)| (exposed, owner))) {
            taken.claim(Cow::Borrowed(exposed), owner);
        }
        let mut waiting = Vec::new();
        for (reference, pack, tool) in in_order(catalog) {
            let known = published.current.get(tool.canonical().as_str());
            match known.filter(|name| profile.accepts(name) && is_in_mode(mode, profile, pack, tool, name)) {
                Some(name) => named.push((reference, Cow::Borrowed(name))),
                None => waiting.push((reference, pack, tool)),
            }
        }
        // First those whose name needs no change: a name that is legal as it is must not be taken by one that was bent.
        let mut bent = Vec::new();
        for (reference, pack, tool) in waiting {
            let wanted = wanted(mode, pack, tool);
            if profile.accepts(&wanted) && taken.claim(wanted.clone(), tool.canonical().as_str()) {
                named.push((reference, wanted));
            } else {
                bent.push((reference, pack, tool, wanted));
            }
        }
        let mut refused = Vec::new();
        for (reference, pack, tool, wanted) in bent {
            let canonical = tool.canonical();
            let name = match pack.exposure().unwrap_or(mode) {
                Mode::Bare => taken.first(canonical.as_str(), [fit(profile, &wanted, canonical)]),
                Mode::Auto | Mode::Prefixed => {
                    let prefixed = prefixed(pack, tool);
                    let plain = [fit(profile, &wanted, canonical), fit(profile, &prefixed, canonical)];
                    taken.first(canonical.as_str(), plain.into_iter().chain(with_hash(profile, &prefixed, canonical)))
                }
            };
            match name {
                Some(name) => named.push((reference, name)),
                None => refused.push(Refused {
                    owner: taken.0.get(fit(profile, &wanted, canonical).as_str()).map(|owner| visible(owner, 300)),
                    name: visible(&wanted, 200),
                    tool: visible(canonical.as_str(), 300),
                }),
            }
        }
        let refused = (!refused.is_empty()).then(|| ExposeError { profile: profile.name(), refused });
        (Self::assemble(catalog, profile, named, published), refused)
    }

    fn assemble(catalog: &Catalog, profile: &Profile, named: Vec<(ToolRef, Cow<'_, str>)>, before: &Published) -> Self {
        let row = |(tool, name): (ToolRef, Cow<'_, str>)| Row { name: ExposedName::new(&name), tool, alias: false };
        let mut rows: Vec<Row> = named.into_iter().map(row).collect();
        rows.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let visible = rows.len();
        let mut table = Self {
            catalog: catalog.clone(),
            profile: profile.clone(),
            rows,
            index: HashTable::new(),
            before: before.clone(),
            visible,
        };
        table.add_former_names();
        table.link();
        table
    }

    /// Former names come last, so that none of them hides a current one.
    fn add_former_names(&mut self) {
        if self.before == Published::default() {
            return;
        }
        let by_name: HashMap<&str, ToolRef> =
            self.catalog.references().map(|(at, _, tool)| (tool.canonical().as_str(), at)).collect();
        let published = self.published();
        let aliases = published.former().filter_map(|(exposed, canonical)| {
            by_name.get(canonical).map(|&tool| Row { name: ExposedName::new(exposed), tool, alias: true })
        });
        self.rows.extend(aliases);
    }

    fn link(&mut self) {
        let rows = &self.rows;
        let hash = |name: &ExposedName| self.catalog.hasher().hash_one(name.as_str());
        let mut index = HashTable::with_capacity(rows.len());
        for (at, row) in (0u32..).zip(rows) {
            let same = |&other: &u32| rows.get(other as usize).is_some_and(|other| other.name == row.name);
            let rehash = |&other: &u32| rows.get(other as usize).map_or(0, |row| hash(&row.name));
            if let Entry::Vacant(free) = index.entry(hash(&row.name), same, rehash) {
                free.insert(at);
            }
        }
        self.index = index;
    }

    /// The tool behind an exposed name, current or former. Nothing is allocated and nothing is guessed.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Exposed<'_>> {
        let hash = self.catalog.hasher().hash_one(name);
        let at =
            self.index.find(hash, |&at| self.rows.get(at as usize).is_some_and(|row| row.name.as_str() == name))?;
        self.exposed(self.rows.get(*at as usize)?)
    }

    /// Every name that is listed, sorted.
    pub fn listed(&self) -> impl Iterator<Item = Exposed<'_>> {
        self.rows.iter().take(self.visible).filter_map(|row| self.exposed(row))
    }

    /// How many names are listed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.visible
    }

    /// True when no name is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.visible == 0
    }

    /// The profile it was made for.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What to remember, so that the next table gives the same names.
    #[must_use]
    pub fn published(&self) -> Published {
        let mut published = self.before.clone();
        for row in self.listed() {
            published.remember(row.tool.canonical().as_str(), row.name.as_str());
        }
        published
    }

    fn exposed<'t>(&'t self, row: &'t Row) -> Option<Exposed<'t>> {
        Some(Exposed { name: &row.name, tool: self.catalog.tool(row.tool)?, alias: row.alias })
    }
}

impl<'a> Taken<'a> {
    /// Takes a name for `owner`, unless somebody else has it.
    fn claim(&mut self, name: Cow<'a, str>, owner: &'a str) -> bool {
        *self.0.entry(name).or_insert(owner) == owner
    }

    fn first(&mut self, owner: &'a str, names: impl IntoIterator<Item = String>) -> Option<Cow<'a, str>> {
        names.into_iter().map(Cow::<str>::Owned).find(|name| self.claim(name.clone(), owner))
    }
}

/// Packs in load order, the tools of each by name: the order in which a server lists its tools must not matter.
fn in_order(catalog: &Catalog) -> Vec<(ToolRef, &Pack, &Tool)> {
    let mut all: Vec<_> = catalog.references().collect();
    all.sort_by(|(one, _, a), (other, _, b)| {
        one.pack_order().cmp(&other.pack_order()).then_with(|| a.raw().cmp(b.raw()))
    });
    all
}

fn wanted<'t>(mode: Mode, pack: &Pack, tool: &'t Tool) -> Cow<'t, str> {
    match pack.exposure().unwrap_or(mode) {
        Mode::Auto | Mode::Bare => Cow::Borrowed(tool.raw().as_str()),
        Mode::Prefixed => prefixed(pack, tool),
    }
}

/// True for a name that this way of naming could have given. Names stay with their tools until somebody asks for another way.
fn is_in_mode(mode: Mode, profile: &Profile, pack: &Pack, tool: &Tool, name: &str) -> bool {
    let canonical = tool.canonical();
    let bare = || name == tool.raw().as_str() || name == fit(profile, tool.raw().as_str(), canonical);
    let before = || {
        let prefixed = prefixed(pack, tool);
        name == fit(profile, &prefixed, canonical) || with_hash(profile, &prefixed, canonical).any(|own| own == name)
    };
    match pack.exposure().unwrap_or(mode) {
        Mode::Bare => bare(),
        Mode::Prefixed => before(),
        Mode::Auto => bare() || before(),
    }
}

fn prefixed<'t>(pack: &Pack, tool: &'t Tool) -> Cow<'t, str> {
    match (pack.prefix(), tool.pack()) {
        (Some(""), _) | (None, None) => Cow::Borrowed(tool.raw().as_str()),
        (Some(prefix), _) | (None, Some(prefix)) => Cow::Owned(format!("{prefix}__{}", tool.raw())),
    }
}

impl ExposeError {
    /// The canonical names of the tools that get no name.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.refused.iter().map(|refused| refused.tool.as_str())
    }
}

impl fmt::Display for ExposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.refused.as_slice() {
            [one] => write!(f, "`{}` cannot be exposed as `{}` to {}", one.tool, one.name, self.profile),
            many => write!(f, "{} tools cannot be exposed by their bare names to {}", many.len(), self.profile),
        }
    }
}

impl std::error::Error for ExposeError {}

impl Explain for ExposeError {
    fn code(&self) -> Code {
        Code::new("exposed-name-taken")
    }

    fn why(&self) -> String {
        let lines: Vec<String> = self
            .refused
            .iter()
            .map(|refused| match &refused.owner {
                Some(owner) => format!("`{}` wants the name of `{owner}`", refused.tool),
                None => format!("`{}` fits under no free name", refused.tool),
            })
            .collect();
        format!("with `exposure = \"bare\"` two tools would have one name:\n{}", lines.join("\n"))
    }

    fn fix(&self) -> String {
        "use `exposure = \"auto\"`, which prefixes the later of two, or give one pack a prefix: `prefix = \"gh\"`"
            .into()
    }

    fn facts(&self) -> Map<String, Value> {
        let refused =
            self.refused.iter().map(|one| serde_json::json!({"tool": one.tool, "name": one.name, "owner": one.owner}));
        facts([("profile", self.profile.as_str().into()), ("refused", refused.collect())])
    }
}
