//! What is wrong with a text that should be a behavior or a pattern over behaviors.

use serde_json::{Map, Value};

use super::{Action, Noun};
use crate::explain::{Code, Explain, facts};

/// Text that is no behavior.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseBehaviorError {
    /// A word that is not in the vocabulary of its field.
    #[error("`{found}` is not a value of `{field}`")]
    Value {
        /// The field.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: &'static [&'static str],
    },
    /// A target that is not in the list of nouns.
    #[error("`{0}` is not a target")]
    Noun(String),
    /// Neither three nor four nor seven fields.
    #[error("`{found}` has {fields} fields, not three, four or seven")]
    Fields {
        /// What was read.
        found: String,
        /// How many fields it has.
        fields: usize,
    },
    /// Some of the three fields are given and some are not.
    #[error("the declaration has no `{missing}`")]
    Incomplete {
        /// The first field that is missing.
        missing: &'static str,
    },
    /// A pure tool that is said to change something.
    #[error("a PURE tool cannot {0}")]
    Contradiction(Action),
}

impl Explain for ParseBehaviorError {
    fn code(&self) -> Code {
        match self {
            Self::Value { .. } | Self::Noun(_) => Code::new("behavior-value"),
            Self::Fields { .. } | Self::Incomplete { .. } => Code::new("behavior-syntax"),
            Self::Contradiction(_) => Code::new("behavior-contradiction"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Value { .. } | Self::Noun(_) => {
                "the vocabularies are closed: a word nobody else knows would match no rule"
            }
            Self::Fields { .. } | Self::Incomplete { .. } => {
                "a behavior is compared as a whole; a missing field would silently match less than was meant"
            }
            Self::Contradiction(_) => "one of the two is wrong, and guessing which would weaken a guard",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Value { allowed, .. } => format!("use one of {}", allowed.join(", ")),
            Self::Noun(_) => format!(
                "use one of the {} nouns of the list, or two with a dot: `repository`, `repository.star`",
                Noun::ALL.len()
            ),
            Self::Fields { .. } | Self::Incomplete { .. } => {
                "write it as `MUTABILITY|ACTION|OUTPUT_DOMAIN`, such as `PURE|READ|DATA`".into()
            }
            Self::Contradiction(action) => format!("declare `MUTATES|{action}|…`, or `PURE|READ|…`"),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Value { field, found, allowed } => {
                facts([("field", (*field).into()), ("found", found.as_str().into()), ("allowed", (*allowed).into())])
            }
            Self::Noun(found) => facts([("field", "target".into()), ("found", found.as_str().into())]),
            Self::Fields { found, .. } => facts([("found", found.as_str().into())]),
            Self::Incomplete { missing } => facts([("missing", (*missing).into())]),
            Self::Contradiction(action) => facts([("action", action.as_str().into())]),
        }
    }
}
