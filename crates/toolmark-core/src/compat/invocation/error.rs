//! Why a call that should have an identity has none.

use serde_json::{Map, Value};

use super::MAX_DEPTH;
use crate::explain::{Code, Explain, facts};

/// A call of which no digest can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifyInvocationError {
    /// The type of the item is an array or an object.
    #[error("the type of the call is no text")]
    TypeNotText,
    /// The arguments hold half of a UTF-16 pair, which no text can hold.
    #[error("the arguments of the call hold a lone surrogate")]
    LoneSurrogate,
    /// The call is nested too deeply.
    #[error("the call is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

impl IdentifyInvocationError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::TypeNotText => "invocation_type_unhashable",
            Self::LoneSurrogate => "invocation_lone_surrogate",
            Self::TooDeep => "invocation_too_deep",
        }
    }
}

impl Explain for IdentifyInvocationError {
    fn code(&self) -> Code {
        match self {
            Self::TypeNotText => Code::new("compat-invocation-type"),
            Self::LoneSurrogate => Code::new("compat-invocation-lone-surrogate"),
            Self::TooDeep => Code::new("compat-invocation-too-deep"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::TypeNotText => "without a type nothing says which fields of the call matter",
            Self::LoneSurrogate => {
                "it cannot be written as UTF-8, so the call could not be told from another by its digest"
            }
            Self::TooDeep => "a call of this shape is used to exhaust the programs that read it",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::TypeNotText => "send the item as the provider sent it, such as `\"type\": \"function_call\"`",
            Self::LoneSurrogate => {
                "ask the model again, or refuse the call; a complete pair of \\u escapes is accepted"
            }
            Self::TooDeep => "refuse the call, and flatten the arguments in the schema of the tool",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::TooDeep => facts([("max", MAX_DEPTH.into())]),
            _ => Map::new(),
        }
    }
}
