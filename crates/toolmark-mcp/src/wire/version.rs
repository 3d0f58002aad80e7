//! Which revision of MCP, and which of its two eras?

use std::fmt;
use std::str::FromStr;

use toolmark_core::explain::{Code, Explain};

/// A revision of the protocol that Toolmark speaks. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    /// 2024-11-05: HTTP with a separate event stream.
    V2024_11_05,
    /// 2025-03-26: streamable HTTP.
    V2025_03_26,
    /// 2025-06-18: structured results, elicitation.
    V2025_06_18,
    /// 2025-11-25: the last with a handshake.
    V2025_11_25,
    /// 2026-07-28: stateless.
    V2026_07_28,
}

/// How peers know each other: by a handshake that opens a session, or by what each request says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, sessions, requests in both directions.
    Session,
    /// From 2026-07-28: every request stands alone.
    Stateless,
}

/// A text that names no revision Toolmark speaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no revision of MCP that Toolmark speaks")]
pub struct UnknownVersionError(String);

impl ProtocolVersion {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;
    /// The newest revision with a handshake.
    pub const LATEST_WITH_SESSION: Self = Self::V2025_11_25;
    /// What an HTTP request of the old era means that names no version.
    pub const ASSUMED: Self = Self::V2025_03_26;

    /// The date that names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era it belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2026_07_28 => Era::Stateless,
            _ => Era::Session,
        }
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|version| version.as_str() == text);
        found.ok_or_else(|| UnknownVersionError(text.chars().take(64).collect()))
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Explain for UnknownVersionError {
    fn code(&self) -> Code {
        Code::new("mcp-version-unknown")
    }

    fn why(&self) -> String {
        "revisions differ in what a message means, so a message of an unknown one cannot be read safely".to_owned()
    }

    fn fix(&self) -> String {
        let known: Vec<_> = ProtocolVersion::ALL.iter().map(|version| version.as_str()).collect();
        format!("use one of {}", known.join(", "))
    }
}
