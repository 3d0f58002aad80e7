use serde_json::json;

use super::*;
use crate::item::{Extra, File, FunctionCall, FunctionOutput, Image, Message, Output, Part, Raw};
use crate::request::ToolChoice;
use crate::tool::{FunctionTool, HostedTool, WireTool};

fn sent(request: &ModelRequest) -> Result<Map<String, Value>, UnsendableError> {
    body("m", request, false)
}

fn of_items(input: Vec<Item>) -> ModelRequest {
    ModelRequest { input, ..ModelRequest::default() }
}

fn effort(effort: Effort) -> ModelRequest {
    ModelRequest { settings: Settings { effort: Some(effort), ..Settings::default() }, ..ModelRequest::default() }
}

#[test]
fn there_is_always_a_limit_and_it_can_be_set() {
    assert_eq!(sent(&ModelRequest::default()).unwrap()["max_tokens"], 8_192);
    let settings = Settings { max_output_tokens: Some(7), ..Settings::default() };
    assert_eq!(sent(&ModelRequest { settings, ..ModelRequest::default() }).unwrap()["max_tokens"], 7);
}

#[test]
fn effort_is_said_in_the_words_of_the_provider() {
    assert_eq!(sent(&effort(Effort::High)).unwrap()["output_config"], json!({"effort": "high"}));
    assert_eq!(sent(&effort(Effort::None)).unwrap()["thinking"], json!({"type": "disabled"}));
    assert!(matches!(sent(&effort(Effort::Minimal)), Err(UnsendableError::Setting { .. })));
}

#[test]
fn namespaces_and_hosted_tools_are_refused_but_own_words_pass() {
    let tool = FunctionTool::new("f", "d", json!({}));
    let with = |tool| ModelRequest { tools: vec![tool], ..ModelRequest::default() };
    let spaced = FunctionTool { namespace: Some("crm".into()), ..tool.clone() };
    assert!(sent(&with(WireTool::Function(spaced))).is_err());
    assert!(sent(&with(WireTool::Hosted(HostedTool::ApplyPatch))).is_err());
    let own = json!({"type": "web_search_20250305", "name": "web_search"});
    let raw = Raw { wire: Wire::Anthropic, value: own.clone() };
    assert_eq!(sent(&with(WireTool::Hosted(HostedTool::Other(raw)))).unwrap()["tools"], json!([own]));
    // A schema without a type would be refused by the provider.
    assert_eq!(sent(&with(WireTool::Function(tool))).unwrap()["tools"][0]["input_schema"], json!({"type": "object"}));
}

#[test]
fn one_call_at_a_time_is_part_of_the_choice() {
    let tool = WireTool::Function(FunctionTool::new("f", "d", json!({})));
    let choice = |tool_choice, parallel_tool_calls| {
        let request =
            ModelRequest { tools: vec![tool.clone()], tool_choice, parallel_tool_calls, ..ModelRequest::default() };
        sent(&request).unwrap().get("tool_choice").cloned()
    };
    assert_eq!(choice(None, None), None);
    assert_eq!(choice(None, Some(true)), None);
    assert_eq!(choice(None, Some(false)), Some(json!({"type": "auto", "disable_parallel_tool_use": true})));
    assert_eq!(choice(Some(ToolChoice::Required), None), Some(json!({"type": "any"})));
    assert_eq!(choice(Some(ToolChoice::None), Some(false)), Some(json!({"type": "none"})));
}

#[test]
fn images_and_documents_are_said_from_wherever_they_are() {
    let parts = vec![
        Part::text(""),
        Part::Image(Image::at("https://example.org/a.png")),
        Part::Image(Image { file_id: Some("f1".into()), ..Image::default() }),
        Part::File(File::of_base64("text/csv", "YSxi", "a.csv")),
        Part::File(File { data: Some("JVBERi0=".into()), filename: Some("A.PDF".into()), ..File::default() }),
        Part::File(File { url: Some("https://example.org/a.pdf".into()), ..File::default() }),
    ];
    let message = Item::Message(Message { role: Role::User, parts, extra: None });
    let body = sent(&of_items(vec![message])).unwrap();
    let sources: Vec<_> =
        body["messages"][0]["content"].as_array().unwrap().iter().map(|part| &part["source"]).collect();
    assert_eq!(
        json!(sources),
        json!([
            {"type": "url", "url": "https://example.org/a.png"},
            {"type": "file", "file_id": "f1"},
            {"type": "text", "media_type": "text/plain", "data": "a,b"},
            {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
            {"type": "url", "url": "https://example.org/a.pdf"},
        ])
    );
    for file in [
        File::default(),
        File::of_base64("application/zip", "AA==", "a.zip"),
        File::of_base64("text/plain", "/w==", "a"),
    ] {
        let message = Item::Message(Message { role: Role::User, parts: vec![Part::File(file)], extra: None });
        assert!(matches!(sent(&of_items(vec![message])), Err(UnsendableError::Content { .. })));
    }
}

#[test]
fn a_conversation_with_another_provider_can_go_on_here() {
    let extra = Extra { wire: Wire::Responses, fields: json!({"id": "fc_1"}).as_object().unwrap().clone() };
    let call = FunctionCall { extra: Some(extra), ..FunctionCall::new("c".parse().unwrap(), "f", "") };
    let output = Output::Parts(vec![Part::text("done")]);
    let items = vec![
        Item::user("x"),
        Item::Reasoning(Raw { wire: Wire::Responses, value: json!({"type": "reasoning"}) }),
        Item::FunctionCall(call.clone()),
        Item::FunctionOutput(FunctionOutput { call_id: call.call_id, output, failed: false, extra: None }),
    ];
    assert_eq!(
        sent(&of_items(items)).unwrap()["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "done"}]}]},
        ])
    );
}
