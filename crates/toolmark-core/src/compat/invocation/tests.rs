use super::plain::double_repr;
use super::*;
use crate::json::read;

fn call(arguments: &str) -> String {
    serde_json::json!({ "type": "function_call", "call_id": "c1", "name": "k", "arguments": arguments }).to_string()
}

fn identify(item: &str) -> Result<Option<InvocationIdentity>, IdentifyInvocationError> {
    identify_invocation(&read(item).expect("JSON"), InvocationContext::default())
}

fn fingerprint(arguments: &str) -> String {
    identify(&call(arguments)).expect("digest").expect("identity").fingerprint().as_str().to_owned()
}

fn hashed(arguments: &str) -> String {
    let mut out = Vec::new();
    arguments::read(arguments).expect("readable").write(&mut out).expect("writable");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn doubles_are_written_as_python_writes_them() {
    for (double, text) in [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e5, "100000.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (1.5e300, "1.5e+300"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.25e-7, "1.25e-07"),
        (5e-324, "5e-324"),
        (123_456.789, "123456.789"),
        (9_312_457_717_148_666.0 / 8.0, "1164057214643583.2"),
        (9_312_457_717_148_670.0 / 8.0, "1164057214643583.8"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(double_repr(double), text);
    }
}

#[test]
fn the_spelling_of_arguments_does_not_count() {
    assert_eq!(fingerprint(r#"{"a":1,"b":[2]}"#), fingerprint("{ \"b\" : [2], \"a\":1 }\n"));
    assert_eq!(hashed(r#"{"b":1E5,"a":"\u00e9\/"}"#), r#"{"a":"é/","b":100000.0}"#);
}

#[test]
fn one_is_not_one_point_zero_and_null_is_not_nothing() {
    assert_ne!(fingerprint("[1]"), fingerprint("[1.0]"));
    assert_ne!(fingerprint(r#"{"a":null}"#), fingerprint("{}"));
    assert_eq!(fingerprint("[-0]"), fingerprint("[0]"));
}

#[test]
fn whole_numbers_of_any_size_are_told_apart_up_to_the_limit_of_python() {
    assert_ne!(fingerprint("123456789012345678901234567890"), fingerprint("123456789012345678901234567891"));
    assert_eq!(hashed(&"9".repeat(4300)), "9".repeat(4300));
    assert_eq!(hashed(&format!("-{}", "9".repeat(4301))), format!("\"-{}\"", "9".repeat(4301)));
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    assert_eq!(hashed(r#"{"a":1,"a":2}"#), r#"{"a":2}"#);
}

#[test]
fn text_that_is_not_json_is_taken_literally() {
    for text in
        ["", "NaN", "[1,NaN]", "-Infinity", "01", "1.", "{}x", "\u{feff}{}", "\u{a0}1", "\"a\tb\"", "'a'", "\"\\x\""]
    {
        assert_eq!(hashed(text), serde_json::Value::from(text).to_string(), "{text}");
    }
    assert_eq!(hashed("1e400"), "Infinity");
}

#[test]
fn half_a_surrogate_pair_has_no_digest_unless_it_was_overwritten() {
    for text in [r#""\ud800""#, r#"{"\ud800":1,"":2}"#, r#"["\ude00\ud83d"]"#, r#""\ud800\u0041""#] {
        assert_eq!(identify(&call(text)), Err(IdentifyInvocationError::LoneSurrogate), "{text}");
    }
    assert_eq!(hashed(r#"{"a":"\ud800","a":1}"#), r#"{"a":1}"#);
    assert_eq!(hashed(r#""\ud83d\ude00""#), "\"😀\"");
}

#[test]
fn deep_arguments_are_refused_without_a_crash() {
    assert_eq!(hashed(&format!("{}{}", "[".repeat(480), "]".repeat(480))).len(), 960);
    assert_eq!(identify(&call(&"[".repeat(100_000))), Err(IdentifyInvocationError::TooDeep));
}

#[test]
fn nulls_are_dropped_outside_the_arguments() {
    let one = r#"{"type":"shell_call","call_id":"c","action":{"a":null,"b":[null,{"c":null}]}}"#;
    let two = r#"{"type":"shell_call","call_id":"c","action":{"b":[null,{}]},"id":"x","status":"done"}"#;
    assert_eq!(identify(one), identify(two));
}

#[test]
fn a_call_that_lacks_what_it_needs_has_no_identity() {
    for item in [
        "5",
        r#"{"type":"function_call","name":"k","arguments":"{}"}"#,
        r#"{"type":"function_call","call_id":"","name":"k","arguments":"{}"}"#,
        r#"{"type":"function_call","call_id":"c","name":"k"}"#,
        r#"{"type":"function_call","call_id":"c","arguments":"{}"}"#,
        r#"{"type":"computer_call","call_id":"c","actions":[]}"#,
        r#"{"type":"message","call_id":"c"}"#,
    ] {
        assert_eq!(identify(item), Ok(None), "{item}");
    }
    assert_eq!(identify(r#"{"type":[],"call_id":"c"}"#), Err(IdentifyInvocationError::TypeNotText));
}

#[test]
fn a_hosted_call_is_the_request_it_carries() {
    let hosted = r#"{"type":"hosted_tool_call","call_id":"r","name":"outer","server_label":"s","arguments":"{}",
        "provider_data":{"type":"mcp_approval_request","name":5}}"#;
    let request = r#"{"type":"mcp_approval_request","id":"r","name":"outer","server_label":"s","arguments":"{}"}"#;
    assert_eq!(identify(hosted), identify(request));
    assert!(identify(hosted).expect("digest").is_some());
}
