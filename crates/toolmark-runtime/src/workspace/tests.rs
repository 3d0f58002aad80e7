use toolmark_core::behavior::{BehaviorSource, Mutability};
use toolmark_core::lock::Lock;
use toolmark_core::pins::FirstUse;
use toolmark_policy::Caller;

use super::*;
use crate::Request;
use crate::testing::catalog;

#[test]
fn what_the_operator_says_about_a_tool_is_what_is_known() {
    let name: CanonicalName = "tracker.list_issues".parse().unwrap();
    let workspace =
        WorkspaceBuilder::new().behavior(name, "MUTATES|EXECUTE|RUN".parse().unwrap()).build(catalog()).unwrap();
    let tool = workspace.catalog().find("tracker.list_issues", |_| true).unwrap();
    let known = workspace.known(tool);
    assert_eq!(known.source(), Some(BehaviorSource::Operator));
    assert_eq!(known.mutability(), Some(Mutability::Mutates));
}

#[test]
fn a_tool_that_was_approved_as_another_is_changed() {
    let mut reader = toolmark_core::snapshot::SnapshotReader::default();
    let old = r#"[{"name": "list_issues", "description": "Old", "inputSchema": {"type": "object"}}]"#;
    reader.read(&toolmark_core::document::Document::new("tracker.json", old.into()), "tracker");
    let lock = Lock::of(&reader.finish().into_builder().build().unwrap());
    let workspace = WorkspaceBuilder::new().lock(Some(lock)).build(catalog()).unwrap();
    let changed = |name: &str| {
        let tool = workspace.catalog().find(name, |_| true).unwrap();
        workspace.prepared(tool).unwrap().is_changed()
    };
    assert!(changed("tracker.list_issues"));
    assert!(!changed("tracker.delete_issue"), "a tool that nobody approved is new, not changed");
}

#[test]
fn a_tool_that_nobody_approved_runs_is_asked_for_or_is_refused_as_the_policy_says() {
    let judged = |first_use: FirstUse| {
        let pins = Pins::new(None).first_use(first_use);
        let workspace = WorkspaceBuilder::new().pins(pins).build(catalog()).unwrap();
        let tool = workspace.catalog().find("tracker.list_issues", |_| true).unwrap();
        let request = Request { tool, arguments: &serde_json::json!({}), task: None, caller: Caller::new("a") };
        let examination = workspace.examine(&request).unwrap();
        let codes: Vec<&str> = examination.verdict().reasons().iter().map(|reason| reason.code).collect();
        (examination.outcome().as_str(), codes.join(","), workspace.changes(tool).is_empty())
    };
    assert_eq!(judged(FirstUse::Trust), ("run", String::new(), true));
    assert_eq!(judged(FirstUse::Ask), ("ask", "first-use".into(), false));
    assert_eq!(judged(FirstUse::Locked), ("refuse", "not-in-lock".into(), true));
}

#[test]
fn what_was_accepted_beside_the_lock_counts_too() {
    let accepted = std::sync::Arc::new(Lock::with_definitions(&catalog()));
    let pins = Pins::new(None).accepted(accepted).first_use(FirstUse::Ask);
    let workspace = WorkspaceBuilder::new().pins(pins).build(catalog()).unwrap();
    assert!(workspace.catalog().tools().all(|tool| workspace.standing(tool) == Standing::Pinned));
}
