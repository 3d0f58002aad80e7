//! What a model says while it is still answering.

use std::pin::Pin;

use futures_util::Stream;
use toolmark_core::call::CallId;

use crate::error::ModelError;
use crate::item::Item;
use crate::response::ModelResponse;

/// A piece of an answer. The last event of a stream that went well is [`ModelEvent::Completed`]; after an error nothing follows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More of what the model says.
    Text {
        /// What is new.
        delta: String,
    },
    /// More of what the model says instead of an answer.
    Refusal {
        /// What is new.
        delta: String,
    },
    /// More of what the model thinks, or of a summary of it.
    Reasoning {
        /// What is new.
        delta: String,
    },
    /// The model begins to call a tool.
    CallStarted {
        /// The call.
        call_id: CallId,
        /// The name that the model wrote.
        name: String,
        /// The namespace that came with it.
        namespace: Option<String>,
    },
    /// More of the arguments, or of the text for a custom tool.
    CallArguments {
        /// The call.
        call_id: CallId,
        /// What is new.
        delta: String,
    },
    /// The arguments are complete.
    CallDone {
        /// The call.
        call_id: CallId,
        /// All of the arguments.
        arguments: String,
    },
    /// An item is complete.
    ItemDone(Item),
    /// The answer is complete.
    Completed(Box<ModelResponse>),
}

/// An answer as it arrives. Dropping it ends the request.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;
