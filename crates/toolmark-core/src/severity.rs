//! How much a finding or a change matters, on one scale for lint and drift.

use std::fmt;
use std::str::FromStr;

/// From "good to know" to "somebody is attacking you".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Worth cleaning up.
    Low,
    /// Should be looked at by somebody.
    Medium,
    /// Leads to wrong calls or weakens a guard.
    High,
    /// Looks like an attack, or makes a wrong call almost certain.
    Critical,
}

/// A word that is no severity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a severity: use info, low, medium, high or critical")]
pub struct ParseSeverityError(String);

impl Severity {
    /// Every severity, mildest first.
    pub const ALL: &[Self] = &[Self::Info, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The severity in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = ParseSeverityError;

    fn from_str(text: &str) -> Result<Self, ParseSeverityError> {
        let known = Self::ALL.iter().copied().find(|severity| severity.as_str() == text);
        known.ok_or_else(|| ParseSeverityError(crate::text::visible(text, 40)))
    }
}

impl serde::Serialize for Severity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
