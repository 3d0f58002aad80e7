//! The MCP clients whose files Toolmark reads and rewrites: what they are called and how they write an entry.

mod locations;

use std::fmt;
use std::str::FromStr;

use toolmark_core::explain::{Code, Explain};
use toolmark_core::exposure::ProfileName;
use toolmark_core::text::visible;

pub use locations::{Location, Os, Scope, locations};

/// A client whose configuration file Toolmark knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Desktop: `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Claude Code: `~/.claude.json` and `.mcp.json`.
    ClaudeCode,
    /// Cursor: `.cursor/mcp.json`.
    Cursor,
    /// VS Code: `.vscode/mcp.json`, and `settings.json` as it was before.
    Vscode,
    /// Codex: `.codex/config.toml`.
    Codex,
    /// Gemini CLI: `.gemini/settings.json`.
    GeminiCli,
    /// Windsurf: `mcp_config.json`.
    Windsurf,
}

/// A word that names no client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a client whose files are known")]
pub struct ParseClientError(String);

impl Client {
    /// Every client.
    pub const ALL: &[Self] = &[
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::Vscode,
        Self::Codex,
        Self::GeminiCli,
        Self::Windsurf,
    ];

    /// The client in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Windsurf => "windsurf",
        }
    }

    /// The client as people write it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Windsurf => "Windsurf",
        }
    }

    /// Whose limits names are made for. A client without a profile of its own gets the one of the API that it uses, or the general one.
    #[must_use]
    pub const fn profile(self) -> ProfileName {
        match self {
            Self::ClaudeDesktop => ProfileName::Anthropic,
            Self::ClaudeCode => ProfileName::ClaudeCode,
            Self::Cursor => ProfileName::Cursor,
            Self::Vscode => ProfileName::Vscode,
            Self::Codex => ProfileName::Codex,
            Self::GeminiCli | Self::Windsurf => ProfileName::Openai,
        }
    }

    /// Whether its file is TOML; the others are JSON with comments.
    #[must_use]
    pub const fn writes_toml(self) -> bool {
        matches!(self, Self::Codex)
    }

    /// The keys that lead to the servers in a new file.
    pub(crate) const fn root(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }

    /// The key of an address, where the client takes one.
    pub(crate) const fn url_key(self) -> Option<&'static str> {
        match self {
            Self::ClaudeDesktop => None,
            Self::Windsurf => Some("serverUrl"),
            Self::GeminiCli => Some("httpUrl"),
            _ => Some("url"),
        }
    }

    /// Whether it replaces `${NAME}` by what its own environment says, also in arguments. The others replace only `${env:NAME}`, or nothing,
    /// and hand `${NAME}` on as it stands.
    pub(crate) const fn replaces_names(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::GeminiCli)
    }

    /// Whether an entry says which kind it is.
    pub(crate) const fn says_type(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Vscode)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Client {
    type Err = ParseClientError;

    fn from_str(text: &str) -> Result<Self, ParseClientError> {
        let known = Self::ALL.iter().copied().find(|client| client.as_str() == text);
        known.ok_or_else(|| ParseClientError(visible(text, 60)))
    }
}

impl Explain for ParseClientError {
    fn code(&self) -> Code {
        Code::new("client-unknown")
    }

    fn why(&self) -> String {
        "every client keeps its servers elsewhere and writes them in its own way".into()
    }

    fn fix(&self) -> String {
        let all: Vec<&str> = Client::ALL.iter().map(|client| client.as_str()).collect();
        format!("use one of {}", all.join(", "))
    }
}
