//! What did a chat completion answer?

use serde_json::{Map, Value, json};

use crate::body::{arguments, call_id, count, name, text_of, without};
use crate::error::ModelErrorKind;
use crate::item::{Extra, FunctionCall, Item, Message, Part, Raw, Role, Wire};
use crate::response::{Finish, ModelResponse, Usage};
use crate::responses::read::failure;

const WIRE: Wire = Wire::Chat;

/// The fields in which servers put what the model thought.
pub(crate) const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// A whole answer: the first choice, since no other is asked for.
pub(crate) fn response(mut value: Value) -> Result<ModelResponse, ModelErrorKind> {
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        return Err(failure(error));
    }
    let choice = value.pointer_mut("/choices/0").map(Value::take);
    let mut choice = choice.ok_or_else(|| ModelErrorKind::malformed("it has no `choices`"))?;
    let Some(Value::Object(message)) = choice.get_mut("message").map(Value::take) else {
        return Err(ModelErrorKind::malformed("its choice has no `message`"));
    };
    let items = items(message)?;
    let finish = finish(text_of(&choice, "finish_reason"), &items);
    let text = |key| text_of(&value, key).map(ToOwned::to_owned);
    Ok(ModelResponse {
        finish,
        items,
        usage: usage(value.get("usage").unwrap_or(&Value::Null)),
        response_id: text("id"),
        model: text("model"),
    })
}

/// What one message consists of: thoughts, words, calls.
pub(crate) fn items(mut message: Map<String, Value>) -> Result<Vec<Item>, ModelErrorKind> {
    let mut items = Vec::new();
    let thoughts: Map<String, Value> = THOUGHTS
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), message.shift_remove(*key)?)))
        .filter(|(_, value)| !value.is_null() && value.as_str() != Some(""))
        .collect();
    if !thoughts.is_empty() {
        items.push(Item::Reasoning(Raw { wire: WIRE, value: json!({ "type": "reasoning", "fields": thoughts }) }));
    }
    let mut parts = match message.shift_remove("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![Part::text(text)],
        Some(Value::Array(parts)) => parts.into_iter().map(part).collect(),
        Some(_) => return Err(ModelErrorKind::malformed("its content is neither text nor a list")),
    };
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str).filter(|refusal| !refusal.is_empty()) {
        parts.push(Part::Refusal { text: refusal.to_owned() });
    }
    let calls = match message.shift_remove("tool_calls") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(calls)) => calls,
        Some(_) => return Err(ModelErrorKind::malformed("its `tool_calls` are no list")),
    };
    if !parts.is_empty() {
        let extra = extra(message, &["role", "refusal", "function_call", "annotations", "audio"]);
        items.push(Item::Message(Message { role: Role::Assistant, parts, extra }));
    }
    for call in calls {
        items.push(self::call(call)?);
    }
    Ok(items)
}

fn call(mut call: Value) -> Result<Item, ModelErrorKind> {
    let mut function = call.get_mut("function").map(Value::take).unwrap_or_default();
    let Value::Object(fields) = call else {
        return Err(ModelErrorKind::malformed("a tool call that is not an object"));
    };
    Ok(Item::FunctionCall(FunctionCall {
        call_id: call_id(fields.get("id"))?,
        name: name(function.get("name"))?,
        namespace: None,
        arguments: arguments(function.get_mut("arguments").map(|arguments| &*arguments)),
        extra: extra(fields, &["id", "type", "function", "index"]),
    }))
}

/// What else stands there. Servers write `null` for what they have not, and not all of them take that back.
fn extra(fields: Map<String, Value>, known: &[&str]) -> Option<Extra> {
    let mut rest = without(fields, known);
    rest.retain(|_, value| !value.is_null());
    Extra::of(WIRE, rest)
}

fn part(value: Value) -> Part {
    match (text_of(&value, "type"), text_of(&value, "text")) {
        (Some("text"), Some(text)) => Part::text(text),
        _ => Part::Other(Raw { wire: WIRE, value }),
    }
}

pub(crate) fn finish(reason: Option<&str>, items: &[Item]) -> Finish {
    let calls = items.iter().any(|item| matches!(item, Item::FunctionCall(_)));
    match reason {
        Some("length") => Finish::Length,
        Some("content_filter") => Finish::Refused,
        // Some servers say `stop` even where the model calls tools.
        Some("stop" | "tool_calls" | "function_call") | None if calls => Finish::ToolCalls,
        Some("stop" | "tool_calls" | "function_call") | None => Finish::Stop,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

pub(crate) fn usage(value: &Value) -> Usage {
    Usage {
        requests: 1,
        input_tokens: count(value, "/prompt_tokens"),
        cached_input_tokens: count(value, "/prompt_tokens_details/cached_tokens"),
        cache_write_tokens: 0,
        output_tokens: count(value, "/completion_tokens"),
        reasoning_tokens: count(value, "/completion_tokens_details/reasoning_tokens"),
    }
}
