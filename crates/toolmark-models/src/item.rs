//! What is a conversation made of? Messages, calls, outputs and reasoning, the same for every provider and fit to be stored.
//!
//! What a provider adds to an item is kept beside it ([`Extra`]) and sent back to that provider only; what nobody here knows is
//! kept whole ([`Raw`]). A tool call keeps its arguments as the text that the model wrote.

mod part;
mod raw;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use toolmark_core::call::CallId;

pub(crate) use part::read_data_url;
pub use part::{Detail, File, Image, Part};
pub(crate) use raw::fields_for;
pub use raw::{Extra, Raw, Wire};

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    /// Somebody says something.
    Message(Message),
    /// The model calls a function tool, or hands over.
    FunctionCall(FunctionCall),
    /// What came of such a call.
    FunctionOutput(FunctionOutput),
    /// The model calls a tool that takes free text.
    CustomCall(CustomCall),
    /// What came of such a call.
    CustomOutput(CustomOutput),
    /// A call of a tool that the provider brings along, or what came of it; [`Raw::kind`] says which.
    Hosted(Raw),
    /// What the model thought, kept as it is, signatures and ciphers included.
    Reasoning(Raw),
    /// Something that is not known here.
    Other(Raw),
}

/// Something that somebody says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What they say.
    pub parts: Vec<Part>,
    /// What the provider says about the message beyond that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Extra>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the role of that name")]
pub enum Role {
    System,
    Developer,
    User,
    Assistant,
}

/// A call of a function tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The provider's id of the call.
    #[serde(deserialize_with = "call_id")]
    pub call_id: CallId,
    /// The name that the model wrote.
    pub name: String,
    /// The namespace that came with it. Empty is none, as on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The arguments as the model wrote them: not always JSON.
    pub arguments: String,
    /// What the provider says about the call beyond that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Extra>,
}

/// What came of a call of a function tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionOutput {
    /// The call that it answers.
    #[serde(deserialize_with = "call_id")]
    pub call_id: CallId,
    /// What the model reads.
    pub output: Output,
    /// True when the tool failed. Only some providers are told; the text should say it too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Further fields for the provider, such as the `caller` of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Extra>,
}

/// A call of a tool that takes free text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomCall {
    /// The provider's id of the call.
    #[serde(deserialize_with = "call_id")]
    pub call_id: CallId,
    /// The name that the model wrote.
    pub name: String,
    /// The text that the model wrote.
    pub input: String,
    /// What the provider says about the call beyond that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Extra>,
}

/// What came of a call of a tool that takes free text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomOutput {
    /// The call that it answers.
    #[serde(deserialize_with = "call_id")]
    pub call_id: CallId,
    /// What the model reads.
    pub output: Output,
    /// Further fields for the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Extra>,
}

/// What a tool gives back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Plain text.
    Text(String),
    /// Text, images and files.
    Parts(Vec<Part>),
}

impl Item {
    /// What the user says.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::Message(Message::text(Role::User, text))
    }

    /// What the model says.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Message(Message::text(Role::Assistant, text))
    }

    /// The output of a function call as plain text.
    #[must_use]
    pub fn output(call_id: CallId, text: impl Into<String>) -> Self {
        let output = Output::Text(text.into());
        Self::FunctionOutput(FunctionOutput { call_id, output, failed: false, extra: None })
    }

    /// True for what a model produces: its messages, calls and reasoning.
    #[must_use]
    pub fn is_from_model(&self) -> bool {
        match self {
            Self::Message(message) => message.role == Role::Assistant,
            Self::FunctionCall(_) | Self::CustomCall(_) | Self::Reasoning(_) => true,
            Self::FunctionOutput(_) | Self::CustomOutput(_) => false,
            Self::Hosted(raw) | Self::Other(raw) => !raw.is_answer(),
        }
    }
}

impl Message {
    /// A message of one piece of text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::text(text)], extra: None }
    }

    /// The text of all its text parts, one after the other.
    #[must_use]
    pub fn joined_text(&self) -> String {
        joined_text(&self.parts)
    }
}

impl FunctionCall {
    /// A call without anything that only one provider knows.
    #[must_use]
    pub fn new(call_id: CallId, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { call_id, name: name.into(), namespace: None, arguments: arguments.into(), extra: None }
    }
}

impl Output {
    /// The text in it, without images and files.
    #[must_use]
    pub fn joined_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => joined_text(parts),
        }
    }
}

fn joined_text(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

fn call_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CallId, D::Error> {
    let value = Value::deserialize(deserializer)?;
    CallId::try_from(&value).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests;
