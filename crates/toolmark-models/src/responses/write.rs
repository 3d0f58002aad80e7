//! What is sent to OpenAI Responses?

use serde_json::{Map, Value, json};

use super::tools::{choice, wire_tools};
use crate::body::{add, foreign, overlay, raw_for, set, with_extra};
use crate::item::{Detail, Extra, File, Image, Item, Message, Output, Part, Role, Wire};
use crate::request::ModelRequest;
use crate::unsendable::UnsendableError;

const WIRE: Wire = Wire::Responses;

/// The body of a request.
pub(crate) fn body(model: &str, request: &ModelRequest, stream: bool) -> Result<Map<String, Value>, UnsendableError> {
    if request.previous_response_id.is_some() && request.conversation_id.is_some() {
        return Err(UnsendableError::Setting { wire: WIRE, setting: "`conversation` beside `previous_response_id`" });
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    set(&mut body, "instructions", request.instructions.as_deref());
    body.insert("input".to_owned(), Value::Array(input(&request.input)?));
    let wire = wire_tools(&request.tools, &[], model)?;
    if !wire.tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(wire.tools));
        if let Some(wanted) = &request.tool_choice {
            body.insert("tool_choice".to_owned(), choice(wanted, &request.tools, model)?);
        }
        set(&mut body, "parallel_tool_calls", request.parallel_tool_calls);
    }
    if !wire.include.is_empty() {
        body.insert("include".to_owned(), json!(wire.include));
    }
    if let Some(output) = &request.output {
        let format =
            json!({ "type": "json_schema", "name": output.name, "schema": output.schema, "strict": output.strict });
        body.insert("text".to_owned(), json!({ "format": format }));
    }
    let settings = &request.settings;
    set(&mut body, "temperature", settings.temperature);
    set(&mut body, "top_p", settings.top_p);
    set(&mut body, "max_output_tokens", settings.max_output_tokens);
    set(&mut body, "reasoning", settings.effort.map(|effort| json!({ "effort": effort.as_str() })));
    set(&mut body, "previous_response_id", request.previous_response_id.as_deref());
    set(&mut body, "conversation", request.conversation_id.as_deref());
    let asked: Vec<Value> = body.get("include").and_then(Value::as_array).cloned().unwrap_or_default();
    overlay(&mut body, &settings.extra);
    if let Some(include) = body.get_mut("include").and_then(Value::as_array_mut) {
        for what in asked {
            if !include.contains(&what) {
                include.push(what);
            }
        }
    }
    set(&mut body, "stream", stream.then_some(true));
    Ok(body)
}

fn input(items: &[Item]) -> Result<Vec<Value>, UnsendableError> {
    items.iter().filter_map(|item| self::item(item).transpose()).collect()
}

/// An item, or nothing if it says nothing here.
pub(crate) fn item(item: &Item) -> Result<Option<Value>, UnsendableError> {
    Ok(Some(match item {
        Item::Message(message) => self::message(message)?,
        Item::FunctionCall(call) => {
            let mut wire = json!({
                "type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments,
            });
            add(&mut wire, "namespace", call.namespace.as_deref().filter(|namespace| !namespace.is_empty()));
            with(wire, call.extra.as_ref())
        }
        Item::CustomCall(call) => {
            let wire = json!({
                "type": "custom_tool_call", "call_id": call.call_id, "name": call.name, "input": call.input,
            });
            with(wire, call.extra.as_ref())
        }
        Item::FunctionOutput(output) => {
            let said = self::output(&output.output)?;
            let wire = json!({ "type": "function_call_output", "call_id": output.call_id, "output": said });
            with(wire, output.extra.as_ref())
        }
        Item::CustomOutput(output) => {
            let said = self::output(&output.output)?;
            let wire = json!({ "type": "custom_tool_call_output", "call_id": output.call_id, "output": said });
            with(wire, output.extra.as_ref())
        }
        Item::Hosted(_) | Item::Reasoning(_) | Item::Other(_) => return Ok(raw_for(WIRE, item)?.cloned()),
    }))
}

fn message(message: &Message) -> Result<Value, UnsendableError> {
    let role = match message.role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let content: Vec<Value> = message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { text, extra } if message.role == Role::Assistant => {
                Ok(with(json!({ "type": "output_text", "text": text }), extra.as_ref()))
            }
            Part::Refusal { text } if message.role == Role::Assistant => {
                Ok(json!({ "type": "refusal", "refusal": text }))
            }
            other => self::part(other),
        })
        .collect::<Result<_, _>>()?;
    Ok(with(json!({ "type": "message", "role": role, "content": content }), message.extra.as_ref()))
}

/// What a tool gives back, as the field `output` carries it.
fn output(output: &Output) -> Result<Value, UnsendableError> {
    match output {
        Output::Text(text) => Ok(Value::String(text.clone())),
        Output::Parts(parts) => parts.iter().map(part).collect(),
    }
}

/// A part that goes in: of a user's message, or of a tool's output. Only fields that are set are sent.
pub(crate) fn part(part: &Part) -> Result<Value, UnsendableError> {
    let mut wire = Map::new();
    let mut kind = |kind: &str| wire.insert("type".to_owned(), kind.into());
    match part {
        Part::Text { text, .. } | Part::Refusal { text } => {
            kind("input_text");
            wire.insert("text".to_owned(), text.as_str().into());
        }
        Part::Image(Image { url, file_id, detail }) => {
            kind("input_image");
            set(&mut wire, "image_url", url.as_deref());
            set(&mut wire, "file_id", file_id.as_deref());
            set(&mut wire, "detail", detail.map(Detail::as_str));
        }
        Part::File(File { data, url, file_id, filename }) => {
            kind("input_file");
            set(&mut wire, "file_data", data.as_deref());
            set(&mut wire, "file_url", url.as_deref());
            set(&mut wire, "file_id", file_id.as_deref());
            set(&mut wire, "filename", filename.as_deref());
        }
        Part::Other(raw) if raw.wire == WIRE => return Ok(raw.value.clone()),
        Part::Other(raw) => return Err(foreign(WIRE, raw)),
    }
    Ok(Value::Object(wire))
}

fn with(wire: Value, extra: Option<&Extra>) -> Value {
    with_extra(wire, extra, WIRE)
}
