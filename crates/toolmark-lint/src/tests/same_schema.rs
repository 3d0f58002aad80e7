use serde_json::{Value, json};
use toolmark_core::severity::Severity;

use super::{check, of, pack};
use crate::RuleId;

fn id(name: &str, annotations: Value) -> Value {
    let mut tool = json!({
        "name": name,
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "description": name}}, "required": ["id"]},
    });
    tool["annotations"] = annotations;
    tool
}

fn graded(tools: impl IntoIterator<Item = Value>) -> Option<(Severity, String)> {
    let lint = check([pack("p", tools)]);
    let found = of(&lint, RuleId::SameSchema);
    assert!(found.len() < 2, "{found:#?}");
    found.first().map(|finding| (finding.severity(), finding.message().to_owned()))
}

fn severity(one: &str, other: &str) -> Severity {
    graded([id(one, json!({})), id(other, json!({}))]).unwrap().0
}

#[test]
fn a_reader_and_a_destroyer_are_critical_a_reader_and_a_writer_high() {
    assert_eq!(severity("get_item", "delete_item"), Severity::Critical);
    assert_eq!(severity("read_query", "write_query"), Severity::Critical);
    assert_eq!(severity("get_item", "update_item"), Severity::High);
    assert_eq!(severity("get_item", "start_item"), Severity::High);
}

#[test]
fn writers_matter_less_and_readers_least() {
    assert_eq!(severity("create_item", "delete_item"), Severity::Medium);
    assert_eq!(severity("start_item", "stop_item"), Severity::Medium);
    assert_eq!(severity("create_item", "create_list"), Severity::Low);
    assert_eq!(severity("get_item", "get_owner"), Severity::Low);
    assert_eq!(severity("weather", "tides"), Severity::Low, "nobody knows");
}

#[test]
fn the_message_says_by_what_evidence() {
    let (severity, message) =
        graded([id("item", json!({"readOnlyHint": true})), id("item_now", json!({"readOnlyHint": false}))]).unwrap();
    assert_eq!(severity, Severity::High);
    assert_eq!(
        message,
        "2 tools of `p` take the same arguments (`id`): `item` reads, `item_now` writes (by readOnlyHint); \
         too little is known of some for behavior to tell them apart"
    );
    let mut declared = id("item_now", json!({"readOnlyHint": true}));
    declared["_meta"] =
        json!({"dev.toolmark/behavior": {"mutability": "MUTATES", "action": "DELETE", "output_domain": "ACK"}});
    let (severity, message) = graded([id("get_item", json!({})), declared]).unwrap();
    assert_eq!(severity, Severity::Critical, "of two that contradict each other the one that guards more is taken");
    assert!(message.contains("(by classifier, dispute)"), "{message}");
}

#[test]
fn a_hint_against_the_name_does_not_lower_the_grade() {
    let both = |one: &str, other: &str| {
        let read = || json!({"readOnlyHint": true});
        graded([id(one, read()), id(other, read())]).unwrap().0
    };
    assert_eq!(both("delete_item", "get_item"), Severity::Critical);
    assert_eq!(both("item_history", "get_item"), Severity::Low);
}

#[test]
fn where_all_are_declared_the_help_is_to_let_tasks_expect_something() {
    let declared = |name: &str, fields: [&str; 3]| {
        let mut tool = id(name, json!({}));
        tool["_meta"] = json!({"dev.toolmark/behavior":
            {"mutability": fields[0], "action": fields[1], "output_domain": fields[2]}});
        tool
    };
    let reader = || declared("get_item", ["PURE", "READ", "DATA"]);
    let (severity, message) = graded([reader(), declared("delete_item", ["MUTATES", "DELETE", "ACK"])]).unwrap();
    assert_eq!(severity, Severity::Critical, "a publisher's claim lowers nothing");
    assert!(message.ends_with("(by declared behavior); behavior tells all of them apart"), "{message}");
    let lint = check([pack("p", [reader(), declared("delete_item", ["MUTATES", "DELETE", "ACK"])])]);
    let finding = of(&lint, RuleId::SameSchema)[0];
    assert!(finding.suggestions().is_empty() && finding.help().contains("expect"), "{}", finding.help());
    let lint = check([pack("p", [reader(), id("delete_item", json!({}))])]);
    assert_eq!(of(&lint, RuleId::SameSchema)[0].suggestions().len(), 1, "for the one that is only inferred");
}

#[test]
fn tools_without_parameters_are_graded_lower() {
    let bare = |name: &str| json!({"name": name, "annotations": {}});
    assert_eq!(graded([bare("get_state"), bare("reset_state")]).unwrap().0, Severity::Medium);
    assert_eq!(graded([bare("get_state"), bare("get_version")]).unwrap().0, Severity::Info);
}

#[test]
fn other_packs_and_other_schemas_are_not_compared() {
    let lint = check([pack("a", [id("get_item", json!({}))]), pack("b", [id("delete_item", json!({}))])]);
    assert_eq!(of(&lint, RuleId::SameSchema).len(), 0);
    let mut optional = id("delete_item", json!({}));
    optional["inputSchema"]["required"] = json!([]);
    assert_eq!(graded([id("get_item", json!({})), optional]), None);
}

#[test]
fn wording_does_not_tell_two_schemas_apart() {
    let mut other = id("delete_item", json!({}));
    other["inputSchema"] = json!({
        "required": ["id"], "additionalProperties": true, "title": "Delete", "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"id": {"title": "Id", "type": ["string"], "default": "1", "examples": ["2"]}}, "type": "object",
    });
    assert_eq!(graded([id("get_item", json!({})), other]).unwrap().0, Severity::Critical);
}
