//! The schema of an MCP tool as it is sent to the provider: with `properties`, and in strict form where nothing open has to be closed.

use serde_json::{Map, Value};

use crate::schema::strict::{OpenObjects, StrictSchemaError, check_depth, to_strict};

/// A schema, and whether the provider may hold calls to it strictly.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSchema {
    schema: Value,
    strict: bool,
}

/// Prepares the input schema of a tool. The strict form is taken only if it closes nothing that was open; otherwise the
/// schema is sent as it is.
///
/// # Errors
/// [`StrictSchemaError`] when the schema is too deep, whether the strict form is wanted or not.
pub fn tool_schema(schema: &Map<String, Value>, strict: bool) -> Result<ToolSchema, StrictSchemaError> {
    check_depth(schema)?;
    let mut plain = schema.clone();
    plain.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let plain = Value::Object(plain);
    // A schema that says nothing at all is taken for "no arguments", not for "anything".
    let open = if schema.is_empty() { OpenObjects::Close } else { OpenObjects::Reject };
    let converted = if strict { to_strict(&plain, open).ok() } else { None };
    Ok(match converted {
        Some(schema) => ToolSchema { schema, strict: true },
        None => ToolSchema { schema: plain, strict: false },
    })
}

impl ToolSchema {
    /// The schema to send.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Whether it is in strict form.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.strict
    }
}
