//! A real model behind a real server that speaks Chat Completions. Run by whoever has one:
//! `TOOLMARK_TEST_CHAT_URL=http://127.0.0.1:8000/v1 TOOLMARK_TEST_CHAT_MODEL=smollm2 cargo test -p toolmark-models --test live -- --ignored --test-threads 1`
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::json;
use toolmark_core::explain::Explain as _;
use toolmark_models::{
    Finish, FunctionTool, Item, Model, ModelEvent, ModelName, ModelRequest, ModelResponse, Options, Provider, Settings,
    ToolChoice, WireTool, open,
};

fn model() -> Arc<dyn Model> {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("`{name}` is not set"));
    let name = ModelName::new(Provider::OpenAiChat, &variable("TOOLMARK_TEST_CHAT_MODEL")).expect("a name");
    let options = Options { base_url: Some(variable("TOOLMARK_TEST_CHAT_URL")), ..Options::default() };
    open(&name, &options, &|_| None).expect("a model")
}

fn short(text: &str) -> ModelRequest {
    let settings = Settings { max_output_tokens: Some(24), temperature: Some(0.0), ..Settings::default() };
    ModelRequest { instructions: Some("You are brief.".to_owned()), settings, ..ModelRequest::of_text(text) }
}

async fn streamed(model: &dyn Model, request: &ModelRequest) -> (Vec<ModelEvent>, ModelResponse) {
    let stream = model.stream(request).await.expect("a stream");
    let events: Vec<_> = stream.map(|event| event.expect("an event")).collect().await;
    match events.last() {
        Some(ModelEvent::Completed(response)) => (events.clone(), response.as_ref().clone()),
        other => panic!("the last event is {other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs a server"]
async fn it_answers_at_once_and_piece_by_piece() {
    let model = model();
    let request = short("Say hello.");
    let whole = model.respond(&request).await.expect("an answer");
    assert!(!whole.text().trim().is_empty());
    assert!(matches!(whole.finish, Finish::Stop | Finish::Length), "{:?}", whole.finish);
    assert!(whole.usage.input_tokens > 0 && whole.usage.output_tokens > 0, "{:?}", whole.usage);
    let (events, response) = streamed(model.as_ref(), &request).await;
    let text = events.iter().filter_map(|event| match event {
        ModelEvent::Text { delta } => Some(delta.as_str()),
        _ => None,
    });
    assert_eq!(text.collect::<String>(), response.text());
    // Nothing is left to chance at temperature 0.
    assert_eq!(response.text(), whole.text());
}

#[tokio::test]
#[ignore = "needs a server"]
async fn it_calls_a_tool_and_reads_what_came_of_it() {
    let model = model();
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let request = ModelRequest {
        tools: vec![WireTool::Function(FunctionTool::new("get_weather", "The weather of a city", schema))],
        tool_choice: Some(ToolChoice::Named("get_weather".to_owned())),
        ..short("What is the weather in Delft?")
    };
    let whole = model.respond(&request).await.expect("an answer");
    let (_, response) = streamed(model.as_ref(), &request).await;
    for response in [whole, response] {
        let call = response.function_calls().next().expect("a call");
        assert_eq!(call.name, "get_weather");
        assert!(!call.arguments.is_empty());
        let mut next = ModelRequest { tool_choice: None, tools: Vec::new(), ..request.clone() };
        next.input.extend(response.items.clone());
        next.input.push(Item::output(call.call_id.clone(), "sunny"));
        model.respond(&next).await.expect("an answer to the output");
    }
}

#[tokio::test]
#[ignore = "needs a server"]
async fn what_it_refuses_is_an_error_with_its_reason() {
    let mut request = short("hello");
    request.settings.extra.insert("messages".to_owned(), json!("not a list"));
    let error = model().respond(&request).await.expect_err("an error");
    // Some servers take the blame for it and answer with a status of the 500s.
    let code = error.code().as_str();
    assert!(
        matches!(code, "model-bad-request" | "model-server-failed") && error.to_string().contains("list"),
        "{error}"
    );
}
