//! What did a tool of the demo do? Data, or one line that says why not; both are results of MCP.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolmark_mcp::downstream::Answer;
use toolmark_mcp::wire::{Limits, RawObject, codes};

/// What a tool gives back.
pub(super) type Outcome = Result<Value, Failure>;

/// Why a tool could not do it, in words for whoever called.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The arguments are not what the tool takes.
    #[error("bad arguments: {0}")]
    Arguments(#[from] serde_json::Error),
    /// The database refuses.
    #[error("SQL error: {0}")]
    Sql(String),
    /// What was asked for is not there.
    #[error("{0}")]
    Missing(String),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        match error {
            // The words of SQLite, without the driver's around them.
            sqlx::Error::Database(error) => Self::Sql(error.message().to_owned()),
            other => Self::Sql(other.to_string()),
        }
    }
}

/// The arguments as the type that a tool takes.
pub(super) fn read<T: DeserializeOwned>(arguments: &[u8]) -> Result<T, Failure> {
    Ok(serde_json::from_slice(arguments)?)
}

/// One row, or that there is none.
pub(super) fn only(rows: Vec<Value>, missing: impl FnOnce() -> String) -> Outcome {
    rows.into_iter().next().ok_or_else(|| Failure::Missing(missing()))
}

/// The outcome as the result of `tools/call`.
pub(super) fn answer(outcome: Outcome) -> Answer {
    let result = match outcome {
        Ok(data) => json!({
            "content": [{"type": "text", "text": data.to_string()}],
            "structuredContent": data,
            "isError": false,
        }),
        Err(failure) => json!({"content": [{"type": "text", "text": failure.to_string()}], "isError": true}),
    };
    let limits = Limits::ADMITTED;
    match RawObject::read(Bytes::from(result.to_string()), limits) {
        Ok(result) => Answer::Result(result),
        Err(_) => Answer::fault(codes::INTERNAL_ERROR, "the result cannot be written"),
    }
}
