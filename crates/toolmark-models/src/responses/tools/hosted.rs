//! The hosted tools, each in the shape that the provider documents.

use serde_json::{Value, json};

use super::{invalid, typed, unsupported};
use crate::body::add;
use crate::item::Wire;
use crate::tool::{Computer, FileSearch, HostedTool, ToolSearch, WebSearch};
use crate::unsendable::UnsendableError;

pub(super) fn hosted(
    tool: &HostedTool,
    model: &str,
    include: &mut Vec<&'static str>,
) -> Result<Value, UnsendableError> {
    Ok(match tool {
        HostedTool::WebSearch(search) => web_search(search),
        HostedTool::FileSearch(search) => {
            if search.include_search_results && !include.contains(&"file_search_call.results") {
                include.push("file_search_call.results");
            }
            file_search(search)?
        }
        HostedTool::CodeInterpreter { config } => {
            let mut wire = typed(tool.kind(), config);
            if config.get("container").is_none() {
                add(&mut wire, "container", Some(json!({ "type": "auto" })));
            }
            wire
        }
        HostedTool::ImageGeneration { config } | HostedTool::Mcp { config } => typed(tool.kind(), config),
        HostedTool::Computer(computer) => screen(computer, model)?,
        HostedTool::Shell { environment } => {
            let mut place = environment.clone().unwrap_or_default();
            place.entry("type").or_insert_with(|| json!("local"));
            json!({ "type": "shell", "environment": place })
        }
        HostedTool::LocalShell | HostedTool::ApplyPatch | HostedTool::ProgrammaticToolCalling => {
            json!({ "type": tool.kind() })
        }
        HostedTool::ToolSearch(search) => tool_search(search)?,
        HostedTool::Other(raw) if raw.wire == Wire::Responses => raw.value.clone(),
        HostedTool::Other(raw) => return Err(unsupported(raw.kind(), "the description in another provider's words")),
    })
}

fn web_search(search: &WebSearch) -> Value {
    let mut wire = json!({
        "type": "web_search",
        "filters": search.filters,
        "user_location": search.user_location,
        "search_context_size": search.search_context_size.as_deref().unwrap_or("medium"),
    });
    add(&mut wire, "external_web_access", search.external_web_access);
    add(&mut wire, "search_content_types", search.search_content_types.clone());
    add(&mut wire, "image_settings", search.image_settings.clone());
    wire
}

fn file_search(search: &FileSearch) -> Result<Value, UnsendableError> {
    let mut wire = json!({ "type": "file_search", "vector_store_ids": search.vector_store_ids });
    if let Some(count) = search.max_num_results {
        if !(1..=50).contains(&count) {
            return Err(invalid("file_search_results", format!("a file search gives 1 to 50 results, not {count}")));
        }
        add(&mut wire, "max_num_results", Some(count));
    }
    add(&mut wire, "ranking_options", search.ranking_options.clone());
    add(&mut wire, "filters", search.filters.clone());
    Ok(wire)
}

/// The preview model is told what the screen is like; every other one finds out.
fn screen(computer: &Computer, model: &str) -> Result<Value, UnsendableError> {
    if !model.starts_with("computer-use-preview") {
        return Ok(json!({ "type": "computer" }));
    }
    let (Some(environment), Some((width, height))) = (&computer.environment, computer.display) else {
        let problem = "the preview model must be told the environment and the size of the computer's screen";
        return Err(invalid("computer_preview", problem.to_owned()));
    };
    Ok(json!({
        "type": "computer_use_preview",
        "environment": environment,
        "display_width": width,
        "display_height": height,
    }))
}

fn tool_search(search: &ToolSearch) -> Result<Value, UnsendableError> {
    if search.execution.as_deref() == Some("client") {
        return Err(unsupported("tool_search", "the execution by the client"));
    }
    let mut wire = json!({ "type": "tool_search" });
    add(&mut wire, "description", search.description.as_deref());
    add(&mut wire, "execution", search.execution.as_deref());
    add(&mut wire, "parameters", search.parameters.clone());
    Ok(wire)
}
