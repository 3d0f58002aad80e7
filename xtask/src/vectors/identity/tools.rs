//! The functions about a tool, or a list of tools.

use serde_json::{Value, json};
use toolmark_core::compat::{
    Collision, CollisionPolicy, FunctionTool, Route, Routes, Tool, WireName, bare_name_alias_allowed, build_lookup_map,
    resolve_tool_name_collisions, validate_lookup_configuration,
};

use super::input::{Input, unfit};
use super::names::key;
use super::{Answer, Refusal};

pub(super) fn answer(function: &str, input: &Input<'_>) -> Option<Answer> {
    let tool = || input.tool("tool");
    Some(match function {
        "lookup_key_for_tool" => tool().map(|tool| key(lookup_key(&tool).as_ref())),
        "lookup_keys_for_tool" => tool().map(|tool| lookup_key(&tool).iter().map(|found| key(Some(found))).collect()),
        "dispatch_name" => tool().map(|tool| json!(tool.as_function().and_then(FunctionTool::dispatch_name))),
        "function_tool_trace_name" => tool().map(|tool| json!(tool.as_function().and_then(FunctionTool::trace_name))),
        "display_trace_name_for_tool" => tool().map(|tool| json!(tool.display_trace_name())),
        "is_deferred_top_level" => {
            tool().map(|tool| json!(tool.as_function().is_some_and(FunctionTool::is_deferred_top_level)))
        }
        "should_allow_bare_name_alias" => alias(input),
        "validate_lookup_configuration" => input.tools("tools").and_then(|tools| {
            let valid = validate_lookup_configuration(&tools);
            valid.map(|()| json!("ok")).map_err(|error| Refusal::Category(error.category()))
        }),
        "build_lookup_map" => input.tools("tools").and_then(|tools| {
            let map = build_lookup_map(&tools).map_err(|error| Refusal::Category(error.category()))?;
            Ok(map.iter().map(|(found, index)| json!({ "key": key(Some(found)), "index": index })).collect())
        }),
        "resolve_tool_name_collisions" => collisions(input),
        "route_call" => route(input),
        _ => return None,
    })
}

fn lookup_key(tool: &Tool) -> Option<toolmark_core::names::LookupKey> {
    tool.as_function().and_then(FunctionTool::lookup_key)
}

fn alias(input: &Input<'_>) -> Answer {
    let tools = input.tools("all_tools")?;
    let position = match input.value("self_index")? {
        Value::Null => None,
        index => Some(
            index.as_u64().and_then(|index| index.try_into().ok()).ok_or_else(|| unfit("self_index", "a position"))?,
        ),
    };
    let own = input.tool("tool")?;
    let tool = match position {
        None => &own,
        Some(position) => tools.get(position).ok_or_else(|| unfit("self_index", "in the list"))?,
    };
    Ok(json!(tool.as_function().is_some_and(|tool| bare_name_alias_allowed(tool, position, &tools))))
}

fn collisions(input: &Input<'_>) -> Answer {
    let (tools, handoffs) = (input.tools("tools")?, input.handoffs("handoffs")?);
    let policy = if input.text("policy")? == "error" { CollisionPolicy::Error } else { CollisionPolicy::Warn };
    let resolved =
        resolve_tool_name_collisions(&tools, &handoffs, policy).map_err(|error| Refusal::Category(error.category()))?;
    Ok(json!({
        "kept_tools": resolved.tools(),
        "kept_handoffs": resolved.handoffs(),
        "warning_categories": resolved.warnings().iter().map(Collision::category).collect::<Vec<_>>(),
        "warnings": resolved.warnings().iter().map(Collision::warning).collect::<Vec<_>>(),
    }))
}

fn route(input: &Input<'_>) -> Answer {
    let (tools, handoffs) = (input.tools("tools")?, input.handoffs("handoffs")?);
    let call = input.value("call")?;
    let name = WireName::of_call(call);
    let routes = Routes::new(&tools, &handoffs).map_err(|error| Refusal::Category(error.category()))?;
    let used = json!([name.trace_name()]);
    Ok(match routes.route(name).map_err(|error| Refusal::Category(error.category()))? {
        Route::Function(index) => json!({ "route": "function", "tool_index": index, "tools_used": used }),
        Route::Handoff(index) => json!({ "route": "handoff", "handoff_index": index, "tools_used": used }),
        Route::ApplyPatch(index) => json!({ "route": "apply_patch", "tool_index": index, "tools_used": used }),
    })
}
