//! Stands in for `toolmark_core::behavior::{BehaviorPattern, KnownBehavior, Agreement, BehaviorSource}` until the branch `infer`
//! brings them; then this file goes.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use toolmark_core::behavior::{Action, Behavior, Mutability, OutputDomain, ParseBehaviorError};

/// A set of behaviors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviorPattern {
    mutability: Vec<Mutability>,
    action: Vec<Action>,
    output_domain: Vec<OutputDomain>,
    written: String,
}

/// Whether a second opinion agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agreement {
    /// Said by one.
    Declared,
    /// A second opinion agrees.
    Corroborated,
    /// A second opinion disagrees.
    Disputed,
    /// It was inferred.
    Inferred,
    /// Nothing is known.
    Unknown,
}

/// Who says what a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BehaviorSource {
    /// The operator's configuration.
    Operator,
    /// A declaration in the definition.
    Publisher,
}

/// What is known about a tool's behavior.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBehavior {
    behavior: Option<Behavior>,
    source: Option<BehaviorSource>,
    agreement: Agreement,
}

/// What there is to combine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statements {
    /// What the operator's configuration says.
    pub operator: Option<Behavior>,
    /// What the publisher declares.
    pub publisher: Option<Behavior>,
}

impl KnownBehavior {
    /// Combines what everybody says.
    #[must_use]
    pub fn combine(said: Statements) -> Self {
        let (source, agreement) = match (said.operator, said.publisher) {
            (Some(_), _) => (Some(BehaviorSource::Operator), Agreement::Declared),
            (None, Some(_)) => (Some(BehaviorSource::Publisher), Agreement::Declared),
            (None, None) => (None, Agreement::Unknown),
        };
        Self { behavior: said.operator.or(said.publisher), source, agreement }
    }

    /// What one call does.
    #[must_use]
    pub fn behavior_of(&self, _arguments: &Value) -> Option<Behavior> {
        self.behavior
    }

    /// Whether it changes anything.
    #[must_use]
    pub fn mutability(&self) -> Option<Mutability> {
        self.behavior.map(|behavior| behavior.mutability())
    }

    /// Who says so.
    #[must_use]
    pub fn source(&self) -> Option<BehaviorSource> {
        self.source
    }

    /// Whether a second opinion agrees.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        self.agreement
    }
}

impl BehaviorPattern {
    /// True when the behavior is one of those that are meant.
    #[must_use]
    pub fn matches(&self, behavior: &Behavior) -> bool {
        (self.mutability.is_empty() || self.mutability.contains(&behavior.mutability()))
            && (self.action.is_empty() || self.action.contains(&behavior.action()))
            && (self.output_domain.is_empty() || self.output_domain.contains(&behavior.output_domain()))
    }
}

impl FromStr for BehaviorPattern {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        let fields: Vec<&str> = text.split('|').collect();
        let [mutability, action, domain] = fields.as_slice() else {
            return Err(ParseBehaviorError::Fields { found: text.into(), fields: fields.len() });
        };
        Ok(Self {
            mutability: list(mutability)?,
            action: list(action)?,
            output_domain: list(domain)?,
            written: text.into(),
        })
    }
}

fn list<T: FromStr>(text: &str) -> Result<Vec<T>, T::Err> {
    if text == "*" { Ok(Vec::new()) } else { text.split(',').map(str::parse).collect() }
}

impl fmt::Display for BehaviorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl Agreement {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Corroborated => "corroborated",
            Self::Disputed => "disputed",
            Self::Inferred => "inferred",
            Self::Unknown => "unknown",
        }
    }
}

impl BehaviorSource {
    /// The source in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Publisher => "publisher",
        }
    }
}
