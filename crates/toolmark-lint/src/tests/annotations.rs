use serde_json::{Value, json};
use toolmark_core::severity::Severity;

use super::{check, of, one, pack};
use crate::RuleId;

fn contradiction(name: &str, annotations: Value, behavior: Option<&str>) -> Option<Severity> {
    let mut tool = json!({"name": name});
    tool["annotations"] = annotations;
    if let Some(behavior) = behavior {
        let parts: Vec<&str> = behavior.split('|').collect();
        tool["_meta"] = json!({"dev.toolmark/behavior":
            {"mutability": parts[0], "action": parts[1], "output_domain": parts[2]}});
    }
    one(RuleId::AnnotationsContradict, tool).map(|(severity, _)| severity)
}

#[test]
fn hints_that_contradict_each_other_the_name_or_the_declaration_are_found() {
    let read_only = || json!({"readOnlyHint": true});
    assert_eq!(
        contradiction("x", json!({"readOnlyHint": true, "destructiveHint": true}), None),
        Some(Severity::Medium)
    );
    assert_eq!(contradiction("delete_item", read_only(), None), Some(Severity::High));
    assert_eq!(contradiction("send_mail", read_only(), None), Some(Severity::High));
    assert_eq!(contradiction("cli_install", read_only(), None), Some(Severity::Medium), "not the first word");
    assert_eq!(contradiction("x", read_only(), Some("MUTATES|DELETE|ACK")), Some(Severity::High));
    assert_eq!(contradiction("x", json!({"destructiveHint": true}), Some("PURE|READ|DATA")), Some(Severity::High));
    assert_eq!(contradiction("x", json!({"readOnlyHint": false}), Some("PURE|READ|DATA")), Some(Severity::Medium));
    assert_eq!(
        contradiction("drop_table", json!({"readOnlyHint": false, "destructiveHint": false}), None),
        Some(Severity::Medium)
    );
}

#[test]
fn agreement_and_silence_are_no_contradiction() {
    assert_eq!(contradiction("get_item", json!({"readOnlyHint": true, "destructiveHint": false}), None), None);
    assert_eq!(contradiction("delete_item", json!({"readOnlyHint": false, "destructiveHint": true}), None), None);
    assert_eq!(contradiction("delete_item", json!({}), None), None);
    assert_eq!(contradiction("list_updates", json!({"readOnlyHint": true}), None), None);
    assert_eq!(contradiction("post_search", json!({"readOnlyHint": true}), None), None, "`post` is a noun as often");
    assert_eq!(contradiction("x", json!({"readOnlyHint": true}), Some("PURE|READ|DATA")), None);
}

#[test]
fn silence_is_one_finding_a_pack() {
    let silent = |name: &str| json!({"name": name, "annotations": {"title": "T"}});
    let lint = check([
        pack("all", [silent("a"), silent("b"), silent("c")]),
        pack("some", [silent("a"), json!({"name": "b"})]),
        pack("none", [json!({"name": "z"})]),
    ]);
    let found = of(&lint, RuleId::AnnotationsMissing);
    let graded: Vec<_> = found.iter().map(|finding| (finding.severity(), finding.tools().len())).collect();
    assert_eq!(graded, [(Severity::Low, 3), (Severity::Info, 1)]);
    assert!(found[0].message().starts_with("3 of 3 tools of `all`"), "{}", found[0].message());
}
