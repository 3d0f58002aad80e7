//! Schemas from strangers: compiling, checking, comparing and the strict form never panic and always end.

use serde_json::Value;
use toolmark_core::schema::check::InputSchema;
use toolmark_core::schema::compare::compare;
use toolmark_core::schema::strict;

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let (schema, instance) = match &value {
        Value::Array(items) => (items.first().unwrap_or(&Value::Null), items.get(1).unwrap_or(&Value::Null)),
        other => (other, other),
    };
    if let Ok(compiled) = InputSchema::compile(schema) {
        let _ = compiled.check(instance);
    }
    let _ = compare(schema, instance);
    let _ = strict::to_strict(schema, strict::OpenObjects::Close);
}
