//! May this call run? Three answers, each with its reasons as data; a reason can make a verdict stricter, never milder.

use std::fmt;

use serde_json::{Map, Value, json};

/// How a call is decided, mildest first. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person must say so first.
    Ask,
    /// It must not run.
    Deny,
}

/// A decision with everything that led to it.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Verdict {
    decision: Decision,
    reasons: Vec<Reason>,
}

/// One thing that spoke for a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// What it asks for by itself.
    pub decision: Decision,
    /// A stable kebab-case code.
    pub code: &'static str,
    /// One line for people and models.
    pub message: String,
    /// Machine-readable fields.
    pub facts: Map<String, Value>,
}

impl Decision {
    /// The decision in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl serde::Serialize for Decision {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Reason {
    /// The code of a question about a tool that nobody has approved yet. A standing yes to it pins the tool.
    pub const FIRST_USE: &'static str = "first-use";

    /// A reason without fields.
    #[must_use]
    pub fn new(decision: Decision, code: &'static str, message: impl Into<String>) -> Self {
        Self { decision, code, message: message.into(), facts: Map::new() }
    }

    /// The same with a field.
    #[must_use]
    pub fn fact(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(key.into(), value.into());
        self
    }

    fn to_json(&self) -> Value {
        json!({"decision": self.decision, "code": self.code, "message": self.message, "facts": self.facts})
    }
}

impl Verdict {
    /// A call that nothing speaks against.
    pub const fn allow() -> Self {
        Self { decision: Decision::Allow, reasons: Vec::new() }
    }

    /// The strictest of these reasons decides; without any, the call is allowed.
    pub fn of(reasons: impl IntoIterator<Item = Reason>) -> Self {
        reasons.into_iter().fold(Self::allow(), Self::and)
    }

    /// Invariant: adding a reason never weakens a verdict.
    pub fn and(mut self, reason: Reason) -> Self {
        self.decision = self.decision.max(reason.decision);
        self.reasons.push(reason);
        self
    }

    /// The decision.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Everything that was said, in order.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// The reasons that decided: those as strict as the verdict.
    pub fn deciding(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter().filter(|reason| reason.decision == self.decision)
    }

    /// The verdict as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"verdict": self.decision, "reasons": self.reasons.iter().map(Reason::to_json).collect::<Vec<_>>()})
    }
}
