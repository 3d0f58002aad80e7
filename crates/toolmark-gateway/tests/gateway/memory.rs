//! What a gateway remembers from one start to the next.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_gateway::{AuditRecorder, GatewayBuilder, PackState};
use toolmark_store::audit::{AuditFilter, Order, Outcome, SinkSettings};

use crate::support::{Era, Running, by_http, by_stdio, call, http_fixture, names, read, request, store, text};

#[tokio::test]
async fn a_server_that_is_away_keeps_its_tools_and_a_call_says_that_it_is_away() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let config = by_http("fixture", &fixture);
    let gateway = Running::start_with(&config, &store).await;
    let before = names(&gateway.client(Era::New).await).await;
    gateway.stop().await;
    drop(fixture);
    let gateway = Running::start_with(&config, &store).await;
    assert!(matches!(gateway.gateway.packs()[0].state(), PackState::Unavailable(_)));
    for era in [Era::Old, Era::New] {
        let client = gateway.client(era).await;
        let tools = client.list_all_tools().await.expect("tools");
        assert_eq!(tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>(), before);
        for tool in &tools {
            assert_eq!(tool.meta.as_ref().expect("metadata").0["dev.toolmark/pack"]["state"], "unavailable");
        }
        assert!(!client.list_all_prompts().await.expect("prompts").is_empty());
        let result = call(&client, "echo", json!({ "text": "anybody?" })).await;
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).contains("its server is not there"), "{}", text(&result));
    }
    gateway.stop().await;
}

/// The lock of what a gateway sees behind this configuration.
async fn pinned(config: &str, definitions: bool) -> Lock {
    let store = store().await;
    Running::start_with(config, &store).await.stop().await;
    let builder = GatewayBuilder::new(read(config), PathBuf::new()).store(store);
    let known = builder.recall().await.expect("a store").remembered().expect("a configuration");
    assert!(known.unseen.is_empty() && !known.catalog.is_empty());
    if definitions { Lock::with_definitions(&known.catalog) } else { Lock::of(&known.catalog) }
}

#[tokio::test]
async fn tools_that_a_lock_keeps_are_listed_before_their_server_was_ever_seen() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let config = by_http("fixture", &fixture);
    let lock = pinned(&config, true).await;
    drop(fixture);
    let builder = GatewayBuilder::new(read(&config), PathBuf::new()).store(store().await).lock(Some(lock.clone()));
    let gateway = builder.recall().await.expect("a store").start().expect("a gateway");
    assert_eq!(gateway.snapshot().workspace().catalog().len(), lock.len(), "they are there while the pack is starting");
    gateway.stop().await;
    let gateway = Running::of(GatewayBuilder::new(read(&config), PathBuf::new()).lock(Some(lock.clone()))).await;
    let client = gateway.client(Era::New).await;
    let tools = client.list_all_tools().await.expect("tools");
    assert_eq!(tools.len(), lock.len());
    for tool in &tools {
        let meta = &tool.meta.as_ref().expect("metadata").0;
        assert_eq!(meta["dev.toolmark/pack"]["state"], "unavailable");
        let canonical = meta["dev.toolmark/identity"]["canonical"].as_str().expect("a name");
        let (_, pinned) = lock.tools().find(|(name, _)| *name == canonical).expect("it is pinned");
        assert_eq!(meta["dev.toolmark/identity"]["mark"], pinned.mark().to_string(), "it is the tool that was pinned");
    }
    let result = call(&client, "echo", json!({ "text": "anybody?" })).await;
    assert!(text(&result).contains("its server is not there"), "{}", text(&result));
    gateway.stop().await;
}

#[tokio::test]
async fn tools_of_a_lock_appear_with_a_reload() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let config = by_http("fixture", &fixture);
    let lock = pinned(&config, true).await;
    drop(fixture);
    let gateway = Running::start(&config).await;
    assert!(names(&gateway.client(Era::New).await).await.is_empty());
    gateway.gateway.reload(read(&config), Some(lock.clone())).await.expect("the lock is taken over");
    assert_eq!(names(&gateway.client(Era::New).await).await.len(), lock.len());
    gateway.stop().await;
}

#[tokio::test]
async fn a_lock_without_definitions_or_of_another_server_lists_nothing() {
    let (fixture, other) =
        (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let config = by_http("fixture", &fixture);
    let locks = [pinned(&config, false).await, pinned(&by_http("fixture", &other), true).await];
    drop((fixture, other));
    for lock in locks {
        let gateway = Running::of(GatewayBuilder::new(read(&config), PathBuf::new()).lock(Some(lock))).await;
        assert!(names(&gateway.client(Era::New).await).await.is_empty());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_the_store_knows_counts_more_than_the_lock() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let config = by_http("fixture", &fixture);
    let lock = pinned(&config, true).await;
    let store = store().await;
    let fewer = format!("{config}allow = [\"echo\"]\n");
    let gateway = Running::start_with(&config, &store).await;
    gateway.stop().await;
    drop(fixture);
    let builder = GatewayBuilder::new(read(&fewer), PathBuf::new()).store(store).lock(Some(lock));
    let gateway = Running::of(builder.recall().await.expect("a store")).await;
    let client = gateway.client(Era::New).await;
    assert_eq!(names(&client).await, ["echo"], "and what is left out stays so");
    assert!(!client.list_all_prompts().await.expect("prompts").is_empty(), "only the store knows these");
    gateway.stop().await;
}

#[tokio::test]
async fn a_pack_that_was_never_seen_is_not_remembered() {
    let builder = GatewayBuilder::new(read("[packs.away]\ncommand = \"/nowhere\"\n"), PathBuf::new());
    let known = builder.store(store().await).recall().await.expect("a store").remembered().expect("a configuration");
    assert_eq!(known.unseen.iter().map(PackName::as_str).collect::<Vec<_>>(), ["away"]);
}

#[tokio::test]
async fn what_another_server_listed_under_the_same_pack_is_not_its_own() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    Running::start_with(&by_http("fixture", &fixture), &store).await.stop().await;
    let other = "[packs.fixture]\ncommand = \"/nowhere/to-be-found\"\n";
    let gateway = Running::start_with(other, &store).await;
    assert!(names(&gateway.client(Era::New).await).await.is_empty());
    gateway.stop().await;
}

#[tokio::test]
async fn a_name_stays_with_its_tool_when_an_earlier_pack_gets_one_of_the_same_name() {
    let (one, two) = (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let store = store().await;
    let gateway = Running::start_with(&by_http("two", &two), &store).await;
    assert!(names(&gateway.client(Era::New).await).await.contains(&"echo".to_owned()));
    gateway.stop().await;
    let gateway = Running::start_with(&format!("{}{}", by_http("one", &one), by_http("two", &two)), &store).await;
    let client = gateway.client(Era::New).await;
    for (name, canonical) in [("echo", "two.echo"), ("one__echo", "one.echo")] {
        let result = call(&client, name, json!({ "text": "who?" })).await;
        assert_eq!(result.meta.expect("metadata").0["dev.toolmark/call"]["canonical"], canonical);
    }
    let prompts = client.list_all_prompts().await.expect("prompts");
    let named = |name: &str| prompts.iter().filter(|prompt| prompt.name == name).count();
    assert_eq!((named("test_simple_prompt"), named("one__test_simple_prompt")), (1, 1));
    gateway.stop().await;
}

#[tokio::test]
async fn a_server_whose_calls_get_no_answer_gets_a_rest() {
    let limits = "[packs.slow.limits]\ntimeout = \"1s\"\nfailures = 2\nrest = \"1h\"\n";
    let gateway = Running::start(&format!("{}{limits}", by_stdio("slow", &[]))).await;
    let client = gateway.client(Era::New).await;
    for _ in 0..2 {
        let late = call(&client, "sleep_ms", json!({ "ms": 60_000 })).await;
        assert_eq!(late.meta.expect("metadata").0["dev.toolmark/call"]["code"], "call-timeout");
    }
    let refused = call(&client, "echo", json!({ "text": "hello" })).await;
    assert_eq!(refused.is_error, Some(true));
    assert!(text(&refused).contains("its last 2 calls got no answer"), "{}", text(&refused));
    gateway.stop().await;
}

#[tokio::test]
async fn a_call_whose_turn_never_came_says_so_and_gives_its_server_no_rest() {
    let limits = "[packs.slow.limits]\ncalls = 1\ntimeout = \"3s\"\nfailures = 1\nrest = \"1h\"\n";
    let longer = "[packs.slow.tools.sleep_ms]\ntimeout = \"5min\"\n";
    let gateway = Running::start(&format!("{}{limits}{longer}", by_stdio("slow", &[]))).await;
    let (client, other) = (gateway.client(Era::New).await, gateway.client(Era::New).await);
    let slow = tokio::spawn(async move { call(&other, "sleep_ms", json!({ "ms": 200_000 })).await });
    // The patience only keeps a broken test from hanging.
    let until = async |fails: bool| {
        for _ in 0..1_000 {
            let result = call(&client, "echo", json!({ "text": "hello" })).await;
            if result.is_error.unwrap_or_default() == fails {
                return result;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it never came to that");
    };
    let waited = until(true).await;
    assert_eq!(waited.meta.expect("metadata").0["dev.toolmark/call"]["code"], "upstream-busy");
    slow.abort();
    until(false).await;
    gateway.stop().await;
}

#[tokio::test]
async fn every_call_is_a_row_in_the_audit_whatever_became_of_it() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let other = http_fixture(toolmark_fixture::Era::Both).await;
    let sink = store.audit_sink(SinkSettings::new("a-test"));
    let config = format!("[names]\nexposure = \"prefixed\"\n{}{}", by_http("one", &fixture), by_http("two", &other));
    let builder = GatewayBuilder::new(read(&config), PathBuf::new()).store(store.clone());
    let gateway = Running::of(builder.recorder(Arc::new(AuditRecorder::new(sink.clone())))).await;
    let client = gateway.client_at(Era::New, "/mcp/read-only").await;
    call(&client, "one__echo", json!({ "text": "a" })).await;
    call(&client, "one__crash", json!({})).await;
    call(&client, "one__sleep_ms", json!({ "ms": "soon" })).await;
    for stray in ["one__ecco", "echo"] {
        client.call_tool(request(stray, json!({}))).await.expect_err("no such tool");
    }
    gateway.stop().await;
    sink.close().await.expect("everything is written");
    let rows = store.audit(AuditFilter::default(), Order::Oldest).all().await.expect("rows");
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (&*row.record.called, row.record.outcome, row.record.tool.as_ref().map(|tool| &*tool.canonical)))
        .collect();
    assert_eq!(
        rows,
        [
            ("one__echo", Outcome::Ok, Some("one.echo")),
            ("one__crash", Outcome::Denied, Some("one.crash")),
            ("one__sleep_ms", Outcome::Invalid, Some("one.sleep_ms")),
            ("one__ecco", Outcome::UnknownTool, None),
            ("echo", Outcome::Ambiguous, None),
        ]
    );
}
