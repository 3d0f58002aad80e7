//! The functions about one call.

use serde_json::{Value, json};
use toolmark_core::compat::{
    HostedRequest, InvocationContext, WireName, approval_item_call_id, extract_tool_call_id, identify_invocation,
    normalize_tool_call, restore_routing_identity,
};

use super::input::Input;
use super::names::key;
use super::{Answer, Refusal};

pub(super) fn answer(function: &str, input: &Input<'_>) -> Option<Answer> {
    let call = || input.value("call");
    Some(match function {
        "lookup_key_for_call" => call().map(|call| key(WireName::of_call(call).lookup_key().as_ref())),
        "call_qualified_name" => call().map(|call| json!(WireName::of_call(call).qualified_name())),
        "call_trace_name" => call().map(|call| json!(WireName::of_call(call).trace_name())),
        "extract_tool_call_id" => call().map(|call| json!(extract_tool_call_id(call))),
        "tool_approval_item_call_id" => input.value("item").map(|item| json!(approval_item_call_id(item))),
        "hosted_mcp_approval_request_identity" => input.value("item").map(hosted),
        "normalize_tool_call" => normalized(input),
        "restore_routing_identity" => {
            call().and_then(|call| Ok(restore_routing_identity(call, input.lookup_key("lookup_key")?.as_ref())))
        }
        "tool_invocation_identity" => invocation(input),
        _ => return None,
    })
}

fn hosted(item: &Value) -> Value {
    HostedRequest::of(item).map_or(Value::Null, |request| {
        let identity = request.approval_identity();
        json!({
            "request_id": request.id(),
            "server_label": request.label(),
            "tool_name": request.tool(),
            "approval_identity": identity.map(|identity| json!(["hosted_mcp", identity.label(), identity.tool()])),
        })
    })
}

fn normalized(input: &Input<'_>) -> Answer {
    let call = input.value("call")?;
    let tool = input.tool("tool")?;
    Ok(tool.as_function().map_or_else(|| call.clone(), |tool| normalize_tool_call(call, tool)))
}

fn invocation(input: &Input<'_>) -> Answer {
    let key = input.lookup_key("tool_lookup_key")?;
    let context = InvocationContext {
        lookup_key: key.as_ref(),
        tool_name: input.optional_text("tool_name"),
        role: input.optional_text("invocation_role"),
    };
    let identity =
        identify_invocation(input.exact("raw_item")?, context).map_err(|error| Refusal::Category(error.category()))?;
    Ok(identity.map_or(Value::Null, |identity| {
        json!({
            "type": identity.kind().as_str(),
            "call_id": identity.call_id(),
            "approval_scope_sha256": identity.scope(),
            "fingerprint_sha256": identity.fingerprint(),
        })
    }))
}
