//! How is a call entered in the ledger, so that it is made once? Calls of every kind are entered like those of functions.

use std::borrow::Cow;

use toolmark_core::call::CallId;
use toolmark_core::compat::{ApprovalItem, Approvals, InvocationKind};
use toolmark_core::json::Json;
use toolmark_models::{FunctionCall, Item, Raw};

use super::error::RunErrorKind;
use crate::host;

/// The items that a provider sends when the host has to do something, and waits for.
pub(super) fn waits_for_host(kind: &str) -> bool {
    matches!(kind, "shell_call" | "local_shell_call" | "apply_patch_call" | "computer_call" | "mcp_approval_request")
}

/// True when the provider ran it by itself and says what came of it.
pub(super) fn is_answered(call: &Raw, items: &[Item]) -> bool {
    let answers = |item: &Item| matches!(item, Item::Hosted(raw) if raw.is_answer() && raw.call_id() == call.call_id());
    call.call_id().is_some() && items.iter().any(answers)
}

/// The text of a tool that takes free text, as the arguments of a function.
pub(super) fn custom_arguments(input: &str) -> String {
    serde_json::json!({ "input": input }).to_string()
}

/// The call as the ledger reads it.
pub(super) fn raw(call: &FunctionCall) -> Json<'_> {
    let text = |text: &'_ str| Json::String(Cow::Owned(text.to_owned()));
    let mut fields = vec![
        (Cow::Borrowed("type"), text(InvocationKind::FunctionCall.as_str())),
        (Cow::Borrowed("call_id"), text(call.call_id.as_str())),
        (Cow::Borrowed("name"), text(&call.name)),
        (Cow::Borrowed("arguments"), text(&call.arguments)),
    ];
    if let Some(namespace) = &call.namespace {
        fields.push((Cow::Borrowed("namespace"), text(namespace)));
    }
    Json::Object(fields)
}

pub(super) fn approval_item<'a>(raw: &'a Json<'a>, agent: &'a str, call: &'a FunctionCall) -> ApprovalItem<'a> {
    ApprovalItem {
        raw_item: raw,
        agent,
        tool_name: Some(&call.name),
        tool_namespace: call.namespace.as_deref(),
        lookup_key: None,
        bare_name_alias: false,
    }
}

fn enter(known: &mut Approvals, agent: &str, call: &FunctionCall) -> Result<(), RunErrorKind> {
    let raw = raw(call);
    known.register_call(&approval_item(&raw, agent, call))?;
    Ok(())
}

pub(super) fn complete(known: &mut Approvals, call: &CallId) {
    known.ledger().mark_completed(InvocationKind::FunctionCall, call);
}

/// Enters what a run added to the conversation: calls, and that they are answered.
pub(super) fn enter_item(known: &mut Approvals, agent: &str, item: &Item) -> Result<(), RunErrorKind> {
    match item {
        Item::FunctionCall(call) => enter(known, agent, call)?,
        Item::CustomCall(call) => {
            let call = FunctionCall::new(call.call_id.clone(), &*call.name, custom_arguments(&call.input));
            enter(known, agent, &call)?;
        }
        Item::FunctionOutput(output) => complete(known, &output.call_id),
        Item::CustomOutput(output) => complete(known, &output.call_id),
        Item::Hosted(raw) if raw.is_answer() => {
            if let Some(id) = raw.call_id().and_then(|id| id.parse().ok()) {
                complete(known, &id);
            }
        }
        Item::Hosted(raw) => {
            if let Some(call) = host::as_call(raw) {
                enter(known, agent, &call)?;
            }
        }
        Item::Message(_) | Item::Reasoning(_) | Item::Other(_) => {}
    }
    Ok(())
}
