use serde_json::{Value, json};
use toolmark_models::{Finish, Item, ModelRequest};

use super::server::{Reply, Server};
use super::{KEY, answer, model, streamed};

const CALLS: &str = include_str!("../wire/anthropic-calls.sse");
const HOSTED: &str = include_str!("../wire/anthropic-hosted.sse");

/// Spelled out, since the spelling of the input counts.
const WHOLE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[
 {"type":"thinking","thinking":"Two cities, two calls.","signature":"EqQBCg+/=="},
 {"type":"text","text":"Let me look — ☔","citations":null},
 {"type":"tool_use","id":"toolu_a","name":"get_weather","input":{"city": "Delft", "days": 1.0}},
 {"type":"tool_use","id":"toolu_b","name":"get_time","input":{}}],
 "stop_reason":"tool_use","stop_sequence":null,
 "usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":50}}"#;

#[tokio::test]
async fn a_streamed_answer_is_the_same_as_one_in_one_piece() {
    let server = Server::start([Reply::new(200, "application/json", WHOLE), Reply::events(CALLS).in_pieces(13)]).await;
    let model = model("anthropic:claude-x", &server);
    let request = ModelRequest::of_text("weather?");
    let at_once = model.respond(&request).await.expect("an answer");
    assert_eq!(at_once.finish, Finish::ToolCalls);
    assert_eq!(at_once.function_calls().next().expect("a call").arguments, "{\"city\": \"Delft\", \"days\": 1.0}");
    assert_eq!(answer(model.as_ref(), &request).await, at_once);
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1/messages");
    let head = asked[0].head.to_lowercase();
    assert!(head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version: 2023-06-01"));
    assert!(!head.contains("authorization"));
}

#[tokio::test]
async fn thinking_goes_back_with_its_signature_and_results_open_the_answer() {
    let server = Server::start([Reply::new(200, "application/json", WHOLE), Reply::events(HOSTED)]).await;
    let model = model("anthropic:claude-x", &server);
    let mut request = ModelRequest::of_text("weather?");
    let first = model.respond(&request).await.expect("an answer");
    let ids: Vec<_> = first.function_calls().map(|call| call.call_id.clone()).collect();
    request.input.extend(first.items);
    request.input.push(Item::output(ids[0].clone(), "sunny"));
    request.input.push(Item::user("and hurry"));
    request.input.push(Item::output(ids[1].clone(), "noon"));
    answer(model.as_ref(), &request).await;
    let sent = server.asked()[1].body["messages"].clone();
    let mut said: Value = serde_json::from_str(WHOLE).expect("JSON");
    said["content"][1].as_object_mut().expect("a block").remove("citations");
    assert_eq!(sent[1], json!({"role": "assistant", "content": said["content"]}));
    assert_eq!(
        sent[2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_a", "content": "sunny"},
            {"type": "tool_result", "tool_use_id": "toolu_b", "content": "noon"},
            {"type": "text", "text": "and hurry"},
        ]})
    );
}

#[tokio::test]
async fn what_the_provider_did_by_itself_goes_back_too() {
    let server = Server::start([Reply::events(HOSTED), Reply::events(HOSTED)]).await;
    let model = model("anthropic:claude-x", &server);
    let mut request = ModelRequest::of_text("weather?");
    let first = answer(model.as_ref(), &request).await;
    assert_eq!((first.text().as_str(), first.finish.clone()), ("Rain. Take a coat.", Finish::Stop));
    request.input.extend(first.items);
    answer(model.as_ref(), &request).await;
    let blocks = server.asked()[1].body["messages"][1]["content"].clone();
    assert_eq!(blocks[0], json!({"type": "redacted_thinking", "data": "EmwKAh=="}));
    assert_eq!(blocks[1]["input"], json!({"query": "rain"}));
    assert_eq!(blocks[2]["content"][0]["encrypted_content"], "Ev0D");
    assert_eq!(blocks[3]["citations"][0]["url"], "https://example.org/");
    assert_eq!(blocks[4], json!({"type": "text", "text": " Take a coat."}));
}

#[tokio::test]
async fn an_overloaded_provider_is_asked_again_before_it_said_anything_and_not_after() {
    let sorry =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    let half = CALLS.split("event: content_block_start").take(3).collect::<Vec<_>>().join("event: content_block_start");
    let server = Server::start([
        Reply::events(sorry),
        Reply::events(CALLS),
        Reply::events(&format!("{half}{sorry}")),
        Reply::events(CALLS),
    ])
    .await;
    let model = model("anthropic:claude-x", &server);
    answer(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert_eq!(server.asked().len(), 2);
    let (events, error) = streamed(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert!(!events.is_empty());
    assert!(error.expect("an error").to_string().contains("busy"));
    assert_eq!(server.asked().len(), 3);
}
