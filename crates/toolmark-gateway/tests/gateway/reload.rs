//! A configuration that changes while the gateway runs.

use std::time::Duration;

use serde_json::json;

use crate::support::{Era, Running, by_http, by_stdio, call, http_fixture, names, read, text};

#[tokio::test]
async fn packs_come_and_go_and_those_that_stay_are_not_started_again() {
    let (one, two) = (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let stays = by_stdio("stays", &[]);
    let prefixed = "[names]\nexposure = \"prefixed\"\n";
    let gateway = Running::start(&format!("{prefixed}{stays}{}", by_http("one", &one))).await;
    let client = gateway.client(Era::Old).await;
    let before = text(&call(&client, "stays__stats", json!({})).await);
    let changed = read(&format!("{prefixed}{stays}{}", by_http("two", &two)));
    let reloaded = gateway.gateway.reload(changed, None).await.expect("it is taken over");
    assert_eq!((&*reloaded.added[0].to_string(), &*reloaded.removed[0].to_string()), ("two", "one"));
    assert!(reloaded.restarted.is_empty() && reloaded.later.is_empty(), "{reloaded:?}");
    gateway.gateway.settled().await;
    assert!(client.service().hears("tools changed", 1).await);
    let names = names(&client).await;
    assert!(names.iter().any(|name| name == "two__echo"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("one__")), "{names:?}");
    // The same process counts on.
    let after = text(&call(&client, "stays__stats", json!({})).await);
    assert_ne!(before, after);
    let calls =
        |stats: &str| serde_json::from_str::<serde_json::Value>(stats).expect("JSON")["calls"]["stats"].as_u64();
    assert_eq!((calls(&before), calls(&after)), (Some(1), Some(2)), "{before} {after}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_call_under_way_ends_on_the_server_where_it_began() {
    let gateway = Running::start(&by_stdio("slow", &["--name", "the-old-one"])).await;
    let client = gateway.client(Era::New).await;
    let begun = tokio::spawn(async move { (call(&client, "sleep_ms", json!({ "ms": 1_500 })).await, client) });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let reloaded = gateway.gateway.reload(read(&by_stdio("slow", &["--name", "the-new-one"])), None).await;
    assert_eq!(reloaded.expect("it is taken over").restarted.len(), 1);
    gateway.gateway.settled().await;
    let (result, client) = begun.await.expect("the call ends");
    assert_ne!(result.is_error, Some(true), "{}", text(&result));
    assert_ne!(call(&client, "echo", json!({ "text": "new" })).await.is_error, Some(true));
    for _ in 0..500 {
        if !crate::packs::find("the-old-one") {
            assert!(crate::packs::find("the-new-one"));
            return gateway.stop().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the old server still runs");
}

#[tokio::test]
async fn what_cannot_be_used_changes_nothing() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let good = by_http("fixture", &fixture);
    let gateway = Running::start(&good).await;
    let client = gateway.client(Era::New).await;
    let bad = [
        format!("{good}\n[tasks.x]\nbaseline = \"nowhere.json\"\n"),
        "[packs.a]\ncommand = \"${TOOLMARK_TEST_UNSET}\"\n".to_owned(),
    ];
    for config in bad {
        let error = gateway.gateway.reload(read(&config), None).await.expect_err(&config);
        assert!(!error.problems().is_empty());
        assert_eq!(text(&call(&client, "echo", json!({ "text": "still here" })).await), "still here");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn an_address_whose_task_is_gone_judges_nothing_by_nothing() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let pack = by_http("fixture", &fixture);
    let gateway = Running::start(&format!("{pack}[tasks.look]\nexpect = [\"PURE|*|*\"]\n")).await;
    let client = gateway.client_at(Era::Old, "/mcp/look").await;
    assert!(!names(&client).await.is_empty());
    gateway.gateway.reload(read(&pack), None).await.expect("it is taken over");
    assert!(client.list_all_tools().await.is_err());
    let called = client.call_tool(crate::support::request("crash", json!({}))).await;
    assert!(called.is_err(), "{called:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn rules_hold_from_the_next_call_on() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let pack = by_http("fixture", &fixture);
    let gateway = Running::start(&pack).await;
    let client = gateway.client(Era::New).await;
    assert_ne!(call(&client, "echo", json!({ "text": "a" })).await.is_error, Some(true));
    let rule = format!("{pack}[[rules]]\nid = \"no-echo\"\ntools = [\"fixture.echo\"]\nverdict = \"deny\"\n");
    gateway.gateway.reload(read(&rule), None).await.expect("it is taken over");
    assert_eq!(call(&client, "echo", json!({ "text": "a" })).await.is_error, Some(true));
    gateway.stop().await;
}
