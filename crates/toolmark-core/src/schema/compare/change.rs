//! One difference between two schemas, and what all of them come to.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::text::visible;

/// What a difference does to the arguments that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// There is no difference.
    Same,
    /// Texts changed: the same arguments are accepted.
    Wording,
    /// A default changed: the same arguments are accepted, but leaving one out may mean something else.
    Default,
    /// Fewer arguments are accepted.
    Narrower,
    /// More arguments may be accepted.
    Wider,
    /// Both, or it cannot be told.
    Other,
}

/// What is different.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A parameter is declared that was not: a new way for data to reach the tool.
    NewParameter(String),
    /// A parameter is no longer declared.
    RemovedParameter(String),
    /// A parameter has to be sent that could be left out.
    NewlyRequired(String),
    /// A parameter can be left out that had to be sent.
    NoLongerRequired(String),
    /// The values of an enum are others.
    Values {
        /// Accepted now.
        added: Vec<Value>,
        /// No longer accepted.
        removed: Vec<Value>,
    },
    /// The default is another.
    Default,
    /// A text is another.
    Words,
    /// The same is written in another way, or a part that nothing refers to is another.
    Spelling,
    /// A keyword was added, removed or changed.
    Constraint,
    /// The schema is written in another dialect.
    Dialect,
    /// What a reference points to cannot be told from the schema alone.
    Unresolved,
    /// The schemas are too large or too deep to compare to the end.
    TooLarge,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    path: String,
    #[serde(flatten)]
    kind: ChangeKind,
    direction: Direction,
}

/// All differences between two schemas.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[must_use]
pub struct SchemaChange {
    changes: Vec<Change>,
}

impl Direction {
    /// The word for it, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Wording => "wording",
            Self::Default => "default",
            Self::Narrower => "narrower",
            Self::Wider => "wider",
            Self::Other => "other",
        }
    }

    /// True unless everything that is accepted now was accepted before.
    #[must_use]
    pub fn may_accept_more(self) -> bool {
        matches!(self, Self::Wider | Self::Other)
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Narrower, Self::Wider) | (Self::Wider, Self::Narrower) => Self::Other,
            (one, other) => one.max(other),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Change {
    pub(super) fn new(path: String, kind: ChangeKind, direction: Direction) -> Self {
        Self { path, kind, direction }
    }

    /// Where, as a JSON pointer into the new schema, or into the old one for what is gone.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is different there.
    #[must_use]
    pub fn kind(&self) -> &ChangeKind {
        &self.kind
    }

    /// What it does to the arguments that are accepted.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: &str| visible(name, 60);
        let values = |values: &[Value]| {
            let shown: Vec<String> = values.iter().take(10).map(|value| visible(&value.to_string(), 60)).collect();
            shown.join(", ")
        };
        let path = if self.path.is_empty() { "#".to_owned() } else { visible(&self.path, 120) };
        match &self.kind {
            ChangeKind::NewParameter(parameter) => write!(f, "new parameter `{}`", name(parameter))?,
            ChangeKind::RemovedParameter(parameter) => write!(f, "parameter `{}` is gone", name(parameter))?,
            ChangeKind::NewlyRequired(parameter) => write!(f, "`{}` is now required", name(parameter))?,
            ChangeKind::NoLongerRequired(parameter) => write!(f, "`{}` is no longer required", name(parameter))?,
            ChangeKind::Values { added, removed } => match (added.is_empty(), removed.is_empty()) {
                (false, true) => write!(f, "accepts `{}` too", values(added))?,
                (_, false) if added.is_empty() => write!(f, "no longer accepts `{}`", values(removed))?,
                _ => write!(f, "accepts `{}` and no longer `{}`", values(added), values(removed))?,
            },
            ChangeKind::Default => f.write_str("another default")?,
            ChangeKind::Words => f.write_str("another text")?,
            ChangeKind::Spelling => f.write_str("the same, written in another way")?,
            ChangeKind::Constraint => f.write_str("another constraint")?,
            ChangeKind::Dialect => f.write_str("another dialect of JSON Schema")?,
            ChangeKind::Unresolved => f.write_str("a reference that cannot be followed")?,
            ChangeKind::TooLarge => f.write_str("too large to compare to the end")?,
        }
        write!(f, " at `{path}` ({})", self.direction)
    }
}

impl SchemaChange {
    pub(super) fn of(changes: Vec<Change>) -> Self {
        Self { changes }
    }

    /// Each difference, in the order of the new schema.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What all differences come to.
    #[must_use]
    pub fn overall(&self) -> Direction {
        self.changes.iter().map(|change| change.direction).fold(Direction::Same, Direction::and)
    }

    /// The names of parameters that are declared now and were not before.
    pub fn new_parameters(&self) -> impl Iterator<Item = &str> {
        self.changes.iter().filter_map(|change| match &change.kind {
            ChangeKind::NewParameter(name) => Some(name.as_str()),
            _ => None,
        })
    }
}
