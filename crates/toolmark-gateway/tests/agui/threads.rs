//! Threads that nobody uses go, and nobody has more than so many.

use std::time::{Duration, SystemTime};

use serde_json::json;
use toolmark_store::{Location, Micros, Settings, Store, TakenThread, ThreadClaim};

use super::support::{ASKING, Running, Stage, answered, said};

const DAY: Duration = Duration::from_secs(86_400);

fn days_ago(days: u32) -> Micros {
    Micros::from(SystemTime::now()).before(DAY * days)
}

/// A thread that was last used some days ago.
async fn used(stage: &Stage, name: &str, days: u32, waits: Option<&str>) {
    let location = Location::File(stage.folder.path().join("store.db"));
    let store = Store::open(&location, &Settings::new(move || days_ago(days))).await.expect("a store");
    let thread = key(name);
    let claim = ThreadClaim { thread: &thread, owner: "local", most: 99, holder: "h", until: days_ago(0) };
    assert_eq!(store.take_thread(claim).await.expect("taken"), TakenThread::Ours { waits: None, forgotten: 0 });
    assert!(store.leave_thread(&thread, "h", &[], waits).await.expect("left"));
    store.close().await.expect("closed");
}

fn key(thread: &str) -> String {
    format!("agui:{}", json!(["parrot", "local", thread]))
}

async fn threads(gateway: &Running) -> Vec<String> {
    let kept = gateway.store.sessions(None).await.expect("sessions");
    let mut names: Vec<String> = kept.into_iter().map(|kept| kept.name).collect();
    names.sort();
    names
}

/// Waits until one is gone.
async fn gone(gateway: &Running, thread: &str) {
    let gone = async {
        while threads(gateway).await.contains(&key(thread)) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("it goes");
}

#[tokio::test]
async fn threads_that_nobody_used_for_a_month_are_forgotten() {
    let stage = Stage::new().await;
    used(&stage, "old", 31, None).await;
    used(&stage, "nobody answered", 31, Some("{}")).await;
    used(&stage, "young", 29, None).await;
    let gateway = stage.node("n1", ASKING).await;
    gone(&gateway, "old").await;
    gone(&gateway, "nobody answered").await;
    assert_eq!(threads(&gateway).await, [key("young")]);
    assert_eq!(gateway.run("parrot", &said("old", "hi"), &[]).await.outcome(), "success", "it begins anew");
    gateway.stop().await;
}

#[tokio::test]
async fn a_thread_whose_question_can_still_be_answered_is_kept() {
    let stage = Stage::new().await;
    used(&stage, "old", 10, None).await;
    used(&stage, "waits", 10, Some("{}")).await;
    used(&stage, "waited", 30, Some("{}")).await;
    let more = "[agui]\nkeep = \"1w\"\n[approvals]\non_timeout = \"keep\"\nkeep = \"20d\"\n";
    let gateway = stage.node("n1", &format!("{ASKING}\n{more}")).await;
    gone(&gateway, "old").await;
    gone(&gateway, "waited").await;
    assert_eq!(threads(&gateway).await, [key("waits")]);
    gateway.stop().await;
}

#[tokio::test]
async fn one_caller_has_only_so_many_threads_and_those_that_wait_are_not_among_those_that_go() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", &format!("{ASKING}\n[agui]\nthreads = 2\n")).await;
    let other = format!("Bearer {}", gateway.key);
    let (body, questions) = gateway.waiting("waits", &[]).await;
    for thread in ["a", "b", "c"] {
        assert_eq!(gateway.run("parrot", &said(thread, "hi"), &[]).await.outcome(), "success", "{thread}");
    }
    assert_eq!(threads(&gateway).await, [key("c"), key("waits")]);
    // A thread that is forgotten has no questions: whoever answers them is told.
    let late = gateway.run("parrot", &answered(&said("a", "hi"), &questions, &json!({"approved": true})), &[]).await;
    assert_eq!(late.code(), "agui-interrupt-unknown");
    gateway.waiting("d", &[]).await;
    let full = gateway.run("parrot", &said("e", "hi"), &[]).await;
    assert_eq!((full.code().as_str(), full.last()["type"].as_str()), ("agui-threads-full", Some("RUN_ERROR")));
    assert_eq!(
        gateway.run("parrot", &said("e", "hi"), &[("authorization", &other)]).await.outcome(),
        "success",
        "whoever comes with the key is somebody else"
    );
    let done = gateway.run("parrot", &answered(&body, &questions, &json!({"approved": true})), &[]).await;
    assert_eq!(done.outcome(), "success", "{done:#?}");
    assert_eq!(gateway.run("parrot", &said("e", "hi"), &[]).await.outcome(), "success", "now there is room");
    gateway.stop().await;
}

#[tokio::test]
async fn a_request_that_is_refused_costs_its_caller_no_thread_and_leaves_none() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", &format!("{ASKING}\n[agui]\nthreads = 2\n")).await;
    for thread in ["a", "b"] {
        assert_eq!(gateway.run("parrot", &said(thread, "hi"), &[]).await.outcome(), "success", "{thread}");
    }
    let answer = json!([{"interruptId": "nobody", "status": "resolved", "payload": {"approved": true}}]);
    let page = json!({"name": "twice", "description": "of the page", "parameters": {"type": "object"}});
    for (field, value) in [("resume", answer), ("messages", json!([])), ("tools", json!([page, page]))] {
        let mut body = said("new", "hi");
        body[field] = value;
        let refused = gateway.run("parrot", &body, &[]).await;
        let ended = refused.last();
        assert!(!refused.status.is_success() || ended["type"] == "RUN_ERROR", "{field}: {refused:#?}");
        assert_eq!(threads(&gateway).await, [key("a"), key("b")], "{field}");
    }
    gateway.stop().await;
}
