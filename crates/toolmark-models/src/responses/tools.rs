//! How are tools said in OpenAI Responses? One list, in which the tools of a namespace stand together where its first one stood.

mod choice;
mod hosted;

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolmark_core::compat::{FunctionTool as Named, Tool as Listed, validate_lookup_configuration};
use toolmark_core::text::visible;

use crate::body::add;
use crate::item::Wire;
use crate::tool::{CustomTool, FunctionTool, HostedTool, WireTool};
use crate::unsendable::UnsendableError;

pub(crate) use choice::choice;

/// The fields `tools` and `include` of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireTools {
    /// The tools.
    pub tools: Vec<Value>,
    /// What the answer should hold beyond the usual.
    pub include: Vec<&'static str>,
}

/// Says tools, and handoffs after them, as a model of this name takes them.
///
/// # Errors
/// [`UnsendableError`] when a name has no single meaning, or the tools do not fit together.
pub fn wire_tools(tools: &[WireTool], handoffs: &[WireTool], model: &str) -> Result<WireTools, UnsendableError> {
    fit_together(tools)?;
    let mut wire = WireTools::default();
    let mut namespaces: HashMap<&str, (usize, &str)> = HashMap::new();
    for tool in tools {
        let namespaced = match tool {
            WireTool::Function(tool) => tool.namespace().map(|namespace| (tool, namespace)),
            _ => None,
        };
        let Some((tool, namespace)) = namespaced else {
            wire.tools.push(one(tool, model, &mut wire.include)?);
            continue;
        };
        let description = tool.namespace_description.as_deref().unwrap_or_default();
        let &mut (at, first) = namespaces.entry(namespace).or_insert((wire.tools.len(), description));
        if first != description {
            let problem = format!("the tools of the namespace `{}` describe it differently", visible(namespace, 80));
            return Err(invalid("namespace_description_mismatch", problem));
        }
        match wire.tools.get_mut(at).and_then(|group| group.get_mut("tools")).and_then(Value::as_array_mut) {
            Some(group) => group.push(function(tool)),
            None => wire.tools.push(json!({
                "type": "namespace", "name": namespace, "description": description, "tools": [function(tool)],
            })),
        }
    }
    for handoff in handoffs {
        wire.tools.push(one(handoff, model, &mut wire.include)?);
    }
    Ok(wire)
}

/// What must hold over the whole list, in the order in which the Agents SDK looks at it.
fn fit_together(tools: &[WireTool]) -> Result<(), UnsendableError> {
    let count = |wanted: fn(&HostedTool) -> bool| {
        tools.iter().filter(|tool| matches!(tool, WireTool::Hosted(hosted) if wanted(hosted))).count()
    };
    let searches = count(|tool| matches!(tool, HostedTool::ToolSearch(_)));
    at_most_one("tool search", "multiple_tool_search", searches)?;
    validate_lookup_configuration(&tools.iter().filter_map(listed).collect::<Vec<_>>())?;
    if searches == 0 && tools.iter().any(is_deferred) {
        let problem = "a tool is loaded late, and there is no tool search that could find it";
        return Err(invalid("tool_search_required", problem.to_owned()));
    }
    let is_namespaced = |tool: &WireTool| matches!(tool, WireTool::Function(tool) if tool.namespace().is_some());
    if searches > 0 && !tools.iter().any(|tool| is_deferred(tool) || is_namespaced(tool)) {
        let problem = "there is a tool search, and nothing that it could find";
        return Err(invalid("tool_search_without_surface", problem.to_owned()));
    }
    at_most_one("computer", "multiple_computers", count(|tool| matches!(tool, HostedTool::Computer(_))))?;
    let programs = count(|tool| matches!(tool, HostedTool::ProgrammaticToolCalling));
    at_most_one("programmatic tool calling", "multiple_programmatic", programs)
}

fn at_most_one(what: &str, category: &'static str, count: usize) -> Result<(), UnsendableError> {
    if count <= 1 { Ok(()) } else { Err(invalid(category, format!("there are {count} tools for {what}, not one"))) }
}

fn is_deferred(tool: &WireTool) -> bool {
    match tool {
        WireTool::Function(tool) => tool.defer_loading,
        WireTool::Custom(tool) => tool.defer_loading,
        WireTool::Hosted(HostedTool::Mcp { config }) => {
            config.get("defer_loading").and_then(Value::as_bool) == Some(true)
        }
        WireTool::Hosted(_) => false,
    }
}

/// The tool as dispatch will look for it. Only functions have a name that could be confused.
fn listed(tool: &WireTool) -> Option<Listed> {
    let WireTool::Function(tool) = tool else { return None };
    let named = Named::new(&tool.name).in_namespace(tool.namespace().unwrap_or_default());
    Some(Listed::Function(if tool.defer_loading { named.deferred() } else { named }))
}

fn one(tool: &WireTool, model: &str, include: &mut Vec<&'static str>) -> Result<Value, UnsendableError> {
    match tool {
        WireTool::Function(tool) => Ok(function(tool)),
        WireTool::Custom(tool) => Ok(custom(tool)),
        WireTool::Hosted(tool) => hosted::hosted(tool, model, include),
    }
}

fn function(tool: &FunctionTool) -> Value {
    let mut wire = json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters(),
        "strict": tool.strict,
    });
    add(&mut wire, "defer_loading", tool.defer_loading.then_some(true));
    add(&mut wire, "allowed_callers", tool.allowed_callers.clone());
    add(&mut wire, "output_schema", tool.output_schema.clone());
    wire
}

fn custom(tool: &CustomTool) -> Value {
    let mut wire = json!({ "type": "custom", "name": tool.name });
    add(&mut wire, "description", tool.description.as_deref());
    add(&mut wire, "format", tool.format.clone());
    add(&mut wire, "defer_loading", tool.defer_loading.then_some(true));
    add(&mut wire, "allowed_callers", tool.allowed_callers.clone());
    wire
}

fn invalid(category: &'static str, problem: String) -> UnsendableError {
    UnsendableError::Tools { problem, category }
}

/// Settings that are passed through, with the type that they must have.
fn typed(kind: &str, config: &Map<String, Value>) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), kind.into());
    fields.extend(config.clone());
    fields.insert("type".to_owned(), kind.into());
    Value::Object(fields)
}

fn unsupported(tool: &str, feature: &'static str) -> UnsendableError {
    UnsendableError::tool(Wire::Responses, tool, feature)
}

#[cfg(test)]
mod tests;
