use serde_json::{Value, json};
use toolmark_models::{Finish, Item, ModelRequest};

use super::server::{Reply, Server};
use super::{KEY, answer, model, open_with, options};

const CALLS: &str = include_str!("../wire/chat-calls.sse");
const TEXT: &str = include_str!("../wire/chat-text.sse");

fn whole() -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion", "model": "qwen", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": "Let me look.", "reasoning_content": "Two calls.", "refusal": null, "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Delft\", \"days\": 1.0}"}},
            {"id": "call_b", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Köln\"}"},
             "extra_content": {"google": {"thought_signature": "sig=="}}},
        ]}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 30, "prompt_tokens_details": {"cached_tokens": 5},
                  "completion_tokens_details": {"reasoning_tokens": 4}}})
}

#[tokio::test]
async fn a_streamed_answer_is_the_same_as_one_in_one_piece() {
    let server = Server::start([Reply::json(&whole()), Reply::events(CALLS).in_pieces(11)]).await;
    let model = model("openai-chat:qwen", &server);
    let request = ModelRequest::of_text("weather?");
    let at_once = model.respond(&request).await.expect("an answer");
    assert_eq!(at_once.text(), "Let me look.");
    assert_eq!(at_once.finish, Finish::ToolCalls);
    assert_eq!(answer(model.as_ref(), &request).await, at_once);
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1/chat/completions");
    assert_eq!(asked[1].body["stream_options"], json!({"include_usage": true}));
    assert!(asked[0].head.to_lowercase().contains(&format!("authorization: bearer {KEY}")));
}

#[tokio::test]
async fn a_turn_goes_back_as_one_message_with_thoughts_and_signatures() {
    let server = Server::start([Reply::json(&whole()), Reply::events(TEXT)]).await;
    let model = model("openai-chat:qwen", &server);
    let mut request = ModelRequest::of_text("weather?");
    request.instructions = Some("be brief".to_owned());
    let first = model.respond(&request).await.expect("an answer");
    let ids: Vec<_> = first.function_calls().map(|call| call.call_id.clone()).collect();
    request.input.extend(first.items);
    request.input.extend(ids.into_iter().map(|id| Item::output(id, "sunny")));
    let response = answer(model.as_ref(), &request).await;
    assert_eq!((response.text().as_str(), response.finish), ("Hello 👋", Finish::Stop));
    let sent = server.asked()[1].body["messages"].clone();
    let mut said = whole()["choices"][0]["message"].clone();
    said.as_object_mut().expect("an object").remove("refusal");
    assert_eq!(sent[0], json!({"role": "system", "content": "be brief"}));
    assert_eq!(sent[1], json!({"role": "user", "content": "weather?"}));
    assert_eq!(sent[2], said);
    assert_eq!(sent[3], json!({"role": "tool", "tool_call_id": "call_a", "content": "sunny"}));
    assert_eq!(sent.as_array().expect("a list").len(), 5);
}

#[tokio::test]
async fn servers_with_odd_habits_are_understood() {
    let call = |index: u64, id: &str, name: &str| {
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": index, "id": id, "function": {"name": name, "arguments": {"n": 1}}}]}}]})
    };
    // The same index for every call, arguments as an object, `stop` as the reason, no last line.
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let stream = format!("data: {}\n\ndata: {}\n\ndata: {end}\n\n", call(0, "a", "f"), call(0, "b", "g"));
    let server = Server::start([Reply::events(&stream), Reply::json(&whole())]).await;
    let model = model("openai-chat:odd", &server);
    let response = answer(model.as_ref(), &ModelRequest::of_text("x")).await;
    let calls: Vec<_> = response.function_calls().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("f", "{\"n\":1}"), ("g", "{\"n\":1}")]);
    assert_eq!(response.finish, Finish::ToolCalls);
    // A server that does not stream answers a stream all the same.
    let response = answer(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert_eq!(response.function_calls().count(), 2);
}

#[tokio::test]
async fn a_local_server_needs_no_key_and_gets_none() {
    let server = Server::start([Reply::events(TEXT)]).await;
    let mut options = options(&server);
    options.key_variable = None;
    let model = open_with("openai-chat:local", &options);
    answer(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert!(!server.asked()[0].head.to_lowercase().contains("authorization"));
}
