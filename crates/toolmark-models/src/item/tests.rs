use serde_json::json;

use super::*;

fn id(text: &str) -> CallId {
    text.parse().unwrap()
}

#[test]
fn items_come_back_from_json_as_they_were() {
    let extra = Some(Extra { wire: Wire::Responses, fields: json!({"id": "fc_1"}).as_object().unwrap().clone() });
    let raw = |value| Raw { wire: Wire::Anthropic, value };
    let items = vec![
        Item::user("hello"),
        Item::Message(Message {
            role: Role::User,
            parts: vec![
                Part::Image(Image { detail: Some(Detail::Low), ..Image::at("https://example.org/a.png") }),
                Part::File(File::of_base64("text/plain", "aGk=", "a.txt")),
                Part::Other(raw(json!({"type": "sound"}))),
            ],
            extra: None,
        }),
        Item::FunctionCall(FunctionCall {
            namespace: Some("crm".into()),
            extra,
            ..FunctionCall::new(id("c1"), "get", "{\"a\": 1.0")
        }),
        Item::output(id("c1"), "done"),
        Item::Reasoning(raw(json!({"type": "thinking", "thinking": "…", "signature": "s"}))),
        Item::Other(raw(json!({"type": "never_seen", "n": 1}))),
    ];
    let text = serde_json::to_string(&items).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Item>>(&text).unwrap(), items);
}

#[test]
fn items_are_stored_in_a_form_that_does_not_change_by_accident() {
    let stored = json!([
        {"type": "message", "role": "user", "parts": [
            {"type": "text", "text": "hi"},
            {"type": "image", "url": "https://example.org/a.png", "detail": "low"},
            {"type": "file", "data": "AA==", "filename": "a"},
            {"type": "other", "wire": "chat", "value": {"type": "sound"}},
        ]},
        {"type": "reasoning", "wire": "responses", "value": {"type": "reasoning", "id": "rs_1"}},
        {"type": "function_call", "call_id": "c", "name": "f", "namespace": "n", "arguments": "{",
         "extra": {"wire": "responses", "fields": {"id": "fc_1"}}},
        {"type": "function_output", "call_id": "c", "output": {"text": "done"}, "failed": true},
        {"type": "function_output", "call_id": "d", "output": {"parts": [{"type": "text", "text": "a"}]}},
        {"type": "custom_call", "call_id": "e", "name": "sql", "input": "select 1"},
        {"type": "custom_output", "call_id": "e", "output": {"text": "1"}},
        {"type": "hosted", "wire": "anthropic", "value": {"type": "server_tool_use"}},
    ]);
    let items: Vec<Item> = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(serde_json::to_value(&items).unwrap(), stored);
}

#[test]
fn thoughts_can_be_read_in_every_format_unless_they_are_enciphered() {
    let text = |wire, value| Raw { wire, value }.reasoning_text();
    let summary = json!({"summary": [{"text": "a"}, {"text": "b"}]});
    assert_eq!(text(Wire::Responses, summary).as_deref(), Some("a\nb"));
    assert_eq!(text(Wire::Responses, json!({"summary": [], "encrypted_content": "x"})), None);
    assert_eq!(text(Wire::Anthropic, json!({"thinking": "a"})).as_deref(), Some("a"));
    assert_eq!(text(Wire::Chat, json!({"fields": {"reasoning": "a"}})).as_deref(), Some("a"));
}

#[test]
fn an_empty_call_id_or_a_number_is_refused_when_items_are_read() {
    for bad in [json!(""), json!(5), json!(null)] {
        let item = json!({"type": "function_call", "call_id": bad, "name": "f", "arguments": "{}"});
        assert!(serde_json::from_value::<Item>(item).is_err());
    }
}

#[test]
fn a_data_url_gives_back_what_was_put_in() {
    let image = Image::of_base64("image/png", "AA==");
    assert_eq!(read_data_url(&image.url.unwrap()), Some(("image/png", "AA==")));
    assert_eq!(read_data_url("https://example.org/a.png"), None);
}
