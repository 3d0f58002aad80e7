use serde_json::{Value, json};
use toolmark_models::{Finish, Item, ModelEvent, ModelRequest};

use super::server::{Reply, Server};
use super::{answer, model, streamed};

const CALLS: &str = include_str!("../wire/responses-calls.sse");
const TEXT: &str = include_str!("../wire/responses-text.sse");

fn whole() -> Value {
    let last = CALLS.lines().rfind(|line| line.contains("response.completed") && line.starts_with("data: "));
    let event: Value = serde_json::from_str(&last.expect("an end")["data: ".len()..]).expect("JSON");
    event["response"].clone()
}

#[tokio::test]
async fn parallel_calls_in_a_namespace_come_with_their_ids_and_raw_arguments() {
    let server = Server::start([Reply::json(&whole()), Reply::events(CALLS).in_pieces(7)]).await;
    let model = model("openai:gpt-5", &server);
    let request = ModelRequest::of_text("weather in Delft and Köln?");
    let at_once = model.respond(&request).await.expect("an answer");
    let calls: Vec<_> = at_once.function_calls().collect();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].name.as_str(), calls[0].namespace.as_deref()), ("get", Some("weather")));
    assert_eq!(calls[0].arguments, "{\"city\": \"Delft\", \"days\": 1.0}");
    assert_eq!(calls[1].call_id.as_str(), "call_b");
    assert_eq!(at_once.finish, Finish::ToolCalls);
    assert_eq!(at_once.response_id.as_deref(), Some("resp_1"));
    // Streamed or not, it is the same answer.
    assert_eq!(answer(model.as_ref(), &request).await, at_once);
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1/responses");
    assert_eq!(asked[0].body.get("stream"), None);
    assert_eq!(asked[1].body["stream"], true);
}

#[tokio::test]
async fn reasoning_and_unknown_fields_go_back_as_they_came() {
    let server = Server::start([Reply::json(&whole()), Reply::events(TEXT)]).await;
    let model = model("openai:gpt-5", &server);
    let mut request = ModelRequest::of_text("weather?");
    let first = model.respond(&request).await.expect("an answer");
    let id = first.function_calls().next().expect("a call").call_id.clone();
    request.input.extend(first.items);
    request.input.push(Item::output(id, "sunny"));
    answer(model.as_ref(), &request).await;
    let sent = server.asked()[1].body["input"].clone();
    let output = whole()["output"].clone();
    for at in 0..3 {
        assert_eq!(sent[at + 1], output[at]);
    }
    assert_eq!(sent[4], json!({"type": "function_call_output", "call_id": "call_a", "output": "sunny"}));
}

#[tokio::test]
async fn hosted_calls_and_citations_go_back_as_they_came() {
    let server = Server::start([Reply::events(TEXT), Reply::events(TEXT)]).await;
    let model = model("openai:gpt-5", &server);
    let mut request = ModelRequest::of_text("weather?");
    let first = answer(model.as_ref(), &request).await;
    assert_eq!(first.text(), "It rains — in Köln.");
    request.input.extend(first.items);
    answer(model.as_ref(), &request).await;
    let sent = server.asked()[1].body["input"].clone();
    assert_eq!(sent[1]["action"]["query"], "weather");
    assert_eq!(sent[2]["content"][0]["annotations"][0]["title"], "W");
    assert_eq!((&sent[2]["id"], &sent[2]["status"]), (&json!("msg_1"), &json!("completed")));
}

#[tokio::test]
async fn an_item_that_nobody_knows_survives_the_round_trip_and_storage() {
    let strange = json!({"type": "hologram", "id": "h_1", "beams": [1, {"x": null}]});
    let body = json!({"id": "r", "status": "completed", "output": [strange]});
    let server = Server::start([Reply::json(&body), Reply::events(TEXT)]).await;
    let model = model("openai:gpt-5", &server);
    let mut request = ModelRequest::of_text("x");
    request.input.extend(model.respond(&request.clone()).await.expect("an answer").items);
    let stored = serde_json::to_string(&request).expect("JSON");
    let request: ModelRequest = serde_json::from_str(&stored).expect("a request");
    answer(model.as_ref(), &request).await;
    assert_eq!(server.asked()[1].body["input"][1], strange);
}

#[tokio::test]
async fn an_answer_that_was_cut_off_says_so() {
    let body = json!({"id": "r", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\": \"ha"}
    ]});
    let server = Server::start([Reply::json(&body)]).await;
    let response = model("openai:gpt-5", &server).respond(&ModelRequest::of_text("x")).await.expect("an answer");
    assert_eq!(response.finish, Finish::Length);
    assert_eq!(response.function_calls().next().expect("a call").arguments, "{\"a\": \"ha");
}

#[tokio::test]
async fn a_failure_in_the_middle_of_a_stream_follows_what_was_said() {
    let cut = TEXT.split("event: response.output_text.done").next().expect("a beginning");
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "output": [],
        "error": {"code": "server_error", "message": "lost my mind"}}});
    let stream = format!("{cut}data: {failed}\n\n");
    let server = Server::start([Reply::events(&stream)]).await;
    let (events, error) = streamed(model("openai:gpt-5", &server).as_ref(), &ModelRequest::of_text("x")).await;
    assert!(events.contains(&ModelEvent::Text { delta: "It rains".to_owned() }));
    assert!(error.expect("an error").to_string().contains("lost my mind"));
    assert_eq!(server.asked().len(), 1, "a stream that said something is not asked for again");
}
