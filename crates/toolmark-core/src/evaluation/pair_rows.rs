//! Pairs of tools that are easily taken for each other, or that are one and the same.

use serde_json::Value;

use super::rows::{ReadRowError, ToolId, flag, rows};

/// Two tools that are easily taken for each other, or that are one and the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The one that was meant.
    pub a: ToolId,
    /// The one that was called.
    pub b: ToolId,
    /// How bad that is; none for two that do the same.
    pub severity: Option<PairSeverity>,
}

/// How bad a confusion is, worst first. Words that a data set adds come after those of the paper.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairSeverity {
    /// Reading for destroying.
    Critical,
    /// One write for another.
    High,
    /// One object for another.
    Medium,
    /// Nearly the same.
    Low,
    /// A word of the data set's own.
    Other(String),
    /// A pair without a severity.
    Unrated,
}

impl Pair {
    /// Reads `pairs.jsonl`. With `same: true` a severity is not looked at.
    ///
    /// # Errors
    /// [`ReadRowError`] with the first line that does not name two tools.
    pub fn read_all(text: &str) -> Result<Vec<Self>, ReadRowError> {
        rows("pairs", text, |_, row| {
            let same = flag(row, "same")?.unwrap_or(false);
            let severity = match row.get("severity") {
                None | Some(Value::Null) => PairSeverity::Unrated,
                Some(Value::String(word)) => PairSeverity::of(word),
                Some(_) => return Err("`severity` must be a word".into()),
            };
            Ok(Self { a: ToolId::under(row, "a")?, b: ToolId::under(row, "b")?, severity: (!same).then_some(severity) })
        })
    }
}

impl PairSeverity {
    /// The severities of the paper, worst first. They are reported even when no pair has them.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    fn of(word: &str) -> Self {
        match word.trim().to_ascii_uppercase().as_str() {
            "CRITICAL" => Self::Critical,
            "HIGH" => Self::High,
            "MEDIUM" => Self::Medium,
            "LOW" => Self::Low,
            "" | "UNRATED" => Self::Unrated,
            // Upper case keeps it apart from the other keys of the results.
            other => Self::Other(crate::text::visible(other, 40)),
        }
    }

    /// The severity as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Critical => "CRITICAL",
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Low => "LOW",
            Self::Other(word) => word,
            Self::Unrated => "UNRATED",
        }
    }
}
