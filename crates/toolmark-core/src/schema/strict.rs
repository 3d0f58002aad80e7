//! The strict form of a schema, which providers can hold a model to: every object closed, every property required.
//!
//! Optional properties become required; that is what strict means. A schema that would lose anything else is refused, not bent.
//! Where a reference is inlined, the order of the steps decides what comes out; it is the order of the OpenAI Agents SDK,
//! including that nodes are changed in place and shared.

mod error;
mod graph;
mod merge;
mod pointer;
mod transform;

use serde_json::{Map, Value};

use self::error::StrictSchemaErrorKind as Kind;
pub use self::error::{StrictSchemaError, StrictSchemaErrorKind};
use self::transform::Transform;
use crate::json::Json;

/// What to do about an object that declares no properties and does not say that it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenObjects {
    /// Close it.
    Close,
    /// Refuse it, and every `$ref` that stays: nothing may be closed that was open.
    Reject,
}

/// Levels of nesting, in the schema and in the work on it.
const MAX_DEPTH: usize = 100;
/// Nodes that are looked at, with everything that is inlined.
const MAX_NODES: usize = 100_000;

/// Keywords that say nothing about what is accepted and may stand beside a `$ref`.
const ANNOTATIONS: [&str; 15] = [
    "$anchor",
    "$comment",
    "$defs",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Makes the strict form of a schema.
///
/// ```
/// # use serde_json::json;
/// # use toolmark_core::schema::strict::{OpenObjects, to_strict};
/// let strict = to_strict(&json!({ "properties": { "id": { "type": "string" } } }), OpenObjects::Reject).unwrap();
/// assert_eq!(strict["required"], json!(["id"]));
/// assert_eq!(strict["additionalProperties"], json!(false));
/// ```
///
/// # Errors
/// [`StrictSchemaError`] when the schema says something that has no strict form, or is too deep or too large.
pub fn to_strict(schema: &Value, open: OpenObjects) -> Result<Value, StrictSchemaError> {
    refuse_depth([schema], 1, children_of_value)?;
    to_strict_exact(&Json::from(schema), open).map(|strict| strict.to_value())
}

/// The same for a schema that was read with its numbers as written; they stay so.
///
/// # Errors
/// As [`to_strict`].
pub fn to_strict_exact(schema: &Json<'_>, open: OpenObjects) -> Result<Json<'static>, StrictSchemaError> {
    refuse_depth([schema], 1, children)?;
    let mut transform = Transform::of(schema, open);
    transform.run().map_err(|kind| StrictSchemaError::new(kind, transform.place()))
}

/// Refuses a schema that is too deep for any of this.
pub(crate) fn check_depth(schema: &Map<String, Value>) -> Result<(), StrictSchemaError> {
    refuse_depth(schema.values(), 2, children_of_value)
}

/// Walks with a stack of its own: this runs before anything recursive does.
fn refuse_depth<'a, T: 'a>(
    values: impl IntoIterator<Item = &'a T>,
    depth: usize,
    children: impl Fn(&'a T) -> Option<Vec<&'a T>>,
) -> Result<(), StrictSchemaError> {
    let mut stack: Vec<(&T, usize)> = values.into_iter().map(|value| (value, depth)).collect();
    while let Some((value, depth)) = stack.pop() {
        if let Some(children) = children(value) {
            if depth > MAX_DEPTH {
                return Err(StrictSchemaError::new(Kind::TooDeep, "#".into()));
            }
            stack.extend(children.into_iter().map(|child| (child, depth + 1)));
        }
    }
    Ok(())
}

/// What a container holds; none when the value is no container.
fn children_of_value(value: &Value) -> Option<Vec<&Value>> {
    match value {
        Value::Array(items) => Some(items.iter().collect()),
        Value::Object(entries) => Some(entries.values().collect()),
        _ => None,
    }
}

fn children<'a, 'v>(value: &'a Json<'v>) -> Option<Vec<&'a Json<'v>>> {
    match value {
        Json::Array(items) => Some(items.iter().collect()),
        Json::Object(entries) => Some(entries.iter().map(|(_, value)| value).collect()),
        _ => None,
    }
}

fn is_annotation(key: &str) -> bool {
    ANNOTATIONS.contains(&key)
}

#[cfg(test)]
mod tests;
