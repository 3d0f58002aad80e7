use toolmark_core::behavior::{BehaviorSource, Mutability};
use toolmark_core::lock::Lock;

use super::*;
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
