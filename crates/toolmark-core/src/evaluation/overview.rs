//! The classifier without labels: how often it answers, and how often it contradicts what publishers declare.

use serde_json::{Value, json};

use super::rows::ToolId;
use super::tools::Tools;
use crate::behavior::Mutability;
use crate::inference::{Inference, Mode};

/// What can be said about every tool of a data set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// Tools.
    pub tools: usize,
    /// Servers.
    pub servers: usize,
    /// Tools whose mutability the classifier knows.
    pub mutability: usize,
    /// Tools with a whole behavior.
    pub behavior: usize,
    /// Tools with a `readOnlyHint`.
    pub hinted: usize,
    /// Hints that the classifier, without looking at them, agrees with.
    pub hint_agrees: usize,
    /// Hints on which it abstains.
    pub hint_unknown: usize,
    contradictory: Vec<ToolId>,
}

impl Overview {
    /// Looks at every tool. `seen` is called after each.
    #[must_use]
    pub fn of(tools: &Tools, seen: &dyn Fn()) -> Self {
        let contradictory = tools.contradictory().iter().cloned().collect();
        let mut all = Self { tools: tools.len(), servers: tools.servers(), contradictory, ..Self::default() };
        for (_, definition) in tools.iter() {
            let reading = definition.reading();
            let inferred = Inference::of_reading(&reading, Mode::Full);
            all.mutability += usize::from(inferred.mutability.value().is_some());
            all.behavior += usize::from(inferred.behavior().is_some());
            if let Some(hint) = reading.hint("readOnlyHint") {
                let own = Inference::of_reading(&reading, Mode::WithoutHints).mutability.value();
                all.hinted += 1;
                all.hint_unknown += usize::from(own.is_none());
                all.hint_agrees += usize::from(own.is_some_and(|own| hint == (own == Mutability::Pure)));
            }
            seen();
        }
        all
    }

    /// Names under which two rows say different things; rows about them count as missing.
    #[must_use]
    pub fn contradictory(&self) -> &[ToolId] {
        &self.contradictory
    }

    /// The object that stands under `tools`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "total": self.tools,
            "servers": self.servers,
            "mutability_answered": self.mutability,
            "behavior_answered": self.behavior,
            "read_only_hint": {"hinted": self.hinted, "agree": self.hint_agrees, "abstained": self.hint_unknown},
            "contradictory": self.contradictory.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}
