use super::*;

#[test]
fn the_input_of_a_call_keeps_its_spelling() {
    let body = br#"{"content": [{"type": "tool_use", "id": "t", "name": "f", "input": { "n": 12345678901234567890123, "x": 1.0e2 }}]}"#;
    let response = response(body).unwrap();
    assert_eq!(response.function_calls().next().unwrap().arguments, r#"{ "n": 12345678901234567890123, "x": 1.0e2 }"#);
}

#[test]
fn what_is_no_answer_is_an_error() {
    for body in [
        "",
        "null",
        "[]",
        "{}",
        "{\"content\": {}}",
        "{\"content\": [5]}",
        "{\"content\": [{\"type\": \"tool_use\"}]}",
        "{\"type\": \"error\", \"error\": {\"message\": \"m\"}}",
    ] {
        assert!(response(body.as_bytes()).is_err(), "{body}");
    }
    assert!(response(b"{\"content\": []}").unwrap().items.is_empty());
}

#[test]
fn blocks_that_nobody_knows_are_kept() {
    let body = r#"{"content": [{"type": "hologram", "x": [null]}, {"type": "mcp_tool_use", "id": "m"}]}"#;
    let items = response(body.as_bytes()).unwrap().items;
    assert!(matches!(&items[0], Item::Other(raw) if raw.value["x"][0].is_null()));
    assert!(matches!(&items[1], Item::Hosted(_)));
}

#[test]
fn every_reason_has_a_meaning() {
    assert_eq!(finish(Some("pause_turn")), Finish::Paused);
    assert_eq!(finish(Some("refusal")), Finish::Refused);
    assert_eq!(finish(Some("max_tokens")), Finish::Length);
    assert_eq!(finish(Some("tired")), Finish::Other("tired".into()));
}
