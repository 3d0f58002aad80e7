//! A function tool is a tool like any: it has a mark, rules hold for it, what it does is judged, and what became of it is recorded.

use std::sync::{Arc, Mutex};

use toolmark::policy::{PolicyConfig, Rule};
use toolmark::prelude::*;
use toolmark::runtime::{Record, Recorder, Stray, WorkspaceBuilder};
use toolmark::tools::Ended;
use toolmark::verdict::Decision;

/// Reads customers with a SQL query.
#[tool(behavior(pure, read, data))]
fn read_customers(sql: String) -> String {
    format!("rows of {sql}")
}

/// Deletes a customer.
#[tool(behavior(mutates, delete, user))]
fn delete_customer(id: u64) -> String {
    format!("{id} is gone")
}

fn tools() -> Tools {
    toolset! { pack "crm" { read_customers, delete_customer } }.expect("tools")
}

#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl Recorder for Kept {
    fn record(&self, record: &Record<'_>) {
        let caller = format!("{}/{}", record.caller.name(), record.caller.agent().unwrap_or("-"));
        let line =
            format!("{caller} {} {} {}", record.tool.canonical(), record.verdict.decision(), record.end.as_str());
        self.0.lock().expect("a lock").push(line);
    }

    fn stray(&self, stray: &Stray<'_>) {
        self.0.lock().expect("a lock").push(format!("{} {}", stray.lookup, stray.kind.as_str()));
    }
}

async fn call(turn: &toolmark::tools::Turn, name: &str, arguments: &str) -> toolmark::tools::Answer {
    let id = "call_1".parse().expect("an id");
    let called = turn.call(&ToolCall::new(name, &id, arguments).in_namespace(Some("crm"))).await;
    called.answer().expect("an answer").clone()
}

#[tokio::test]
async fn a_function_tool_has_a_mark_and_its_definition_a_digest() {
    let (one, other) = (super::turn(tools()).await, super::turn(tools()).await);
    let marks = |turn: &toolmark::tools::Turn| -> Vec<String> {
        turn.workspace().catalog().tools().map(|tool| tool.mark().to_string()).collect()
    };
    assert_eq!(marks(&one), marks(&other));
    let entry = one.workspace().catalog().find("crm.delete_customer", |_| true).expect("the tool");
    assert_eq!(entry.kind(), ToolKind::Function);
    assert!(entry.source().as_str().starts_with("rust:tools::identity"), "{}", entry.source());
    assert_eq!(entry.behavior().map(|behavior| behavior.to_string()).as_deref(), Some("MUTATES|DELETE|USER"));
}

#[tokio::test]
async fn arguments_that_exceed_what_the_tool_is_for_are_refused() {
    let turn = super::turn(tools()).await;
    let fine = call(&turn, "read_customers", r#"{"sql": "SELECT * FROM customers"}"#).await;
    assert!(matches!(fine.ended, Ended::Ran), "{fine:?}");
    let refused = call(&turn, "read_customers", r#"{"sql": "DELETE FROM customers"}"#).await;
    assert!(matches!(refused.ended, Ended::Refused { code: "effect-exceeds-behavior" }), "{refused:?}");
    assert!(refused.output.to_text().contains("`crm.read_customers` was not called"), "{}", refused.output.to_text());
}

#[tokio::test]
async fn a_task_holds_for_the_calls_of_its_turn() {
    let toolbox = Toolbox::builder().toolset(tools()).build();
    let context = TurnContext::new("assistant", RunContext::new()).task("read-only".parse().expect("a task"));
    let turn = toolbox.turn(context).await.expect("a turn");
    assert!(matches!(call(&turn, "delete_customer", r#"{"id": 1}"#).await.ended, Ended::Refused { .. }));

    let unknown = TurnContext::new("assistant", RunContext::new()).task("nonsense".parse().expect("a task"));
    assert!(toolbox.turn(unknown).await.is_err());
}

#[tokio::test]
async fn rules_hold_for_function_tools_and_everything_is_recorded() {
    let deny = Rule::builder(Decision::Deny).id("keep").tool("crm.delete_customer").build().expect("a rule");
    let policy = PolicyConfig::new().rule(deny);
    let kept = Arc::new(Kept::default());
    let toolbox = Toolbox::builder()
        .toolset(tools())
        .rules(WorkspaceBuilder::new().policy(policy))
        .recorder(Arc::clone(&kept) as _)
        .build();
    let context = TurnContext::new("assistant", RunContext::new()).caller("alice");
    let turn = toolbox.turn(context).await.expect("a turn");
    assert!(matches!(call(&turn, "delete_customer", r#"{"id": 1}"#).await.ended, Ended::Refused { .. }));
    call(&turn, "read_customers", r#"{"sql": "SELECT 1"}"#).await;
    call(&turn, "read_customers", "{").await;
    call(&turn, "drop", "{}").await;
    assert_eq!(
        *kept.0.lock().expect("a lock"),
        [
            "alice/assistant crm.delete_customer deny denied",
            "alice/assistant crm.read_customers allow ok",
            "read_customers unreadable",
            "drop unknown-tool",
        ]
    );
}
