//! Why a tool cannot be built.

use serde_json::{Map, Value};
use toolmark_core::behavior::ParseBehaviorError;
use toolmark_core::definition::ReadDefinitionError;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::schema::check::CompileSchemaError;
use toolmark_core::schema::strict::StrictSchemaError;

/// A tool that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildToolError {
    /// What is said of it is no definition.
    #[error("the tool `{tool}` cannot be defined: {error}")]
    Definition {
        /// The tool.
        tool: String,
        /// What is wrong.
        error: ReadDefinitionError,
    },
    /// Its schema is not one of an object.
    #[error("the parameters of `{tool}` are not the schema of an object")]
    NotAnObject {
        /// The tool.
        tool: String,
    },
    /// Its schema cannot be used.
    #[error("the parameters of `{tool}` cannot be used: {error}")]
    Schema {
        /// The tool.
        tool: String,
        /// What is wrong.
        error: Box<CompileSchemaError>,
    },
    /// It is to be strict, and its schema has no strict form.
    #[error("the parameters of `{tool}` have no strict form: {error}")]
    Strict {
        /// The tool.
        tool: String,
        /// What is wrong.
        error: Box<StrictSchemaError>,
    },
    /// What it is said to do is no behavior.
    #[error("what `{tool}` is said to do is no behavior: {error}")]
    Behavior {
        /// The tool.
        tool: String,
        /// What is wrong.
        error: ParseBehaviorError,
    },
    /// What its text is to look like cannot be used.
    #[error("the grammar of `{tool}` cannot be used: {problem}")]
    Grammar {
        /// The tool.
        tool: String,
        /// What is wrong.
        problem: String,
    },
    /// Nothing would run.
    #[error("the tool `{tool}` has nothing to run")]
    NoBody {
        /// The tool.
        tool: String,
    },
    /// Its timeout is zero.
    #[error("the timeout of `{tool}` is zero")]
    Timeout {
        /// The tool.
        tool: String,
    },
    /// A name is given for what is no language.
    #[error("`{locale}`, for which `{tool}` has a display name, is no language tag")]
    Locale {
        /// The tool.
        tool: String,
        /// What stands for the language.
        locale: String,
    },
}

impl BuildToolError {
    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self {
            Self::Definition { tool, .. }
            | Self::NotAnObject { tool }
            | Self::Schema { tool, .. }
            | Self::Strict { tool, .. }
            | Self::Behavior { tool, .. }
            | Self::Grammar { tool, .. }
            | Self::NoBody { tool }
            | Self::Timeout { tool }
            | Self::Locale { tool, .. } => tool,
        }
    }
}

impl Explain for BuildToolError {
    fn code(&self) -> Code {
        match self {
            Self::Definition { error, .. } => error.code(),
            Self::NotAnObject { .. } => Code::new("tool-parameters"),
            Self::Schema { error, .. } => error.code(),
            Self::Strict { error, .. } => error.code(),
            Self::Behavior { error, .. } => error.code(),
            Self::Grammar { .. } => Code::new("tool-grammar"),
            Self::NoBody { .. } => Code::new("tool-without-body"),
            Self::Timeout { .. } => Code::new("tool-timeout-zero"),
            Self::Locale { .. } => Code::new("tool-locale"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Definition { error, .. } => error.why(),
            Self::NotAnObject { .. } => "arguments have names, so what a tool accepts is an object".into(),
            Self::Schema { error, .. } => error.why(),
            Self::Strict { error, .. } => error.why(),
            Self::Behavior { error, .. } => error.why(),
            Self::Grammar { .. } => "the provider would refuse every request that offers the tool".into(),
            Self::NoBody { .. } => "a model would be offered a tool that does nothing".into(),
            Self::Timeout { .. } => "every call would be given up before it began".into(),
            Self::Locale { .. } => "nobody would ever be shown that name".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Definition { error, .. } => error.fix(),
            Self::NotAnObject { .. } => {
                "write a schema with properties: `{\"type\": \"object\", \"properties\": {…}}`".into()
            }
            Self::Schema { error, .. } => error.fix(),
            Self::Strict { error, .. } => format!("{}\nor leave out `strict`", error.fix()),
            Self::Behavior { error, .. } => error.fix(),
            Self::Grammar { .. } => {
                "correct the grammar: a regular expression in the syntax of Rust's `regex`, or Lark with a rule `start`"
                    .into()
            }
            Self::NoBody { .. } => "say what runs: `.run(|context, arguments| async move { … })`".into(),
            Self::Timeout { .. } => "give it some time: `.timeout(Duration::from_secs(5))`".into(),
            Self::Locale { .. } => "use a tag such as `nl` or `pt-BR`".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("tool", self.tool().into())])
    }
}
