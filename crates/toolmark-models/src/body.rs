//! Small things that all three wire formats need to write a request and to read an answer.

use serde_json::{Map, Value};
use toolmark_core::call::CallId;
use toolmark_core::text::visible;

use crate::error::ModelErrorKind;
use crate::item::{Extra, Item, Raw, Wire};
use crate::unsendable::UnsendableError;

/// Puts the caller's own fields over ours: objects are joined, `null` removes, anything else replaces.
pub(crate) fn overlay(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match (body.get_mut(key), value) {
            (_, Value::Null) => {
                body.shift_remove(key);
            }
            (Some(Value::Object(ours)), Value::Object(theirs)) => ours.extend(theirs.clone()),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Sets a field if there is something to set.
pub(crate) fn set(body: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(key.to_owned(), value.into());
    }
}

/// Sets a field of an object if there is something to set.
pub(crate) fn add(wire: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(fields) = wire.as_object_mut() {
        set(fields, key, value);
    }
}

/// The value with the fields that the provider gave along and that are not said yet.
pub(crate) fn with_extra(mut wire: Value, extra: Option<&Extra>, format: Wire) -> Value {
    if let (Some(fields), Some(extra)) = (wire.as_object_mut(), extra.filter(|extra| extra.wire == format)) {
        for (key, value) in &extra.fields {
            fields.entry(key.as_str()).or_insert_with(|| value.clone());
        }
    }
    wire
}

/// What a request does with an item that is not known in its own format.
pub(crate) fn raw_for(wire: Wire, item: &Item) -> Result<Option<&Value>, UnsendableError> {
    let (Item::Hosted(raw) | Item::Reasoning(raw) | Item::Other(raw)) = item else { return Ok(None) };
    if raw.wire == wire {
        return Ok(Some(&raw.value));
    }
    match item {
        // What one provider thought, or did by itself, means nothing to another; what came of it stands in the messages.
        Item::Reasoning(_) | Item::Hosted(_) if !raw.is_answer() => Ok(None),
        _ => Err(foreign(wire, raw)),
    }
}

pub(crate) fn foreign(wire: Wire, raw: &Raw) -> UnsendableError {
    UnsendableError::Foreign { wire, from: raw.wire, kind: visible(raw.kind(), 80) }
}

/// The id of a call. A call without one cannot be answered, so the answer as a whole cannot be used.
pub(crate) fn call_id(value: Option<&Value>) -> Result<CallId, ModelErrorKind> {
    CallId::try_from(value.unwrap_or(&Value::Null))
        .map_err(|error| ModelErrorKind::malformed(format!("a tool call, {error}")))
}

/// A name, which may be empty but must be text.
pub(crate) fn name(value: Option<&Value>) -> Result<String, ModelErrorKind> {
    match value {
        Some(Value::String(name)) => Ok(name.clone()),
        _ => Err(ModelErrorKind::malformed("a tool call whose name is not a string")),
    }
}

/// Arguments as text: as the model wrote them if it wrote text, otherwise as the JSON that stands there.
pub(crate) fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Takes a field out of an object, if it is text.
pub(crate) fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// A count, wherever it stands; zero when nobody counted.
pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// The object without these fields.
pub(crate) fn without(mut fields: Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    fields.retain(|key, _| !known.contains(&key.as_str()));
    fields
}
