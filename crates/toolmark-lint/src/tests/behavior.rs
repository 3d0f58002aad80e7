use serde_json::{Value, json};
use toolmark_core::severity::Severity;

use super::{check, of, one, pack};
use crate::RuleId;

fn tool(name: &str, description: &str, annotations: Value) -> Value {
    let mut tool = json!({"name": name, "description": description, "inputSchema": {
        "type": "object", "properties": {format!("{name}_id"): {"type": "string", "description": "Which one."}},
    }});
    tool["annotations"] = annotations;
    tool
}

#[test]
fn a_dispute_names_both_opinions_and_is_graded_by_what_happens_if_the_claim_is_false() {
    let disputed = |name: &str, description: &str, annotations| {
        one(RuleId::BehaviorDisputed, tool(name, description, annotations))
    };
    let (severity, message) =
        disputed("delete_issue", "Delete an issue for good.", json!({"readOnlyHint": true})).unwrap();
    assert_eq!(severity, Severity::High);
    assert!(message.starts_with("`p.delete_issue`: its hints say PURE, the classifier MUTATES ("), "{message}");
    assert!(message.ends_with("; every call asks"), "{message}");
    let grade = |name, description, hints| disputed(name, description, hints).map(|(severity, _)| severity);
    let writes = json!({"readOnlyHint": false, "destructiveHint": false});
    assert_eq!(grade("create_issue", "Create an issue.", json!({"readOnlyHint": true})), Some(Severity::Medium));
    assert_eq!(grade("get_issue", "Get an issue.", json!({"readOnlyHint": false})), Some(Severity::Low));
    assert_eq!(grade("delete_issue", "Delete an issue.", writes.clone()), Some(Severity::Medium));
    assert_eq!(grade("create_issue", "Create an issue.", writes), None);
    assert_eq!(grade("delete_issue", "Delete an issue.", json!({})), None, "nobody claims anything");
    assert_eq!(grade("frobnicate", "Frobnicates.", json!({"readOnlyHint": true})), None, "nobody contradicts");
}

#[test]
fn a_declaration_of_the_publisher_is_disputed_like_a_hint() {
    let mut lying = tool("delete_issue", "Delete an issue for good.", json!({}));
    lying["_meta"] =
        json!({"dev.toolmark/behavior": {"mutability": "PURE", "action": "READ", "output_domain": "ISSUE"}});
    let (severity, message) = one(RuleId::BehaviorDisputed, lying).unwrap();
    assert_eq!(severity, Severity::High);
    assert!(message.contains("its publisher declares PURE, the classifier MUTATES"), "{message}");
}

#[test]
fn silent_writers_are_one_finding_a_pack_however_many_they_are() {
    let silent = |at: usize| tool(&format!("delete_item_{at}"), "Deletes an item for good.", json!({}));
    let lint = check([pack("p", (0..80).map(silent).chain([tool("get_item", "Returns an item.", json!({}))]))]);
    let found = of(&lint, RuleId::BehaviorUndeclared);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].severity(), found[0].tools().len(), found[0].suggestions().len()), (Severity::Medium, 80, 80));
    assert!(found[0].message().starts_with("80 of 81 tools of `p` change something"), "{}", found[0].message());
    assert!(found[0].message().ends_with("(+76 more)"), "{}", found[0].message());
    let text = crate::render_text(&lint, crate::TextOptions::default());
    assert_eq!(text.matches("behavior = ").count(), 2, "{text}");
    assert!(text.contains("# 78 more: toolmark lint --rule behavior-undeclared --suggest operator"), "{text}");
}

#[test]
fn readers_and_tools_that_say_something_are_not_undeclared() {
    let found = |tool| one(RuleId::BehaviorUndeclared, tool).map(|(severity, _)| severity);
    assert_eq!(found(tool("create_item", "Creates an item.", json!({}))), Some(Severity::Low));
    assert_eq!(found(tool("get_item", "Returns an item.", json!({}))), None);
    assert_eq!(found(tool("create_item", "Creates an item.", json!({"readOnlyHint": false}))), None);
    assert_eq!(found(tool("create_item", "Creates an item.", json!({"destructiveHint": false}))), None);
    let defaults =
        json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true});
    assert_eq!(found(tool("create_item", "Creates an item.", defaults)), Some(Severity::Low), "hints that nobody gave");
}

#[test]
fn a_tool_that_reads_or_writes_as_an_argument_says_is_found() {
    let selecting = |values: &[&str]| {
        json!({"name": "label_write", "description": "Perform write operations on repository labels.", "annotations": {},
        "inputSchema": {"type": "object", "properties": {
            "method": {"type": "string", "description": "What to do.", "enum": values},
        }}})
    };
    let (severity, message) =
        one(RuleId::BehaviorByArgument, selecting(&["create", "update", "delete", "list"])).unwrap();
    assert_eq!(severity, Severity::Medium);
    assert!(message.contains("as `/method` says: `list` read, `create`, `delete`, `update` write"), "{message}");
    let grade = |values: &[&str]| one(RuleId::BehaviorByArgument, selecting(values)).map(|(severity, _)| severity);
    assert_eq!(grade(&["create", "update", "list"]), Some(Severity::Low));
    assert_eq!(grade(&["create", "update"]), None);
    assert_eq!(grade(&["get", "list"]), None);
}

fn sharing(name: &str, behavior: Option<&str>) -> Value {
    let mut tool = json!({"name": name, "annotations": {}, "description": format!("Does what {name} says."), "inputSchema": {
        "type": "object", "properties": {"id": {"type": "string", "description": "Which one."}},
    }});
    if let Some(behavior) = behavior {
        let names = ["mutability", "action", "output_domain", "content_type", "target", "polarity", "reach"];
        let fields = names.into_iter().zip(behavior.split('|')).map(|(name, value)| (name.to_owned(), json!(value)));
        tool["_meta"] = json!({"dev.toolmark/behavior": fields.collect::<serde_json::Map<_, _>>()});
    }
    tool
}

fn not_separated(one: Value, other: Value) -> Option<(Severity, String)> {
    let lint = check([pack("p", [one, other])]);
    let found = of(&lint, RuleId::BehaviorNotSeparated);
    assert!(found.len() < 2, "{found:#?}");
    found.first().map(|finding| (finding.severity(), finding.data()["separated"].as_str().unwrap().to_owned()))
}

#[test]
fn siblings_that_behavior_does_not_tell_apart_are_found_with_the_identity_that_does() {
    let declared = |one: &str, other: &str| not_separated(sharing("one", Some(one)), sharing("other", Some(other)));
    let deletes = "MUTATES|DELETE|ACK";
    assert_eq!(declared(deletes, deletes), Some((Severity::Medium, "nothing".into())));
    assert_eq!(declared("MUTATES|CREATE|ACK", "MUTATES|CREATE|ACK"), Some((Severity::Low, "nothing".into())));
    assert_eq!(declared("PURE|READ|DATA", "PURE|READ|DATA"), Some((Severity::Info, "nothing".into())));
    assert_eq!(declared("PURE|READ|DATA", deletes), None, "the first identity tells");
    assert_eq!(
        declared("MUTATES|DELETE|ACK|NONE|issue|NEUTRAL|NAMED", "MUTATES|DELETE|ACK|NONE|label|NEUTRAL|NAMED"),
        Some((Severity::Info, "v3".into()))
    );
    assert_eq!(
        declared("MUTATES|DELETE|ACK|NONE|issue|NEUTRAL|NAMED", deletes),
        Some((Severity::Medium, "nothing".into())),
        "of one too little is known"
    );
}

#[test]
fn siblings_in_other_packs_or_with_other_arguments_are_not_compared() {
    let deletes = Some("MUTATES|DELETE|ACK");
    let lint = check([pack("a", [sharing("one", deletes)]), pack("b", [sharing("other", deletes)])]);
    assert_eq!(of(&lint, RuleId::BehaviorNotSeparated).len(), 0);
    let mut other = sharing("other", deletes);
    other["inputSchema"]["required"] = json!(["id"]);
    assert_eq!(not_separated(sharing("one", deletes), other), None);
}
