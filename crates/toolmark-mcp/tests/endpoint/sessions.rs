//! Clients up to 2025-11-25.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Request, StatusCode};
use serde_json::{Value, json};
use toolmark_mcp::downstream::{Changed, Settings};

use crate::support::*;

#[tokio::test]
async fn a_session_lives_from_initialize_to_delete() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    assert!(old.session.len() >= 32 && old.session.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(value(old.request(1, "ping", json!({})).await).await, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(content(&value(old.call(2, "echo", json!({"a": 1})).await).await), r#"{"a":1}"#);
    let ended = send(&endpoint, "alice", old.head(Request::delete("/mcp")), b"").await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert_eq!(old.request(3, "tools/list", json!({})).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(endpoint.service().ended.load(Ordering::SeqCst), 1);
    assert_eq!(endpoint.held().sessions, 0);
}

#[tokio::test]
async fn versions_are_negotiated() {
    let endpoint = endpoint();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": asked,
            "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
        let answer = value(send(&endpoint, "alice", post(), body.to_string().as_bytes()).await).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed);
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolmark-endpoint");
        assert_eq!(answer["result"]["capabilities"]["tools"]["listChanged"], true);
    }
    for params in
        [json!({}), json!({"protocolVersion": "2025-11-25"}), json!({"protocolVersion": 1, "capabilities": {}})]
    {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let response = send(&endpoint, "alice", post(), body.to_string().as_bytes()).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(value(response).await["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn a_session_does_not_exist_for_anybody_else() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for request in [old.head(post()), old.head(Request::get("/mcp")), old.head(Request::delete("/mcp"))] {
        assert_eq!(send(&endpoint, "mallory", request, body).await.status(), StatusCode::NOT_FOUND);
    }
    assert_eq!(send(&endpoint, "alice", old.head(post()), body).await.status(), StatusCode::OK);
    let none = send(&endpoint, "alice", post(), body).await;
    assert_eq!(none.status(), StatusCode::BAD_REQUEST);
    assert_eq!(value(none).await["error"]["data"]["code"], "session-required");
}

#[tokio::test]
async fn notifications_are_accepted_and_the_service_hears_of_them() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let changed = old.post(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})).await;
    assert_eq!(changed.status(), StatusCode::ACCEPTED);
    let heard = endpoint.service().heard.lock().expect("a lock").clone();
    assert_eq!(heard, ["notifications/initialized", "notifications/roots/list_changed"]);
}

#[tokio::test]
async fn a_log_level_is_remembered() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let mut events = Events::of(old.call(1, "test_tool_with_logging", json!({})).await);
    assert_eq!(events.message().await.expect("a message")["params"]["data"], "Tool execution started");
    drop(events);
    assert_eq!(value(old.request(2, "logging/setLevel", json!({"level": "error"})).await).await["result"], json!({}));
    assert_eq!(content(&value(old.call(3, "test_tool_with_logging", json!({})).await).await), "done");
    let wrong = value(old.request(4, "logging/setLevel", json!({"level": "loud"})).await).await;
    assert_eq!(wrong["error"]["code"], -32602);
}

#[tokio::test]
async fn a_stream_begins_with_an_id_and_when_to_come_back() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let mut events = Events::of(old.call(1, "test_tool_with_progress", json!({})).await);
    let first = events.event().await.expect("an event");
    assert!(first.data.is_empty() && first.id.is_some());
    assert_eq!(events.message().await.expect("progress")["params"]["progressToken"], "p");
    // Older clients do not expect an event without data.
    let older = Old::open_with(&endpoint, "2025-06-18", &json!({})).await;
    let mut events = Events::of(older.call(1, "test_tool_with_progress", json!({})).await);
    assert!(!events.event().await.expect("an event").data.is_empty());
}

#[tokio::test]
async fn a_question_is_asked_on_the_stream_of_its_call() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let mut events = Events::of(old.call(1, "test_elicitation", json!({"message": "Who?"})).await);
    let question = events.message().await.expect("a question");
    assert_eq!((&question["method"], &question["params"]["message"]), (&json!("elicitation/create"), &json!("Who?")));
    let reply =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"username": "a"}}});
    assert_eq!(old.post(&reply).await.status(), StatusCode::ACCEPTED);
    let answer = events.message().await.expect("the result");
    assert_eq!(content(&answer), r#"{"action":"accept","content":{"username":"a"}}"#);
    assert_eq!(events.message().await, None);
}

#[tokio::test]
async fn an_error_of_the_client_reaches_whoever_asked() {
    let old = Old::open(&endpoint()).await;
    let mut events = Events::of(old.call(1, "test_sampling", json!({"prompt": "?"})).await);
    let question = events.message().await.expect("a question");
    let error = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}});
    assert_eq!(old.post(&error).await.status(), StatusCode::ACCEPTED);
    assert_eq!(content(&events.message().await.expect("the result")), r#"error {"code":-1,"message":"no"}"#);
}

#[tokio::test]
async fn an_old_client_is_led_through_the_rounds_of_a_new_service() {
    let old = Old::open(&endpoint()).await;
    let mut events = Events::of(old.call(1, "test_input_required_result_multi_round", json!({})).await);
    for step in ["Step 1", "Step 2"] {
        let question = events.message().await.expect("a question");
        assert_eq!(question["method"], "elicitation/create");
        assert!(question["params"]["message"].as_str().expect("text").starts_with(step));
        old.post(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {}}})).await;
    }
    assert_eq!(content(&events.message().await.expect("the result")), "two rounds");
    let several = Old::open(&endpoint()).await;
    let mut events = Events::of(several.call(1, "test_input_required_result_multiple_inputs", json!({})).await);
    for _ in 0..3 {
        let question = events.message().await.expect("a question");
        several.post(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {}})).await;
    }
    assert_eq!(content(&events.message().await.expect("the result")), "all there");
}

#[tokio::test]
async fn a_new_service_hears_that_an_old_client_could_not_show_its_form() {
    let old = Old::open(&endpoint()).await;
    let mut events = Events::of(old.call(1, "test_input_required_result_multi_round", json!({})).await);
    for _ in 0..2 {
        let question = events.message().await.expect("a question");
        let error = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}});
        old.post(&error).await;
    }
    assert_eq!(
        content(&events.message().await.expect("the result")),
        "two rounds",
        "the service decides how it goes on"
    );
}

#[tokio::test]
async fn a_client_without_the_capability_is_not_asked() {
    let endpoint = endpoint();
    let old = Old::open_with(&endpoint, "2025-11-25", &json!({})).await;
    let answer = value(old.call(1, "test_input_required_result_elicitation", json!({})).await).await;
    let result = &answer["result"];
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().expect("words for the model");
    assert!(text.contains("elicitation") && text.contains("client-cannot-answer"), "{text}");
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_id() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let mut events = Events::of(old.call(5, "wait", json!({"progress": true})).await);
    assert!(events.message().await.is_some());
    let again = old.call(5, "echo", json!({})).await;
    assert_eq!(value(again).await["error"]["data"]["code"], "request-id-reused");
    for id in [4, 5] {
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        assert_eq!(old.post(&cancelled).await.status(), StatusCode::ACCEPTED);
    }
    assert_eq!(events.message().await, None);
    assert_eq!(endpoint.service().dropped.load(Ordering::SeqCst), 1);
    // Before the answer has begun, too.
    let waiting = async { old.call(6, "wait", json!({})).await.status() };
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        old.post(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}})).await;
    };
    let (status, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_call_goes_on_when_its_stream_breaks_and_the_client_reads_on() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let mut events = Events::of(old.call(1, "wait", json!({"progress": true, "ms": 60})).await);
    let mut last = None;
    while let Some(event) = events.event().await {
        last = event.id;
        if !event.data.is_empty() {
            break;
        }
    }
    drop(events);
    let mut rest = Events::of(old.get(last.as_deref()).await);
    assert_eq!(content(&rest.message().await.expect("the result")), "waited");
    assert_eq!(rest.message().await, None);
    // Once more from the beginning, as after a second lost connection.
    let start = last.expect("an id").replace("-1", "-0");
    let mut all = Events::of(old.get(Some(&start)).await);
    assert_eq!(all.message().await.expect("progress")["method"], "notifications/progress");
    assert_eq!(content(&all.message().await.expect("the result")), "waited");
    assert_eq!(endpoint.service().dropped.load(Ordering::SeqCst), 0);
    for wrong in ["99-1", "1-99", "x", ""] {
        assert_eq!(old.get(Some(wrong)).await.status(), StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn a_service_may_let_go_of_the_stream_and_the_client_comes_back() {
    let old = Old::open(&endpoint()).await;
    let mut events = Events::of(old.call(1, "test_reconnection", json!({})).await);
    let first = events.event().await.expect("the priming event");
    assert!(first.data.is_empty());
    assert_eq!(events.event().await, None);
    let mut rest = Events::of(old.get(first.id.as_deref()).await);
    assert_eq!(content(&rest.message().await.expect("the result")), "Reconnection test completed successfully");
}

#[tokio::test]
async fn changes_are_told_on_the_stream_of_the_session() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    // Before the stream is open: remembered, and told once.
    endpoint.broadcast(&Changed::Tools);
    endpoint.broadcast(&Changed::Tools);
    let mut events = Events::of(old.get(None).await);
    assert_eq!(events.message().await.expect("a change")["method"], "notifications/tools/list_changed");
    let uri = "test://watched-resource";
    endpoint.broadcast(&Changed::Resource(uri.into()));
    assert_eq!(value(old.request(1, "resources/subscribe", json!({"uri": uri})).await).await["result"], json!({}));
    endpoint.broadcast(&Changed::Resource(uri.into()));
    endpoint.broadcast(&Changed::Resource("test://other".into()));
    let update = events.event().await.expect("an update");
    let message: Value = serde_json::from_slice(&update.data).expect("JSON");
    assert_eq!(message["params"]["uri"], uri);
    value(old.request(2, "resources/unsubscribe", json!({"uri": uri})).await).await;
    endpoint.broadcast(&Changed::Resource(uri.into()));
    endpoint.broadcast(&Changed::Prompts);
    drop(events);
    // After a lost connection, on from the last event.
    let mut events = Events::of(old.get(update.id.as_deref()).await);
    assert_eq!(events.message().await.expect("a change")["method"], "notifications/prompts/list_changed");
    assert_eq!(send(&endpoint, "alice", old.head(Request::delete("/mcp")), b"").await.status(), StatusCode::NO_CONTENT);
    assert_eq!(events.message().await, None);
}

#[tokio::test]
async fn ending_a_session_ends_its_calls() {
    let endpoint = endpoint();
    let old = Old::open(&endpoint).await;
    let mut asks = Events::of(old.call(1, "test_elicitation", json!({})).await);
    let mut waits = Events::of(old.call(2, "wait", json!({"progress": true})).await);
    assert!(asks.message().await.is_some() && waits.message().await.is_some());
    send(&endpoint, "alice", old.head(Request::delete("/mcp")), b"").await;
    assert_eq!((asks.message().await, waits.message().await), (None, None));
    assert_eq!(endpoint.service().dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn sessions_are_bounded() {
    let endpoint = endpoint_with(Settings { sessions: 2, ..Settings::default() });
    let (_first, _second) = (Old::open(&endpoint).await, Old::open(&endpoint).await);
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}});
    let response = send(&endpoint, "alice", post(), body.to_string().as_bytes()).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(value(response).await["error"]["data"]["code"], "sessions-exhausted");
}

#[tokio::test]
async fn a_get_without_a_session_or_of_2026_opens_no_stream() {
    let endpoint = endpoint();
    let request = || Request::get("/mcp").header("accept", "text/event-stream");
    assert_eq!(send(&endpoint, "alice", request(), b"").await.status(), StatusCode::BAD_REQUEST);
    let modern = request().header("mcp-protocol-version", "2026-07-28");
    assert_eq!(send(&endpoint, "alice", modern, b"").await.status(), StatusCode::METHOD_NOT_ALLOWED);
    let old = Old::open(&endpoint).await;
    let json = old.head(Request::get("/mcp")).header("accept", "application/json");
    assert_eq!(send(&endpoint, "alice", json, b"").await.status(), StatusCode::NOT_ACCEPTABLE);
}
