use bytes::Bytes;
use toolmark_mcp::wire::Limits;

use super::*;

fn answered(params: &Value, typed: &str) -> Value {
    let result = json!({"inputRequests": {"q": {"method": "elicitation/create", "params": params}}});
    let result = RawObject::read(Bytes::from(result.to_string()), Limits::default()).unwrap();
    let answers = answer(&result, &mut typed.as_bytes(), &mut Vec::new()).unwrap();
    serde_json::from_str::<Value>(&answers).unwrap()["q"].clone()
}

fn form() -> Value {
    json!({"message": "Which one?", "requestedSchema": {
        "type": "object",
        "required": ["name", "sure"],
        "properties": {
            "name": {"type": "string", "enum": ["one", "two"]},
            "sure": {"type": "boolean"},
            "count": {"type": "integer", "default": 3},
            "note": {"type": "string"},
        },
    }})
}

#[test]
fn a_form_is_filled_in_line_by_line_as_its_schema_wants_it() {
    let said = answered(&form(), "one\ny\n7\nhello\n");
    assert_eq!(
        said,
        json!({"action": "accept", "content": {"name": "one", "sure": true, "count": 7, "note": "hello"}})
    );
}

#[test]
fn an_empty_line_takes_the_default_and_leaves_out_what_is_not_needed() {
    let said = answered(&form(), "two\nn\n\n\n");
    assert_eq!(said, json!({"action": "accept", "content": {"name": "two", "sure": false, "count": 3}}));
}

#[test]
fn what_does_not_fit_is_asked_again_and_the_end_of_the_input_declines() {
    let said = answered(&form(), "three\n\none\nperhaps\ny\nten\n10\n\n");
    assert_eq!(said, json!({"action": "accept", "content": {"name": "one", "sure": true, "count": 10}}));
    assert_eq!(answered(&form(), "one\ny\n7\n"), json!({"action": "decline"}));
    assert_eq!(answered(&form(), ""), json!({"action": "decline"}));
}

#[test]
fn only_a_clear_yes_agrees() {
    let plain = json!({"message": "Delete it?", "requestedSchema": {"type": "object", "properties": {}}});
    assert_eq!(answered(&plain, "y\n")["action"], "accept");
    for typed in ["\n", "n\n", "", "sure\n"] {
        assert_eq!(answered(&plain, typed)["action"], "decline", "{typed:?}");
    }
    let page = json!({"mode": "url", "message": "Sign in", "url": "https://example.com"});
    assert_eq!(answered(&page, "yes\n"), json!({"action": "accept"}));
    assert_eq!(answered(&page, "\n"), json!({"action": "decline"}));
}

#[test]
fn what_we_never_offered_to_answer_is_cancelled() {
    let result = json!({"inputRequests": {"s": {"method": "sampling/createMessage", "params": {}}}});
    let result = RawObject::read(Bytes::from(result.to_string()), Limits::default()).unwrap();
    assert_eq!(answer(&result, &mut &b""[..], &mut Vec::new()).unwrap(), r#"{"s":{"action":"cancel"}}"#);
}
