//! Tools that answer at once with a fixed result: each kind of content, an error, and schemas that must arrive whole.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, Tool};
use serde_json::{Value, json};

use super::{Call, Outcome, contents, plain, text, tool};
use crate::resources::{PIXEL, SILENCE};

pub(super) fn definitions() -> Vec<Tool> {
    vec![
        plain("test_simple_text", "Returns a text"),
        plain("test_image_content", "Returns a picture"),
        plain("test_audio_content", "Returns a sound"),
        plain("test_embedded_resource", "Returns a resource"),
        plain("test_multiple_content_types", "Returns a text, a picture and a resource"),
        plain("test_error_handling", "Always fails"),
        json_schema_tool(),
        tool(
            "test_header_parameters",
            "Has parameters that travel as HTTP headers too",
            json!({
                "region": { "type": "string", "description": "Where to look", "x-mcp-header": "Region" },
                "priority": { "type": "integer", "description": "How soon", "x-mcp-header": "Priority" },
                "dry_run": { "type": "boolean", "x-mcp-header": "Dry-Run" },
                "query": { "type": "string", "description": "What to look for" },
            }),
            &["query"],
        ),
    ]
}

pub(super) fn run(call: &Call<'_>) -> Outcome {
    match call.tool {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => contents(vec![ContentBlock::image(PIXEL, "image/png")]),
        "test_audio_content" => contents(vec![ContentBlock::audio(SILENCE, "audio/wav")]),
        "test_embedded_resource" => {
            let resource = ResourceContents::text("This is an embedded resource content.", "test://embedded-resource");
            contents(vec![ContentBlock::resource(resource)])
        }
        "test_multiple_content_types" => {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            let resource =
                ResourceContents::text(data, "test://mixed-content-resource").with_mime_type("application/json");
            contents(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PIXEL, "image/png"),
                ContentBlock::resource(resource),
            ])
        }
        "test_error_handling" => {
            let message = ContentBlock::text("This tool intentionally returns an error for testing");
            Ok(CallToolResult::error(vec![message]).into())
        }
        "json_schema_2020_12_tool" | "test_header_parameters" => {
            text(format!("Called with {}", Value::Object(call.arguments.clone())))
        }
        _ => Err(call.unknown()),
    }
}

/// A schema with keywords that only JSON Schema 2020-12 has.
fn json_schema_tool() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => serde_json::Map::new(),
    };
    Tool::new("json_schema_2020_12_tool", "Has a schema with JSON Schema 2020-12 features", Arc::new(schema))
}
