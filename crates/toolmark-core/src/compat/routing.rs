//! The synthetic namespace of deferred tools: taken off before the tool sees the call, put back when a saved call is routed again.

use serde_json::Value;

use super::loose::Loose;
use super::tool::FunctionTool;
use super::wire::WireName;
use crate::names::LookupKey;

/// The call without the namespace that only repeats the name of a deferred tool; any other call unchanged.
#[must_use]
pub fn normalize_tool_call(call: &Value, tool: &FunctionTool) -> Value {
    let wire = WireName::of_call(call);
    let mut call = call.clone();
    if tool.is_deferred_top_level()
        && wire.is_reserved()
        && wire.name() == tool.public_name()
        && let Some(fields) = call.as_object_mut()
    {
        fields.shift_remove("namespace");
    }
    call
}

/// The call with the namespace that its lookup key says it was routed by; unchanged when it already has one.
#[must_use]
pub fn restore_routing_identity(call: &Value, key: Option<&LookupKey>) -> Value {
    let mut restored = call.clone();
    let Some((key, namespace)) = key.and_then(|key| Some((key, key.wire_namespace()?))) else {
        return restored;
    };
    if call.text_field("name") == Some(key.name())
        && call.text_field("namespace").is_none()
        && let Some(fields) = restored.as_object_mut()
    {
        fields.insert("namespace".to_owned(), namespace.into());
    }
    restored
}
