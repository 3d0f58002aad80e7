//! What did Anthropic Messages answer? Blocks become items; thinking and what is not known are kept whole.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::body::{call_id, count, name, text_of, without};
use crate::error::ModelErrorKind;
use crate::failure::of_body;
use crate::item::{Extra, FunctionCall, Item, Message, Part, Raw, Role, Wire};
use crate::response::{Finish, ModelResponse, Usage};
use crate::responses::read::failure;

const WIRE: Wire = Wire::Anthropic;

/// The parts of an answer whose text counts: the input of a call is the model's own spelling.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

/// A whole answer.
pub(crate) fn response(body: &[u8]) -> Result<ModelResponse, ModelErrorKind> {
    let bad = |error: serde_json::Error| of_body(200, body, &error.to_string());
    let value: Value = serde_json::from_slice(body).map_err(bad)?;
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(failure(&value));
    }
    if !value.get("content").is_some_and(Value::is_array) {
        return Err(ModelErrorKind::malformed("it has no list `content`"));
    }
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(bad)?;
    let mut items = Items::default();
    for block in answer.content {
        let value: Value = serde_json::from_str(block.get()).map_err(bad)?;
        let input = serde_json::from_str::<Called<'_>>(block.get()).ok().and_then(|called| called.input);
        items.push(item(value, input.map(|input| input.get().to_owned()))?);
    }
    let text = |key| text_of(&value, key).map(ToOwned::to_owned);
    Ok(ModelResponse {
        items: items.finish(),
        usage: usage(value.get("usage").unwrap_or(&Value::Null)),
        response_id: text("id"),
        model: text("model"),
        finish: finish(text_of(&value, "stop_reason")),
    })
}

/// One block. The input of a call is given as the text that the model wrote.
pub(crate) fn item(block: Value, input: Option<String>) -> Result<Item, ModelErrorKind> {
    let Value::Object(fields) = block else {
        return Err(ModelErrorKind::malformed("a block that is not an object"));
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "text" => {
            let text = fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
            let extra = extra(fields, &["type", "text"]);
            let parts = vec![Part::Text { text, extra }];
            Ok(Item::Message(Message { role: Role::Assistant, parts, extra: None }))
        }
        "tool_use" => Ok(Item::FunctionCall(FunctionCall {
            call_id: call_id(fields.get("id"))?,
            name: name(fields.get("name"))?,
            namespace: None,
            arguments: input.unwrap_or_default(),
            extra: extra(fields, &["type", "id", "name", "input"]),
        })),
        "thinking" | "redacted_thinking" => Ok(Item::Reasoning(raw(fields))),
        hosted if hosted.ends_with("_tool_use") || hosted.ends_with("_tool_result") || hosted == "container_upload" => {
            Ok(Item::Hosted(raw(fields)))
        }
        _ => Ok(Item::Other(raw(fields))),
    }
}

/// Items in order, where blocks of text that follow each other are one message.
#[derive(Default)]
pub(crate) struct Items(Vec<Item>);

impl Items {
    pub(crate) fn push(&mut self, item: Item) {
        match (self.0.last_mut(), item) {
            (Some(Item::Message(last)), Item::Message(next)) => last.parts.extend(next.parts),
            (_, item) => self.0.push(item),
        }
    }

    pub(crate) fn finish(self) -> Vec<Item> {
        self.0
    }
}

pub(crate) fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("end_turn" | "stop_sequence") | None => Finish::Stop,
        Some("tool_use") => Finish::ToolCalls,
        Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
        Some("refusal") => Finish::Refused,
        Some("pause_turn") => Finish::Paused,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

/// The provider counts what it read from its cache, or wrote there, apart from the rest.
pub(crate) fn usage(value: &Value) -> Usage {
    let cached = count(value, "/cache_read_input_tokens");
    let written = count(value, "/cache_creation_input_tokens");
    Usage {
        requests: 1,
        input_tokens: count(value, "/input_tokens").saturating_add(cached).saturating_add(written),
        cached_input_tokens: cached,
        cache_write_tokens: written,
        output_tokens: count(value, "/output_tokens"),
        reasoning_tokens: count(value, "/output_tokens_details/thinking_tokens"),
    }
}

fn raw(fields: Map<String, Value>) -> Raw {
    Raw { wire: WIRE, value: Value::Object(fields) }
}

/// What else stands there. The provider writes `null` for what it has not, and does not take that back.
fn extra(fields: Map<String, Value>, known: &[&str]) -> Option<Extra> {
    let mut rest = without(fields, known);
    rest.retain(|_, value| !value.is_null());
    Extra::of(WIRE, rest)
}

#[cfg(test)]
mod tests;
