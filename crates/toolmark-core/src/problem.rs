//! What stands in the way of a catalog, as data: every problem names every owner and how to resolve it.

use std::fmt;

use serde_json::{Map, Value};

use crate::document::Place;
use crate::explain::{Code, Explain, Report, facts};
use crate::names::PackName;
use crate::text::visible;
use crate::tool::{Source, Tool, ToolKind};

/// One thing that was refused while tools were read or a catalog was built.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    report: Report,
    place: Option<Place>,
}

/// One of several that claim the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    name: String,
    kind: ToolKind,
    source: Source,
    place: Place,
}

/// How many owners a message lists before it counts the rest.
const SHOWN: usize = 6;

impl Owner {
    pub(crate) fn of(tool: &Tool) -> Self {
        Self {
            name: visible(tool.canonical().as_str(), 300),
            kind: tool.kind(),
            source: tool.source().clone(),
            place: tool.place(),
        }
    }

    fn to_json(&self) -> Value {
        serde_json::json!({"tool": self.name, "kind": self.kind, "source": self.source, "place": self.place})
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} tool of {})", self.place, self.kind, visible(self.source.as_str(), 80))
    }
}

impl Problem {
    pub(crate) fn refused(report: Report, place: Option<Place>) -> Self {
        Self { report, place }
    }

    pub(crate) fn duplicate_tool(owners: Vec<Owner>) -> Self {
        let place = owners.first().map(|owner| owner.place.clone());
        Self { report: DuplicateTool { owners }.report(), place }
    }

    pub(crate) fn duplicate_pack(name: Option<&PackName>, sources: &[Source], identical: bool) -> Self {
        let name = name.map_or_else(String::new, ToString::to_string);
        Self { report: DuplicatePack { name, sources: sources.to_vec(), identical }.report(), place: None }
    }

    pub(crate) fn slug_collision(slug: &PackName, keys: &[String]) -> Self {
        Self { report: SlugCollision { slug: slug.clone(), keys: keys.to_vec() }.report(), place: None }
    }

    pub(crate) fn pack_too_large(name: Option<&PackName>, source: &Source, tools: usize, place: Option<Place>) -> Self {
        let pack = name.map_or_else(|| source.to_string(), ToString::to_string);
        Self { report: PackTooLarge { pack, tools }.report(), place }
    }

    /// The explanation in four parts.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Where it was found.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.report.code()
    }

    /// The report with its place, as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut json = self.report.to_json();
        if let (Some(place), Some(object)) = (&self.place, json.as_object_mut()) {
            object.insert("place".into(), serde_json::json!(place));
        }
        json
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{}\n  at: {place}", self.report),
            None => self.report.fmt(f),
        }
    }
}

/// Several tools of one pack have one name.
#[derive(Debug, thiserror::Error)]
#[error("{} tools are named `{}`", owners.len(), owners.first().map(|owner| owner.name.as_str()).unwrap_or_default())]
struct DuplicateTool {
    owners: Vec<Owner>,
}

impl Explain for DuplicateTool {
    fn code(&self) -> Code {
        Code::new("duplicate-tool")
    }

    fn why(&self) -> String {
        let mut shown: Vec<String> = self.owners.iter().take(SHOWN).map(ToString::to_string).collect();
        if self.owners.len() > SHOWN {
            shown.push(format!("(+{} more)", self.owners.len() - SHOWN));
        }
        format!(
            "a call by that name could mean any of them, and picking one silently runs the wrong tool:\n{}",
            shown.join("\n")
        )
    }

    fn fix(&self) -> String {
        let name = self.owners.first().map(|owner| owner.name.clone()).unwrap_or_default();
        match name.split_once('.') {
            Some((pack, raw)) => {
                format!(
                    "rename one of them on its server, or leave them out:\n[packs.{pack}]\ndeny = [\"{}\"]",
                    visible(raw, 80)
                )
            }
            None => "rename all but one of them, or put them into packs of their own".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("owners", self.owners.iter().map(Owner::to_json).collect())])
    }
}

/// Several packs have one name.
#[derive(Debug, thiserror::Error)]
#[error("{} packs are named `{name}`", sources.len())]
struct DuplicatePack {
    name: String,
    sources: Vec<Source>,
    identical: bool,
}

impl Explain for DuplicatePack {
    fn code(&self) -> Code {
        Code::new("duplicate-pack")
    }

    fn why(&self) -> String {
        let contents = if self.identical { "they say the same" } else { "they say different things" };
        let sources: Vec<String> = self.sources.iter().take(SHOWN).map(|source| visible(source.as_str(), 80)).collect();
        format!("their tools would have the same canonical names ({contents}): {}", sources.join(", "))
    }

    fn fix(&self) -> String {
        format!("rename one of them, for example to `{0}-2`:\n[packs.{0}-2]", self.name)
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("pack", self.name.as_str().into()),
            ("sources", self.sources.iter().map(Source::as_str).collect()),
            ("identical", self.identical.into()),
        ])
    }
}

/// Several imported keys make one pack name.
#[derive(Debug, thiserror::Error)]
#[error("{} keys become the pack name `{slug}`", keys.len())]
struct SlugCollision {
    slug: PackName,
    keys: Vec<String>,
}

impl Explain for SlugCollision {
    fn code(&self) -> Code {
        Code::new("pack-name-collision")
    }

    fn why(&self) -> String {
        let keys: Vec<String> = self.keys.iter().take(SHOWN).map(|key| format!("`{}`", visible(key, 80))).collect();
        format!(
            "a pack name has only lower-case letters, digits, `_` and `-`, and {} differ in nothing else",
            keys.join(" and ")
        )
    }

    fn fix(&self) -> String {
        format!("rename one of the keys or files, for example to `{}-2`", self.slug)
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("pack", self.slug.as_str().into()), ("keys", self.keys.as_slice().into())])
    }
}

/// More tools than a server honestly has.
#[derive(Debug, thiserror::Error)]
#[error("the pack `{pack}` has {tools} tools, more than {}", crate::pack::Pack::MAX_TOOLS)]
struct PackTooLarge {
    pack: String,
    tools: usize,
}

impl Explain for PackTooLarge {
    fn code(&self) -> Code {
        Code::new("pack-too-large")
    }

    fn why(&self) -> String {
        "no client takes so many, and such lists are used to bury a tool or to exhaust a client".into()
    }

    fn fix(&self) -> String {
        "split the list into several packs, or list only what is used: `allow = [\"…\"]` under the pack".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("pack", self.pack.as_str().into()),
            ("tools", self.tools.into()),
            ("max", crate::pack::Pack::MAX_TOOLS.into()),
        ])
    }
}
