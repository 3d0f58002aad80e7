//! Clients of 2026-07-28.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use toolmark_mcp::downstream::{Changed, Held, Settings};

use crate::support::*;

const SERVER: &str = "io.modelcontextprotocol/serverInfo";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

#[tokio::test]
async fn a_call_that_only_answers_is_answered_as_json_of_known_length() {
    use hyper::body::Body as _;
    let response = call_modern(&endpoint(), "test_simple_text", &json!({})).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.body().size_hint().exact().is_some());
    let answer = value(response).await;
    assert_eq!(answer["id"], 7);
    assert_eq!(content(&answer), "This is a simple text response for testing.");
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["_meta"][SERVER]["name"], "toolmark-endpoint");
}

#[tokio::test]
async fn discover_says_what_there_is_and_how_long_it_holds() {
    let answer = value(ask_modern(&endpoint(), "alice", "server/discover", &modern(json!({}))).await).await;
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(1000), &json!("public")));
    assert_eq!((&result["resultType"], &result["instructions"]), (&json!("complete"), &json!("Only for tests.")));
    assert_eq!(result["_meta"][SERVER]["version"], "0.1.0");
}

#[tokio::test]
async fn lists_say_how_long_they_hold_even_if_the_service_does_not() {
    let endpoint = endpoint();
    let tools = value(ask_modern(&endpoint, "alice", "tools/list", &modern(json!({}))).await).await;
    assert_eq!((&tools["result"]["ttlMs"], &tools["result"]["cacheScope"]), (&json!(1000), &json!("public")));
    let prompts = value(ask_modern(&endpoint, "alice", "prompts/list", &modern(json!({}))).await).await;
    assert_eq!((&prompts["result"]["ttlMs"], &prompts["result"]["cacheScope"]), (&json!(0), &json!("private")));
}

#[tokio::test]
async fn progress_makes_the_answer_a_stream_without_event_ids() {
    let more = json!({"_meta": {"progressToken": 5}});
    let mut events = Events::of(call_modern(&endpoint(), "test_tool_with_progress", &more).await);
    for progress in [0, 50, 100] {
        let event = events.event().await.expect("progress");
        assert_eq!(event.id, None);
        let message: Value = serde_json::from_slice(&event.data).expect("JSON");
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(
            (&message["params"]["progress"], &message["params"]["progressToken"]),
            (&json!(progress), &json!(5))
        );
    }
    assert_eq!(content(&events.message().await.expect("the result")), "done");
    assert_eq!(events.message().await, None);
}

#[tokio::test]
async fn what_was_not_asked_for_is_not_sent() {
    let endpoint = endpoint();
    assert_eq!(content(&value(call_modern(&endpoint, "test_tool_with_progress", &json!({})).await).await), "done");
    assert_eq!(content(&value(call_modern(&endpoint, "test_logging_tool", &json!({})).await).await), "done");
    let warning = json!({"_meta": {"io.modelcontextprotocol/logLevel": "warning"}});
    assert_eq!(content(&value(call_modern(&endpoint, "test_logging_tool", &warning).await).await), "done");
    let info = json!({"_meta": {"io.modelcontextprotocol/logLevel": "info"}});
    let mut events = Events::of(call_modern(&endpoint, "test_logging_tool", &info).await);
    assert_eq!(events.message().await.expect("a message")["method"], "notifications/message");
}

#[tokio::test]
async fn a_client_that_takes_json_only_gets_the_result_only() {
    let params = modern(json!({"name": "test_tool_with_progress", "_meta": {"progressToken": 1}}));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request =
        http::Request::post("/mcp").header("content-type", "application/json").header("accept", "application/json");
    let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
    let request = request.header("mcp-name", "test_tool_with_progress");
    assert_eq!(content(&value(send(&endpoint(), "alice", request, body.to_string().as_bytes()).await).await), "done");
}

#[tokio::test]
async fn a_silent_call_becomes_a_stream_after_a_while() {
    let endpoint = endpoint_with(Settings {
        patience: Duration::from_millis(5),
        keep_alive: Duration::from_millis(5),
        ..Settings::default()
    });
    let mut events = Events::of(call_modern(&endpoint, "wait", &json!({"arguments": {"ms": 60}})).await);
    assert_eq!(content(&events.message().await.expect("the result")), "waited");
}

#[tokio::test]
async fn closing_the_stream_cancels_the_call() {
    let endpoint = endpoint();
    let more = json!({"arguments": {"progress": true}, "_meta": {"progressToken": 1}});
    let mut events = Events::of(call_modern(&endpoint, "wait", &more).await);
    assert!(events.message().await.is_some());
    drop(events);
    assert_eq!(endpoint.service().dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn going_away_before_the_answer_begins_cancels_the_call() {
    let endpoint = endpoint();
    let call = call_modern(&endpoint, "wait", &json!({})).await_for_a_moment().await;
    assert!(call.is_none());
    assert_eq!(endpoint.service().dropped.load(Ordering::SeqCst), 1);
}

trait Moment: Future + Sized {
    /// Polls for a moment, then drops.
    async fn await_for_a_moment(self) -> Option<Self::Output> {
        tokio::time::timeout(Duration::from_millis(20), self).await.ok()
    }
}

impl<F: Future> Moment for F {}

#[tokio::test]
async fn a_service_that_panics_fails_one_call() {
    let endpoint = endpoint();
    let answer = value(call_modern(&endpoint, "panic", &json!({})).await).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(content(&value(call_modern(&endpoint, "echo", &json!({})).await).await), "{}");
}

/// Calls a tool that asks, and gives back the result that asks.
async fn asked(
    endpoint: &toolmark_mcp::downstream::Endpoint<crate::fixture::Fixture>,
    tool: &str,
    more: &Value,
) -> Value {
    let answer = value(call_modern(endpoint, tool, more).await).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"].clone()
}

#[tokio::test]
async fn a_question_parks_the_call_until_the_request_is_repeated() {
    let endpoint = endpoint();
    let arguments = json!({"message": "Who?"});
    let asked = asked(&endpoint, "test_elicitation", &json!({"arguments": arguments})).await;
    assert_eq!(asked["inputRequests"]["form"]["method"], "elicitation/create");
    assert_eq!(asked["inputRequests"]["form"]["params"]["message"], "Who?");
    assert_eq!(asked["_meta"][SERVER]["name"], "toolmark-endpoint");
    assert_eq!(endpoint.held().parked, 1);
    let reply = json!({"action": "accept", "content": {"username": "a"}});
    // The same request, written in another order and with other metadata.
    let more = json!({"requestState": asked["requestState"], "inputResponses": {"form": reply, "more": {}},
        "arguments": arguments, "_meta": {"progressToken": 9}});
    let answer = value(call_modern(&endpoint, "test_elicitation", &more).await).await;
    assert_eq!(serde_json::from_str::<Value>(content(&answer)).expect("JSON"), reply);
    assert_eq!(endpoint.held(), Held { sessions: 0, parked: 0, listeners: 0 });
}

#[tokio::test]
async fn a_parked_call_is_taken_up_once() {
    let endpoint = endpoint();
    let asked = asked(&endpoint, "test_elicitation", &json!({})).await;
    let more = json!({"requestState": asked["requestState"], "inputResponses": {"form": {"action": "decline"}}});
    assert!(value(call_modern(&endpoint, "test_elicitation", &more).await).await["result"].is_object());
    let again = value(call_modern(&endpoint, "test_elicitation", &more).await).await;
    assert_eq!(
        (&again["error"]["code"], &again["error"]["data"]["code"]),
        (&json!(-32602), &json!("request-state-spent"))
    );
}

#[tokio::test]
async fn a_state_is_worth_nothing_to_others_or_for_other_requests() {
    let endpoint = endpoint();
    let asked = asked(&endpoint, "test_elicitation", &json!({"arguments": {"message": "a"}})).await;
    let repeated = |arguments: Value, state: &str| {
        modern(json!({"name": "test_elicitation", "arguments": arguments, "requestState": state,
            "inputResponses": {"form": {"action": "accept", "content": {}}}}))
    };
    let state = asked["requestState"].as_str().expect("a state");
    let right = json!({"message": "a"});
    let cases = [
        ("mallory", repeated(right.clone(), state), "request-state-mismatch"),
        ("alice", repeated(json!({"message": "b"}), state), "request-state-mismatch"),
        ("alice", repeated(right.clone(), &format!("{state}-TAMPERED")), "request-state-forged"),
        ("alice", repeated(right.clone(), ""), "request-state-forged"),
    ];
    for (who, params, code) in cases {
        let answer = value(ask_modern(&endpoint, who, "tools/call", &params).await).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["code"]),
            (&json!(-32602), &json!(code)),
            "{who}"
        );
    }
    // None of that harmed the call.
    let answer = value(ask_modern(&endpoint, "alice", "tools/call", &repeated(right, state)).await).await;
    assert!(answer["result"]["content"].is_array(), "{answer}");
}

#[tokio::test]
async fn input_that_is_no_input_is_refused() {
    let endpoint = endpoint();
    for more in [json!({"inputResponses": null}), json!({"inputResponses": {"a": 1}}), json!({"requestState": 1})] {
        let answer = value(call_modern(&endpoint, "test_input_required_result_elicitation", &more).await).await;
        assert_eq!(answer["error"]["data"]["code"], "input-responses-invalid", "{more}");
    }
}

#[tokio::test]
async fn a_question_that_is_not_answered_is_asked_again() {
    let endpoint = endpoint();
    let first = asked(&endpoint, "test_elicitation", &json!({})).await;
    let wrong = json!({"requestState": first["requestState"], "inputResponses": {"other": {}}});
    let second = asked(&endpoint, "test_elicitation", &wrong).await;
    assert_eq!(first["inputRequests"], second["inputRequests"]);
    assert_ne!(first["requestState"], second["requestState"]);
    let right = json!({"requestState": second["requestState"], "inputResponses": {"form": {"action": "cancel"}}});
    let answer = value(call_modern(&endpoint, "test_elicitation", &right).await).await;
    assert_eq!(content(&answer), r#"{"action":"cancel"}"#);
}

#[tokio::test]
async fn several_questions_and_several_rounds() {
    let endpoint = endpoint();
    let first = asked(&endpoint, "ask_twice", &json!({})).await;
    assert_eq!(first["inputRequests"].as_object().expect("questions").len(), 2);
    let more =
        json!({"requestState": first["requestState"], "inputResponses": {"first": {"n": 1}, "sampling": {"n": 2}}});
    let second = asked(&endpoint, "ask_twice", &more).await;
    let more = json!({"requestState": second["requestState"], "inputResponses": {"first": {"n": 3}}});
    let answer = value(call_modern(&endpoint, "ask_twice", &more).await).await;
    let said = content(&answer);
    assert!(said.contains(r#"\"n\":1"#) && said.contains(r#"\"n\":3"#), "{said}");
}

#[tokio::test]
async fn a_client_that_cannot_answer_is_told_what_it_lacks() {
    let params = modern_with(json!({"name": "test_sampling", "arguments": {}}), &json!({"elicitation": {}}));
    let response = ask_modern(&endpoint(), "alice", "tools/call", &params).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let answer = value(response).await;
    assert_eq!(answer["error"]["code"], -32021);
    assert_eq!(answer["error"]["data"]["requiredCapabilities"], json!({"sampling": {}}));
}

#[tokio::test]
async fn calls_that_wait_are_bounded() {
    let endpoint = endpoint_with(Settings { parked: 1, ..Settings::default() });
    asked(&endpoint, "test_elicitation", &json!({})).await;
    let full = value(call_modern(&endpoint, "test_elicitation", &json!({})).await).await;
    assert_eq!(full["error"]["data"]["code"], "parked-calls-exhausted");
    endpoint.close();
    assert_eq!(endpoint.held().parked, 0);
}

#[tokio::test]
async fn a_service_that_asks_by_its_answer_gets_its_state_back_sealed() {
    let endpoint = endpoint();
    let first = asked(&endpoint, "test_input_required_result_multi_round", &json!({})).await;
    assert_ne!(first["requestState"], "one", "the state is sealed");
    let more = json!({"requestState": first["requestState"], "inputResponses": {"step1": {"action": "accept"}}});
    let second = asked(&endpoint, "test_input_required_result_multi_round", &more).await;
    let more = json!({"requestState": second["requestState"], "inputResponses": {"step2": {"action": "accept"}}});
    let answer = value(call_modern(&endpoint, "test_input_required_result_multi_round", &more).await).await;
    assert_eq!(content(&answer), "two rounds");
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_and_nothing_else() {
    let endpoint = endpoint();
    let wanted = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["test://watched-resource", "test://other"]}});
    let mut events = Events::of(ask_modern(&endpoint, "alice", "subscriptions/listen", &modern(wanted)).await);
    let first = events.message().await.expect("an acknowledgement");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        first["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["test://watched-resource"]})
    );
    assert_eq!(first["params"]["_meta"][SUBSCRIPTION], 7);
    for change in [Changed::Prompts, Changed::Resource("test://other".into()), Changed::Tools, Changed::Tools] {
        endpoint.broadcast(&change);
    }
    endpoint.broadcast(&Changed::Resource("test://watched-resource".into()));
    let tools = events.message().await.expect("a change");
    assert_eq!(
        (&tools["method"], &tools["params"]["_meta"][SUBSCRIPTION]),
        (&json!("notifications/tools/list_changed"), &json!(7))
    );
    assert_eq!(events.message().await.expect("an update")["params"]["uri"], "test://watched-resource");
    endpoint.close();
    let last = events.message().await.expect("the result");
    assert_eq!((&last["id"], &last["result"]["_meta"][SUBSCRIPTION]), (&json!(7), &json!(7)));
    assert_eq!(events.message().await, None);
    drop(events);
    assert_eq!(endpoint.held().listeners, 0);
}

#[tokio::test]
async fn a_listener_must_say_what_it_wants() {
    let answer = value(ask_modern(&endpoint(), "alice", "subscriptions/listen", &modern(json!({}))).await).await;
    assert_eq!(answer["error"]["code"], -32602);
}
