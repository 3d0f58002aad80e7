//! How does a provider say that the host is to run something, and what does it want to hear? The calls and outputs of shells, patches,
//! computers and approvals of hosted MCP on the Responses wire.

use serde_json::{Map, Value, json};
use toolmark_core::call::CallId;
use toolmark_core::explain::facts;
use toolmark_models::{FunctionCall, Item, Message, Output, Part, Raw, Role, Wire};

use super::{CommandOutcome, CommandOutput, mcp};

/// The calls that a host may run: their type, the name of the tool, and the member that holds what is to be run.
const CALLS: [(&str, &str, &str); 4] = [
    ("shell_call", "shell", "action"),
    ("local_shell_call", "local_shell", "action"),
    ("apply_patch_call", "apply_patch", "operation"),
    ("computer_call", "computer_use_preview", "actions"),
];

/// What a screen is that nobody may see: one transparent pixel. A provider takes no text in its place.
const NOTHING_TO_SEE: &str = "data:image/png;base64,\
    iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn known(kind: &str) -> Option<(&'static str, &'static str)> {
    CALLS.iter().find(|(own, _, _)| *own == kind).map(|(_, name, member)| (*name, *member))
}

/// The name of the tool that runs such a call.
pub(crate) fn runs(raw: &Raw) -> Option<&'static str> {
    known(raw.kind()).map(|(name, _)| name)
}

/// True for calls that this crate can run or answer.
pub(crate) fn is_of_host(raw: &Raw) -> bool {
    raw.wire == Wire::Responses && (known(raw.kind()).is_some() || is_request(raw))
}

/// True when the provider asks whether it may call a tool of an MCP server.
pub(crate) fn is_request(raw: &Raw) -> bool {
    raw.kind() == "mcp_approval_request"
}

/// True when the provider wants somebody to look at the very call before it is made.
pub(crate) fn has_concerns(raw: &Raw) -> bool {
    raw.kind() == "computer_call" && concerns(raw).is_some()
}

/// The concerns of the provider, if it has any.
fn concerns(raw: &Raw) -> Option<&Value> {
    let checks = raw.value.get("pending_safety_checks").filter(|checks| !checks.is_null())?;
    Some(checks).filter(|checks| checks.as_array().is_none_or(|checks| !checks.is_empty()))
}

/// The call as that of a function, so that it is identified, checked, judged and entered like any other. Nothing for one without an id.
pub(crate) fn as_call(raw: &Raw) -> Option<FunctionCall> {
    if is_request(raw) {
        let id = CallId::try_from(raw.value.get("id")?).ok()?;
        let (label, tool) = mcp::about(raw)?;
        let arguments = match raw.value.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "{}".to_owned(),
            Some(other) => other.to_string(),
        };
        let call = FunctionCall::new(id, mcp::name(label, tool), arguments);
        return Some(FunctionCall { namespace: Some(mcp::PACK.to_owned()), ..call });
    }
    let (name, member) = known(raw.kind())?;
    let id = CallId::try_from(raw.value.get("call_id")?).ok()?;
    if raw.kind() == "computer_call" {
        return Some(FunctionCall::new(id, name, screen_arguments(raw).to_string()));
    }
    // What the provider leaves empty it does not say.
    let arguments = match raw.value.get(member) {
        Some(Value::Object(fields)) => {
            let said = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
        }
        Some(other) => other.clone(),
        None => Value::Null,
    };
    Some(FunctionCall::new(id, name, arguments.to_string()))
}

/// Older models say one action, newer ones several.
fn screen_arguments(raw: &Raw) -> Value {
    let said = |field: &str| raw.value.get(field).filter(|value| !value.is_null()).cloned();
    let several = said("actions").filter(|actions| actions.as_array().is_none_or(|actions| !actions.is_empty()));
    let actions = several.or_else(|| said("action").map(|action| Value::Array(vec![action])));
    let mut all = facts([("actions", actions.unwrap_or(Value::Null))]);
    if let Some(checks) = concerns(raw) {
        all.insert("pending_safety_checks".into(), checks.clone());
    }
    Value::Object(all)
}

/// What a shell brought, as the tool gives it.
pub(super) fn shell_output(outputs: &[CommandOutput], max_output_length: Option<usize>) -> Map<String, Value> {
    let entry = |output: &CommandOutput| {
        let outcome = match output.outcome {
            CommandOutcome::Exited(code) => json!({ "type": "exit", "exit_code": code }),
            CommandOutcome::TimedOut => json!({ "type": "timeout" }),
        };
        json!({ "stdout": output.stdout, "stderr": output.stderr, "outcome": outcome })
    };
    let mut all = facts([("output", outputs.iter().map(entry).collect())]);
    if let Some(most) = max_output_length {
        all.insert("max_output_length".into(), most.into());
    }
    all
}

/// The items that answer a call. Whatever went wrong is said in the words that the provider has for it; where it has none, in a message
/// beside the answer.
pub(crate) fn answer(raw: &Raw, call_id: &CallId, output: &Output, failed: bool) -> Vec<Item> {
    match raw.kind() {
        "mcp_approval_request" => vec![mcp_answer(call_id, output, failed)],
        "computer_call" => screen(raw, call_id, output, failed),
        _ => vec![host_answer(raw, call_id, output, failed)],
    }
}

fn mcp_answer(request: &CallId, output: &Output, failed: bool) -> Item {
    let mut all = facts([
        ("type", "mcp_approval_response".into()),
        ("approval_request_id", request.as_str().into()),
        ("approve", (!failed).into()),
    ]);
    if failed {
        all.insert("reason".into(), output.joined_text().into());
    }
    Item::Hosted(Raw { wire: Wire::Responses, value: Value::Object(all) })
}

fn screen(raw: &Raw, call_id: &CallId, output: &Output, failed: bool) -> Vec<Item> {
    let shown = match output {
        Output::Parts(parts) if !failed => parts.iter().find_map(|part| match part {
            Part::Image(image) => image.url.as_deref(),
            _ => None,
        }),
        _ => None,
    };
    let mut all = facts([
        ("type", "computer_call_output".into()),
        ("call_id", call_id.as_str().into()),
        ("output", json!({ "type": "computer_screenshot", "image_url": shown.unwrap_or(NOTHING_TO_SEE) })),
    ]);
    // Only what somebody looked at: the call was made.
    if let Some(checks) = concerns(raw).filter(|_| shown.is_some()) {
        all.insert("acknowledged_safety_checks".into(), checks.clone());
    }
    let mut items = vec![Item::Hosted(Raw { wire: Wire::Responses, value: Value::Object(all) })];
    if shown.is_none() {
        let text = format!("The computer call `{call_id}` shows no screen: {}", output.joined_text());
        items.push(Item::Message(Message::text(Role::Developer, text)));
    }
    items
}

fn host_answer(raw: &Raw, call_id: &CallId, output: &Output, failed: bool) -> Item {
    let text = output.joined_text();
    let (kind, said) = match raw.kind() {
        "shell_call" => {
            let brought = if failed { None } else { serde_json::from_str(&text).ok() };
            let said = brought.unwrap_or_else(|| {
                let outcome = CommandOutcome::Exited(1);
                let refused = CommandOutput { stderr: text, outcome, ..CommandOutput::default() };
                let most = raw.value.pointer("/action/max_output_length").and_then(Value::as_u64);
                shell_output(&[refused], most.and_then(|most| usize::try_from(most).ok()))
            });
            ("shell_call_output", said)
        }
        "apply_patch_call" => {
            let mut said = facts([("status", if failed { "failed" } else { "completed" }.into())]);
            if !text.is_empty() {
                said.insert("output".into(), text.into());
            }
            ("apply_patch_call_output", said)
        }
        _ => ("local_shell_call_output", facts([("output", text.into())])),
    };
    let mut all = facts([("type", kind.into()), ("call_id", call_id.as_str().into())]);
    all.extend(said);
    Item::Hosted(Raw { wire: Wire::Responses, value: Value::Object(all) })
}
