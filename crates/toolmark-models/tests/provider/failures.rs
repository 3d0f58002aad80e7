use serde_json::json;
use toolmark_core::explain::Explain as _;
use toolmark_models::{HostedTool, ModelError, ModelRequest, Options, WireTool};

use super::server::{Reply, Server};
use super::{answer, model, open_with, options, streamed};

const TEXT: &str = include_str!("../wire/chat-text.sse");

fn fine() -> Reply {
    Reply::json(&json!({"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}))
}

fn error(status: u16, message: &str) -> Reply {
    Reply::new(
        status,
        "application/json",
        &json!({"error": {"message": message, "type": "t", "code": null}}).to_string(),
    )
}

/// What becomes of a chat that gets this reply, and no other.
async fn refused(reply: Reply) -> ModelError {
    let server = Server::start([reply]).await;
    let error = model("openai-chat:m", &server).respond(&ModelRequest::of_text("x")).await.expect_err("an error");
    assert_eq!(server.asked().len(), 1, "{error}");
    error
}

#[tokio::test]
async fn a_failing_server_is_asked_again() {
    for first in [
        error(500, "oops"),
        error(502, "oops"),
        error(503, "busy"),
        error(529, "busy"),
        error(429, "slow"),
        error(408, "late"),
    ] {
        let server = Server::start([first.clone(), first, fine()]).await;
        let response = model("openai-chat:m", &server).respond(&ModelRequest::of_text("x")).await.expect("an answer");
        assert_eq!(response.text(), "hello");
        assert_eq!(server.asked().len(), 3);
        let server = Server::start([error(500, "oops"), Reply::events(TEXT)]).await;
        answer(model("openai-chat:m", &server).as_ref(), &ModelRequest::of_text("x")).await;
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_made_again() {
    let server =
        Server::start([Reply::raw(b""), Reply::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"), fine()]).await;
    let response = model("openai-chat:m", &server).respond(&ModelRequest::of_text("x")).await.expect("an answer");
    assert_eq!(response.text(), "hello");
}

#[tokio::test]
async fn patience_ends_with_the_last_error_and_a_count() {
    let server = Server::start([error(500, "one"), error(500, "two"), error(500, "three"), fine()]).await;
    let error = model("openai-chat:m", &server).respond(&ModelRequest::of_text("x")).await.expect_err("an error");
    assert_eq!((error.code().as_str(), error.attempts()), ("model-server-failed", 3));
    assert!(error.to_string().contains("three") && error.is_temporary());
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn retry_after_is_kept_and_a_pause_that_is_too_long_is_not_taken() {
    let soon = Reply::with(429, "retry-after-ms: 20\r\n", "{}");
    let server = Server::start([soon, fine()]).await;
    model("openai-chat:m", &server).respond(&ModelRequest::of_text("x")).await.expect("an answer");
    assert_eq!(server.asked().len(), 2);
    let later = Reply::with(429, "retry-after: 3600\r\n", "{\"error\": {\"message\": \"tomorrow\"}}");
    let error = refused(later).await;
    assert_eq!(error.code().as_str(), "model-rate-limited");
    assert_eq!(error.facts()["retry_after_seconds"], 3600.0);
}

#[tokio::test]
async fn what_will_not_get_better_is_asked_once() {
    for (reply, code, says) in [
        (error(400, "no such field `x`"), "model-bad-request", "no such field"),
        (error(404, "no such model"), "model-bad-request", "no such model"),
        (error(401, "bad key"), "model-auth", "key"),
        (error(403, "forbidden"), "model-auth", "key"),
        (error(402, "pay"), "model-quota", "pay"),
        (
            Reply::new(429, "application/json", r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#),
            "model-quota",
            "pay",
        ),
        (Reply::with(302, "location: http://evil.example/\r\n", ""), "model-redirected", "another address"),
        (Reply::new(200, "text/html", "<!DOCTYPE html><title>Sign in</title>"), "model-html-answer", "Sign in"),
        (Reply::new(403, "text/html", "<html><head><title>Blocked</title>"), "model-html-answer", "Blocked"),
        (Reply::new(200, "application/json", "{\"choices\": ["), "model-malformed-answer", "no JSON"),
        (Reply::new(200, "application/json", ""), "model-malformed-answer", "empty"),
        (Reply::new(200, "application/json", "{}"), "model-malformed-answer", "choices"),
        (Reply::new(200, "application/json", "[]"), "model-malformed-answer", "choices"),
        (
            Reply::new(200, "application/json", "{\"error\": {\"message\": \"inside\"}}"),
            "model-answer-failed",
            "inside",
        ),
    ] {
        let error = refused(reply).await;
        assert_eq!(error.code().as_str(), code, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.is_temporary(), "{error}");
    }
}

#[tokio::test]
async fn calls_that_cannot_be_answered_make_the_answer_unusable() {
    for call in [
        json!({"type": "function", "function": {"name": "f", "arguments": "{}"}}),
        json!({"id": "", "function": {"name": "f", "arguments": "{}"}}),
        json!({"id": 5, "function": {"name": "f", "arguments": "{}"}}),
        json!({"id": "c", "function": {"name": 7, "arguments": "{}"}}),
        json!({"id": "c"}),
        json!("c"),
    ] {
        let body =
            json!({"choices": [{"message": {"content": null, "tool_calls": [call]}, "finish_reason": "tool_calls"}]});
        assert_eq!(refused(Reply::json(&body)).await.code().as_str(), "model-malformed-answer", "{body}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_an_error_and_is_not_asked_for_again() {
    let half = TEXT.split("\n\n").next().expect("an event").to_owned() + "\n\n";
    let server = Server::start([Reply::events(&half), Reply::events(TEXT)]).await;
    let (events, error) = streamed(model("openai-chat:m", &server).as_ref(), &ModelRequest::of_text("x")).await;
    assert_eq!(events.len(), 1);
    assert_eq!(error.expect("an error").code().as_str(), "model-stream-truncated");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_stream_of_something_else_is_an_error() {
    for (reply, code) in [
        (Reply::events("<!DOCTYPE html><html><title>Proxy</title></html>"), "model-html-answer"),
        (Reply::new(200, "text/html", "<html><title>Proxy</title>"), "model-html-answer"),
        (Reply::events("complete garbage\nmore of it\n"), "model-malformed-answer"),
        (Reply::events("data: {not json}\n\n"), "model-malformed-answer"),
        (
            Reply::raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: \xff\xfe\n\n"),
            "model-malformed-answer",
        ),
    ] {
        let server = Server::start([reply]).await;
        let (events, error) = streamed(model("openai-chat:m", &server).as_ref(), &ModelRequest::of_text("x")).await;
        assert!(events.is_empty());
        assert_eq!(error.expect("an error").code().as_str(), code);
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_read_to_its_end() {
    let long = json!({"choices": [{"message": {"content": "x".repeat(5_000)}}]});
    let stream = format!("data: {long}\n\n");
    let server = Server::start([Reply::json(&long), Reply::events(&stream)]).await;
    let model = open_with("openai-chat:m", &Options { largest_answer: Some(2_000), ..options(&server) });
    let error = model.respond(&ModelRequest::of_text("x")).await.expect_err("an error");
    assert_eq!(error.code().as_str(), "model-answer-too-large");
    let (_, error) = streamed(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert_eq!(error.expect("an error").code().as_str(), "model-answer-too-large");
}

#[tokio::test]
async fn nobody_there_is_an_error_of_its_own() {
    let server = Server::start([]).await;
    let options = options(&server);
    drop(server);
    let error = open_with("openai-chat:m", &options).respond(&ModelRequest::of_text("x")).await.expect_err("an error");
    assert_eq!((error.code().as_str(), error.attempts()), ("model-unreachable", 3));
}

#[tokio::test]
async fn a_provider_that_runs_tools_by_itself_is_not_asked_twice_after_it_may_have_begun() {
    let mcp = json!({"server_label": "s", "server_url": "https://x.example/"}).as_object().expect("an object").clone();
    let request =
        ModelRequest { tools: vec![WireTool::Hosted(HostedTool::Mcp { config: mcp })], ..ModelRequest::of_text("x") };
    let fine = || Reply::json(&json!({"status": "completed", "output": []}));
    let server = Server::start([error(500, "oops"), fine()]).await;
    model("openai:m", &server).respond(&request).await.expect_err("an error");
    assert_eq!(server.asked().len(), 1);
    let server = Server::start([error(429, "later"), fine()]).await;
    model("openai:m", &server).respond(&request).await.expect("an answer");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_long_complaint_is_cut_and_made_visible() {
    let error = refused(error(400, &format!("\u{202e}{}", "x".repeat(5_000)))).await;
    let text = error.to_string();
    assert!(text.contains("\\u{202e}") && text.contains("more characters") && text.len() < 1_500, "{text}");
}
