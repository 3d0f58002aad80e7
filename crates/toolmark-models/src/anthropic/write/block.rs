//! The blocks that a turn consists of: text, images, documents, calls and their results.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::WIRE;
use crate::body::{add, foreign, set, with_extra};
use crate::item::{Extra, File, FunctionCall, FunctionOutput, Image, Output, Part, read_data_url};
use crate::unsendable::UnsendableError;

/// The blocks of a message. Empty text is left out, since the provider refuses it and it says nothing.
pub(super) fn of(parts: &[Part]) -> Result<Vec<Value>, UnsendableError> {
    let says = |part: &&Part| !matches!(part, Part::Text { text, .. } | Part::Refusal { text } if text.is_empty());
    parts.iter().filter(says).map(part).collect()
}

/// A call of the model. Its arguments must be an object here; what is none is shown for what it is.
pub(super) fn call(call: &FunctionCall) -> Result<Value, UnsendableError> {
    if call.namespace.as_deref().is_some_and(|namespace| !namespace.is_empty()) {
        return Err(UnsendableError::tool(WIRE, &call.name, "the namespace"));
    }
    let input = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(input)) => Value::Object(input),
        _ if call.arguments.trim().is_empty() => json!({}),
        _ => json!({ "INVALID_JSON": call.arguments }),
    };
    let wire = json!({ "type": "tool_use", "id": call.call_id, "name": call.name, "input": input });
    Ok(with(wire, call.extra.as_ref()))
}

pub(super) fn result(output: &FunctionOutput) -> Result<Value, UnsendableError> {
    let content = match &output.output {
        Output::Text(text) => Value::from(text.as_str()),
        Output::Parts(parts) => of(parts)?.into(),
    };
    let mut wire = json!({ "type": "tool_result", "tool_use_id": output.call_id, "content": content });
    add(&mut wire, "is_error", output.failed.then_some(true));
    Ok(with(wire, output.extra.as_ref()))
}

fn part(part: &Part) -> Result<Value, UnsendableError> {
    match part {
        Part::Text { text, extra } => Ok(with(json!({ "type": "text", "text": text }), extra.as_ref())),
        Part::Refusal { text } => Ok(json!({ "type": "text", "text": text })),
        Part::Image(image) => Ok(json!({ "type": "image", "source": self::image(image)? })),
        Part::File(file) => {
            let mut wire = Map::new();
            wire.insert("type".to_owned(), "document".into());
            wire.insert("source".to_owned(), document(file)?);
            set(&mut wire, "title", file.filename.as_deref());
            Ok(Value::Object(wire))
        }
        Part::Other(raw) if raw.wire == WIRE => Ok(raw.value.clone()),
        Part::Other(raw) => Err(foreign(WIRE, raw)),
    }
}

fn image(image: &Image) -> Result<Value, UnsendableError> {
    match (&image.url, &image.file_id) {
        (Some(url), _) => Ok(match read_data_url(url) {
            Some((media_type, data)) => json!({ "type": "base64", "media_type": media_type, "data": data }),
            None => json!({ "type": "url", "url": url }),
        }),
        (None, Some(id)) => Ok(json!({ "type": "file", "file_id": id })),
        (None, None) => Err(UnsendableError::content(WIRE, "an image that is nowhere")),
    }
}

fn document(file: &File) -> Result<Value, UnsendableError> {
    if let Some(data) = &file.data {
        let is_pdf = file.filename.as_deref().is_some_and(|name| name.to_ascii_lowercase().ends_with(".pdf"));
        return match read_data_url(data) {
            Some(("application/pdf", data)) => Ok(pdf(data)),
            Some((media_type, data)) if media_type.starts_with("text/") => text(data),
            None if is_pdf => Ok(pdf(data)),
            _ => Err(UnsendableError::content(WIRE, "a file that is neither a PDF nor text")),
        };
    }
    match (&file.url, &file.file_id) {
        (Some(url), _) => Ok(json!({ "type": "url", "url": url })),
        (None, Some(id)) => Ok(json!({ "type": "file", "file_id": id })),
        (None, None) => Err(UnsendableError::content(WIRE, "a file that is nowhere")),
    }
}

fn pdf(data: &str) -> Value {
    json!({ "type": "base64", "media_type": "application/pdf", "data": data })
}

fn text(data: &str) -> Result<Value, UnsendableError> {
    let bytes = STANDARD.decode(data).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(|| UnsendableError::content(WIRE, "a text file that is not UTF-8 in base64"))?;
    Ok(json!({ "type": "text", "media_type": "text/plain", "data": text }))
}

fn with(wire: Value, extra: Option<&Extra>) -> Value {
    with_extra(wire, extra, WIRE)
}
