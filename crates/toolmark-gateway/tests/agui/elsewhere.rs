//! Approvals that others decide, and other processes that go on.

use std::time::SystemTime;

use serde_json::json;
use toolmark_core::approval::{Given, Ruling, Way};
use toolmark_store::Micros;
use toolmark_store::approvals::AskFilter;

use super::support::{ASKING, Running, Stage, answered, said};

/// Somebody decides in the console or on the command line.
async fn decide(gateway: &Running, allows: bool) {
    let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
    let open = gateway.store.asks(&filter, None, 10).await.expect("questions");
    let given = Given { by: "bob".into(), way: Way::Http, at: Micros::from(SystemTime::now()), from: None };
    let desk = gateway.gateway.desk().expect("a desk");
    desk.decide(open[0].id, &Ruling::once(allows, given)).await.expect("decided");
}

#[tokio::test]
async fn a_decision_that_was_made_elsewhere_counts() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", ASKING).await;
    let (body, questions) = gateway.waiting("t", &[]).await;
    decide(&gateway, true).await;
    let edited = answered(&body, &questions, &json!({"approved": true, "editedArgs": {"text": "bye"}}));
    assert_eq!(gateway.run("parrot", &edited, &[]).await.code(), "approval-decided", "two answers are none");
    // A page that comes back finds that it need not ask any more.
    let on = gateway.run("parrot", &body, &[]).await;
    assert_eq!(on.outcome(), "success", "{on:#?}");
    assert!(on.of("TOOL_CALL_RESULT")[0]["content"].as_str().expect("text").contains("hello"));
    let (body, questions) = gateway.waiting("t2", &[]).await;
    decide(&gateway, false).await;
    let on = gateway.run("parrot", &answered(&body, &questions, &json!({"approved": true})), &[]).await;
    assert_eq!(on.outcome(), "success");
    let result = on.of("TOOL_CALL_RESULT")[0];
    assert!(result["content"].as_str().expect("text").contains("bob said no"), "{result}");
    assert_eq!(result["metadata"]["dev.toolmark/call"]["failed"], true);
    gateway.stop().await;
}

#[tokio::test]
async fn another_process_goes_on_and_a_tool_that_changed_does_not_run() {
    let stage = Stage::new().await;
    let first = stage.node("n1", ASKING).await;
    let (one, ones) = first.waiting("one", &[]).await;
    first.stop().await;
    let second = stage.node("n2", ASKING).await;
    let on = second.run("parrot", &answered(&one, &ones, &json!({"approved": true})), &[]).await;
    assert_eq!(on.outcome(), "success", "{on:#?}");
    assert!(on.of("TOOL_CALL_RESULT")[0]["content"].as_str().expect("text").contains("hello"));
    let (two, twos) = second.waiting("two", &[]).await;
    second.stop().await;
    // Its server says something else of the tool: it is not the one that was asked about.
    let stage = stage.with_another("echo=Says it to everybody").await;
    let third = stage.node("n3", ASKING).await;
    let on = third.run("parrot", &answered(&two, &twos, &json!({"approved": true})), &[]).await;
    assert_eq!(on.outcome(), "success");
    let result = on.of("TOOL_CALL_RESULT")[0];
    assert_eq!(result["metadata"]["dev.toolmark/call"]["failed"], true, "{result}");
    assert!(!result["content"].as_str().expect("text").starts_with("hello"), "{result}");
    third.stop().await;
}

#[tokio::test]
async fn where_clients_may_not_decide_the_model_hears_that_it_waits() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", &format!("{ASKING}\n[approvals]\nclient = false\n")).await;
    let answer = gateway.run("parrot", &said("t", "say it"), &[]).await;
    assert_eq!(answer.outcome(), "success");
    assert!(answer.of("TOOL_CALL_RESULT")[0]["content"].as_str().expect("text").contains("waits for a person"));
    gateway.stop().await;
}
