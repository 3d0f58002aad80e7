use serde_json::json;

use super::*;

fn finish_of(output: &Value) -> Finish {
    response(json!({"status": "completed", "output": output}), Vec::new()).unwrap().finish
}

#[test]
fn a_hosted_call_that_the_host_must_answer_is_waited_for() {
    for kind in ["local_shell_call", "shell_call", "apply_patch_call", "computer_call"] {
        assert_eq!(finish_of(&json!([{"type": kind, "call_id": "c"}])), Finish::ToolCalls, "{kind}");
    }
    assert_eq!(finish_of(&json!([{"type": "mcp_approval_request", "id": "m"}])), Finish::ToolCalls);
    assert_eq!(finish_of(&json!([{"type": "web_search_call", "id": "w"}])), Finish::Stop);
}

#[test]
fn a_hosted_call_that_the_provider_ran_is_not() {
    let call = json!({"type": "shell_call", "call_id": "c"});
    assert_eq!(finish_of(&json!([call, {"type": "shell_call_output", "call_id": "c"}])), Finish::Stop);
    assert_eq!(finish_of(&json!([call, {"type": "shell_call_output", "call_id": "d"}])), Finish::ToolCalls);
}

#[test]
fn what_is_not_finished_or_failed_is_no_answer() {
    for status in ["failed", "cancelled", "queued", "in_progress"] {
        assert!(response(json!({"status": status, "output": []}), Vec::new()).is_err(), "{status}");
    }
    for body in [
        json!({}),
        json!(null),
        json!({"output": {}}),
        json!({"output": [1]}),
        json!({"error": {"message": "m"}, "output": []}),
    ] {
        assert!(response(body.clone(), Vec::new()).is_err(), "{body}");
    }
}

#[test]
fn a_call_keeps_what_is_wrong_with_its_arguments_but_needs_an_id_and_a_name() {
    let read = |call: Value| item(call);
    let Ok(Item::FunctionCall(call)) =
        read(json!({"type": "function_call", "call_id": "c", "name": "", "arguments": {"a": 1}}))
    else {
        panic!("not a call")
    };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("", "{\"a\":1}"));
    assert!(read(json!({"type": "function_call", "name": "f", "arguments": "{}"})).is_err());
    assert!(read(json!({"type": "function_call", "call_id": ["c"], "name": "f"})).is_err());
    assert!(read(json!({"type": "custom_tool_call", "call_id": "c", "name": null})).is_err());
}
