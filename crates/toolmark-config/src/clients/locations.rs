//! Where each client keeps its servers. Nothing is looked at; the caller says where home is and which system it is.

use std::path::{Path, PathBuf};

use super::Client;

/// The systems on which files lie in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux and everything that follows the XDG rules.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

/// For whom a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Everything that the user does.
    User,
    /// One project.
    Project,
}

/// A file in which a client may keep its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The client.
    pub client: Client,
    /// For whom it holds.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
}

impl Os {
    /// The system that this was built for.
    #[must_use]
    pub const fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::Macos
        } else {
            Self::Linux
        }
    }

    /// Where programs keep what belongs to a user.
    fn programs(self, home: &Path) -> PathBuf {
        match self {
            Self::Linux => home.join(".config"),
            Self::Macos => home.join("Library").join("Application Support"),
            Self::Windows => home.join("AppData").join("Roaming"),
        }
    }
}

impl Scope {
    /// The scope in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The files of a client, the one that counts most first. Where a client has several of one scope, the first is the one it writes.
#[must_use]
pub fn locations(client: Client, home: Option<&Path>, project: Option<&Path>, os: Os) -> Vec<Location> {
    let of_project: &[&[&str]] = match client {
        Client::ClaudeDesktop | Client::Windsurf => &[],
        Client::ClaudeCode => &[&[".mcp.json"]],
        Client::Cursor => &[&[".cursor", "mcp.json"]],
        Client::Vscode => &[&[".vscode", "mcp.json"], &[".vscode", "settings.json"]],
        Client::Codex => &[&[".codex", "config.toml"]],
        Client::GeminiCli => &[&[".gemini", "settings.json"]],
    };
    let (in_programs, of_user): (bool, &[&[&str]]) = match client {
        Client::ClaudeDesktop => (true, &[&["Claude", "claude_desktop_config.json"]]),
        Client::Vscode => (true, &[&["Code", "User", "mcp.json"], &["Code", "User", "settings.json"]]),
        Client::ClaudeCode => (false, &[&[".claude.json"]]),
        Client::Cursor => (false, &[&[".cursor", "mcp.json"]]),
        Client::Codex => (false, &[&[".codex", "config.toml"]]),
        Client::GeminiCli => (false, &[&[".gemini", "settings.json"]]),
        Client::Windsurf => (false, &[&[".codeium", "windsurf", "mcp_config.json"]]),
    };
    let under = |folder: &Path, parts: &[&str]| parts.iter().fold(folder.to_owned(), |path, part| path.join(part));
    let mut all = Vec::new();
    if let Some(project) = project {
        let found = of_project.iter().map(|parts| under(project, parts));
        all.extend(found.map(|path| Location { client, scope: Scope::Project, path }));
    }
    if let Some(home) = home {
        let folder = if in_programs { os.programs(home) } else { home.to_owned() };
        let found = of_user.iter().map(|parts| under(&folder, parts));
        all.extend(found.map(|path| Location { client, scope: Scope::User, path }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(client: Client, os: Os) -> Vec<String> {
        let all = locations(client, Some(Path::new("/h")), Some(Path::new("/p")), os);
        all.iter().map(|location| location.path.to_string_lossy().replace('\\', "/")).collect()
    }

    #[test]
    fn each_client_is_looked_for_where_it_keeps_its_file() {
        for (client, os, expected) in [
            (
                Client::ClaudeDesktop,
                Os::Macos,
                vec!["/h/Library/Application Support/Claude/claude_desktop_config.json"],
            ),
            (Client::ClaudeDesktop, Os::Windows, vec!["/h/AppData/Roaming/Claude/claude_desktop_config.json"]),
            (Client::ClaudeDesktop, Os::Linux, vec!["/h/.config/Claude/claude_desktop_config.json"]),
            (Client::ClaudeCode, Os::Linux, vec!["/p/.mcp.json", "/h/.claude.json"]),
            (Client::Cursor, Os::Macos, vec!["/p/.cursor/mcp.json", "/h/.cursor/mcp.json"]),
            (Client::Codex, Os::Windows, vec!["/p/.codex/config.toml", "/h/.codex/config.toml"]),
            (Client::GeminiCli, Os::Linux, vec!["/p/.gemini/settings.json", "/h/.gemini/settings.json"]),
            (Client::Windsurf, Os::Linux, vec!["/h/.codeium/windsurf/mcp_config.json"]),
        ] {
            assert_eq!(paths(client, os), expected, "{client} {os:?}");
        }
        assert_eq!(
            paths(Client::Vscode, Os::Linux),
            [
                "/p/.vscode/mcp.json",
                "/p/.vscode/settings.json",
                "/h/.config/Code/User/mcp.json",
                "/h/.config/Code/User/settings.json",
            ]
        );
    }
}
