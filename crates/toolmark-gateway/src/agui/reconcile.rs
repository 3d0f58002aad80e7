//! What is new in what the client sends? It sends the whole conversation each time; what was said here is known better here. What tools of
//! the server brought is never taken from the client.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};
use toolmark_agui::Id;
use toolmark_agui::history::Entry;
use toolmark_agui::input::{RunAgentInput, Said, Sent};
use toolmark_core::text::visible;
use toolmark_models::{Item, Message, Part, Role};

use super::error::AguiError;

/// What a request adds to a thread.
pub(super) struct New {
    /// What was said since.
    pub(super) said: Vec<Entry>,
    /// What tools of the page brought: the message, what came of it, and whether it failed.
    pub(super) brought: HashMap<Id, (Id, String, bool)>,
    /// True when the client has all messages that the thread has.
    pub(super) up_to_date: bool,
}

impl New {
    /// True when somebody said something; what the page wants to be known is not enough.
    pub(super) fn speaks(&self) -> bool {
        self.said.iter().any(|entry| !entry.hidden)
    }
}

/// Compares what the client has with what the thread has. `known` is what was said already, in the thread or in the run that waits in it.
pub(super) fn compare(input: &RunAgentInput, known: &[&Entry]) -> Result<New, AguiError> {
    let by_id: HashMap<&str, &Entry> = known.iter().map(|entry| (entry.message.as_str(), *entry)).collect();
    let is_new = by_id.is_empty();
    let mut said = Vec::new();
    let mut brought = HashMap::new();
    let mut seen: HashSet<&str> = HashSet::new();
    if let Some(context) = context(input)
        && !by_id.contains_key(context.message.as_str())
    {
        said.push(context);
    }
    for Sent { id, said: one } in &input.messages {
        let role = match one {
            Said::User(_) => Role::User,
            Said::System(_) => Role::System,
            Said::Developer(_) => Role::Developer,
            Said::Assistant { .. } => Role::Assistant,
            Said::Tool { call_id, text, failed } => {
                brought.insert(call_id.clone(), (id.clone(), text.clone(), *failed));
                seen.insert(id.as_str());
                continue;
            }
            Said::Other => continue,
        };
        if let Some(entry) = by_id.get(id.as_str()) {
            unchanged(id, one, entry)?;
            seen.insert(id.as_str());
            continue;
        }
        if !seen.insert(id.as_str()) {
            return Err(AguiError::MessageChanged(visible(id.as_str(), 200)));
        }
        let parts = match one {
            Said::User(parts) => parts.clone(),
            Said::System(text) | Said::Developer(text) => vec![Part::text(text)],
            // In a thread that is known, we know what we said; a page may begin one with a greeting of its own.
            Said::Assistant { text, .. } if is_new && !text.is_empty() => vec![Part::text(text)],
            Said::Assistant { .. } | Said::Tool { .. } | Said::Other => continue,
        };
        let item = Item::Message(Message { role, parts, extra: None });
        said.push(Entry { message: id.clone(), agent: None, hidden: false, item });
    }
    let up_to_date = known.iter().filter(|entry| !entry.hidden).all(|entry| {
        // What the model thought is no message.
        matches!(entry.item, Item::Reasoning(_) | Item::Hosted(_) | Item::Other(_))
            || seen.contains(entry.message.as_str())
    });
    Ok(New { said, brought, up_to_date })
}

/// A message that is known says what it said.
fn unchanged(id: &Id, one: &Said, entry: &Entry) -> Result<(), AguiError> {
    let (Said::User(parts), Item::Message(message)) = (one, &entry.item) else { return Ok(()) };
    let text = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect::<String>();
    if message.role == Role::User && text(parts) == text(&message.parts) {
        return Ok(());
    }
    Err(AguiError::MessageChanged(visible(id.as_str(), 200)))
}

/// What the page wants the agent to know, said once for as long as it stays the same.
fn context(input: &RunAgentInput) -> Option<Entry> {
    if input.context.is_empty() {
        return None;
    }
    let lines = input.context.iter().map(|(description, value)| format!("- {description}: {value}\n"));
    let text = format!("What the page in front of the user shows:\n{}", lines.collect::<String>());
    let digest: String = Sha256::digest(text.as_bytes()).iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    Some(Entry { message: format!("context:{digest}").into(), agent: None, hidden: true, item: Item::user(text) })
}
