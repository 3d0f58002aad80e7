//! What is a model asked? Instructions, a conversation, tools, and how to answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::item::Item;
use crate::tool::WireTool;

/// One question to a model. It holds no secret and may be stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelRequest {
    /// What the model should be and do; the system prompt.
    pub instructions: Option<String>,
    /// The conversation. With a `previous_response_id`, only what is new in it.
    pub input: Vec<Item>,
    /// The tools that the model may call. Handoffs are function tools at the end.
    pub tools: Vec<WireTool>,
    /// Whether it must call one.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may call several at once. The provider's own default if left out.
    pub parallel_tool_calls: Option<bool>,
    /// The shape of the final answer.
    pub output: Option<OutputSchema>,
    /// How to answer.
    pub settings: Settings,
    /// The answer that this goes on from, if the provider keeps answers.
    pub previous_response_id: Option<String>,
    /// The conversation that the provider keeps, of which `input` is what is new. Not together with a `previous_response_id`.
    pub conversation_id: Option<String>,
}

/// Whether the model must call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// It must not.
    None,
    /// It must, any.
    Required,
    /// It must call this one: a function, or a hosted tool under its wire type, such as `web_search`.
    Named(String),
}

/// The shape of the final answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A name for it.
    pub name: String,
    /// The JSON schema.
    pub schema: Value,
    /// Whether the provider must hold the model to it.
    pub strict: bool,
}

/// How to answer. What is left out is the provider's own default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How freely words are chosen.
    pub temperature: Option<f64>,
    /// From how much of the likely words.
    pub top_p: Option<f64>,
    /// The most tokens to produce.
    pub max_output_tokens: Option<u64>,
    /// How long to think.
    pub effort: Option<Effort>,
    /// The longest the whole answer may take, instead of the limit of the connection.
    pub timeout: Option<Duration>,
    /// Further fields of the request's body, as the provider names them. They replace what is written here; `null` removes a field.
    pub extra: Map<String, Value>,
}

/// How long to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is the effort of that name")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl Effort {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl ModelRequest {
    /// A question of one sentence.
    #[must_use]
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { input: vec![Item::user(text)], ..Self::default() }
    }

    /// True when the provider itself may act while it answers, so that asking twice may act twice.
    pub(crate) fn lets_provider_act(&self) -> bool {
        self.tools.iter().any(|tool| matches!(tool, WireTool::Hosted(hosted) if hosted.is_run_by_provider()))
    }
}
