//! Which messages is a conversation made of? What the model reads are items; what a client holds are messages with ids. Both are one history:
//! every item knows the message that it belongs to, and ids follow from the run and the turn, so that a stream and a snapshot agree.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use toolmark_agents::RunItem;
use toolmark_core::call::CallId;
use toolmark_models::{Item, Message as Said, Part, Role};

use crate::CALL;
use crate::event::{Message, Metadata, ToolCall};
use crate::hosted::{self, Came, Told};
use crate::id::Id;
use crate::translate::Cards;

/// One item of a conversation, and the message that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The message.
    pub message: Id,
    /// The agent that it came through; nothing for what the user said.
    pub agent: Option<String>,
    /// True for what the model reads and clients do not see as a message.
    pub hidden: bool,
    /// What was said.
    pub item: Item,
}

/// The id of what an agent says in one of its turns, counted from zero.
#[must_use]
pub fn message_id(prefix: &str, turn: u32) -> Id {
    format!("{prefix}-{turn}").into()
}

/// The id of what came of a call.
#[must_use]
pub fn result_id(prefix: &str, call: &str) -> Id {
    format!("{prefix}:{call}").into()
}

/// How many turns the model has had in what a run added: it speaks again when it was told what came of its calls.
#[must_use]
pub fn turns(items: &[RunItem]) -> u32 {
    let (mut turns, mut answered) = (0, true);
    for item in items {
        let speaks = item.item.is_from_model();
        turns += u32::from(speaks && answered);
        answered = !speaks;
    }
    turns
}

/// What a run added, with the messages that it belongs to. Results that the client brought keep the ids that it gave them.
#[must_use]
pub fn entries(prefix: &str, items: &[RunItem], brought: &HashMap<CallId, Id>) -> Vec<Entry> {
    let (mut turn, mut answered) = (0, false);
    let mut all = Vec::with_capacity(items.len());
    for RunItem { agent, item } in items {
        let speaks = item.is_from_model();
        turn += u32::from(speaks && answered);
        answered = !speaks;
        let message = match call_of(item) {
            Some(call) => brought.get(call).cloned().unwrap_or_else(|| result_id(prefix, call.as_str())),
            None => message_id(prefix, turn),
        };
        all.push(Entry { message, agent: Some(agent.clone()), hidden: false, item: item.clone() });
    }
    all
}

/// The call that an item answers.
fn call_of(item: &Item) -> Option<&CallId> {
    match item {
        Item::FunctionOutput(output) => Some(&output.call_id),
        Item::CustomOutput(output) => Some(&output.call_id),
        _ => None,
    }
}

/// The conversation as clients hold it. What the model thought is left out: clients keep what they have of it.
#[must_use]
pub fn messages<'e>(entries: impl IntoIterator<Item = &'e Entry>, cards: &dyn Cards) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    let mut at: HashMap<&Id, usize> = HashMap::new();
    let mut called: HashSet<String> = HashSet::new();
    for entry in entries.into_iter().filter(|entry| !entry.hidden) {
        let id = entry.message.clone();
        let agent = entry.agent.as_deref().unwrap_or_default();
        match &entry.item {
            Item::Message(said) if said.role == Role::Assistant => {
                if let Some((content, _)) = assistant(&mut all, &mut at, entry) {
                    content.get_or_insert_default().push_str(&spoken(said));
                }
            }
            Item::Message(said) => {
                at.insert(&entry.message, all.len());
                all.push(match said.role {
                    Role::System => Message::System { id, content: said.joined_text() },
                    Role::Developer => Message::Developer { id, content: said.joined_text() },
                    Role::User | Role::Assistant => Message::User { id, content: content(&said.parts) },
                });
            }
            Item::FunctionCall(call) => {
                let card = cards.call(agent, &call.name, call.namespace.as_deref());
                if let Some((_, calls)) = assistant(&mut all, &mut at, entry) {
                    calls.push(ToolCall {
                        id: call.call_id.as_str().into(),
                        name: card.name,
                        arguments: call.arguments.clone(),
                        metadata: card.metadata,
                    });
                }
            }
            Item::CustomCall(call) => {
                let card = cards.call(agent, &call.name, None);
                if let Some((_, calls)) = assistant(&mut all, &mut at, entry) {
                    calls.push(ToolCall {
                        id: call.call_id.as_str().into(),
                        name: card.name,
                        arguments: json!({ "input": call.input }).to_string(),
                        metadata: card.metadata,
                    });
                }
            }
            Item::FunctionOutput(output) => {
                let metadata = output.failed.then(|| Metadata::new([(CALL, json!({"failed": true}))]));
                let tool_call_id = output.call_id.as_str().into();
                all.push(Message::Tool {
                    id,
                    content: output.output.joined_text(),
                    tool_call_id,
                    error: None,
                    metadata,
                });
            }
            Item::CustomOutput(output) => {
                let tool_call_id = output.call_id.as_str().into();
                let content = output.output.joined_text();
                all.push(Message::Tool { id, content, tool_call_id, error: None, metadata: None });
            }
            Item::Hosted(raw) => match hosted::told(raw) {
                Some(Told::Call(call, came)) => {
                    let card = cards.hosted(&call);
                    let id: Id = call.id.as_str().into();
                    if let Some((_, calls)) = assistant(&mut all, &mut at, entry) {
                        let arguments = call.arguments;
                        calls.push(ToolCall { id, name: card.name, arguments, metadata: card.metadata });
                    }
                    all.extend(came.map(|came| result(entry, &call.id, came)));
                    called.insert(call.id);
                }
                // Calls that the host answers are told with their runs.
                Some(Told::Result(call, came)) if called.contains(&call) => all.push(result(entry, &call, came)),
                Some(Told::Result(..)) | None => {}
            },
            Item::Reasoning(_) | Item::Other(_) => {}
        }
    }
    all
}

/// What came of a call that the provider made, in the turn that an entry belongs to.
fn result(entry: &Entry, call: &str, came: Came) -> Message {
    let own = entry.message.as_str();
    // A result that is an item of its own has its own id.
    let id = match own.rsplit_once('-') {
        Some((prefix, turn)) if turn.bytes().all(|byte| byte.is_ascii_digit()) => result_id(prefix, call),
        _ => entry.message.clone(),
    };
    Message::Tool {
        id,
        content: came.text,
        tool_call_id: call.into(),
        error: None,
        metadata: came.failed.then(|| Metadata::new([(CALL, json!({"failed": true}))])),
    }
}

type Spoken<'m> = (&'m mut Option<String>, &'m mut Vec<ToolCall>);

/// The message of an assistant that an entry belongs to, made where there is none.
fn assistant<'m, 'e>(
    all: &'m mut Vec<Message>,
    at: &mut HashMap<&'e Id, usize>,
    entry: &'e Entry,
) -> Option<Spoken<'m>> {
    let place = *at.entry(&entry.message).or_insert_with(|| {
        all.push(Message::Assistant { id: entry.message.clone(), content: None, tool_calls: Vec::new() });
        all.len() - 1
    });
    match all.get_mut(place) {
        Some(Message::Assistant { content, tool_calls, .. }) => Some((content, tool_calls)),
        _ => None,
    }
}

fn spoken(said: &Said) -> String {
    let text = |part: &Part| match part {
        Part::Text { text, .. } | Part::Refusal { text } => Some(text.clone()),
        _ => None,
    };
    said.parts.iter().filter_map(text).collect()
}

/// What a user said, as text where it is nothing else.
fn content(parts: &[Part]) -> Value {
    if parts.iter().all(|part| part.as_text().is_some()) {
        return parts.iter().filter_map(Part::as_text).collect::<String>().into();
    }
    let source = |data: Option<&str>, url: Option<&str>, file: Option<&str>| {
        let inline = data.or(url).and_then(|text| text.strip_prefix("data:")?.split_once(";base64,"));
        match (inline, url, file) {
            (Some((mime, value)), ..) => Some(json!({"type": "data", "value": value, "mimeType": mime})),
            (None, Some(url), _) => Some(json!({"type": "url", "value": url})),
            (None, None, Some(file)) => Some(json!({"type": "file", "value": file})),
            (None, None, None) => None,
        }
    };
    let part = |part: &Part| match part {
        Part::Text { text, .. } | Part::Refusal { text } => Some(json!({"type": "text", "text": text})),
        Part::Image(image) => source(None, image.url.as_deref(), image.file_id.as_deref())
            .map(|source| json!({"type": "image", "source": source})),
        Part::File(file) => source(file.data.as_deref(), file.url.as_deref(), file.file_id.as_deref())
            .map(|source| json!({"type": "document", "source": source})),
        Part::Other(_) => None,
    };
    parts.iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests;
