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
                Part::Image { source: Source::Url("https://example.org/a.png".into()), detail: Some(Detail::Low) },
                Part::File {
                    source: Source::Data { media_type: "text/plain".into(), base64: "aGk=".into() },
                    filename: None,
                },
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
fn data_urls_and_data_are_the_same_thing() {
    let data = Source::Data { media_type: "image/png".into(), base64: "AA==".into() };
    let url = Source::Url(data.to_url().unwrap());
    assert_eq!(url.as_data(), data.as_data());
    assert_eq!(Source::FileId("f".into()).to_url(), None);
}
