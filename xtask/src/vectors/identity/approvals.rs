//! Scenarios: decisions and questions about calls in one run, and what the SDK said to each.

use serde_json::{Value, json};
use toolmark_core::call::CallId;
use toolmark_core::compat::{ApprovalError, ApprovalItem, Approvals, Decision, Reach};
use toolmark_core::json::Json;
use toolmark_core::names::LookupKey;

use super::input::{Input, unfit};
use super::{Answer, Refusal};

/// Plays the operations of a scenario in one run; the answer has one result for each.
pub(super) fn scenario(input: &Json<'_>) -> Answer {
    let Some(Json::Array(ops)) = input.get("ops") else {
        return Err(unfit("ops", "a list"));
    };
    let mut approvals = Approvals::default();
    let results: Result<Vec<Value>, Refusal> = ops.iter().map(|op| play(&mut approvals, &Input::of(op))).collect();
    results.map(Value::Array)
}

/// Compares the results one by one; errors by their category.
pub(super) fn same(expected: &Value, got: &Value) -> bool {
    let (Some(expected), Some(got)) = (expected.as_array(), got.as_array()) else {
        return false;
    };
    expected.len() == got.len()
        && expected.iter().zip(got).all(|(expected, got)| {
            expected.get("output") == got.get("output") && expected.get("error_category") == got.get("error_category")
        })
}

fn play(approvals: &mut Approvals, op: &Input<'_>) -> Result<Value, Refusal> {
    let name = op.text("op")?;
    if name == "is_tool_approved" {
        let call_id: CallId = op.text("call_id")?.parse().map_err(|_| unfit("call_id", "a call id"))?;
        return Ok(json!({ "output": approvals.is_tool_approved(op.text("name")?, &call_id) }));
    }
    let raw = Input::of(op.exact("item")?);
    let key = raw.lookup_key("tool_lookup_key")?;
    let item = item(&raw, key.as_ref())?;
    let reach = || Ok(if op.flag("always")? { Reach::Always } else { Reach::Once });
    Ok(result(match name {
        "approve" => approvals.decide(&item, Decision::Approve, reach()?).map(|()| json!("recorded")),
        "reject" => {
            let decision = Decision::Reject { message: op.optional_text("message") };
            approvals.decide(&item, decision, reach()?).map(|()| json!("recorded"))
        }
        "status" => approvals.status(&item, op.flag("as_pending")?).map(|status| json!(status)),
        "rejection_message" => Ok(json!(approvals.rejection_message(&item))),
        "register_call" => approvals.register_call(&item).map(|progress| {
            json!(progress.map(|it| json!({ "executed": it.executed(), "completed": it.completed() })))
        }),
        other => return Err(unfit("op", &format!("a known operation (`{other}`)"))),
    }))
}

fn item<'a>(item: &'a Input<'a>, lookup_key: Option<&'a LookupKey>) -> Result<ApprovalItem<'a>, Refusal> {
    Ok(ApprovalItem {
        raw_item: item.exact("raw_item")?,
        agent: item.text("agent")?,
        tool_name: item.optional_text("tool_name"),
        tool_namespace: item.optional_text("tool_namespace"),
        lookup_key,
        bare_name_alias: item.optional("allow_bare_name_alias").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn result(answer: Result<Value, ApprovalError>) -> Value {
    match answer {
        Ok(output) => json!({ "output": output }),
        Err(error) => json!({ "error_category": error.category() }),
    }
}
