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
