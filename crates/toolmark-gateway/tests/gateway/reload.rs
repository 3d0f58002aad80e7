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

#[tokio::test]
async fn after_how_many_failures_a_server_rests_is_changed_without_a_new_start() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let with = |failures: u32| {
        let pack = by_http("fixture", &fixture);
        read(&format!("{pack}[packs.fixture.limits]\ntimeout = \"2s\"\nrest = \"10min\"\nfailures = {failures}\n"))
    };
    let gateway = Running::of(toolmark_gateway::GatewayBuilder::new(with(1), std::path::PathBuf::new())).await;
    let client = gateway.client(Era::New).await;
    let late = call(&client, "sleep_ms", json!({ "ms": 600_000 })).await;
    assert_eq!(late.is_error, Some(true));
    let resting = call(&client, "echo", json!({ "text": "on" })).await;
    assert!(text(&resting).contains("its last 1 calls got no answer"), "{}", text(&resting));
    // What is read rests with what is called.
    let resources = client.list_all_resources().await.expect("resources");
    let uri = resources[0].uri.clone();
    let read = client.read_resource(rmcp::model::ReadResourceRequestParams::new(uri.clone())).await;
    let why = read.expect_err("the server rests").to_string();
    assert!(why.contains("its last 1 calls got no answer"), "{why}");
    let reloaded = gateway.gateway.reload(with(3), None).await.expect("it is taken over");
    assert!(reloaded.restarted.is_empty(), "{reloaded:?}");
    assert_eq!(text(&call(&client, "echo", json!({ "text": "on" })).await), "on");
    client.read_resource(rmcp::model::ReadResourceRequestParams::new(uri)).await.expect("a resource");
    gateway.stop().await;
}

#[tokio::test]
async fn what_holds_from_the_next_start_on_is_said() {
    let gateway = Running::start("").await;
    for (changed, part) in [
        ("[gateway]\npublic_url = \"https://example.org\"\n", "gateway"),
        ("[console]\nenabled = false\n", "console"),
        ("[agui]\nenabled = false\n", "agui"),
        ("[agui]\nruns = 3\n", "agui"),
        ("[approvals.webhook]\nurl = \"https://example.org\"\nsecret = \"of-a-test\"\n", "approvals.webhook"),
    ] {
        let reloaded = gateway.gateway.reload(read(changed), None).await.expect(changed);
        assert_eq!(reloaded.later, [part], "{changed}");
        gateway.gateway.reload(read(""), None).await.expect("as before");
    }
    let reloaded = gateway.gateway.reload(read("[agui]\nthreads = 7\n"), None).await.expect("it is taken over");
    assert!(reloaded.later.is_empty(), "{reloaded:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_call_that_may_take_longer_than_others_is_not_cut_short_by_a_reload() {
    let limits = "[packs.slow.limits]\ntimeout = \"1s\"\n[packs.slow.tools.sleep_ms]\ntimeout = \"5min\"\n";
    let config = |name: &str| format!("{}{limits}", by_stdio("slow", &["--name", name]));
    let gateway = Running::start(&config("before")).await;
    let client = gateway.client(Era::New).await;
    // Longer than the second that other calls have, and what is added to it.
    let begun = tokio::spawn(async move { call(&client, "sleep_ms", json!({ "ms": 8_000 })).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let reloaded = gateway.gateway.reload(read(&config("after")), None).await;
    assert_eq!(reloaded.expect("it is taken over").restarted.len(), 1);
    let result = begun.await.expect("the call ends");
    assert_ne!(result.is_error, Some(true), "{}", text(&result));
    gateway.stop().await;
}
