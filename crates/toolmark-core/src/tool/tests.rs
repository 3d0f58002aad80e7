use serde_json::json;

use super::*;
use crate::catalog::Catalog;
use crate::document::Document;
use crate::snapshot::Snapshot;

fn catalog(tool: &Value) -> Catalog {
    Snapshot::of(&Document::new("t.json", format!("[{tool}]")), "p").into_builder().build().unwrap()
}

#[test]
fn arguments_are_checked_against_the_declared_schema() {
    let catalog = catalog(
        &json!({"name": "t", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}),
    );
    let tool = catalog.tools().next().unwrap();
    assert_eq!(tool.check_arguments(&json!({"n": 1})), Ok(()));
    let error = tool.check_arguments(&json!({"n": "one"})).unwrap_err();
    assert_eq!(error.code().as_str(), "arguments-invalid");
}

#[test]
fn the_papers_short_schema_is_checked_too() {
    let catalog = catalog(&json!({"name": "t", "schema": {"query": "string"}}));
    let tool = catalog.tools().next().unwrap();
    assert_eq!(tool.check_arguments(&json!({"query": "SELECT 1"})), Ok(()));
    assert!(tool.check_arguments(&json!({"query": 1})).is_err());
    assert!(tool.check_arguments(&json!({})).is_err());
}

#[test]
fn a_schema_that_points_elsewhere_makes_the_tool_uncallable() {
    let catalog = catalog(&json!({"name": "t", "inputSchema": {"$ref": "https://example.com/schema.json"}}));
    let error = catalog.tools().next().unwrap().check_arguments(&json!({})).unwrap_err();
    assert_eq!(error.code().as_str(), "schema-remote-ref");
}

#[test]
fn a_schema_is_compiled_once() {
    let catalog = catalog(&json!({"name": "t", "inputSchema": {"type": "object"}}));
    let tool = catalog.tools().next().unwrap();
    let first: *const InputSchema = tool.input_schema().unwrap();
    assert!(std::ptr::eq(first, tool.input_schema().unwrap()));
}

/// Invariant: the mark changes with the source, the pack, the name, the definition and the behavior.
#[test]
fn a_mark_is_this_tool_in_this_version() {
    let mark = |text: &str, pack: &str| {
        let document = Document::new("t.json", text.to_owned());
        Snapshot::of(&document, pack).into_builder().build().unwrap().tools().next().unwrap().mark()
    };
    let base = mark(r#"[{"name":"t"}]"#, "p");
    assert_eq!(base, mark(r#"[ { "name" : "t" } ]"#, "p"));
    for other in [
        mark(r#"[{"name":"t"}]"#, "q"),
        mark(r#"[{"name":"u"}]"#, "p"),
        mark(r#"[{"name":"t","title":"x"}]"#, "p"),
        mark(r#"[{"name":"t","mutability":"PURE","action":"READ","output_domain":"DATA"}]"#, "p"),
        mark(r#"{"server":"p","package":"npm:x","name":"t"}"#, "p"),
    ] {
        assert_ne!(base, other);
    }
}
