//! What can be wrong with a configuration, and how each of it is explained.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

/// A configuration that cannot be used, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadConfigError {
    label: String,
    problems: Vec<Problem>,
    more: usize,
}

/// One thing that is wrong. Values that may be secret are never part of it.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("{message}")]
    Syntax { message: String },
    #[error("the file has {bytes} bytes, more than {}", super::MAX_BYTES)]
    TooLarge { bytes: usize },
    #[error("`{key}` is no key of {table}")]
    UnknownKey { key: String, table: String, near: Option<&'static str>, known: &'static [&'static str] },
    #[error("`{key}` is {found}, not {what}")]
    Type { key: String, what: &'static str, found: &'static str },
    #[error("`{key}`: {message}")]
    Value { key: String, message: String, fix: String },
    #[error("`{key}`: {}", report.what())]
    Inner { key: String, report: Box<Report> },
    #[error("{table} {message}")]
    Missing { table: String, message: String, fix: String },
    #[error("{table} {message}")]
    Conflict { table: String, message: String, fix: String },
    #[error("`{key}` names {kind} `{name}`, which is not there")]
    NoSuchName { key: String, kind: &'static str, name: String, fix: String },
    #[error("`{key}`: {message}")]
    Variable { key: String, message: String },
    #[error("`gateway.listen` is `{listen}`, which others can reach, and nobody has to say who they are")]
    OpenDoor { listen: String },
}

impl Refused {
    /// A key that means nothing, with the one that was probably meant.
    pub(crate) fn unknown_key(key: &str, path: &str, known: &'static [&'static str]) -> Self {
        let distance = |name: &&&str| strsim::damerau_levenshtein(key, name);
        let near = known.iter().min_by_key(distance).filter(|name| distance(name) <= 2.max(key.len() / 3));
        Self::UnknownKey { key: visible(key, 60), table: table_name(path), near: near.copied(), known }
    }

    /// A text that its type does not take.
    pub(crate) fn value(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Value { key: String::new(), message: message.into(), fix: fix.into() }
    }

    /// What another parser says.
    pub(crate) fn inner(error: &dyn Explain) -> Self {
        Self::Inner { key: String::new(), report: Box::new(error.report()) }
    }

    /// The same, with the keys that lead to it.
    pub(crate) fn at_key(mut self, path: &str) -> Self {
        match &mut self {
            Self::Value { key, .. } | Self::Inner { key, .. } | Self::Variable { key, .. } => path.clone_into(key),
            _ => {}
        }
        self
    }

    fn key(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { key, .. }
            | Self::Type { key, .. }
            | Self::Value { key, .. }
            | Self::Inner { key, .. }
            | Self::NoSuchName { key, .. }
            | Self::Variable { key, .. } => Some(key),
            Self::OpenDoor { .. } => Some("gateway.listen"),
            _ => None,
        }
    }
}

/// A table as it is written in the file.
pub(crate) fn table_name(path: &str) -> String {
    match (path, path.strip_prefix("rules[").and_then(|rest| rest.strip_suffix(']'))) {
        ("", _) => "the file".into(),
        (_, Some(index)) => {
            let place = index.parse::<usize>().map_or_else(|_| index.to_owned(), |index| (index + 1).to_string());
            format!("`[[rules]]` number {place}")
        }
        (path, None) => format!("`[{path}]`"),
    }
}

impl Explain for Refused {
    fn code(&self) -> Code {
        match self {
            Self::Syntax { .. } => Code::new("config-syntax"),
            Self::TooLarge { .. } => Code::new("config-too-large"),
            Self::UnknownKey { .. } => Code::new("config-unknown-key"),
            Self::Type { .. } | Self::Value { .. } => Code::new("config-value"),
            Self::Inner { report, .. } => report.code(),
            Self::Missing { .. } => Code::new("config-missing-key"),
            Self::Conflict { .. } => Code::new("config-conflict"),
            Self::NoSuchName { .. } => Code::new("config-no-such-name"),
            Self::Variable { .. } => Code::new("config-variable-syntax"),
            Self::OpenDoor { .. } => Code::new("config-listen-without-auth"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Syntax { .. } => "a file that is half understood would be half in force",
            Self::TooLarge { .. } => "no configuration is that long; something else was probably given",
            Self::UnknownKey { .. } => "a setting that is misspelled would silently not hold",
            Self::Type { .. } | Self::Value { .. } => "a guess at what was meant could loosen what was to be guarded",
            Self::Inner { report, .. } => return report.why().to_owned(),
            Self::Missing { .. } => "there is no safe default for it",
            Self::Conflict { .. } => "only one of them can hold, and choosing silently would surprise somebody",
            Self::NoSuchName { .. } => "what refers to nothing would protect nothing",
            Self::Variable { .. } => "a variable that is not replaced would be sent as it stands",
            Self::OpenDoor { .. } => "whoever reaches the address could call every tool",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Syntax { .. } => "correct the line; texts stand in quotes, tables begin with `[name]`".into(),
            Self::TooLarge { .. } => "give the path of a `toolmark.toml`".into(),
            Self::UnknownKey { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::UnknownKey { known, .. } => format!("use one of {}", known.join(", ")),
            Self::Type { key, what, .. } => format!("make `{key}` {what}"),
            Self::Value { fix, .. }
            | Self::Missing { fix, .. }
            | Self::Conflict { fix, .. }
            | Self::NoSuchName { fix, .. } => fix.clone(),
            Self::Inner { report, .. } => report.fix().to_owned(),
            Self::Variable { .. } => {
                "write `${NAME}`, `${NAME:-default}` or `${env:NAME}`; a literal `${` is written `$${`".into()
            }
            Self::OpenDoor { .. } => "add `tokens = true` under `[gateway.auth]`, or listen on 127.0.0.1".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let mut facts = match self {
            Self::Inner { report, .. } => report.facts().clone(),
            Self::UnknownKey { near, known, .. } => facts([("near", (*near).into()), ("known", (*known).into())]),
            _ => Map::new(),
        };
        if let Some(key) = self.key() {
            facts.insert("key".into(), key.into());
        }
        if let Self::Missing { table, .. } | Self::Conflict { table, .. } | Self::UnknownKey { table, .. } = self {
            facts.insert("table".into(), table.trim_matches(['`', '[', ']']).into());
        }
        facts
    }
}

impl ReadConfigError {
    pub(crate) fn new(label: &str, problems: Vec<Problem>, more: usize) -> Self {
        Self { label: visible(label, 200), problems, more }
    }

    /// How many problems there are beyond those that are told.
    #[must_use]
    pub fn more(&self) -> usize {
        self.more
    }

    /// What is wrong, in the order of the text.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for ReadConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => write!(f, "`{}`: {}", self.label, only.report().what()),
            all => write!(f, "`{}` has {} problems", self.label, all.len() + self.more),
        }
    }
}

impl std::error::Error for ReadConfigError {}

impl Explain for ReadConfigError {
    fn code(&self) -> Code {
        Code::new("config-invalid")
    }

    fn why(&self) -> String {
        let all: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        format!("a file that is half understood would be half in force:\n{}", all.join("\n"))
    }

    fn fix(&self) -> String {
        "correct each of them; nothing was changed or started".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problems", self.problems.iter().map(Problem::to_json).collect())])
    }
}
