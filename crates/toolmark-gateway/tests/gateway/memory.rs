//! What a gateway remembers from one start to the next.

use serde_json::json;
use toolmark_gateway::PackState;

use crate::support::{Era, Running, by_http, by_stdio, call, http_fixture, names, store, text};

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
    let limits = "[packs.slow.limits]\ntimeout = \"100ms\"\nfailures = 2\nrest = \"1h\"\n";
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
