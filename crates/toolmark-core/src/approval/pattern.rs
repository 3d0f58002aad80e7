//! "Any issue of this repository": what arguments of later calls must be, member by member, and such patterns proposed from what was
//! called before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::text::visible;

/// What each argument must be. An argument that it does not name must not be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArgumentPattern(BTreeMap<String, Matches>);

/// What one argument must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matches {
    /// Anything, or absent.
    Anything,
    /// This value, whatever the order of its members.
    Is(Value),
    /// One of these values.
    OneOf(Vec<Value>),
}

/// A pattern that would have covered several calls, and where they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The pattern.
    pub pattern: ArgumentPattern,
    /// How many calls it would have covered, this one included.
    pub calls: usize,
    /// The arguments in which they differ.
    pub differ: Vec<String>,
}

/// Calls that differ in more places than this are not alike.
const MOST_DIFFERENCES: usize = 2;

impl ArgumentPattern {
    /// These arguments, with some of them free. Nothing where they are no object, or a name that is to be free is none of theirs.
    #[must_use]
    pub fn freeing(arguments: &Value, free: &[String]) -> Option<Self> {
        let members = arguments.as_object()?;
        if free.is_empty() || free.iter().any(|name| !members.contains_key(name)) {
            return None;
        }
        let matches = |name: &String, value: &Value| match free.contains(name) {
            true => Matches::Anything,
            false => Matches::Is(value.clone()),
        };
        Some(Self(members.iter().map(|(name, value)| (name.clone(), matches(name, value))).collect()))
    }

    /// What each argument must be.
    #[must_use]
    pub fn new(members: BTreeMap<String, Matches>) -> Self {
        Self(members)
    }

    /// Whether arguments fit.
    #[must_use]
    pub fn covers(&self, arguments: &Value) -> bool {
        let Some(members) = arguments.as_object() else { return false };
        let named = members.keys().all(|name| self.0.contains_key(name));
        named
            && self.0.iter().all(|(name, matches)| match (matches, members.get(name)) {
                (Matches::Anything, _) => true,
                (Matches::Is(wanted), Some(value)) => wanted == value,
                (Matches::OneOf(wanted), Some(value)) => wanted.contains(value),
                (Matches::Is(_) | Matches::OneOf(_), None) => false,
            })
    }

    /// The arguments that may be anything.
    pub fn free(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, matches)| **matches == Matches::Anything).map(|(name, _)| name.as_str())
    }
}

impl Proposal {
    /// Patterns for a call, from the arguments of earlier calls of the same tool: calls that differ from it in the same one or two
    /// arguments and in nothing else belong together. The one that covers most comes first.
    #[must_use]
    pub fn from_calls<'v>(arguments: &Value, earlier: impl IntoIterator<Item = &'v Value>) -> Vec<Self> {
        let Some(own) = arguments.as_object() else { return Vec::new() };
        // Identical calls are one: a call that is repeated says nothing about what may differ.
        let mut groups: BTreeMap<BTreeSet<&str>, BTreeSet<String>> = BTreeMap::new();
        for other in earlier {
            let Some(other) = other.as_object() else { continue };
            let Some(differ) = differences(own, other) else { continue };
            if (1..=MOST_DIFFERENCES).contains(&differ.len()) {
                let values = differ.iter().map(|name| other.get(*name).map_or_else(String::new, Value::to_string));
                groups.entry(differ.clone()).or_default().insert(values.collect::<Vec<_>>().join("\0"));
            }
        }
        let mut proposals: Vec<Self> = groups
            .into_iter()
            .filter_map(|(differ, others)| {
                let differ: Vec<String> = differ.into_iter().map(str::to_owned).collect();
                let pattern = ArgumentPattern::freeing(arguments, &differ)?;
                Some(Self { pattern, calls: others.len() + 1, differ })
            })
            .collect();
        proposals.sort_by(|a, b| b.calls.cmp(&a.calls).then(a.differ.len().cmp(&b.differ.len())));
        proposals
    }
}

/// The arguments that two calls have in different values. Nothing where one has an argument that the other has not.
fn differences<'m>(own: &'m Map<String, Value>, other: &Map<String, Value>) -> Option<BTreeSet<&'m str>> {
    if own.len() != other.len() {
        return None;
    }
    let mut differ = BTreeSet::new();
    for (name, value) in own {
        if other.get(name)? != value {
            differ.insert(name.as_str());
        }
    }
    Some(differ)
}

/// `issue_number = *, repo = "a/b"`
impl fmt::Display for ArgumentPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, matches)) in self.0.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let name = visible(name, 80);
            match matches {
                Matches::Anything => write!(f, "{comma}{name} = *")?,
                Matches::Is(value) => write!(f, "{comma}{name} = {}", visible(&value.to_string(), 200))?,
                Matches::OneOf(values) => {
                    let values: Vec<String> = values.iter().map(|value| visible(&value.to_string(), 80)).collect();
                    write!(f, "{comma}{name} = {}", values.join(" | "))?;
                }
            }
        }
        Ok(())
    }
}

/// `these 14 calls differ only in issue_number`
impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differ: Vec<String> = self.differ.iter().map(|name| format!("`{}`", visible(name, 80))).collect();
        write!(f, "these {} calls differ only in {}", self.calls, differ.join(" and "))
    }
}

#[cfg(test)]
mod tests;
