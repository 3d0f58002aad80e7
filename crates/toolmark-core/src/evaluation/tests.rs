use serde_json::{Value, json};

use super::*;
use crate::explain::Explain as _;

const TOOLS: &str = r#"{"server": "s", "name": "list_issues", "description": "List issues", "inputSchema": {"type": "object"}}
{"server": "s", "name": "delete_issue", "description": "Delete an issue", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}
{"server": "t", "name": "issue_list", "description": "List issues", "inputSchema": {"type": "object"}}
{"server": "t", "name": "frobnicate", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}"#;

const LABELS: &str = r#"{"server":"s","name":"list_issues","mutability":"PURE","action":"READ","output_domain":"ISSUE","content_type":"STRUCTURED","ambiguous":false,"declared":{"readOnlyHint":null}}
{"server":"s","name":"delete_issue","mutability":"MUTATES","action":"DELETE","output_domain":"ACK","content_type":"NONE","ambiguous":true,"declared":{"readOnlyHint":false}}
{"server":"t","name":"frobnicate","mutability":"MUTATES","action":"UPDATE","output_domain":"ACK","content_type":"NONE","ambiguous":false,"declared":{"readOnlyHint":true}}
{"server":"t","name":"gone","mutability":"PURE","action":"READ","output_domain":"DATA","content_type":"TEXT","ambiguous":false}"#;

const PAIRS: &str = r#"{"a":{"server":"s","name":"list_issues"},"b":{"server":"s","name":"delete_issue"},"severity":"CRITICAL"}
{"a":{"server":"s","name":"delete_issue"},"b":{"server":"s","name":"list_issues"},"severity":"HIGH"}
{"a":{"server":"s","name":"list_issues"},"b":{"server":"t","name":"frobnicate"},"severity":"LOW"}
{"a":{"server":"s","name":"list_issues"},"b":{"server":"t","name":"issue_list"},"same":true}
{"a":{"server":"s","name":"list_issues"},"b":{"server":"t","name":"frobnicate"},"same":true}"#;

fn evaluation() -> Evaluation {
    let tools = Tools::read(TOOLS).unwrap();
    Evaluation::of(&tools, &Label::read_all(LABELS).unwrap(), &Pair::read_all(PAIRS).unwrap(), &fits)
}

#[test]
fn an_abstention_is_not_an_answer_and_not_agreement() {
    let mutability = evaluation().classifier.get("mutability").unwrap().clone();
    assert_eq!((mutability.labelled, mutability.answered, mutability.agree), (3, 2, 2));
    assert_eq!((mutability.unambiguous, mutability.agree_unambiguous), (2, 1));
    assert_eq!(mutability.confusion["MUTATES"]["unknown"], 1);
}

#[test]
fn the_figures_have_the_keys_that_were_asked_for() {
    let json = Value::Object(evaluation().to_json());
    for part in ["classifier", "classifier_schema_only"] {
        for field in ["mutability", "action", "output_domain", "content_type"] {
            for key in ["labelled", "answered", "agree", "agree_unambiguous", "unambiguous"] {
                assert!(json[part][field][key].is_u64(), "{part} {field} {key}");
            }
        }
        assert!(json[part]["false_pure"].is_u64() && json[part]["mutating"].is_u64());
    }
    for form in ["v1", "v2", "v3"] {
        assert!(
            json["pairs"][form]["CRITICAL"]["separated"].is_u64() && json["pairs"][form]["same"]["together"].is_u64()
        );
    }
    for key in ["schema_only", "behavior_only", "both", "neither"] {
        assert!(json["pairs"]["catch"]["CRITICAL"][key].is_u64());
    }
}

#[test]
fn labels_of_tools_that_are_not_there_are_listed_and_not_counted() {
    let json = evaluation().classifier.to_json();
    assert_eq!(json["missing"], json!(["t/gone"]));
    assert_eq!(json["declared"]["wrong"], json!(["t/frobnicate"]));
    assert_eq!(json["mutating"], 2);
}

#[test]
fn two_without_identities_are_neither_separated_nor_together() {
    let pairs = evaluation().pairs;
    let form = pairs.form(Form::V3).unwrap();
    assert_eq!(form.separated[&PairSeverity::Low], (0, 1));
    assert_eq!(form.together, (1, 2));
    assert_eq!(form.wrong.len(), 2);
}

#[test]
fn a_catch_is_counted_once_by_who_makes_it() {
    let pairs = evaluation().pairs;
    let critical = pairs.catches(Form::V3, PairSeverity::Critical);
    assert_eq!(
        critical,
        Catch { both: 1, ..Catch::default() },
        "an empty call lacks the id that delete_issue asks for"
    );
    let high = pairs.catches(Form::V3, PairSeverity::High);
    assert_eq!(high, Catch { behavior_only: 1, ..Catch::default() }, "list_issues takes whatever it is given");
    assert_eq!(pairs.catches(Form::V3, PairSeverity::Low), Catch { neither: 1, ..Catch::default() });
}

#[test]
fn a_line_that_is_no_row_is_an_error_with_its_number() {
    let error = Label::read_all("\n{\"server\": \"s\"}").unwrap_err();
    assert!(error.to_string().starts_with("line 2 of the labels is not a row"), "{error}");
    assert_eq!(error.code().as_str(), "evaluation-row");
    let neither = r#"{"a":{"server":"s","name":"x"},"b":{"server":"s","name":"y"}}"#;
    assert!(Pair::read_all(neither).is_err());
    assert!(Label::read_all(&LABELS.replace("PURE", "CLEAN")).is_err());
    assert!(Tools::read("[]").is_err());
}

#[test]
fn a_minimal_call_gives_what_is_required_and_no_more() {
    let schema = json!({
        "type": "object",
        "required": ["id", "state", "range", "nested", "url", "maybe", "list"],
        "properties": {
            "id": {"type": "integer", "minimum": 3},
            "state": {"enum": ["open", "closed"]},
            "range": {"$ref": "#/$defs/range"},
            "nested": {"type": "object", "required": ["deep"], "properties": {"deep": {"type": "boolean"}}},
            "url": {"type": "string", "format": "uri"},
            "maybe": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]},
            "list": {"type": "array", "minItems": 1, "items": {"type": ["null", "number"]}},
            "optional": {"type": "string"},
        },
        "$defs": {"range": {"const": "A1"}},
    });
    let call = minimal_call(&schema);
    assert!(fits(&schema, &call), "{call}");
    assert_eq!(call.as_object().unwrap().len(), 7);
    assert_eq!(minimal_call(&json!({"type": "object"})), json!({}));
    let endless = json!({"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#"}}});
    assert!(minimal_call(&endless).is_object());
}
