//! What a person needs to see of a question beside what it says: names, what the analyzers found, and how the tool changed.

use std::time::SystemTime;

use serde_json::{Value, json};
use toolmark_core::approval::{Ask, AskState, Grant};
use toolmark_core::pins::Standing;
use toolmark_core::time::Micros;

use crate::console::diff;
use crate::console::look::Look;

/// A question with the names of its tool and pack.
pub(crate) fn ask(ask: &Ask, look: &Look) -> Value {
    let mut all = ask.to_json();
    let Some(members) = all.as_object_mut() else { return all };
    members.insert("shown".into(), look.canonical(&ask.canonical));
    let pack = ask.canonical.split_once('.').map(|(pack, _)| look.pack(pack));
    members.insert("pack_shown".into(), pack.into());
    if matches!(ask.state, AskState::Pending) {
        let left = ask.expires.get().saturating_sub(Micros::from(SystemTime::now()).get()) / 1_000;
        members.insert("expires_in_ms".into(), left.max(0).into());
    }
    all
}

/// The same with what takes a moment to find out. Facts are those of the tool as it is now, and only while it is the one that was asked
/// about.
pub(crate) fn whole(question: &Ask, look: &Look) -> Value {
    let mut all = ask(question, look);
    let workspace = look.snapshot.workspace();
    let tool = look.find(&question.canonical);
    let same = tool.filter(|tool| tool.mark() == question.mark);
    let facts = same.and_then(|tool| {
        let arguments: Value = serde_json::from_str(&question.arguments).ok()?;
        let analyzer = workspace.prepared(tool)?.analyzer(tool);
        Some(toolmark_effects::analyze_cached(workspace.effects(), analyzer, &arguments).to_json())
    });
    let changed = tool.filter(|tool| workspace.standing(tool) == Standing::Changed);
    let changed = changed.and_then(|tool| Some((workspace.pins().get(&question.canonical)?, tool)));
    if let Some(members) = all.as_object_mut() {
        members.insert("facts".into(), facts.unwrap_or_else(|| json!([])));
        members.insert("diff".into(), changed.map_or_else(Vec::new, |(pinned, tool)| diff(pinned, tool)).into());
        members.insert("still_there".into(), same.is_some().into());
    }
    all
}

/// A grant with the name of its tool.
pub(crate) fn grant(grant: &Grant, look: &Look) -> Value {
    let mut all = grant.to_json();
    if let Some(members) = all.as_object_mut() {
        members.insert("shown".into(), look.canonical(&grant.canonical));
    }
    all
}
