//! Why is this text no message? The reasons, the JSON-RPC code for the peer, and the explanation for people.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

use super::codes;
use super::id::Id;
use super::scan::ScanError;

/// A text that is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ReadMessageError {
    pub(super) kind: ReadMessageErrorKind,
    pub(super) id: Option<Id>,
}

/// Why a text is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadMessageErrorKind {
    /// Not UTF-8.
    #[error("the message is not UTF-8 at byte {at}")]
    NotUtf8 {
        /// The first byte that is not.
        at: usize,
    },
    /// Not JSON.
    #[error("the message is not JSON at byte {at}")]
    Syntax {
        /// Where reading stopped.
        at: usize,
    },
    /// Too many brackets inside one another.
    #[error("the message nests too far at byte {at}")]
    TooDeep {
        /// Where the limit was passed.
        at: usize,
    },
    /// Too many bytes.
    #[error("the message has more than {limit} bytes")]
    TooLarge {
        /// How many are read at most.
        limit: usize,
    },
    /// Several messages in an array.
    #[error("the message is a batch")]
    Batch,
    /// JSON, but no object.
    #[error("the message is not an object")]
    NotAnObject,
    /// The same key twice.
    #[error("`{name}` stands twice in one object")]
    DuplicateMember {
        /// The key.
        name: String,
    },
    /// An id that is neither a string nor a whole number.
    #[error("the id of the message is neither a string nor a whole number")]
    Id,
    /// An object, but not one that JSON-RPC 2.0 knows.
    #[error("the message is not JSON-RPC 2.0: {reason}")]
    Shape {
        /// What is missing or too much.
        reason: &'static str,
    },
}

impl ReadMessageError {
    /// Why.
    #[must_use]
    pub fn kind(&self) -> &ReadMessageErrorKind {
        &self.kind
    }

    /// The id of the message, if it could be read.
    #[must_use]
    pub fn id(&self) -> Option<&Id> {
        self.id.as_ref()
    }

    /// The code to answer with.
    #[must_use]
    pub fn rpc_code(&self) -> i64 {
        self.kind.rpc_code()
    }
}

impl ReadMessageErrorKind {
    /// The JSON-RPC code to answer with.
    #[must_use]
    pub fn rpc_code(&self) -> i64 {
        match self {
            Self::NotUtf8 { .. } | Self::Syntax { .. } => codes::PARSE_ERROR,
            _ => codes::INVALID_REQUEST,
        }
    }
}

impl From<ScanError> for ReadMessageErrorKind {
    fn from(error: ScanError) -> Self {
        match error {
            ScanError::Syntax(at) => Self::Syntax { at },
            ScanError::TooDeep(at) => Self::TooDeep { at },
        }
    }
}

impl Explain for ReadMessageError {
    fn code(&self) -> Code {
        self.kind.code()
    }

    fn why(&self) -> String {
        self.kind.why()
    }

    fn fix(&self) -> String {
        self.kind.fix()
    }

    fn facts(&self) -> Map<String, Value> {
        self.kind.facts()
    }
}

impl Explain for ReadMessageErrorKind {
    fn code(&self) -> Code {
        match self {
            Self::NotUtf8 { .. } => Code::new("message-not-utf8"),
            Self::Syntax { .. } => Code::new("message-syntax"),
            Self::TooDeep { .. } => Code::new("message-too-deep"),
            Self::TooLarge { .. } => Code::new("message-too-large"),
            Self::Batch => Code::new("message-batch"),
            Self::NotAnObject => Code::new("message-not-an-object"),
            Self::DuplicateMember { .. } => Code::new("message-duplicate-member"),
            Self::Id => Code::new("message-id"),
            Self::Shape { .. } => Code::new("message-shape"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NotUtf8 { .. } => "JSON between programs is UTF-8, and repairing bytes would change what was said",
            Self::Syntax { .. } => "a reader that repairs JSON may understand something else than the writer meant",
            Self::TooDeep { .. } | Self::TooLarge { .. } => "one message must not take the memory of all others",
            Self::Batch => "batches were removed from MCP, and their parts could not be answered one by one",
            Self::NotAnObject | Self::Shape { .. } => "MCP is carried by single JSON-RPC 2.0 objects",
            Self::DuplicateMember { .. } => "readers disagree about which of two equal keys counts",
            Self::Id => "an answer could not be matched with its request",
        }
        .to_owned()
    }

    fn fix(&self) -> String {
        match self {
            Self::NotUtf8 { .. } => "send UTF-8".to_owned(),
            Self::Syntax { .. } => "send one strict JSON object".to_owned(),
            Self::TooDeep { .. } => "send less deeply nested values".to_owned(),
            Self::TooLarge { limit } => format!("send at most {limit} bytes, or raise the limit"),
            Self::Batch => "send one message at a time".to_owned(),
            Self::NotAnObject | Self::Shape { .. } => {
                r#"send an object such as {"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned()
            }
            Self::DuplicateMember { name } => format!("send `{name}` once"),
            Self::Id => "use a string or a whole number as `id`".to_owned(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::NotUtf8 { at } | Self::Syntax { at } | Self::TooDeep { at } => facts([("at", Value::from(*at))]),
            Self::TooLarge { limit } => facts([("limit", Value::from(*limit))]),
            Self::DuplicateMember { name } => facts([("name", Value::from(name.as_str()))]),
            Self::Shape { reason } => facts([("reason", Value::from(*reason))]),
            Self::Batch | Self::NotAnObject | Self::Id => Map::new(),
        }
    }
}
