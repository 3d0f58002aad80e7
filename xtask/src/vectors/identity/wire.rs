//! The functions about what a model is sent: its list of tools, and what a tool gave back.

use serde_json::{Map, Value, json};
use toolmark_models::output::structured;
use toolmark_models::responses::{tools::wire_tools, wire_part};
use toolmark_models::tool::{
    Computer, CustomTool, FileSearch, FunctionTool, HostedTool, ToolSearch, WebSearch, WireTool,
};

use super::input::{Input, unfit};
use super::{Answer, Refusal};

pub(super) fn answer(function: &str, input: &Input<'_>) -> Option<Answer> {
    Some(match function {
        "responses_wire_tools" => responses(input),
        "tool_output_structured" => input.value("output").and_then(output),
        _ => return None,
    })
}

fn responses(input: &Input<'_>) -> Answer {
    let tools = |key| input.list(key)?.iter().map(tool).collect::<Result<Vec<_>, _>>();
    let wire = wire_tools(&tools("tools")?, &tools("handoffs")?, input.text("model")?)
        .map_err(|error| Refusal::Category(error.category()))?;
    Ok(json!({ "tools": wire.tools, "includes": wire.include }))
}

fn output(output: &Value) -> Answer {
    let parts = structured(output).map(|parts| parts.iter().map(wire_part).collect::<Result<Vec<_>, _>>());
    parts.transpose().map(|parts| json!(parts)).map_err(|error| Refusal::Category(error.category()))
}

/// A tool with the settings that the recording was made with.
fn tool(value: &Value) -> Result<WireTool, Refusal> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let kind = text("kind").ok_or_else(|| unfit("tool", "a tool with a `kind`"))?;
    let hosted = |tool| Ok(WireTool::Hosted(tool));
    match kind.as_str() {
        "function" => {
            let schema = json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false });
            Ok(WireTool::Function(FunctionTool {
                namespace: text("namespace"),
                namespace_description: text("namespace_description"),
                defer_loading: value.get("defer_loading").and_then(Value::as_bool).unwrap_or(false),
                ..FunctionTool::new(text("name").unwrap_or_default(), "d", schema)
            }))
        }
        "handoff" => Ok(WireTool::Function(FunctionTool::new(text("tool_name").unwrap_or_default(), "d", json!({})))),
        "custom" => {
            Ok(WireTool::Custom(CustomTool { name: text("name").unwrap_or_default(), ..CustomTool::default() }))
        }
        "web_search" => hosted(HostedTool::WebSearch(WebSearch::default())),
        "file_search" => {
            let search = FileSearch { vector_store_ids: vec!["vs".to_owned()], ..FileSearch::default() };
            hosted(HostedTool::FileSearch(search))
        }
        "code_interpreter" => hosted(HostedTool::CodeInterpreter { config: Map::new() }),
        "image_generation" => hosted(HostedTool::ImageGeneration { config: Map::new() }),
        "hosted_mcp" => {
            let config = value.get("config").and_then(Value::as_object).cloned().unwrap_or_default();
            hosted(HostedTool::Mcp { config })
        }
        "computer" => {
            let computer = Computer { environment: Some("browser".to_owned()), display: Some((1024, 768)) };
            hosted(HostedTool::Computer(computer))
        }
        "shell" => hosted(HostedTool::Shell { environment: None }),
        "local_shell" => hosted(HostedTool::LocalShell),
        "apply_patch" => hosted(HostedTool::ApplyPatch),
        "tool_search" => hosted(HostedTool::ToolSearch(ToolSearch::default())),
        "programmatic" => hosted(HostedTool::ProgrammaticToolCalling),
        other => Err(unfit("tool", &format!("of a known kind (`{other}`)"))),
    }
}
