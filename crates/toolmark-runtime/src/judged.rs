//! What a call was judged by, as it is kept beside it: enough to judge it again under another policy when its arguments are gone.
//!
//! Old reader, new data: a version it does not know is not read. New reader, old data: version 1 is the first.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolmark_core::behavior::{Behavior, KnownBehavior};
use toolmark_core::facts::Facts;

use crate::examine::{Examination, Outcome};
use crate::workspace::Identity;

const VERSION: u64 = 1;

/// What a call was judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What the call did, as far as anybody knew.
    pub behavior: Option<Behavior>,
    /// What became of it before anybody was asked: `run`, `answered`, `observed`, `ask` or `refuse`.
    pub outcome: &'static str,
    /// Whether its arguments did not fit the tool's schema.
    pub invalid: bool,
    /// The documented value of the argument that selects what the tool does.
    pub selected: Option<Selected>,
    /// What its arguments would do.
    pub facts: Facts,
}

/// An argument that selects what a tool does, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Where it stands, as a JSON pointer.
    pub pointer: String,
    /// One of the values that the tool's schema documents; no other is kept.
    pub value: String,
}

/// The words for what becomes of a call.
const OUTCOMES: &[&str] = &["run", "answered", "observed", "ask", "refuse"];

impl Judged {
    /// A call that runs, whose arguments are no fact.
    pub(crate) fn plain(behavior: Option<Behavior>) -> Self {
        Self { behavior, outcome: "run", invalid: false, selected: None, facts: Facts::default() }
    }

    /// What was found out about a call.
    #[must_use]
    pub fn of(examination: &Examination<'_>, arguments: &Value) -> Self {
        Self {
            behavior: examination.known().behavior_of(arguments),
            outcome: examination.outcome().as_str(),
            invalid: examination.invalid().is_some(),
            selected: selected(examination.known(), arguments),
            facts: examination.facts().clone(),
        }
    }

    /// As it is kept. The same call is always the same text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut all = Map::new();
        all.insert("v".into(), VERSION.into());
        all.insert("o".into(), self.outcome.into());
        if let Some(behavior) = self.behavior {
            all.insert("b".into(), behavior.to_string().into());
        }
        if self.invalid {
            all.insert("i".into(), true.into());
        }
        if let Some(selected) = &self.selected {
            all.insert("s".into(), json!([selected.pointer, selected.value]));
        }
        if !self.facts.is_empty() {
            all.insert("f".into(), self.facts.to_compact());
        }
        Value::Object(all).to_string()
    }

    /// Reads it back. `None` for what this program does not understand: it must not be taken for harmless.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        if value.get("v").and_then(Value::as_u64) != Some(VERSION) {
            return None;
        }
        let word = value.get("o")?.as_str()?;
        let selected = match value.get("s") {
            None => None,
            Some(pair) => {
                let text = |at: usize| pair.get(at).and_then(Value::as_str).map(str::to_owned);
                Some(Selected { pointer: text(0)?, value: text(1)? })
            }
        };
        Some(Self {
            behavior: match value.get("b") {
                None => None,
                Some(text) => Some(text.as_str()?.parse().ok()?),
            },
            outcome: OUTCOMES.iter().copied().find(|known| *known == word)?,
            invalid: value.get("i") == Some(&Value::Bool(true)),
            selected,
            facts: value.get("f").map_or(Some(Facts::default()), Facts::from_compact)?,
        })
    }

    /// Arguments that select what these did and say nothing else.
    #[must_use]
    pub fn arguments(&self) -> Value {
        let mut arguments = Value::Object(Map::new());
        if let Some(selected) = &self.selected {
            put(&mut arguments, &selected.pointer, &selected.value);
        }
        arguments
    }
}

/// What is kept of a call; shared where nothing about it is out of the ordinary.
pub(crate) fn text(examination: &Examination<'_>, identity: &Identity, arguments: &Value) -> Arc<str> {
    let known = examination.known();
    let plain = examination.facts().is_empty()
        && examination.invalid().is_none()
        && known.by_argument().is_none()
        && examination.outcome() == Outcome::Run;
    if plain { Arc::clone(&identity.judged) } else { Judged::of(examination, arguments).to_text().into() }
}

fn selected(known: &KnownBehavior, arguments: &Value) -> Option<Selected> {
    let by_argument = known.by_argument()?;
    let value = arguments.pointer(by_argument.pointer())?.as_str()?;
    by_argument
        .values()
        .contains_key(value)
        .then(|| Selected { pointer: by_argument.pointer().to_owned(), value: value.to_owned() })
}

/// Puts a text where a pointer says, with the objects that lead there.
fn put(root: &mut Value, pointer: &str, text: &str) {
    let mut at = root;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let Value::Object(members) = at else { return };
        at = members.entry(step).or_insert_with(|| Value::Object(Map::new()));
    }
    *at = text.into();
}

#[cfg(test)]
mod tests;
