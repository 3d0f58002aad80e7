//! The functions about names alone.

use serde_json::{Value, json};
use toolmark_core::compat::{
    ApprovalKeyOptions, DerivedName, FunctionTool, WireName, agent_tool_name, approval_keys, deserialize_lookup_key,
    handoff_name, is_apply_patch_name, serialize_lookup_key, tool_namespace, validate_fallback_name,
};
use toolmark_core::names::LookupKey;

use super::input::{Input, unfit};
use super::{Answer, Refusal};

pub(super) fn answer(function: &str, input: &Input<'_>) -> Option<Answer> {
    let wire = || WireName::of_values(input.optional("name"), input.optional("namespace"));
    Some(match function {
        "lookup_key" => Ok(key(wire().lookup_key().as_ref())),
        "qualified_name" => Ok(json!(wire().qualified_name())),
        "trace_name" => Ok(json!(wire().trace_name())),
        "is_reserved_synthetic_namespace" => Ok(json!(wire().is_reserved())),
        "serialize_lookup_key" => {
            input.lookup_key("lookup_key").map(|key| key.as_ref().map_or(Value::Null, serialize_lookup_key))
        }
        "deserialize_lookup_key" => input.value("data").map(|data| key(deserialize_lookup_key(data).as_ref())),
        "approval_keys" => keys(input),
        "handoff_default_tool_name" => input.text("agent_name").map(|agent| derived(&handoff_name(agent))),
        "agent_as_tool_default_name" => input.text("agent_name").map(|agent| derived(&agent_tool_name(agent))),
        "validate_fallback_name" => input.text("name").and_then(|name| {
            validate_fallback_name(name).map(Value::from).map_err(|error| Refusal::Category(error.category()))
        }),
        "tool_namespace" => namespace(input),
        "is_apply_patch_name" => {
            Ok(json!(is_apply_patch_name(input.optional_text("name"), input.optional_text("tool_name"))))
        }
        _ => return None,
    })
}

/// A lookup key as the vectors write it.
pub(super) fn key(key: Option<&LookupKey>) -> Value {
    match key {
        None => Value::Null,
        Some(LookupKey::Bare(name)) => json!(["bare", name]),
        Some(LookupKey::Namespaced(namespace, name)) => json!(["namespaced", namespace, name]),
        Some(LookupKey::DeferredTopLevel(name)) => json!(["deferred_top_level", name]),
    }
}

fn derived(name: &DerivedName) -> Value {
    json!({ "tool_name": name.name(), "warned": name.warned() })
}

fn keys(input: &Input<'_>) -> Answer {
    let name = WireName::of_values(input.optional("tool_name"), input.optional("tool_namespace"));
    let flag = |key| input.optional(key).and_then(Value::as_bool).unwrap_or(false);
    let options = ApprovalKeyOptions {
        bare_name_alias: flag("allow_bare_name_alias"),
        legacy_same_name: flag("prefer_legacy_same_name_namespace"),
        legacy_deferred: flag("include_legacy_deferred_key"),
    };
    let key = input.lookup_key("tool_lookup_key")?;
    Ok(json!(approval_keys(name, key.as_ref(), options)))
}

fn namespace(input: &Input<'_>) -> Answer {
    let names = input.list("tools")?.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
    let names = names.ok_or_else(|| unfit("tools", "a list of names"))?;
    let tools = names.iter().map(|name| FunctionTool::new(name)).collect();
    let inside = tool_namespace(input.optional_text("namespace"), input.optional_text("description"), tools)
        .map_err(|error| Refusal::Category(error.category()))?;
    let tools = inside.tools().iter().zip(names).map(|(tool, name)| {
        let qualified = tool.dispatch_name().map_or_else(|| name.to_owned(), |name| name.to_string());
        json!({
            "name": name,
            "namespace": inside.name(),
            "namespace_description": inside.description(),
            "qualified_name": qualified,
        })
    });
    Ok(tools.collect())
}
