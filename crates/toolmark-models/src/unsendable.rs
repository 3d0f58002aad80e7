//! Why a request cannot be said in a provider's wire format. Found before anything is sent.

use serde_json::{Map, Value};
use toolmark_core::compat::LookupConfigurationError;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::item::Wire;

/// A request that is not sent, because the provider could not be told what is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsendableError {
    /// A name among the tools has no single meaning.
    #[error(transparent)]
    Lookup(#[from] LookupConfigurationError),
    /// The format has no such tool, or no such field of a tool.
    #[error("{wire} cannot be told of {feature} of the tool `{tool}`")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Tool { wire: Wire, tool: String, feature: &'static str },
    /// The tools do not fit together.
    #[error("{problem}")]
    #[expect(missing_docs, reason = "the message is the problem")]
    Tools { problem: String, category: &'static str },
    /// The tool that must be called is none that can be.
    #[error("the tool choice `{name}` cannot be met: {problem}")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Choice { name: String, problem: &'static str },
    /// The format cannot carry such content there.
    #[error("{wire} cannot carry {what}")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Content { wire: Wire, what: String },
    /// An item of another format, which nobody can translate.
    #[error("an item `{kind}` of {from} cannot be said in {wire}")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Foreign { wire: Wire, from: Wire, kind: String },
    /// The format has no such setting.
    #[error("{wire} has no setting {setting}")]
    #[expect(missing_docs, reason = "the message says what they are")]
    Setting { wire: Wire, setting: &'static str },
}

impl UnsendableError {
    /// The slug under which recorded vectors file this error, if they do.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::Lookup(error) => error.category(),
            Self::Tools { category, .. } => category,
            _ => "unsupported",
        }
    }

    pub(crate) fn tool(wire: Wire, tool: &str, feature: &'static str) -> Self {
        Self::Tool { wire, tool: visible(tool, 80), feature }
    }

    pub(crate) fn content(wire: Wire, what: impl Into<String>) -> Self {
        Self::Content { wire, what: what.into() }
    }
}

impl Explain for UnsendableError {
    fn code(&self) -> Code {
        match self {
            Self::Lookup(error) => error.code(),
            Self::Tool { .. } => Code::new("model-tool-unsupported"),
            Self::Tools { .. } => Code::new("model-tools-invalid"),
            Self::Choice { .. } => Code::new("model-tool-choice"),
            Self::Content { .. } => Code::new("model-content-unsupported"),
            Self::Foreign { .. } => Code::new("model-item-foreign"),
            Self::Setting { .. } => Code::new("model-setting-unsupported"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Lookup(error) => return error.why(),
            Self::Tool { .. } => "left out, the model would see another tool than the one that was declared",
            Self::Tools { .. } => "the provider would refuse the request, or the model could not reach a tool",
            Self::Choice { .. } => {
                "the provider would refuse the request, or force the model into a call that nothing answers"
            }
            Self::Content { .. } => "left out, the model would answer without having seen it",
            Self::Foreign { .. } => {
                "left out, the model would not know what happened; translated, it would be told something else"
            }
            Self::Setting { .. } => "left out, the answer would be made in another way than was asked for",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Lookup(error) => return error.fix(),
            Self::Tool { .. } => {
                "use a model of `openai:…`, which has namespaces, deferred and hosted tools, or declare the tool without them"
            }
            Self::Tools { category, .. } => match *category {
                "tool_search_required" => "add the tool search tool, or load the tools at once",
                "tool_search_without_surface" => "leave out the tool search tool, or let a tool be loaded late",
                "namespace_description_mismatch" => "give all tools of the namespace the same description of it",
                _ => "declare each of these tools once, with settings that the provider documents",
            },
            Self::Choice { .. } => "use `auto`, `required` or `none`, or name a function that is loaded at once and has no namespace",
            Self::Content { .. } => "send it as text, or use a model of a provider that takes it",
            Self::Foreign { .. } => "remove the item with an input filter when the conversation moves to another provider",
            Self::Setting { .. } => "leave the setting out, or use a model of another provider",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Lookup(error) => error.facts(),
            Self::Tool { wire, tool, feature } => facts([
                ("wire", wire.to_string().into()),
                ("tool", tool.as_str().into()),
                ("feature", (*feature).into()),
            ]),
            Self::Tools { category, .. } => facts([("category", (*category).into())]),
            Self::Choice { name, .. } => facts([("choice", name.as_str().into())]),
            Self::Content { wire, .. } => facts([("wire", wire.to_string().into())]),
            Self::Foreign { wire, from, kind } => facts([
                ("wire", wire.to_string().into()),
                ("from", from.to_string().into()),
                ("kind", kind.as_str().into()),
            ]),
            Self::Setting { wire, setting } => {
                facts([("wire", wire.to_string().into()), ("setting", (*setting).into())])
            }
        }
    }
}
