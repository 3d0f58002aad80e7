//! The events of AG-UI 1.0 that we send. What is optional and absent is left out: a `null` is an error to clients, and so is every name
//! that the protocol does not have.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::id::Id;

/// One event.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "variants and fields are those of the protocol, under its names")]
pub enum Event {
    RunStarted {
        thread_id: Id,
        run_id: Id,
        protocol_version: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    RunFinished {
        thread_id: Id,
        run_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        outcome: Outcome,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    RunError {
        message: String,
        code: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<TokenUsage>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    StepStarted {
        step_name: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    StepFinished {
        step_name: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    TextMessageStart {
        message_id: Id,
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    TextMessageContent {
        message_id: Id,
        delta: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    TextMessageEnd {
        message_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ToolCallStart {
        tool_call_id: Id,
        tool_call_name: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
        /// Not of the protocol: for clients before 1.0 that were made to read it. Clients of 1.0 delete it, with a warning.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_display_name: Option<Id>,
        /// The same, for what is spoken.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_description: Option<Id>,
    },
    ToolCallArgs {
        tool_call_id: Id,
        delta: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ToolCallEnd {
        tool_call_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ToolCallResult {
        message_id: Id,
        tool_call_id: Id,
        content: String,
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    StateSnapshot {
        snapshot: Value,
    },
    StateDelta {
        delta: Vec<Value>,
    },
    MessagesSnapshot {
        messages: Vec<Message>,
    },
    Custom {
        name: &'static str,
        value: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ReasoningStart {
        message_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ReasoningMessageStart {
        message_id: Id,
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ReasoningMessageContent {
        message_id: Id,
        delta: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ReasoningMessageEnd {
        message_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ReasoningEnd {
        message_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    ReasoningEncryptedValue {
        subtype: &'static str,
        entity_id: Id,
        encrypted_value: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        subagent_run_id: Option<Id>,
    },
    SubagentStarted {
        subagent_run_id: Id,
        name: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_subagent_run_id: Option<Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<Id>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    SubagentFinished {
        subagent_run_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        outcome: SubagentOutcome,
    },
    SubagentError {
        subagent_run_id: Id,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// How a run ended. There are no others: a client reads one that it does not know as success.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// It has an answer, or calls that the client answers.
    Success {
        /// The calls that the client answers.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pending_tool_call_ids: Vec<Id>,
    },
    /// It waits for a person.
    Interrupt {
        /// What the person is asked, at least one question.
        interrupts: Vec<Interrupt>,
    },
    /// Somebody stopped it.
    Cancelled,
}

/// How a subagent ended in this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SubagentOutcome {
    /// It has an answer.
    Success,
    /// It waits for a person.
    Suspended {
        /// What the person is asked.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        interrupt_ids: Vec<Id>,
    },
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Interrupt {
    /// Under which it is answered.
    pub id: Id,
    /// `tool_call` for an approval.
    pub reason: &'static str,
    /// What the person reads: made of what was judged, with everything that hides made visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The call that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<Id>,
    /// What an answer looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
    /// Until when it can be answered, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// In which subagent it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_run_id: Option<Id>,
    /// Which tool it is about, and what is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "variants and fields are those of the protocol, under its names")]
pub enum Message {
    Developer {
        id: Id,
        content: String,
    },
    System {
        id: Id,
        content: String,
    },
    User {
        id: Id,
        content: Value,
    },
    Assistant {
        id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    Tool {
        id: Id,
        content: String,
        tool_call_id: Id,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
}

/// A call in a message of an assistant.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id of the call.
    pub id: Id,
    /// The name that the client knows the tool by.
    pub name: Id,
    /// What it was called with, as the model wrote it.
    pub arguments: String,
    /// Which tool it is.
    pub metadata: Option<Metadata>,
}

/// Metadata, written once and shared. Clients merge it key by key, never deeper.
#[derive(Clone, Debug)]
pub struct Metadata(Arc<RawValue>);

/// What was used, in the protocol's own accounting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "fields are those of the protocol, under its names")]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub total_tokens: u64,
    pub reasoning_tokens: u64,
    pub cached_input_tokens: u64,
    pub cache_write_input_tokens: u64,
}

impl Event {
    /// True for what ends a run.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::RunFinished { .. } | Self::RunError { .. })
    }
}

impl Message {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &Id {
        match self {
            Self::Developer { id, .. }
            | Self::System { id, .. }
            | Self::User { id, .. }
            | Self::Assistant { id, .. }
            | Self::Tool { id, .. } => id,
        }
    }
}

impl Metadata {
    /// These keys.
    #[must_use]
    pub fn new(members: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let members: Map<String, Value> = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let text = Value::Object(members).to_string();
        // An object that was just written is one.
        Self(RawValue::from_string(text).map(Arc::from).unwrap_or_else(|_| Arc::from(RawValue::NULL.to_owned())))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self.0).serialize(serializer)
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'f> {
            name: &'f Id,
            arguments: &'f str,
        }
        #[derive(Serialize)]
        struct Written<'f> {
            id: &'f Id,
            r#type: &'static str,
            function: Function<'f>,
            #[serde(skip_serializing_if = "Option::is_none")]
            metadata: Option<&'f Metadata>,
        }
        let function = Function { name: &self.name, arguments: &self.arguments };
        Written { id: &self.id, r#type: "function", function, metadata: self.metadata.as_ref() }.serialize(serializer)
    }
}
