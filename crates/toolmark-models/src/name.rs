//! Which model is meant? `provider:model`, such as `openai:gpt-5` or `anthropic:claude-sonnet-4-5`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// The name of a model with the provider that has it. The provider decides the wire format, the part behind the first colon is
/// sent as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelName {
    provider: Provider,
    model: Box<str>,
}

/// Who answers, and in which wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI Responses: `openai`, or `responses`.
    OpenAi,
    /// Chat Completions, of OpenAI or of whoever speaks them: `openai-chat`.
    OpenAiChat,
    /// Anthropic Messages: `anthropic`.
    Anthropic,
    /// Answers from a file: `scripted`.
    Scripted,
}

/// A text that names no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no model: {problem}")]
pub struct ParseModelNameError {
    text: String,
    problem: &'static str,
}

impl ModelName {
    /// The model of a provider.
    ///
    /// # Errors
    /// When the model is empty, or holds something that cannot be seen.
    pub fn new(provider: Provider, model: &str) -> Result<Self, ParseModelNameError> {
        let fail = |problem| ParseModelNameError { text: visible(&format!("{provider}:{model}"), 80), problem };
        if model.is_empty() {
            return Err(fail("nothing stands behind the colon"));
        }
        let seen = |character: char| !character.is_whitespace() && !toolmark_core::text::is_hidden(character);
        // The model of a script is a path, which may have spaces.
        if provider != Provider::Scripted && !model.chars().all(seen) {
            return Err(fail("the name of the model holds white space or something that cannot be seen"));
        }
        Ok(Self { provider, model: model.into() })
    }

    /// The name of a script that stands in no file.
    pub(crate) fn scripted(model: &str) -> Self {
        Self { provider: Provider::Scripted, model: model.into() }
    }

    /// Who has it.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The model, as the provider names it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }
}

impl Provider {
    const ALL: [Self; 4] = [Self::OpenAi, Self::OpenAiChat, Self::Anthropic, Self::Scripted];

    /// The word in front of the colon.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Scripted => "scripted",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.model)
    }
}

impl FromStr for ModelName {
    type Err = ParseModelNameError;

    fn from_str(text: &str) -> Result<Self, ParseModelNameError> {
        let fail = |problem| ParseModelNameError { text: visible(text, 80), problem };
        let (provider, model) = text.split_once(':').ok_or_else(|| fail("no provider stands in front of it"))?;
        // The wire format of `openai` has a name of its own.
        let provider = if provider == "responses" { Provider::OpenAi.as_str() } else { provider };
        let known = Provider::ALL.into_iter().find(|known| known.as_str() == provider);
        Self::new(known.ok_or_else(|| fail("the provider is not known"))?, model)
    }
}

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Explain for ParseModelNameError {
    fn code(&self) -> Code {
        Code::new("model-name-syntax")
    }

    fn why(&self) -> String {
        "the provider decides where the request goes and which key is shown, so it is never guessed from the name"
            .into()
    }

    fn fix(&self) -> String {
        "write `openai:MODEL`, `openai-chat:MODEL`, `anthropic:MODEL` or `scripted:FILE.json`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("name", self.text.as_str().into())])
    }
}

#[cfg(test)]
mod tests;
