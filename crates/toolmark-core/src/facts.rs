//! What the arguments of one call would do, statement by statement: data that analyzers produce and the gate weighs.

mod compact;

use serde_json::{Value, json};

use crate::behavior::{Action, Mutability};

/// Everything that was found out about the arguments of one call. Empty when they carry no program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    parts: Vec<Part>,
}

/// One argument that carries a program, a path or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it stands in the arguments, as a JSON pointer.
    pub pointer: String,
    /// What it is written in, such as `sql` or `shell`.
    pub language: &'static str,
    /// What came of reading it.
    pub reading: Reading,
}

/// What came of reading one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It was understood: these are its effects, in order.
    Understood(Vec<Effect>),
    /// It may do anything.
    CannotTell {
        /// Why, in one line.
        reason: String,
    },
}

/// What one statement, command or request does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Whether it changes anything.
    pub mutability: Mutability,
    /// What it does.
    pub action: Action,
    /// What it acts on: tables, files, addresses, keys.
    pub targets: Vec<String>,
    /// Whether what it changes has a limit. False for a `DELETE` without `WHERE`, a root path, a `FLUSHALL`.
    pub bounded: bool,
    /// What makes it dangerous although it may change nothing, or beyond what it changes.
    pub dangers: Vec<Danger>,
    /// The statement in a few words, for people and models.
    pub summary: String,
}

/// Reasons to ask although nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Danger {
    /// Reaches credentials, keys or tokens.
    Secret,
    /// Reaches a path or address outside what the tool is meant for: traversal, metadata endpoints, private networks.
    Escape,
    /// Can use up time, memory or connections.
    Exhaustion,
    /// Sends data out of the system.
    Outward,
    /// Runs code that the analyzer cannot see.
    Code,
    /// Gains or grants rights.
    Privilege,
}

impl Danger {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Secret, Self::Escape, Self::Exhaustion, Self::Outward, Self::Code, Self::Privilege];

    /// The danger in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Escape => "escape",
            Self::Exhaustion => "exhaustion",
            Self::Outward => "outward",
            Self::Code => "code",
            Self::Privilege => "privilege",
        }
    }
}

impl Effect {
    /// A statement that changes nothing.
    #[must_use]
    pub fn pure(action: Action, summary: impl Into<String>) -> Self {
        Self {
            mutability: Mutability::Pure,
            action,
            targets: Vec::new(),
            bounded: true,
            dangers: Vec::new(),
            summary: summary.into(),
        }
    }

    /// A statement that changes something within limits.
    #[must_use]
    pub fn mutating(action: Action, summary: impl Into<String>) -> Self {
        Self { mutability: Mutability::Mutates, ..Self::pure(action, summary) }
    }

    /// The same, acting on these.
    #[must_use]
    pub fn on(mut self, targets: impl IntoIterator<Item = String>) -> Self {
        self.targets.extend(targets);
        self
    }

    /// The same without a limit.
    #[must_use]
    pub fn unbounded(mut self) -> Self {
        self.bounded = false;
        self
    }

    /// The same with a danger.
    #[must_use]
    pub fn with(mut self, danger: Danger) -> Self {
        if !self.dangers.contains(&danger) {
            self.dangers.push(danger);
        }
        self
    }

    /// True when it neither changes anything nor is dangerous.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        self.mutability == Mutability::Pure && self.dangers.is_empty()
    }

    fn to_json(&self) -> Value {
        json!({
            "mutability": self.mutability,
            "action": self.action,
            "targets": self.targets,
            "bounded": self.bounded,
            "dangers": self.dangers.iter().map(|danger| danger.as_str()).collect::<Vec<_>>(),
            "summary": self.summary,
        })
    }
}

impl Facts {
    /// The facts of these parts.
    #[must_use]
    pub fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// The parts, in the order of the arguments.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// True when the arguments carry nothing that could be analyzed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Every effect that was understood.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.parts.iter().flat_map(|part| match &part.reading {
            Reading::Understood(effects) => effects.as_slice(),
            Reading::CannotTell { .. } => &[],
        })
    }

    /// Why something was not understood, for each part that was not.
    pub fn unclear(&self) -> impl Iterator<Item = (&Part, &str)> {
        self.parts.iter().filter_map(|part| match &part.reading {
            Reading::Understood(_) => None,
            Reading::CannotTell { reason } => Some((part, reason.as_str())),
        })
    }

    /// The facts as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let part = |part: &Part| match &part.reading {
            Reading::Understood(effects) => json!({
                "pointer": part.pointer,
                "language": part.language,
                "understood": true,
                "effects": effects.iter().map(Effect::to_json).collect::<Vec<_>>(),
            }),
            Reading::CannotTell { reason } => {
                json!({"pointer": part.pointer, "language": part.language, "understood": false, "reason": reason})
            }
        };
        self.parts.iter().map(part).collect()
    }
}
