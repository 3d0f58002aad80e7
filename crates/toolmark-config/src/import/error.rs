//! What can be wrong with the servers of another client's file.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::names::{PackName, ParsePackNameError};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

/// A file that cannot be taken over.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportError {
    label: String,
    problems: Vec<Problem>,
}

/// One thing that is wrong. Values are never part of it.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("the file holds no table of settings")]
    NotATable,
    #[error("the servers are no table of names and settings")]
    ServersNotATable,
    #[error("the file holds {servers} servers")]
    TooMany { servers: usize },
    #[error("the server `{}` cannot be used: {what}", visible(key, 80))]
    NotAServer { key: String, what: &'static str },
    #[error("the server `{}` cannot be used: {}", visible(key, 80), what.join("; "))]
    Settings { key: String, what: Vec<String> },
    #[error("{error}")]
    Name { key: String, error: ParsePackNameError },
    #[error("{} servers would be the pack `{name}`", keys.len())]
    SameName { name: PackName, keys: Vec<String> },
}

impl ImportError {
    pub(super) fn new(label: &str, problems: Vec<Problem>) -> Self {
        Self { label: visible(label, 200), problems }
    }

    /// What is wrong.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<&str> = self.problems.iter().map(|problem| problem.report().what()).collect();
        write!(f, "`{}` cannot be taken over: {}", self.label, all.join("; "))
    }
}

impl std::error::Error for ImportError {}

impl Explain for ImportError {
    fn code(&self) -> Code {
        self.problems.first().map_or(Code::new("client-file-syntax"), Problem::code)
    }

    fn why(&self) -> String {
        self.problems.iter().map(|problem| problem.report().why()).collect::<Vec<_>>().join("\n")
    }

    fn fix(&self) -> String {
        self.problems.iter().map(|problem| problem.report().fix()).collect::<Vec<_>>().join("\n")
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problems", self.problems.iter().map(Problem::to_json).collect())])
    }
}

impl Explain for Refused {
    fn code(&self) -> Code {
        match self {
            Self::NotATable | Self::ServersNotATable | Self::TooMany { .. } => Code::new("client-file-shape"),
            Self::NotAServer { .. } | Self::Settings { .. } => Code::new("client-server-unusable"),
            Self::Name { error, .. } => error.code(),
            Self::SameName { .. } => Code::new("client-server-collision"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NotATable | Self::ServersNotATable | Self::TooMany { .. } => {
                "it is not the file of a client, or not one that is known".into()
            }
            Self::NotAServer { .. } => "without a program or an address there is nothing to start or to call".into(),
            Self::Settings { .. } => {
                "without a setting that cannot be read, the server could do more than it should, or be another one"
                    .into()
            }
            Self::Name { error, .. } => error.why(),
            Self::SameName { keys, .. } => {
                let keys: Vec<String> = keys.iter().map(|key| format!("`{}`", visible(key, 80))).collect();
                format!("rules and grants for one would hold for the other: {}", keys.join(" and "))
            }
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::NotATable | Self::ServersNotATable | Self::TooMany { .. } => {
                "give the file in which the client keeps its MCP servers".into()
            }
            Self::NotAServer { .. } => "give it a `command` or a `url` in the client's file, or remove it there".into(),
            Self::Settings { .. } => "correct the setting in the client's file, or remove the server there".into(),
            Self::Name { error, .. } => error.fix(),
            Self::SameName { name, .. } => {
                format!("rename one of them in the client's file, for example to `{name}-2`")
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::SameName { name, keys } => facts([("pack", name.as_str().into()), ("keys", keys.as_slice().into())]),
            Self::NotAServer { key, .. } | Self::Settings { key, .. } => facts([("server", visible(key, 80).into())]),
            Self::Name { key, error } => {
                let mut all = error.facts();
                all.extend(facts([("server", visible(key, 80).into())]));
                all
            }
            _ => Map::new(),
        }
    }
}
