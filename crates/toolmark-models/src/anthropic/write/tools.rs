//! The tools of Anthropic Messages: functions, and whatever is given in its own words.

use serde_json::{Value, json};
use toolmark_core::text::visible;

use super::WIRE;
use crate::body::add;
use crate::plain::plain_function;
use crate::request::{ModelRequest, ToolChoice};
use crate::tool::{HostedTool, WireTool};
use crate::unsendable::UnsendableError;

pub(super) fn tools(tools: &[WireTool]) -> Result<Value, UnsendableError> {
    tools.iter().map(tool).collect()
}

fn tool(tool: &WireTool) -> Result<Value, UnsendableError> {
    match tool {
        WireTool::Function(tool) => {
            let tool = plain_function(WIRE, tool)?;
            let mut schema = tool.parameters();
            // The provider demands a type where others take an empty schema.
            if let Some(fields) = schema.as_object_mut() {
                fields.entry("type").or_insert_with(|| json!("object"));
            }
            // Strictness is not passed on: the provider limits how many strict tools there may be and what their schemas hold,
            // and arguments are checked against the schema before anything runs.
            Ok(json!({ "name": tool.name, "description": tool.description, "input_schema": schema }))
        }
        WireTool::Custom(tool) => Err(UnsendableError::tool(WIRE, &tool.name, "the free text")),
        WireTool::Hosted(HostedTool::Other(raw)) if raw.wire == WIRE => Ok(raw.value.clone()),
        WireTool::Hosted(tool) => Err(UnsendableError::tool(WIRE, tool.kind(), "the hosting")),
    }
}

/// Which tool must be called and whether several may be; nothing where the provider's default does.
pub(super) fn choice(request: &ModelRequest) -> Result<Option<Value>, UnsendableError> {
    let mut wire = match &request.tool_choice {
        None if request.parallel_tool_calls != Some(false) => return Ok(None),
        None | Some(ToolChoice::Auto) => json!({ "type": "auto" }),
        Some(ToolChoice::None) => return Ok(Some(json!({ "type": "none" }))),
        Some(ToolChoice::Required) => json!({ "type": "any" }),
        Some(ToolChoice::Named(name)) if request.tools.iter().any(|tool| tool.name() == name) => {
            json!({ "type": "tool", "name": name })
        }
        Some(ToolChoice::Named(name)) => {
            return Err(UnsendableError::Choice { name: visible(name, 80), problem: "there is no such tool" });
        }
    };
    add(&mut wire, "disable_parallel_tool_use", (request.parallel_tool_calls == Some(false)).then_some(true));
    Ok(Some(wire))
}
