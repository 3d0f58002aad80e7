//! What came of a run: an answer, or a question to a person.

use serde::de::DeserializeOwned;
use serde_json::Value;
use toolmark_models::{Item, Usage};

use super::item::RunItem;
use super::state::RunState;

/// How a run ended. Exhaustive on purpose: a run that waits for a person has no answer.
#[derive(Clone, Debug)]
#[must_use]
pub enum RunOutcome {
    /// It has an answer.
    Finished(Box<RunResult>),
    /// It waits for a person: decide about what is [pending](RunState::pending), and resume it.
    Interrupted(Box<RunState>),
}

/// What a run brought.
#[derive(Clone, Debug)]
pub struct RunResult {
    pub(super) output: String,
    pub(super) value: Option<Value>,
    pub(super) state: RunState,
}

impl RunOutcome {
    /// The result, where the run has one.
    #[must_use]
    pub fn finished(&self) -> Option<&RunResult> {
        match self {
            Self::Finished(result) => Some(result),
            Self::Interrupted(_) => None,
        }
    }

    /// The state, where the run waits for a person.
    #[must_use]
    pub fn interrupted(self) -> Option<RunState> {
        match self {
            Self::Finished(_) => None,
            Self::Interrupted(state) => Some(*state),
        }
    }
}

impl RunResult {
    /// The final answer.
    #[must_use]
    pub fn output(&self) -> &str {
        &self.output
    }

    /// The final answer as JSON, where the agent has an output type.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// The final answer as a type.
    ///
    /// # Errors
    /// When it does not have that shape.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.value {
            Some(value) => T::deserialize(value),
            None => serde_json::from_str(&self.output),
        }
    }

    /// The agent that gave it.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.state.agent()
    }

    /// Everything that the run added to the conversation.
    #[must_use]
    pub fn items(&self) -> &[RunItem] {
        self.state.items()
    }

    /// What the run used, nested runs included.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.state.usage()
    }

    /// What the run has come to, to be kept.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The provider's id of the last answer, where the run goes on from such answers.
    #[must_use]
    pub fn response_id(&self) -> Option<&str> {
        self.state.previous.as_ref().map(|previous| previous.id.as_str())
    }

    /// The conversation that the provider keeps, where the run is part of one.
    #[must_use]
    pub fn conversation_id(&self) -> Option<&str> {
        self.state.conversation.as_ref().map(|conversation| conversation.id.as_str())
    }

    /// How often a model was asked.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.state.turns()
    }

    /// The whole conversation, to begin the next run with.
    #[must_use]
    pub fn to_input(&self) -> Vec<Item> {
        self.state.said.iter().cloned().chain(self.items().iter().map(|item| item.item.clone())).collect()
    }
}
