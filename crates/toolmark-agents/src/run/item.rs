//! What a run begins with, and what it adds to the conversation.

use serde::{Deserialize, Serialize};
use toolmark_models::Item;

/// Something that a run added to the conversation, and the agent that it came through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunItem {
    /// The agent.
    pub agent: String,
    /// What was added: what the model said and called, and what came of calls.
    pub item: Item,
}

/// What a run begins with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input(pub Vec<Item>);

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self(vec![Item::user(text)])
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self(vec![Item::user(text)])
    }
}

impl From<Vec<Item>> for Input {
    fn from(items: Vec<Item>) -> Self {
        Self(items)
    }
}
