//! What a provider said that only it understands, with the name of the wire format that it belongs to.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The wire format that a value was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// OpenAI Responses.
    Responses,
    /// Chat Completions.
    Chat,
    /// Anthropic Messages.
    Anthropic,
}

/// A whole value of one wire format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// The format.
    pub wire: Wire,
    /// The value as it was sent.
    pub value: Value,
}

/// The fields of an item that are not known here. They go back to the provider whose format they are in, and to no other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extra {
    /// The format.
    pub wire: Wire,
    /// The fields.
    pub fields: Map<String, Value>,
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Responses => "OpenAI Responses",
            Self::Chat => "Chat Completions",
            Self::Anthropic => "Anthropic Messages",
        })
    }
}

impl Raw {
    /// The field `type`, or nothing.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.value.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    /// The call that it is or answers: the field `call_id`, or the one that stands for it in approvals of hosted MCP. Nothing if that is
    /// no string that says something.
    #[must_use]
    pub fn call_id(&self) -> Option<&str> {
        let field = match self.kind() {
            "mcp_approval_request" => "id",
            "mcp_approval_response" => "approval_request_id",
            _ => "call_id",
        };
        self.value.get(field).and_then(Value::as_str).filter(|id| !id.is_empty())
    }

    /// True for what the host answers a hosted call with, such as `shell_call_output`.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        let kind = self.kind();
        self.wire == Wire::Responses && (kind.ends_with("_output") || kind == "mcp_approval_response")
    }
}

impl Raw {
    /// What a model thought, as far as it can be read: a summary, the thought itself, or nothing if it is enciphered.
    #[must_use]
    pub fn reasoning_text(&self) -> Option<String> {
        let texts = |pointer: &str| -> String {
            let parts = self.value.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
            parts.filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        };
        let text = |pointer: &str| self.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let found = match self.wire {
            Wire::Responses => [texts("/summary"), texts("/content")],
            Wire::Chat => [text("/fields/reasoning_content"), text("/fields/reasoning")],
            Wire::Anthropic => [text("/thinking"), String::new()],
        };
        found.into_iter().find(|text| !text.is_empty())
    }
}

impl Extra {
    /// The fields, unless there are none.
    pub(crate) fn of(wire: Wire, fields: Map<String, Value>) -> Option<Self> {
        (!fields.is_empty()).then_some(Self { wire, fields })
    }
}

/// The fields that belong to this format.
pub(crate) fn fields_for(extra: Option<&Extra>, wire: Wire) -> Cow<'_, Map<String, Value>> {
    match extra.filter(|extra| extra.wire == wire) {
        Some(extra) => Cow::Borrowed(&extra.fields),
        None => Cow::Owned(Map::new()),
    }
}
