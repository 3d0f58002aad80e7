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

fn evaluation_of(labels: &str, pairs: &str, decisions: &str) -> Evaluation {
    let data = DataSet {
        tools: Tools::read(TOOLS).unwrap(),
        labels: Some(Label::read_all(labels).unwrap()),
        pairs: Some(Pair::read_all(pairs).unwrap()),
        decisions: Some(Decision::read_all(decisions).unwrap()),
    };
    Evaluation::of(&data, &|| ())
}

fn evaluation() -> Evaluation {
    evaluation_of(LABELS, PAIRS, "")
}

fn classifier(labels: &str) -> ClassifierScore {
    evaluation_of(labels, "", "").classifier.unwrap().full
}

fn decisions(rows: &str) -> DecisionScore {
    evaluation_of("", "", rows).decisions.unwrap()
}

#[test]
fn an_abstention_is_not_an_answer_and_not_agreement() {
    let mutability = classifier(LABELS).get("mutability").unwrap().clone();
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
    let json = classifier(LABELS).to_json();
    assert_eq!(json["missing"], json!(["t/gone"]));
    assert_eq!(json["declared"]["wrong"], json!(["t/frobnicate"]));
    assert_eq!(json["mutating"], 2);
}

#[test]
fn two_without_identities_are_neither_separated_nor_together() {
    let pairs = evaluation().pairs.unwrap();
    let form = pairs.form(Form::V3).unwrap();
    assert_eq!(form.separated[&PairSeverity::Low], (0, 1));
    assert_eq!(form.together, (1, 2));
    assert_eq!(form.wrong.len(), 2);
}

#[test]
fn a_catch_is_counted_once_by_who_makes_it() {
    let pairs = evaluation().pairs.unwrap();
    let critical = pairs.catches(Form::V3, &PairSeverity::Critical);
    assert_eq!(
        critical,
        Catch { both: 1, ..Catch::default() },
        "an empty call lacks the id that delete_issue asks for"
    );
    let high = pairs.catches(Form::V3, &PairSeverity::High);
    assert_eq!(high, Catch { behavior_only: 1, ..Catch::default() }, "list_issues takes whatever it is given");
    assert_eq!(pairs.catches(Form::V3, &PairSeverity::Low), Catch { neither: 1, ..Catch::default() });
}

#[test]
fn a_line_that_is_no_row_is_an_error_with_its_number() {
    let error = Label::read_all("\n{\"server\": \"s\"}").unwrap_err();
    assert!(error.to_string().starts_with("line 2 of the labels is not a row"), "{error}");
    assert_eq!(error.code().as_str(), "evaluation-row");
    assert!(Pair::read_all(r#"{"a":{"server":"s","name":"x"},"severity":"LOW"}"#).is_err());
    assert!(Pair::read_all(r#"{"a":{"server":"s","name":"x"},"b":"y","severity":"LOW"}"#).is_err());
    assert!(Label::read_all(r#"{"server":"s","name":"x","action":7}"#).is_err());
    assert!(Label::read_all(r#"{"server":"s","name":"x","note":"says nothing"}"#).is_err());
    assert!(Decision::read_all(r#"{"chosen":"x"}"#).is_err());
    assert!(Decision::read_all(r#"{"expected":"x","arguments":[]}"#).is_err());
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

#[test]
fn a_label_may_have_several_answers_and_lack_fields() {
    let score = classifier(
        r#"{"server":"s","name":"list_issues","action":["SEARCH","READ"],"output_domain":"data/issue","ambiguous":null}
{"server":"s","name":"delete_issue","mutability":"mutates","action":"UPDATE","ambiguous":["action"]}"#,
    );
    let action = score.get("action").unwrap();
    assert_eq!((action.labelled, action.agree, action.unambiguous), (2, 1, 0));
    assert_eq!((action.confusion["READ"]["READ"], action.confusion["UPDATE"]["DELETE"]), (1, 1));
    let mutability = score.get("mutability").unwrap();
    assert_eq!((mutability.labelled, mutability.agree_unambiguous, mutability.unambiguous), (1, 1, 1));
    assert_eq!(score.get("output_domain").unwrap().agree, 1);
    assert_eq!(score.get("content_type").unwrap().labelled, 0, "the keys are there for every field");
}

#[test]
fn a_word_that_no_vocabulary_has_is_listed_and_agrees_with_nothing() {
    let score = classifier(&LABELS.replace("READ", "PERUSE"));
    assert_eq!(score.unknown_words(), ["s/list_issues: action PERUSE"]);
    let action = score.get("action").unwrap();
    assert_eq!((action.labelled, action.agree), (3, 1));
}

#[test]
fn a_hint_of_the_definition_counts_where_the_label_does_not_repeat_it() {
    let score = classifier(r#"{"server":"t","name":"frobnicate","mutability":"PURE"}"#);
    assert_eq!((score.hints().hinted, score.hints().agree), (1, 1));
}

#[test]
fn severities_of_a_data_set_are_counted_beside_those_of_the_paper() {
    let rows = PAIRS.replace("\"HIGH\"", "\"severe\"").replace(",\"severity\":\"LOW\"", "");
    let json = evaluation_of("", &rows, "").pairs.unwrap().to_json();
    assert_eq!(json["v3"]["SEVERE"], json!({"separated": 1, "total": 1}));
    assert_eq!(json["v3"]["UNRATED"], json!({"separated": 0, "total": 1}));
    assert_eq!(json["v3"]["HIGH"], json!({"separated": 0, "total": 0}));
    assert_eq!(json["catch"]["SEVERE"]["behavior_only"], 1);
    assert_eq!(json["v3"]["unknown"], 2, "frobnicate has no identity");
}

#[test]
fn a_pair_of_a_tool_that_is_not_there_is_listed_and_counts_nowhere() {
    let rows = r#"{"a":{"server":"s","name":"list_issues"},"b":{"server":"u","name":"x"},"severity":"HIGH"}"#;
    let json = evaluation_of("", rows, "").pairs.unwrap().to_json();
    assert_eq!((&json["missing"], &json["left_out"]), (&json!(["u/x"]), &json!(1)));
    assert_eq!(json["v1"]["HIGH"]["total"], 0);
}

#[test]
fn of_two_definitions_under_one_name_neither_is_used_unless_they_say_the_same() {
    let first = TOOLS.lines().next().unwrap();
    let tools = Tools::read(&format!("{TOOLS}\n{first}")).unwrap();
    assert_eq!((tools.len(), tools.contradictory().len()), (4, 0));
    let changed = first.replace("List issues", "Delete issues");
    let tools = Tools::read(&format!("{TOOLS}\n{changed}\n{first}")).unwrap();
    assert_eq!((tools.len(), tools.contradictory().len()), (3, 1));
    assert!(tools.get(&ToolId::new("s", "list_issues")).is_none());
}

#[test]
fn a_wrong_decision_is_caught_by_the_arguments_or_by_the_identity() {
    let score = decisions(
        r#"{"prompt":"p","expected":"list_issues","chosen":"list_issues","arguments":{},"model":"m"}
{"expected":{"server":"s","name":"delete_issue"},"chosen":{"server":"s","name":"list_issues"},"arguments":{"id":1},"model":"m"}
{"expected":"s/list_issues","chosen":"s.delete_issue","arguments":{},"model":"n"}
{"server":"s","expected":"list_issues","chosen":"delete_issue"}
{"expected":"list_issues","chosen":"issue_list","arguments":{}}
{"expected":"list_issues","chosen":null}
{"expected":null,"chosen":"delete_issue","arguments":{"id":1}}
{"expected":"list_issues","chosen":"gone"}"#,
    );
    assert_eq!((score.total, score.correct, score.wrong, score.no_call), (7, 1, 6, 1));
    assert_eq!(score.catch(Form::V3), Catch { schema_only: 0, behavior_only: 2, both: 2, neither: 1 });
    let json = score.to_json();
    assert_eq!(
        json["by_model"],
        json!({"m": {"correct": 1, "total": 2}, "n": {"correct": 0, "total": 1}, "unnamed": {"correct": 0, "total": 4}})
    );
    assert_eq!((&json["missing"], &json["uncaught"]), (&json!(["gone"]), &json!(["s/list_issues | t/issue_list"])));
}

#[test]
fn a_bare_name_that_two_servers_have_is_missing_rather_than_guessed() {
    let twice = format!("{TOOLS}\n{}", TOOLS.lines().next().unwrap().replace("\"s\"", "\"t\""));
    let tools = Tools::read(&twice).unwrap();
    assert_eq!(tools.named("list_issues"), Named::Not("list_issues (2 tools have that name)".into()));
    assert_eq!(tools.named("t/list_issues"), Named::One(ToolId::new("t", "list_issues")));
}

#[test]
fn values_of_a_selecting_argument_are_scored_one_by_one() {
    let tools = r#"{"server":"s","name":"manage_issue","description":"Manage an issue","inputSchema":{"type":"object","properties":{"method":{"enum":["get","create","delete"]}}}}"#;
    let label = r#"{"server":"s","name":"manage_issue","mutability":"MUTATES","by_arg":{"arg":"method","map":{"get":"READ","create":"CREATE","delete":"UPDATE","gone":"READ"}}}"#;
    let score = ClassifierScore::of(
        &Tools::read(tools).unwrap(),
        &Label::read_all(label).unwrap(),
        crate::inference::Mode::Full,
    );
    assert_eq!(score.by_argument(), ByArgumentScore { labelled: 4, answered: 3, agree: 2, false_pure: 0 });
}
