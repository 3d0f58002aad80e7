//! Tasks whose baseline is in the store: learned there, used here, and never guessed where it is missing.

use std::path::PathBuf;

use serde_json::json;
use toolmark_core::behavior::Behavior;
use toolmark_core::facts::Facts;
use toolmark_core::gate::Baseline;
use toolmark_gateway::GatewayBuilder;
use toolmark_store::{Store, StoreError};

use crate::support::{Era, Running, by_http, call, http_fixture, read, store, text};

const READS: &str = "PURE|READ|DATA";
const CREATES: &str = "MUTATES|CREATE|DATA";

/// Learns a call of a tool for the task `report`, as `toolmark baseline learn` does.
async fn learn(store: &Store, tool: &str, behavior: &str) {
    let behavior: Behavior = behavior.parse().expect("a behavior");
    let learned = store.learn_baseline("report", |before| {
        let mut baseline = before.map_or_else(
            || Baseline::new("report"),
            |text| Baseline::read(text).expect("what was written can be read"),
        );
        assert!(baseline.learn(&tool.parse().expect("a name"), Some(behavior), &Facts::default()));
        Ok::<_, StoreError>(baseline.to_text())
    });
    learned.await.expect("kept");
}

#[tokio::test]
async fn a_task_takes_its_baseline_from_the_store_at_the_start_and_with_every_reload() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let config = format!(
        "{}[packs.fixture.tools.echo]\nbehavior = \"{CREATES}\"\n[packs.fixture.tools.stats]\nbehavior = \"{READS}\"\n\
         [tasks.report]\nexpect = [\"*|*|*\"]\non_mismatch = \"deny\"\nbaseline = \"store:report\"\n",
        by_http("fixture", &fixture)
    );
    let builder = || GatewayBuilder::new(read(&config), PathBuf::new()).store(store.clone());
    let refused = builder().recall().await.expect("a store").start().expect_err("nothing was learned");
    let codes: Vec<_> = refused.problems().iter().map(|problem| problem.report().code().as_str()).collect();
    assert_eq!(codes, ["baseline-missing"]);
    let without = GatewayBuilder::new(read(&config), PathBuf::new()).start();
    assert!(without.is_err(), "without a store there is none either");

    learn(&store, "fixture.stats", READS).await;
    let gateway = Running::of(builder().recall().await.expect("a store")).await;
    let client = gateway.client_at(Era::New, "/mcp/report").await;
    assert_ne!(call(&client, "stats", json!({})).await.is_error, Some(true));
    let unlike = call(&client, "echo", json!({ "text": "a" })).await;
    assert_eq!(unlike.meta.as_ref().expect("metadata").0["dev.toolmark/call"]["code"], "task-unlike-baseline");

    learn(&store, "fixture.echo", CREATES).await;
    let unlike = call(&client, "echo", json!({ "text": "a" })).await;
    assert_eq!(unlike.is_error, Some(true), "what holds changes with the configuration only");
    gateway.gateway.reload(read(&config), None).await.expect("it is taken over");
    assert_eq!(text(&call(&client, "echo", json!({ "text": "a" })).await), "a");

    let other = config.replace("store:report", "store:other");
    assert!(gateway.gateway.reload(read(&other), None).await.is_err());
    assert_eq!(text(&call(&client, "echo", json!({ "text": "b" })).await), "b", "the one before still holds");
    gateway.stop().await;
}
