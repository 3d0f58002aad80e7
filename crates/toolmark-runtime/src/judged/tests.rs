use serde_json::json;
use toolmark_policy::Caller;

use super::*;
use crate::examine::Request;
use crate::testing::workspace;

fn judged(tool: &str, arguments: &Value) -> (Judged, Arc<str>) {
    let workspace = workspace(Vec::new());
    let tool = workspace.catalog().find(tool, |_| true).unwrap();
    let request = Request { tool, arguments, task: None, caller: Caller::new("alice") };
    let examination = workspace.examine(&request).unwrap();
    let identity = examination.prepared().identity(tool);
    (Judged::of(&examination, arguments), text(&examination, identity, arguments))
}

#[test]
fn what_is_kept_comes_back() {
    for (tool, arguments) in [
        ("db.read_query", json!({"query": "SELECT 1"})),
        ("db.write_query", json!({"query": "DELETE FROM users"})),
        ("db.read_query", json!({})),
        ("tracker.list_issues", json!({})),
        ("tracker.delete_issue", json!({"id": 1})),
    ] {
        let (judged, text) = judged(tool, &arguments);
        assert_eq!(&*text, judged.to_text(), "{tool}");
        let back = Judged::read(&text).unwrap();
        assert_eq!(back.to_text(), judged.to_text(), "{tool}");
        assert_eq!((back.outcome, back.invalid, back.behavior), (judged.outcome, judged.invalid, judged.behavior));
    }
}

#[test]
fn no_statement_is_kept() {
    let (_, text) = judged("db.write_query", &json!({"query": "UPDATE users SET password = 'hunter2'"}));
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("users"), "{text}");
}

#[test]
fn what_a_newer_program_wrote_is_not_guessed_at() {
    for text in [
        "",
        "{}",
        r#"{"v":2,"o":"run"}"#,
        r#"{"v":1,"o":"fly"}"#,
        r#"{"v":1,"o":"run","f":{}}"#,
        r#"{"v":1,"o":"run","b":1}"#,
    ] {
        assert_eq!(Judged::read(text), None, "{text}");
    }
}

#[test]
fn a_selecting_argument_is_put_where_it_stood() {
    let selected = Some(Selected { pointer: "/a~1b/kind".into(), value: "drop".into() });
    let judged = Judged { selected, ..Judged::plain(None) };
    assert_eq!(judged.arguments(), json!({"a/b": {"kind": "drop"}}));
    assert_eq!(Judged::read(&judged.to_text()), Some(judged));
}
