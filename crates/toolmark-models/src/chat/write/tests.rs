use serde_json::json;

use super::*;
use crate::item::{CustomCall, File, Image, Output, Raw};
use crate::request::{Settings, ToolChoice};
use crate::tool::{CustomTool, FunctionTool, HostedTool, WireTool};

fn sent(request: &ModelRequest) -> Result<Map<String, Value>, UnsendableError> {
    body("m", request, false, Dialect::Compatible)
}

fn with_tool(tool: WireTool) -> ModelRequest {
    ModelRequest { tools: vec![tool], ..ModelRequest::of_text("x") }
}

fn with_item(item: Item) -> ModelRequest {
    ModelRequest { input: vec![item], ..ModelRequest::default() }
}

fn tool() -> FunctionTool {
    FunctionTool::new("f", "d", json!({"type": "object"}))
}

#[test]
fn what_changes_the_meaning_of_a_tool_is_refused() {
    let refused = [
        WireTool::Function(FunctionTool { namespace: Some("crm".into()), ..tool() }),
        WireTool::Function(FunctionTool { defer_loading: true, ..tool() }),
        WireTool::Function(FunctionTool { allowed_callers: Some(vec![]), ..tool() }),
        WireTool::Function(FunctionTool { output_schema: Some(json!({})), ..tool() }),
        WireTool::Custom(CustomTool::default()),
        WireTool::Hosted(HostedTool::LocalShell),
    ];
    for tool in refused {
        let error = sent(&with_tool(tool)).unwrap_err();
        assert!(matches!(error, UnsendableError::Tool { wire: Wire::Chat, .. }), "{error}");
    }
    // An empty namespace is none.
    assert!(sent(&with_tool(WireTool::Function(FunctionTool { namespace: Some(String::new()), ..tool() }))).is_ok());
}

#[test]
fn calls_and_settings_that_cannot_be_said_are_refused() {
    let call = FunctionCall::new("c".parse().unwrap(), "f", "{}");
    assert!(
        sent(&with_item(Item::FunctionCall(FunctionCall { namespace: Some("crm".into()), ..call.clone() }))).is_err()
    );
    let custom = CustomCall { call_id: call.call_id, name: "sql".into(), input: "x".into(), extra: None };
    assert!(sent(&with_item(Item::CustomCall(custom))).is_err());
    let after = ModelRequest { previous_response_id: Some("r".into()), ..ModelRequest::default() };
    assert!(matches!(sent(&after), Err(UnsendableError::Setting { .. })));
    let kept = ModelRequest { conversation_id: Some("c".into()), ..ModelRequest::default() };
    assert!(matches!(sent(&kept), Err(UnsendableError::Setting { .. })));
    let request =
        ModelRequest { tool_choice: Some(ToolChoice::Named("g".into())), ..with_tool(WireTool::Function(tool())) };
    assert!(matches!(sent(&request), Err(UnsendableError::Choice { .. })));
}

#[test]
fn content_that_cannot_be_carried_is_refused_and_not_left_out() {
    let output = |part| {
        let output = Output::Parts(vec![Part::text("a"), part]);
        let call_id = "c".parse().unwrap();
        Item::FunctionOutput(crate::item::FunctionOutput { call_id, output, failed: false, extra: None })
    };
    assert!(sent(&with_item(output(Part::Image(Image::at("https://example.org/a.png"))))).is_err());
    assert!(sent(&with_item(output(Part::text("b")))).is_ok());
    let user = |part| Item::Message(Message { role: Role::User, parts: vec![part], extra: None });
    assert!(sent(&with_item(user(Part::Image(Image { file_id: Some("f".into()), ..Image::default() })))).is_err());
    assert!(sent(&with_item(user(Part::File(File { url: Some("u".into()), ..File::default() })))).is_err());
}

#[test]
fn thoughts_and_hosted_calls_of_others_are_left_out_and_unknown_items_are_refused() {
    let raw = |wire, kind: &str| Raw { wire, value: json!({ "type": kind }) };
    let request = ModelRequest {
        input: vec![
            Item::user("x"),
            Item::Reasoning(raw(Wire::Anthropic, "thinking")),
            Item::Hosted(raw(Wire::Responses, "web_search_call")),
        ],
        ..ModelRequest::default()
    };
    assert_eq!(sent(&request).unwrap()["messages"], json!([{"role": "user", "content": "x"}]));
    let unknown = with_item(Item::Other(raw(Wire::Responses, "hologram")));
    assert!(matches!(sent(&unknown), Err(UnsendableError::Foreign { .. })));
    let answer = with_item(Item::Hosted(raw(Wire::Responses, "shell_call_output")));
    assert!(matches!(sent(&answer), Err(UnsendableError::Foreign { .. })));
}

#[test]
fn openai_and_others_are_told_in_their_own_words() {
    let settings = Settings { max_output_tokens: Some(5), effort: Some(Effort::Minimal), ..Settings::default() };
    let request = ModelRequest { settings, ..with_tool(WireTool::Function(tool())) };
    let openai = body("m", &request, true, Dialect::OpenAi).unwrap();
    assert_eq!(
        (&openai["max_completion_tokens"], &openai["tools"][0]["function"]["strict"]),
        (&json!(5), &json!(true))
    );
    let other = sent(&request).unwrap();
    assert_eq!((&other["max_tokens"], other["tools"][0]["function"].get("strict")), (&json!(5), None));
    assert_eq!(other["reasoning_effort"], "minimal");
}

#[test]
fn a_turn_without_words_has_empty_content_and_none_for_openai() {
    let call = with_item(Item::FunctionCall(FunctionCall::new("c".parse().unwrap(), "f", "{}")));
    assert_eq!(sent(&call).unwrap()["messages"][0]["content"], "");
    let openai = body("m", &call, false, Dialect::OpenAi).unwrap();
    assert_eq!(openai["messages"][0].get("content"), Some(&Value::Null));
}

#[test]
fn words_after_calls_begin_another_message() {
    let call = Item::FunctionCall(FunctionCall::new("c".parse().unwrap(), "f", "{}"));
    let items = vec![Item::assistant("a"), call, Item::assistant("b"), Item::assistant("c")];
    let messages = sent(&ModelRequest { input: items, ..ModelRequest::default() }).unwrap()["messages"].clone();
    let said: Vec<_> = messages.as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(said, ["a", "b", "c"]);
}
