//! A call that nothing speaks against costs no memory beyond the check of its arguments.

use serde_json::json;
use toolmark_core::document::Document;
use toolmark_core::snapshot::Snapshot;
use toolmark_core::verdict::Decision;
use toolmark_policy::{Caller, PolicyConfig, Rule};
use toolmark_runtime::{Outcome, Request, WorkspaceBuilder};

#[test]
fn an_allowed_call_allocates_nothing_but_what_validation_does() {
    let tools = r#"[{"name": "list_issues", "description": "List issues", "inputSchema":
        {"type": "object", "properties": {"state": {"type": "string", "enum": ["open", "closed"]}, "limit": {"type": "integer"}}}}]"#;
    let catalog =
        Snapshot::of(&Document::new("t", tools.into()), "tracker").into_builder().build().expect("no problems");
    let rule = Rule::builder(Decision::Deny).tool("tracker.*").behavior("MUTATES|DELETE|*").build().expect("a rule");
    let policy = PolicyConfig::new().rule(rule);
    let workspace = WorkspaceBuilder::new().policy(policy).build(catalog).expect("a workspace");
    let arguments = json!({"state": "open", "limit": 10});
    let tool = workspace.catalog().find("list_issues", |_| true).expect("it is there");
    let task = workspace.tasks().find("read-only").expect("it is built in");
    let request = Request { tool, arguments: &arguments, task: Some(task), caller: Caller::new("alice") };
    let call = || {
        let found = workspace.examine(&request).expect("the tool belongs to the workspace");
        assert_eq!(found.outcome(), Outcome::Run);
    };
    // What is found once is kept.
    call();
    let validation = allocation_counter::measure(|| assert!(tool.check_arguments(&arguments).is_ok())).count_total;
    let whole = allocation_counter::measure(call).count_total;
    assert_eq!(whole, validation);
}
