//! Everything as it happens: what a page is told, in which order, and what it is not told.

use serde_json::json;

use crate::support::{ASK, Running};

#[tokio::test]
async fn a_page_sees_calls_as_they_end_without_secrets_and_with_their_trace() {
    let running = Running::start("").await;
    let mut page = running.live("").await;
    let (first, hello) = page.next().await;
    assert_eq!(first, "hello");
    assert!(
        hello["packs"].as_array().expect("there").iter().any(|pack| pack["name"] == "shop" && pack["state"] == "ready")
    );
    running.call("read_query", json!({"query": "SELECT 'token=hunter2'"})).await;
    let call = page.of("call").await;
    assert_eq!(
        (&call["tool"]["canonical"], &call["outcome"], &call["seq"]),
        (&json!("shop.read_query"), &json!("ok"), &json!(1))
    );
    assert_eq!((&call["shown"]["name"], &call["called"]), (&json!("Query the shop"), &json!("read_query")));
    assert_eq!(call["facts"][0]["language"], "sql");
    let text = call["arguments"]["text"].as_str().expect("there");
    assert!(text.contains("[redacted]") && !call.to_string().contains("hunter2"), "{call}");
    assert!(call["timings"]["validate_us"].is_number() && call["timings"]["analyze_us"].is_number(), "{call}");
    // The audit keeps no arguments, but this was just seen.
    let told = running.shown(&format!("/api/calls/{}", call["id"].as_str().expect("there"))).await;
    assert_eq!(
        (&told["call"]["arguments"]["kept"], &told["call"]["arguments"]["text"]),
        (&json!(true), &call["arguments"]["text"])
    );
    drop(page);
    running.call("own__nothing", json!({})).await;
    running.stop().await;
}

#[tokio::test]
async fn a_call_that_takes_a_while_is_told_when_it_begins() {
    let running = Running::start("").await;
    let mut page = running.live("").await;
    page.of("hello").await;
    let (_, begun) = tokio::join!(running.call("slow", json!({"text": "x"})), page.of("begun"));
    assert_eq!((&begun["tool"], &begun["state"]), (&json!("own.slow"), &json!("running")));
    let call = page.of("call").await;
    assert_eq!((&call["id"], &call["outcome"]), (&begun["id"], &json!("ok")));
    running.stop().await;
}

#[tokio::test]
async fn every_open_page_hears_of_questions_and_answers() {
    let running = Running::start(ASK).await;
    let (mut one, mut other) = (running.live("").await, running.live("?calls=0").await);
    for page in [&mut one, &mut other] {
        page.of("hello").await;
    }
    running.call("touch", json!({"text": "a"})).await;
    let asked = one.of("asked").await;
    assert_eq!((&asked["tool"], &asked["state"]), (&json!("own.touch"), &json!("pending")));
    assert_eq!(asked["shown"]["name"], "Touch");
    assert!(asked["expires_in_ms"].as_i64().expect("there") > 0);
    assert_eq!(other.of("asked").await["id"], asked["id"]);
    let mut late = running.live("").await;
    assert_eq!(late.of("hello").await["pending"][0]["id"], asked["id"], "who comes later is told what is open");
    let id = asked["id"].as_str().expect("there");
    let answer = running.post(&format!("/api/approvals/{id}/decision"), &json!({"decision": "approve"})).await;
    assert!(answer.status.is_success(), "{answer:?}");
    for page in [&mut one, &mut other, &mut late] {
        let settled = page.of("settled").await;
        assert_eq!((&settled["id"], &settled["state"]), (&asked["id"], &json!("approved")));
    }
    running.stop().await;
}

#[tokio::test]
async fn whoever_looks_on_is_sent_away_in_peace_when_the_gateway_stops() {
    let running = Running::start(ASK).await;
    let (mut page, mut questions) = (running.live("").await, running.events("/api/approvals/events").await);
    page.of("hello").await;
    questions.of("open").await;
    let stopping = tokio::spawn(running.stop());
    // One that is cut off has no end.
    page.rest().await;
    questions.rest().await;
    stopping.await.expect("no panic");
}

#[tokio::test]
async fn thousands_of_calls_reach_a_page_or_are_counted_as_missed() {
    let running = Running::start("").await;
    let mut page = running.live("").await;
    page.of("hello").await;
    const CALLS: u64 = 600;
    for _ in 0..CALLS {
        running.call("read_query", json!({"query": "SELECT 1"})).await;
    }
    let (mut seen, mut missed, mut last) = (0, 0, 0);
    while seen + missed < CALLS {
        match page.next().await {
            (name, call) if name == "call" => {
                let seq = call["seq"].as_u64().expect("there");
                assert!(seq > last, "in order");
                last = seq;
                seen += 1;
            }
            (name, told) if name == "missed" => missed += told["calls"].as_u64().expect("there"),
            _ => {}
        }
    }
    assert!(seen > 0);
    running.stop().await;
}
