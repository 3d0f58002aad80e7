//! What changed between two views of the same tools, and how much it matters.
//!
//! Either side may be a catalog or a lock file. A lock knows *which* parts changed; two catalogs also know *how*.

mod exact;
mod parts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::definition::{Definition, Form};
use crate::digest::{BodyDigest, DefinitionDigest, Mark};
use crate::document::Slice;
use crate::lock::{Lock, Pinned};
use crate::severity::Severity;
use crate::tool::Tool;

pub use self::exact::{PartTexts, Said, exactly};

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Side<'a> {
    /// Tools with their whole definitions.
    Catalog(&'a Catalog),
    /// Tools of which only digests are left.
    Lock(&'a Lock),
}

/// Everything that changed, gravest first.
#[derive(Clone, Debug, Default)]
pub struct Drift {
    changes: Vec<Change>,
}

/// What happened to one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    tool: String,
    what: What,
    severity: Severity,
}

/// The kinds of change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A tool that was not there before.
    Added,
    /// A tool that is gone.
    Removed,
    /// The same definition under another name.
    Renamed {
        /// The canonical name it had.
        from: String,
    },
    /// Another definition under the same name.
    Changed {
        /// Which parts changed, gravest first.
        parts: Vec<PartChange>,
    },
}

/// One part of a definition that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartChange {
    part: String,
    severity: Severity,
    summary: String,
    details: Vec<String>,
}

/// A tool as one side knows it.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Whole(&'a Tool),
    Pinned(&'a Pinned),
}

impl Drift {
    /// Compares what was with what is.
    #[must_use]
    pub fn between(old: Side<'_>, new: Side<'_>) -> Self {
        let (before, after) = (old.subjects(), new.subjects());
        let mut changes: Vec<Change> = before
            .iter()
            .filter_map(|(name, was)| Some((name, was, after.get(name)?)))
            .filter(|(_, was, is)| was.mark() != is.mark())
            .map(|(name, was, is)| Change::changed(name, parts::compare(*was, *is)))
            .collect();
        let gone: Vec<(&str, Subject<'_>)> = only_in(&before, &after);
        let come: Vec<(&str, Subject<'_>)> = only_in(&after, &before);
        let renamed = renames(&gone, &come);
        changes.extend(renamed.iter().map(|(from, to)| Change::renamed(from, to)));
        let moved: HashSet<&str> = renamed.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let was_renamed = |name: &str| moved.contains(name);
        changes.extend(gone.iter().filter(|(name, _)| !was_renamed(name)).map(|(name, _)| Change::removed(name)));
        changes.extend(come.iter().filter(|(name, _)| !was_renamed(name)).map(|(name, is)| Change::added(name, *is)));
        changes.sort_by(|one, other| other.severity.cmp(&one.severity).then_with(|| one.tool.cmp(&other.tool)));
        Self { changes }
    }

    /// The parts in which a tool is not the one that was pinned, gravest first.
    #[must_use]
    pub fn since(pinned: &Pinned, tool: &Tool) -> Vec<PartChange> {
        let mut parts = parts::compare(Subject::Pinned(pinned), Subject::Whole(tool));
        parts.sort_by(|one, other| other.severity.cmp(&one.severity).then_with(|| one.part.cmp(&other.part)));
        parts
    }

    /// The changes, gravest first.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// True when nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// How grave the gravest change is.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.changes.iter().map(|change| change.severity).max()
    }

    /// All changes as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let count = |word: &str| self.changes.iter().filter(|change| change.what.as_str() == word).count();
        json!({
            "worst": self.worst(),
            "added": count("added"),
            "removed": count("removed"),
            "renamed": count("renamed"),
            "changed": count("changed"),
            "changes": self.changes.iter().map(Change::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Change {
    fn added(tool: &str, is: Subject<'_>) -> Self {
        // A new tool is a new power; one that tells the model what to do is worse.
        let severity = match is {
            Subject::Whole(tool) => parts::alarm_of(tool).unwrap_or(Severity::Medium),
            Subject::Pinned(_) => Severity::Medium,
        };
        Self { tool: tool.into(), what: What::Added, severity: severity.max(Severity::Medium) }
    }

    fn removed(tool: &str) -> Self {
        Self { tool: tool.into(), what: What::Removed, severity: Severity::Low }
    }

    fn renamed(from: &str, to: &str) -> Self {
        Self { tool: to.into(), what: What::Renamed { from: from.into() }, severity: Severity::Medium }
    }

    fn changed(tool: &str, mut parts: Vec<PartChange>) -> Self {
        parts.sort_by(|one, other| other.severity.cmp(&one.severity).then_with(|| one.part.cmp(&other.part)));
        let severity = parts.iter().map(|part| part.severity).max().unwrap_or(Severity::Info);
        Self { tool: tool.into(), what: What::Changed { parts }, severity }
    }

    /// The canonical name of the tool; of a renamed one, the new name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What happened to it.
    #[must_use]
    pub fn what(&self) -> &What {
        &self.what
    }

    /// How much it matters.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    fn to_json(&self) -> Value {
        let mut json = json!({"tool": self.tool, "change": self.what.as_str(), "severity": self.severity});
        if let Some(object) = json.as_object_mut() {
            match &self.what {
                What::Renamed { from } => {
                    object.insert("from".into(), json!(from));
                }
                What::Changed { parts } => {
                    object.insert("parts".into(), parts.iter().map(PartChange::to_json).collect());
                }
                What::Added | What::Removed => {}
            }
        }
        json
    }
}

impl What {
    /// The kind in one word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Renamed { .. } => "renamed",
            Self::Changed { .. } => "changed",
        }
    }
}

impl PartChange {
    fn new(part: &str, severity: Severity, summary: impl Into<String>) -> Self {
        Self { part: part.into(), severity, summary: summary.into(), details: Vec::new() }
    }

    fn with(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }

    /// The field that changed.
    #[must_use]
    pub fn part(&self) -> &str {
        &self.part
    }

    /// How much it matters.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What that means, in one line.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The single changes, made safe to show.
    #[must_use]
    pub fn details(&self) -> &[String] {
        &self.details
    }

    fn to_json(&self) -> Value {
        json!({"part": self.part, "severity": self.severity, "summary": self.summary, "details": self.details})
    }
}

impl fmt::Display for PartChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.summary)
    }
}

impl<'a> Side<'a> {
    fn subjects(self) -> BTreeMap<&'a str, Subject<'a>> {
        match self {
            Self::Catalog(catalog) => {
                catalog.tools().map(|tool| (tool.canonical().as_str(), Subject::Whole(tool))).collect()
            }
            Self::Lock(lock) => lock.tools().map(|(name, pinned)| (name, Subject::Pinned(pinned))).collect(),
        }
    }
}

impl Subject<'_> {
    /// What the publisher said, where it is kept.
    fn said(&self) -> Option<Definition> {
        match self {
            Self::Whole(tool) => Some(tool.definition().clone()),
            Self::Pinned(pinned) => {
                let text = pinned.definition()?.to_string();
                Definition::read(&Slice::of("toolmark.lock", text), Form::Tool).ok()
            }
        }
    }

    fn mark(&self) -> Mark {
        match self {
            Self::Whole(tool) => tool.mark(),
            Self::Pinned(pinned) => pinned.mark(),
        }
    }

    fn digest(&self) -> DefinitionDigest {
        match self {
            Self::Whole(tool) => tool.digest(),
            Self::Pinned(pinned) => pinned.digest(),
        }
    }

    fn body(&self) -> BodyDigest {
        match self {
            Self::Whole(tool) => tool.definition().reading().body_digest(),
            Self::Pinned(pinned) => pinned.body(),
        }
    }

    fn source(&self) -> &str {
        match self {
            Self::Whole(tool) => tool.source().as_str(),
            Self::Pinned(pinned) => pinned.source(),
        }
    }
}

fn only_in<'a>(
    these: &BTreeMap<&'a str, Subject<'a>>,
    those: &BTreeMap<&str, Subject<'_>>,
) -> Vec<(&'a str, Subject<'a>)> {
    these.iter().filter(|(name, _)| !those.contains_key(*name)).map(|(name, subject)| (*name, *subject)).collect()
}

/// Tools that say the same and come from the same source: those that went and those that came.
#[derive(Default)]
struct Alike<'a> {
    gone: Vec<&'a str>,
    come: Vec<&'a str>,
}

/// Pairs tools that went with tools that came and say the same. Where several could be meant, none is claimed.
fn renames<'a>(gone: &[(&'a str, Subject<'a>)], come: &[(&'a str, Subject<'a>)]) -> Vec<(&'a str, &'a str)> {
    let mut groups: HashMap<(BodyDigest, &str), Alike<'a>> = HashMap::new();
    for (name, subject) in gone {
        groups.entry((subject.body(), subject.source())).or_default().gone.push(name);
    }
    for (name, subject) in come {
        if let Some(group) = groups.get_mut(&(subject.body(), subject.source())) {
            group.come.push(name);
        }
    }
    let one_to_one = |group: &Alike<'a>| match (group.gone.as_slice(), group.come.as_slice()) {
        ([from], [to]) => Some((*from, *to)),
        _ => None,
    };
    let mut pairs: Vec<(&str, &str)> = groups.values().filter_map(one_to_one).collect();
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests;
