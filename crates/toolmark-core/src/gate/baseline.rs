//! What earlier approved runs of a task did, as something to hold later runs against. A versioned file.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::verb;
use crate::behavior::{Action, Behavior, Mutability};
use crate::explain::{Code, Explain, facts};
use crate::facts::Facts;
use crate::names::CanonicalName;
use crate::text::visible;

/// The version of the file. A reader refuses every other: what it does not understand, it cannot hold anybody to.
const VERSION: u32 = 1;

/// What the approved runs of one task did: with which tools, and what those calls did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    task: String,
    tools: BTreeMap<String, Learned>,
}

/// What the calls of one tool did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    behaviors: BTreeSet<String>,
    effects: BTreeSet<(Mutability, Action)>,
    calls: u64,
}

/// A text that is no baseline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a baseline: {problem}")]
pub struct ReadBaselineError {
    problem: String,
}

/// The file, field by field.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    baseline: u32,
    task: String,
    tools: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    behaviors: Vec<String>,
    effects: Vec<String>,
    calls: u64,
}

impl Baseline {
    /// A baseline that knows nothing yet, so that every call is unlike it.
    #[must_use]
    pub fn new(task: impl Into<String>) -> Self {
        Self { task: task.into(), tools: BTreeMap::new() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ReadBaselineError`] when it is none, or of another version.
    pub fn read(text: &str) -> Result<Self, ReadBaselineError> {
        let refuse = |problem: String| ReadBaselineError { problem: visible(&problem, 300) };
        let version = serde_json::from_str::<Value>(text).map_err(|error| refuse(error.to_string()))?;
        match version.get("baseline").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {}
            Some(version) => return Err(refuse(format!("its version is {version}, and this program reads {VERSION}"))),
            None => return Err(refuse("it has no number under `baseline`".into())),
        }
        let file: File = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        let mut tools = BTreeMap::new();
        for (name, entry) in file.tools {
            let learned = entry.read().map_err(|problem| refuse(format!("the entry of `{name}`: {problem}")))?;
            name.parse::<CanonicalName>().map_err(|error| refuse(error.to_string()))?;
            tools.insert(name, learned);
        }
        Ok(Self { task: file.task, tools })
    }

    /// The file. The same knowledge is always the same text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let entry = |learned: &Learned| Entry {
            behaviors: learned.behaviors.iter().cloned().collect(),
            effects: learned.effects.iter().map(|(mutability, action)| format!("{mutability}|{action}")).collect(),
            calls: learned.calls,
        };
        let tools = self.tools.iter().map(|(name, learned)| (name.clone(), entry(learned))).collect();
        let file = File { baseline: VERSION, task: self.task.clone(), tools };
        // A struct of texts and numbers can always be written.
        serde_json::to_string_pretty(&file).map(|text| text + "\n").unwrap_or_default()
    }

    /// Takes in one call that was approved. False when it was not taken in, because nobody can tell what it did.
    pub fn learn(&mut self, tool: &CanonicalName, behavior: Option<Behavior>, facts: &Facts) -> bool {
        if facts.unclear().next().is_some() {
            return false;
        }
        let learned = self.tools.entry(tool.to_string()).or_default();
        learned.calls += 1;
        learned.behaviors.extend(behavior.map(|behavior| behavior.to_string()));
        learned.effects.extend(facts.effects().map(|effect| (effect.mutability, effect.action)));
        true
    }

    /// In what a call is unlike everything that was learned, in words; `None` when it is not.
    #[must_use]
    pub fn unusual(&self, tool: &CanonicalName, behavior: Option<Behavior>, facts: &Facts) -> Option<String> {
        let Some(learned) = self.tools.get(tool.as_str()) else {
            return Some(format!("`{}` was never called", visible(tool.as_str(), 200)));
        };
        if let Some(behavior) = behavior.map(|behavior| behavior.to_string())
            && !learned.behaviors.is_empty()
            && !learned.behaviors.contains(&behavior)
        {
            return Some(format!("the tool never did {behavior}"));
        }
        if let Some((part, _)) = facts.unclear().next() {
            return Some(format!("it cannot be told what `{}` would do", part.pointer));
        }
        let new = facts.effects().find(|effect| !learned.effects.contains(&(effect.mutability, effect.action)));
        new.map(|effect| format!("its arguments never had it {}: {}", verb(effect.action), effect.summary))
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// What was learned, by tool.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Learned)> {
        self.tools.iter().map(|(name, learned)| (name.as_str(), learned))
    }
}

impl Learned {
    /// How many calls were taken in.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// What the tool did.
    pub fn behaviors(&self) -> impl Iterator<Item = &str> {
        self.behaviors.iter().map(String::as_str)
    }

    /// What its arguments did.
    pub fn effects(&self) -> impl Iterator<Item = (Mutability, Action)> {
        self.effects.iter().copied()
    }
}

impl Entry {
    fn read(self) -> Result<Learned, String> {
        let mut behaviors = BTreeSet::new();
        for text in self.behaviors {
            behaviors.insert(text.parse::<Behavior>().map_err(|error| error.to_string())?.to_string());
        }
        let mut effects = BTreeSet::new();
        for text in &self.effects {
            let parts = text.split_once('|').ok_or_else(|| format!("`{text}` is not an effect"))?;
            let mutability = Mutability::from_str(parts.0).map_err(|error| error.to_string())?;
            effects.insert((mutability, Action::from_str(parts.1).map_err(|error| error.to_string())?));
        }
        Ok(Learned { behaviors, effects, calls: self.calls })
    }
}

impl Explain for ReadBaselineError {
    fn code(&self) -> Code {
        Code::new("baseline-syntax")
    }

    fn why(&self) -> String {
        "a task that is held to a baseline nobody can read would be held to nothing".into()
    }

    fn fix(&self) -> String {
        "write it again with `toolmark baseline learn`, or take `baseline` out of the task".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problem", self.problem.as_str().into())])
    }
}

#[cfg(test)]
mod tests;
