//! Who notices that one tool was called where another was meant: the schema, the identity, both or nobody.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::rows::ToolId;
use super::tools::Tools;
use crate::behavior::{Behavior, BehaviorIdentity};
use crate::inference::{Inference, Mode};

/// The three identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Three fields, as in the paper.
    V1,
    /// Four fields.
    V2,
    /// Seven fields.
    V3,
}

/// Who notices that *b* was called where *a* was meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Catch {
    /// Only the schema of *b*, which a minimal call of *a* does not fit.
    pub schema_only: usize,
    /// Only the identity.
    pub behavior_only: usize,
    /// Both.
    pub both: usize,
    /// Nobody.
    pub neither: usize,
}

/// The identities of tools, from the classifier alone, each worked out once.
pub(super) struct Identities<'t> {
    tools: &'t Tools,
    known: BTreeMap<ToolId, Option<Behavior>>,
}

/// What became of comparing two identities. Where one is missing, the two are neither apart nor together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Apart,
    Together,
    Unknown,
}

impl Form {
    /// All three.
    pub const ALL: &[Self] = &[Self::V1, Self::V2, Self::V3];

    /// As it is written in results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    fn of(self, behavior: Behavior) -> Option<BehaviorIdentity> {
        match self {
            Self::V1 => Some(behavior.identity()),
            Self::V2 => behavior.identity_v2(),
            Self::V3 => behavior.identity_v3(),
        }
    }
}

impl<'t> Identities<'t> {
    pub(super) fn new(tools: &'t Tools) -> Self {
        Self { tools, known: BTreeMap::new() }
    }

    fn behavior(&mut self, tool: &ToolId) -> Option<Behavior> {
        if let Some(known) = self.known.get(tool) {
            return *known;
        }
        let behavior = self.tools.get(tool).and_then(|tool| Inference::of(tool, Mode::Full).behavior());
        self.known.insert(tool.clone(), behavior);
        behavior
    }

    pub(super) fn compare(&mut self, form: Form, a: &ToolId, b: &ToolId) -> Compared {
        let (a, b) = (self.behavior(a), self.behavior(b));
        match (a.and_then(|a| form.of(a)), b.and_then(|b| form.of(b))) {
            (Some(a), Some(b)) if a == b => Compared::Together,
            (Some(_), Some(_)) => Compared::Apart,
            _ => Compared::Unknown,
        }
    }
}

impl Catch {
    pub(super) fn add(&mut self, schema: bool, behavior: bool) {
        let counted = match (schema, behavior) {
            (true, false) => &mut self.schema_only,
            (false, true) => &mut self.behavior_only,
            (true, true) => &mut self.both,
            (false, false) => &mut self.neither,
        };
        *counted += 1;
    }

    /// All confusions.
    #[must_use]
    pub fn total(self) -> usize {
        self.schema_only + self.behavior_only + self.both + self.neither
    }

    /// Both counts in one.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            schema_only: self.schema_only + other.schema_only,
            behavior_only: self.behavior_only + other.behavior_only,
            both: self.both + other.both,
            neither: self.neither + other.neither,
        }
    }

    /// The object with its four counts.
    #[must_use]
    pub fn to_json(self) -> Value {
        json!({
            "schema_only": self.schema_only,
            "behavior_only": self.behavior_only,
            "both": self.both,
            "neither": self.neither,
        })
    }
}
