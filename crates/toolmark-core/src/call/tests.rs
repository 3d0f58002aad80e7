use serde_json::json;

use super::*;

fn tool(name: &str) -> CanonicalName {
    name.parse().unwrap()
}

#[test]
fn only_a_non_empty_string_is_a_call_id() {
    assert!(CallId::try_from(&json!("c1")).is_ok());
    for value in [json!(""), json!(5), json!(null), json!(true), json!(["c1"]), json!({"id": "c1"})] {
        assert_eq!(CallId::try_from(&value).unwrap_err().code().as_str(), "call-id-invalid");
    }
}

#[test]
fn a_fingerprint_ignores_the_spelling_of_the_arguments() {
    let one: Value = serde_json::from_str(r#"{"a": 1, "b": [true, "é"]}"#).unwrap();
    let other: Value = serde_json::from_str(r#"{"b":[true,"\u00e9"],"a":1.0}"#).unwrap();
    assert_eq!(CallFingerprint::of(&tool("p.t"), &one), CallFingerprint::of(&tool("p.t"), &other));
}

#[test]
fn a_fingerprint_changes_with_the_tool_and_with_every_argument() {
    let base = CallFingerprint::of(&tool("p.t"), &json!({"id": 9_007_199_254_740_992_u64}));
    assert_ne!(base, CallFingerprint::of(&tool("q.t"), &json!({"id": 9_007_199_254_740_992_u64})));
    assert_ne!(base, CallFingerprint::of(&tool("p.t"), &json!({"id": 9_007_199_254_740_993_u64})));
    assert_ne!(base, CallFingerprint::of(&tool("p.t"), &json!({"id": 9_007_199_254_740_992_u64, "x": null})));
}

#[test]
fn the_same_id_with_the_same_content_is_the_same_call() {
    let mut ledger = CallLedger::default();
    let id: CallId = "c1".parse().unwrap();
    let call = CallFingerprint::of(&tool("p.t"), &json!({}));
    assert_eq!(ledger.enter(&id, call), Ok(Entered::New));
    assert_eq!(ledger.enter(&id, call), Ok(Entered::Again));
}

#[test]
fn the_same_id_with_other_content_is_refused_and_the_first_call_stays() {
    let mut ledger = CallLedger::default();
    let id: CallId = "c1".parse().unwrap();
    let first = CallFingerprint::of(&tool("p.t"), &json!({}));
    let second = CallFingerprint::of(&tool("p.t"), &json!({"x": 1}));
    assert_eq!(ledger.enter(&id, first), Ok(Entered::New));
    assert_eq!(ledger.enter(&id, second).unwrap_err().code().as_str(), "call-id-reused");
    assert_eq!(ledger.enter(&id, first), Ok(Entered::Again));
}
