//! Why a record is not kept.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain};

use crate::error::StoreError;

/// A record that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// There was no place in the queue for longer than anybody wants to wait.
    Full,
    /// The sink was closed.
    Closed,
    /// It could not be written.
    Store(StoreError),
}

impl RecordError {
    /// The same for whoever calls over the network: it does not say where the store is.
    #[must_use]
    pub fn for_callers(&self) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.for_callers()),
            Self::Full => Self::Full,
            Self::Closed => Self::Closed,
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the audit has no room for another record"),
            Self::Closed => f.write_str("the audit is closed"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecordError {}

impl Explain for RecordError {
    fn code(&self) -> Code {
        match self {
            Self::Full => Code::new("audit-queue-full"),
            Self::Closed => Code::new("audit-closed"),
            Self::Store(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Full => "the store cannot keep up, and a record that is not kept is never dropped in silence".into(),
            Self::Closed => "the last record has been written; another would be lost".into(),
            Self::Store(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Full => "look at the log for why the store is slow or cannot be written, such as a full disk".into(),
            Self::Closed => "start Toolmark again".into(),
            Self::Store(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Full | Self::Closed => Map::new(),
            Self::Store(error) => error.facts(),
        }
    }
}
