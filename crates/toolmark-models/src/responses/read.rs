//! What did OpenAI Responses answer? Known items become ours, with every field beyond that kept; others are kept whole.

use serde_json::{Map, Value};

use crate::body::{arguments, call_id, count, name, text_of, without};
use crate::error::ModelErrorKind;
use crate::failure::Complaint;
use crate::item::{CustomCall, Extra, FunctionCall, Item, Message, Part, Raw, Role, Wire};
use crate::response::{Finish, ModelResponse, Usage};

const WIRE: Wire = Wire::Responses;

/// Items with one of these types are calls of hosted tools, or belong to them.
const HOSTED: [&str; 5] =
    ["mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "tool_search_output", "program_output"];

/// A whole answer. `items` are those that a stream delivered, for answers that do not repeat them.
pub(crate) fn response(mut value: Value, items: Vec<Item>) -> Result<ModelResponse, ModelErrorKind> {
    match text_of(&value, "status") {
        Some("failed" | "cancelled") => return Err(failure(value.get("error").unwrap_or(&Value::Null))),
        Some("queued" | "in_progress") => return Err(ModelErrorKind::malformed("it is not finished")),
        _ => {}
    }
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        return Err(failure(error));
    }
    let output = match value.get_mut("output").map(Value::take) {
        Some(Value::Array(output)) => output.into_iter().map(item).collect::<Result<Vec<_>, _>>()?,
        None | Some(Value::Null) if !items.is_empty() => Vec::new(),
        _ => return Err(ModelErrorKind::malformed("it has no list `output`")),
    };
    let items = if output.is_empty() { items } else { output };
    let finish = finish(&value, &items);
    let usage = usage(value.get("usage").unwrap_or(&Value::Null));
    let text = |key| text_of(&value, key).map(ToOwned::to_owned);
    Ok(ModelResponse { items, usage, response_id: text("id"), model: text("model"), finish })
}

/// What an error object means that stands where an answer should.
pub(crate) fn failure(error: &Value) -> ModelErrorKind {
    match Complaint::of(error) {
        Some(complaint) => complaint.in_answer(),
        None => ModelErrorKind::AnswerFailed { message: "it does not say why".to_owned(), temporary: false },
    }
}

fn finish(value: &Value, items: &[Item]) -> Finish {
    if text_of(value, "status") == Some("incomplete") {
        return match value.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("max_output_tokens") => Finish::Length,
            Some("content_filter") => Finish::Refused,
            other => Finish::Other(other.unwrap_or("incomplete").to_owned()),
        };
    }
    let is_refusal = |item: &Item| {
        matches!(item, Item::Message(message)
        if message.parts.iter().any(|part| matches!(part, Part::Refusal { .. })))
    };
    let waits = |item: &Item| match item {
        Item::FunctionCall(_) | Item::CustomCall(_) => true,
        Item::Hosted(call) => waits_for_host(call, items),
        _ => false,
    };
    if items.iter().any(waits) {
        Finish::ToolCalls
    } else if items.iter().any(is_refusal) {
        Finish::Refused
    } else {
        Finish::Stop
    }
}

/// True for a hosted call that the host must answer: one of a kind that it runs, and that the provider did not run by itself.
fn waits_for_host(call: &Raw, items: &[Item]) -> bool {
    let runs = matches!(
        call.kind(),
        "local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call" | "mcp_approval_request"
    );
    let answers = |item: &Item| matches!(item, Item::Hosted(other) if other.is_answer() && other.call_id().is_some() && other.call_id() == call.call_id());
    runs && !items.iter().any(answers)
}

fn usage(value: &Value) -> Usage {
    Usage {
        requests: 1,
        input_tokens: count(value, "/input_tokens"),
        cached_input_tokens: count(value, "/input_tokens_details/cached_tokens"),
        cache_write_tokens: 0,
        output_tokens: count(value, "/output_tokens"),
        reasoning_tokens: count(value, "/output_tokens_details/reasoning_tokens"),
    }
}

/// One item of an answer.
pub(crate) fn item(value: Value) -> Result<Item, ModelErrorKind> {
    let Value::Object(fields) = value else {
        return Err(ModelErrorKind::malformed("an item that is not an object"));
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "message" => message(fields),
        "function_call" => {
            let namespace = fields.get("namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty());
            Ok(Item::FunctionCall(FunctionCall {
                call_id: call_id(fields.get("call_id"))?,
                name: name(fields.get("name"))?,
                namespace: namespace.map(ToOwned::to_owned),
                arguments: arguments(fields.get("arguments")),
                extra: extra(fields, &["type", "call_id", "name", "namespace", "arguments"]),
            }))
        }
        "custom_tool_call" => Ok(Item::CustomCall(CustomCall {
            call_id: call_id(fields.get("call_id"))?,
            name: name(fields.get("name"))?,
            input: arguments(fields.get("input")),
            extra: extra(fields, &["type", "call_id", "name", "input"]),
        })),
        "reasoning" => Ok(Item::Reasoning(raw(fields))),
        hosted if hosted.ends_with("_call") || hosted.ends_with("_call_output") || HOSTED.contains(&hosted) => {
            Ok(Item::Hosted(raw(fields)))
        }
        _ => Ok(Item::Other(raw(fields))),
    }
}

fn message(mut fields: Map<String, Value>) -> Result<Item, ModelErrorKind> {
    let role = match fields.get("role").and_then(Value::as_str) {
        Some("assistant") | None => Role::Assistant,
        Some("user") => Role::User,
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some(_) => return Ok(Item::Other(raw(fields))),
    };
    let parts = match fields.get_mut("content").map(Value::take) {
        Some(Value::Array(parts)) => parts.into_iter().map(part).collect(),
        Some(Value::String(text)) => vec![Part::text(text)],
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err(ModelErrorKind::malformed("a message whose content is no list")),
    };
    Ok(Item::Message(Message { role, parts, extra: extra(fields, &["type", "role", "content"]) }))
}

fn part(value: Value) -> Part {
    let text = |key| text_of(&value, key).map(ToOwned::to_owned);
    match (text_of(&value, "type"), text("text"), text("refusal")) {
        (Some("output_text"), Some(text), _) => {
            let fields = value.as_object().cloned().unwrap_or_default();
            Part::Text { text, extra: extra(fields, &["type", "text"]) }
        }
        (Some("refusal"), _, Some(text)) => Part::Refusal { text },
        _ => Part::Other(Raw { wire: WIRE, value }),
    }
}

fn raw(fields: Map<String, Value>) -> Raw {
    Raw { wire: WIRE, value: Value::Object(fields) }
}

fn extra(fields: Map<String, Value>, known: &[&str]) -> Option<Extra> {
    Extra::of(WIRE, without(fields, known))
}

#[cfg(test)]
mod tests;
