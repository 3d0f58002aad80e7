//! Which tool must be called, as Responses is told; and which cannot be named there.

use serde_json::{Value, json};
use toolmark_core::text::visible;

use crate::request::ToolChoice;
use crate::tool::{HostedTool, WireTool};
use crate::unsendable::UnsendableError;

/// The field `tool_choice`.
pub(crate) fn choice(choice: &ToolChoice, tools: &[WireTool], model: &str) -> Result<Value, UnsendableError> {
    match choice {
        ToolChoice::Auto => Ok(json!("auto")),
        ToolChoice::None => Ok(json!("none")),
        ToolChoice::Required => Ok(json!("required")),
        ToolChoice::Named(name) => named(name, tools, model),
    }
}

fn named(name: &str, tools: &[WireTool], model: &str) -> Result<Value, UnsendableError> {
    let fail = |problem| UnsendableError::Choice { name: visible(name, 80), problem };
    let functions = || {
        tools.iter().filter_map(|tool| match tool {
            WireTool::Function(tool) => Some(tool),
            _ => None,
        })
    };
    if functions().any(|tool| tool.name == name && tool.namespace().is_none() && !tool.defer_loading) {
        return Ok(json!({ "type": "function", "name": name }));
    }
    if tools.iter().any(|tool| matches!(tool, WireTool::Custom(tool) if tool.name == name && !tool.defer_loading)) {
        return Ok(json!({ "type": "custom", "name": name }));
    }
    if matches!(name, "computer" | "computer_use" | "computer_use_preview")
        && tools.iter().any(|tool| matches!(tool, WireTool::Hosted(HostedTool::Computer(_))))
    {
        let preview = model.starts_with("computer-use-preview");
        return Ok(json!({ "type": if preview { "computer_use_preview" } else { "computer" } }));
    }
    if name == "tool_search" {
        return Err(fail("a search for tools cannot be forced"));
    }
    if tools.iter().any(|tool| matches!(tool, WireTool::Hosted(hosted) if hosted.kind() == name)) {
        return Ok(json!({ "type": name }));
    }
    let in_namespace =
        functions().any(|tool| tool.namespace().is_some_and(|namespace| tool.name == name || namespace == name));
    if in_namespace {
        return Err(fail("it is a namespace, or stands in one"));
    }
    if functions().any(|tool| tool.name == name) {
        return Err(fail("it is loaded late"));
    }
    Err(fail("there is no such tool"))
}
