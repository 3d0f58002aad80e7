//! Which model is meant: `provider:model`, or the name of one of `[models]`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toolmark_core::text::{is_hidden, visible};

use super::Name;
use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// The words that may stand before the colon. Whoever opens models knows the same ones; a test there compares.
pub const PROVIDERS: &[&str] = &["openai", "openai-chat", "anthropic", "scripted", "responses"];

/// A model as an operator writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelText {
    /// `provider:model`, whole.
    Provider(String),
    /// One of `[models]`.
    Named(Name),
}

impl ModelText {
    /// The provider and its model, where it says so.
    #[must_use]
    pub fn provider(&self) -> Option<(&str, &str)> {
        match self {
            Self::Provider(text) => text.split_once(':'),
            Self::Named(_) => None,
        }
    }

    /// The name, where it is one of `[models]`.
    #[must_use]
    pub fn named(&self) -> Option<&Name> {
        match self {
            Self::Provider(_) => None,
            Self::Named(name) => Some(name),
        }
    }

    fn parse(text: &str) -> Result<Self, Refused> {
        let fix = || {
            format!("write `PROVIDER:MODEL`, with one of {}, or the name of one of `[models]`", PROVIDERS.join(", "))
        };
        let Some((provider, model)) = text.split_once(':') else {
            return text
                .parse()
                .map(Self::Named)
                .map_err(|_| Refused::value(format!("`{}` is no model", visible(text, 80)), fix()));
        };
        if !PROVIDERS.contains(&provider) {
            return Err(Refused::value(format!("the provider `{}` is not known", visible(provider, 40)), fix()));
        }
        // The model of a script is a path, which may have spaces.
        let unseen = |character: char| is_hidden(character) || (character.is_whitespace() && provider != "scripted");
        if model.is_empty() || model.chars().any(unseen) {
            return Err(Refused::value(format!("`{}` names no model of its provider", visible(text, 80)), fix()));
        }
        Ok(Self::Provider(text.to_owned()))
    }
}

impl fmt::Display for ModelText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(text) => f.write_str(text),
            Self::Named(name) => name.fmt(f),
        }
    }
}

impl FromToml for ModelText {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a model such as \"openai:gpt-5\"", reader, Self::parse)
    }
}

impl JsonSchema for ModelText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ModelText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "examples": ["openai:gpt-5", "anthropic:claude-sonnet-4-5", "openai-chat:qwen3", "scripted:demo.json"]})
    }
}
