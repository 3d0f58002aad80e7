//! The content of chat messages: plain text where that is all there is, parts otherwise.

use serde_json::{Map, Value, json};

use super::WIRE;
use crate::body::{foreign, set};
use crate::item::{Detail, Output, Part};
use crate::unsendable::UnsendableError;

/// What a user or the system says.
pub(super) fn of(parts: &[Part]) -> Result<Value, UnsendableError> {
    match parts {
        [Part::Text { text, .. }] => Ok(text.as_str().into()),
        parts => parts.iter().map(part).collect(),
    }
}

/// What the model said. Servers differ in which parts they take here, so that it is always text.
pub(super) fn of_answer(parts: &[Part]) -> Result<Value, UnsendableError> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text { text: more, .. } => text.push_str(more),
            Part::Refusal { .. } => {}
            _ => return Err(UnsendableError::content(WIRE, "an image or a file in an answer of the model")),
        }
    }
    Ok(text.into())
}

/// What a tool gave back: text, in one piece or several.
pub(super) fn output(output: &Output) -> Result<Value, UnsendableError> {
    match output {
        Output::Text(text) => Ok(text.as_str().into()),
        Output::Parts(parts) => {
            if parts.iter().any(|part| !matches!(part, Part::Text { .. } | Part::Refusal { .. })) {
                return Err(UnsendableError::content(WIRE, "an image or a file in the output of a tool"));
            }
            of(parts)
        }
    }
}

fn part(part: &Part) -> Result<Value, UnsendableError> {
    match part {
        Part::Text { text, .. } | Part::Refusal { text } => Ok(json!({ "type": "text", "text": text })),
        Part::Image(image) => {
            let url = image.url.as_deref();
            let url = url.ok_or_else(|| UnsendableError::content(WIRE, "an image that only the provider has"))?;
            let mut wire = Map::new();
            wire.insert("url".to_owned(), url.into());
            set(&mut wire, "detail", image.detail.map(Detail::as_str));
            Ok(json!({ "type": "image_url", "image_url": wire }))
        }
        Part::File(file) => {
            if file.data.is_none() && file.file_id.is_none() {
                return Err(UnsendableError::content(WIRE, "a file at an address"));
            }
            let mut wire = Map::new();
            set(&mut wire, "file_data", file.data.as_deref());
            set(&mut wire, "file_id", file.file_id.as_deref());
            set(&mut wire, "filename", file.filename.as_deref());
            Ok(json!({ "type": "file", "file": wire }))
        }
        Part::Other(raw) if raw.wire == WIRE => Ok(raw.value.clone()),
        Part::Other(raw) => Err(foreign(WIRE, raw)),
    }
}
