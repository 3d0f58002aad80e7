//! What did a model answer, why did it stop, and what did it cost?

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::item::{FunctionCall, Item, Role};

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelResponse {
    /// What it consists of, in the order in which the model produced it.
    pub items: Vec<Item>,
    /// What it cost.
    pub usage: Usage,
    /// The provider's id of the answer.
    pub response_id: Option<String>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// Why it ended.
    pub finish: Finish,
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    #[default]
    Stop,
    /// It waits for tools.
    ToolCalls,
    /// It was cut off: the most tokens are used up. Arguments of the last call may be half.
    Length,
    /// It was stopped for what it said, or refused to say it.
    Refused,
    /// The provider paused a long turn; send the items back to go on.
    Paused,
    /// Another reason, as the provider names it.
    Other(String),
}

/// Tokens, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// How many questions were put to a model.
    pub requests: u64,
    /// What was read, whether from a cache or not.
    pub input_tokens: u64,
    /// What of that came from a cache.
    pub cached_input_tokens: u64,
    /// What of that was put into a cache.
    pub cache_write_tokens: u64,
    /// What was produced.
    pub output_tokens: u64,
    /// What of that was thinking.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Read and produced together.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |one: &mut u64, other: u64| *one = one.saturating_add(other);
        add(&mut self.requests, other.requests);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.cached_input_tokens, other.cached_input_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
    }
}

impl ModelResponse {
    /// The calls of function tools, in order.
    pub fn function_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.items.iter().filter_map(|item| match item {
            Item::FunctionCall(call) => Some(call),
            _ => None,
        })
    }

    /// What the model says, all messages in one.
    #[must_use]
    pub fn text(&self) -> String {
        let messages = self.items.iter().filter_map(|item| match item {
            Item::Message(message) if message.role == Role::Assistant => Some(message.joined_text()),
            _ => None,
        });
        messages.collect()
    }
}
