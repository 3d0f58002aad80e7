//! What a client can take: how long a name may be, which characters, what the client puts in front of it, how many tools.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// The clients whose limits we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfileName {
    /// Claude Code: `mcp__server__tool`, 64 in all.
    ClaudeCode,
    /// Cursor: server and tool together stay below 60; others are dropped.
    Cursor,
    /// VS Code: `mcp_server_tool`, 64 in all.
    Vscode,
    /// Codex: `mcp__server__tool`; whatever is no letter, digit or `_` is replaced.
    Codex,
    /// OpenAI's API: 64, no dots.
    Openai,
    /// Anthropic's API: 64, no dots.
    Anthropic,
    /// Any other MCP client: what the protocol advises.
    Generic,
}

/// The limits of one client, for one name under which it knows Toolmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    name: ProfileName,
    server: String,
}

/// A client that we do not know, or a server name that leaves no room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseProfileError {
    /// An unknown profile.
    #[error("`{0}` is not a client profile")]
    Unknown(String),
    /// The client's own prefix takes almost the whole name.
    #[error("with the server name `{server}`, {profile} leaves {budget} characters for a tool")]
    NoRoom {
        /// The profile.
        profile: ProfileName,
        /// The server name.
        server: String,
        /// What is left.
        budget: usize,
    },
}

/// Shorter budgets could not even hold a hash and a few letters.
const SMALLEST_BUDGET: usize = 16;

impl ProfileName {
    /// Every profile.
    pub const ALL: &[Self] =
        &[Self::ClaudeCode, Self::Cursor, Self::Vscode, Self::Codex, Self::Openai, Self::Anthropic, Self::Generic];

    /// The profile in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Codex => "codex",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Generic => "generic",
        }
    }
}

impl Profile {
    /// The limits of a client that knows Toolmark as `toolmark`.
    #[must_use]
    pub fn new(name: ProfileName) -> Self {
        Self { name, server: "toolmark".into() }
    }

    /// The limits of a client that knows Toolmark by another name.
    ///
    /// # Errors
    /// When the client's own prefix leaves too little room.
    pub fn with_server(name: ProfileName, server: &str) -> Result<Self, ParseProfileError> {
        let profile = Self { name, server: server.to_owned() };
        match profile.budget() {
            budget if budget < SMALLEST_BUDGET => {
                Err(ParseProfileError::NoRoom { profile: name, server: visible(server, 60), budget })
            }
            _ => Ok(profile),
        }
    }

    /// Which client it is.
    #[must_use]
    pub fn name(&self) -> ProfileName {
        self.name
    }

    /// The name under which the client knows Toolmark.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What the client puts in front of every name.
    #[must_use]
    pub fn outer_prefix(&self) -> String {
        match self.name {
            ProfileName::ClaudeCode => format!("mcp__{}__", self.server),
            ProfileName::Codex => format!("mcp__{}__", self.server.replace(|letter| !self.allows(letter), "_")),
            ProfileName::Vscode => format!("mcp_{}_", self.server),
            // Cursor shows no prefix, but counts the server's name.
            ProfileName::Cursor => self.server.clone(),
            ProfileName::Openai | ProfileName::Anthropic | ProfileName::Generic => String::new(),
        }
    }

    /// A name as the client shows it to its model.
    #[must_use]
    pub fn as_seen(&self, name: &str) -> String {
        match self.name {
            ProfileName::Cursor => name.to_owned(),
            _ => format!("{}{name}", self.outer_prefix()),
        }
    }

    /// How long a name may be before the client adds its prefix.
    #[must_use]
    pub fn budget(&self) -> usize {
        let total: usize = match self.name {
            ProfileName::ClaudeCode | ProfileName::Vscode | ProfileName::Openai | ProfileName::Anthropic => 64,
            ProfileName::Cursor => 59,
            ProfileName::Codex | ProfileName::Generic => 128,
        };
        total.saturating_sub(self.outer_prefix().chars().count())
    }

    /// Whether a name may hold this character.
    #[must_use]
    pub fn allows(&self, character: char) -> bool {
        character.is_ascii_alphanumeric()
            || match self.name {
                ProfileName::Codex => character == '_',
                ProfileName::Generic => matches!(character, '_' | '-' | '.'),
                _ => matches!(character, '_' | '-'),
            }
    }

    /// How many tools the client takes, where it has a limit.
    #[must_use]
    pub fn max_tools(&self) -> Option<usize> {
        match self.name {
            ProfileName::Cursor => Some(80),
            ProfileName::Vscode | ProfileName::Openai => Some(128),
            _ => None,
        }
    }

    /// Whether the client takes this name as it is.
    #[must_use]
    pub fn accepts(&self, name: &str) -> bool {
        !name.is_empty()
            && name.chars().count() <= self.budget()
            && name.chars().all(|character| self.allows(character))
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ProfileName {
    type Err = ParseProfileError;

    fn from_str(text: &str) -> Result<Self, ParseProfileError> {
        let known = Self::ALL.iter().copied().find(|profile| profile.as_str() == text);
        known.ok_or_else(|| ParseProfileError::Unknown(visible(text, 60)))
    }
}

impl Explain for ParseProfileError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown(_) => Code::new("profile-unknown"),
            Self::NoRoom { .. } => Code::new("profile-no-room"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Unknown(_) => {
                "names are made for the limits of one client; for an unknown one they could be refused or cut".into()
            }
            Self::NoRoom { .. } => "names that are almost all hash tell neither a model nor a person anything".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Unknown(_) => {
                let all: Vec<&str> = ProfileName::ALL.iter().map(|profile| profile.as_str()).collect();
                format!("use one of {}; `generic` suits every MCP client that is not listed", all.join(", "))
            }
            Self::NoRoom { .. } => "give Toolmark a shorter name in the client's configuration, such as `tm`".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Unknown(found) => facts([("found", found.as_str().into())]),
            Self::NoRoom { profile, server, budget } => facts([
                ("profile", profile.as_str().into()),
                ("server", server.as_str().into()),
                ("budget", (*budget).into()),
            ]),
        }
    }
}
