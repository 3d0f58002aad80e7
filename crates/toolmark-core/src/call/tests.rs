use serde_json::json;

use super::*;
use crate::json::read;

fn tool(name: &str) -> CanonicalName {
    name.parse().unwrap()
}

fn fingerprint(name: &str, arguments: &str) -> CallFingerprint {
    CallFingerprint::of(&tool(name), &read(arguments).unwrap())
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
    let one = fingerprint("p.t", r#"{"a": 1, "b": [true, "é"]}"#);
    assert_eq!(one, fingerprint("p.t", r#"{"b":[true,"\u00e9"],"a":1.0}"#));
}

#[test]
fn a_fingerprint_changes_with_the_tool_and_with_every_argument() {
    let base = fingerprint("p.t", r#"{"id":9007199254740992}"#);
    assert_ne!(base, fingerprint("q.t", r#"{"id":9007199254740992}"#));
    assert_ne!(base, fingerprint("p.t", r#"{"id":9007199254740993}"#));
    assert_ne!(base, fingerprint("p.t", r#"{"id":9007199254740992,"x":null}"#));
}

/// Invariant: no two different integers share a fingerprint, however long they are.
#[test]
fn integers_beyond_64_bits_are_told_apart() {
    assert_ne!(
        fingerprint("p.t", r#"{"id":123456789012345678901}"#),
        fingerprint("p.t", r#"{"id":123456789012345678902}"#)
    );
    let digest = |text: &str| ArgumentDigest::of(&read(text).unwrap());
    assert_ne!(digest("[123456789012345678901]"), digest("[123456789012345678902]"));
}

#[test]
fn the_same_id_with_the_same_content_is_the_same_call() {
    let mut ledger = CallLedger::default();
    let id: CallId = "c1".parse().unwrap();
    let call = fingerprint("p.t", "{}");
    assert_eq!(ledger.enter(&id, call), Ok(Entered::New));
    assert_eq!(ledger.enter(&id, call), Ok(Entered::Again));
}

#[test]
fn the_same_id_with_other_content_is_refused_and_the_first_call_stays() {
    let mut ledger = CallLedger::default();
    let id: CallId = "c1".parse().unwrap();
    let (first, second) = (fingerprint("p.t", "{}"), fingerprint("p.t", r#"{"x":1}"#));
    assert_eq!(ledger.enter(&id, first), Ok(Entered::New));
    assert_eq!(ledger.enter(&id, second).unwrap_err().code().as_str(), "call-id-reused");
    assert_eq!(ledger.enter(&id, first), Ok(Entered::Again));
}
