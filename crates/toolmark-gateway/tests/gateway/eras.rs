//! Every pairing of old and new clients with old and new servers, over both transports.

use rmcp::model::{
    GetPromptRequestParams, MetaObject, ReadResourceRequestParams, RequestMetaObject, ServerNotification,
    SubscribeRequestParams, SubscriptionFilter,
};
#[expect(deprecated, reason = "this is how old clients do it")]
use rmcp::model::{LoggingLevel, SetLevelRequestParams};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::support::{Client, ERAS, Era, Running, by_http, by_stdio, call, http_fixture, request, text};

/// A resource whose changes the fixture announces when it is asked to.
const WATCHED: &str = "test://watched-resource";

/// Nothing is measured by it; it only ends what hangs.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Runs a check for every pairing; the message says which one failed.
async fn everyone(check: impl AsyncFn(&Client, Era, &str)) {
    for server in ERAS {
        let fixture = http_fixture(server.of_fixture()).await;
        for (transport, config) in
            [("HTTP", by_http("fixture", &fixture)), ("stdio", by_stdio("fixture", &["--era", server.word()]))]
        {
            // What the fixture's tools do is not what is tried here.
            let gateway = Running::start(&format!("[policy]\npreset = \"observe\"\n{config}")).await;
            for client in ERAS {
                let who = format!("{client:?} client, {server:?} server over {transport}");
                check(&gateway.client(client).await, client, &who).await;
            }
            gateway.stop().await;
        }
    }
}

#[tokio::test]
async fn a_call_returns_what_the_server_said() {
    everyone(async |client, _, who| {
        let given = "grüße 世界 \u{1f600} \"quoted\" \\ \n";
        let result = call(client, "echo", json!({ "text": given })).await;
        assert_eq!(text(&result), given, "{who}");
        let meta = result.meta.expect("metadata");
        assert_eq!(meta.0["dev.toolmark/call"]["canonical"], "fixture.echo", "{who}");
    })
    .await;
}

#[tokio::test]
async fn a_result_says_nothing_of_the_server_behind() {
    everyone(async |client, _, who| {
        let meta = call(client, "echo", json!({ "text": "hello" })).await.meta.expect("metadata").0;
        let named = meta.get("io.modelcontextprotocol/serverInfo").map(|info| info["name"].clone());
        assert!(named.is_none_or(|name| name == "toolmark"), "{who}");
    })
    .await;
}

#[tokio::test]
async fn a_definition_keeps_what_its_server_said_and_gains_an_identity() {
    everyone(async |client, _, who| {
        let tools = client.list_all_tools().await.expect("tools");
        let echo = tools.into_iter().find(|tool| tool.name == "echo").expect("there is an echo");
        assert_eq!(echo.title.as_deref(), Some("Echo"), "{who}");
        assert_eq!(echo.annotations.expect("hints").idempotent_hint, Some(true), "{who}");
        let meta = echo.meta.expect("metadata").0;
        assert_eq!(meta["dev.toolmark.fixture/note"], json!({ "kept": true }), "{who}");
        assert!(meta.contains_key("dev.toolmark/identity") && meta.contains_key("dev.toolmark/behavior"), "{who}");
    })
    .await;
}

#[tokio::test]
async fn a_name_that_leads_nowhere_comes_back_with_candidates() {
    everyone(async |client, _, who| {
        let refused = client.call_tool(request("ecko", json!({}))).await;
        let Err(ServiceError::McpError(error)) = refused else { panic!("{who}: {refused:?}") };
        assert_eq!(error.code.0, -32602, "{who}");
        let data = error.data.expect("data");
        assert!(data["candidates"].as_array().is_some_and(|all| all.contains(&json!("echo"))), "{who}: {data}");
    })
    .await;
}

#[tokio::test]
async fn a_person_is_asked_in_the_way_of_their_era() {
    everyone(async |client, _, who| {
        let answer = call(client, "ask_user", json!({ "question": "Which color?" })).await;
        assert_eq!(text(&answer), "The user answered: blue", "{who}");
        assert!(client.service().heard().contains(&"asked Which color?".to_owned()), "{who}");
    })
    .await;
}

#[tokio::test]
async fn progress_comes_through() {
    everyone(async |client, _, _| {
        call(client, "test_tool_with_progress", json!({})).await;
        assert!(client.service().hears("progress", 3).await);
    })
    .await;
}

#[tokio::test]
async fn resources_and_prompts_come_through() {
    everyone(async |client, _, who| {
        let resources = client.list_all_resources().await.expect("resources");
        let first = resources.first().expect("a resource");
        let read = client.read_resource(ReadResourceRequestParams::new(first.uri.clone())).await;
        assert!(!read.expect("it can be read").contents.is_empty(), "{who}");
        let prompts = client.list_all_prompts().await.expect("prompts");
        assert!(prompts.iter().any(|prompt| prompt.name == "test_simple_prompt"), "{who}");
        let prompt = client.get_prompt(GetPromptRequestParams::new("test_simple_prompt")).await;
        assert!(!prompt.expect("a prompt").messages.is_empty(), "{who}");
    })
    .await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_at_the_server() {
    everyone(async |client, _, who| {
        let cancelled = async || -> u64 {
            let stats = call(client, "stats", json!({})).await.structured_content.unwrap_or_default();
            stats.get("cancelled").and_then(Value::as_u64).expect("a count")
        };
        let before = cancelled().await;
        let slow = client.call_tool(request("sleep_ms", json!({ "ms": 600_000 })));
        // Long enough for the call to be under way; it never ends by itself.
        assert!(tokio::time::timeout(std::time::Duration::from_millis(300), slow).await.is_err(), "{who}");
        // Cancelling is over when the count says so; the patience only keeps a broken test from hanging.
        for _ in 0..500 {
            if cancelled().await > before {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("{who}: the server never heard that the call was cancelled");
    })
    .await;
}

#[tokio::test]
async fn arguments_are_completed_by_their_server() {
    everyone(async |client, _, who| {
        let words = ["paris", "park", "party"];
        let of_prompt = client.complete_prompt_argument("test_prompt_with_arguments", "arg1", "par", None).await;
        assert_eq!(of_prompt.expect("words").values, words, "{who}");
        let of_resource = client.complete_resource_argument("test://template/{id}/data", "id", "par", None).await;
        assert_eq!(of_resource.expect("words").values, words, "{who}");
    })
    .await;
}

#[tokio::test]
async fn log_messages_reach_whoever_asked_for_them() {
    everyone(async |client, era, who| {
        let mut params = request("test_logging_tool", json!({}));
        if era == Era::Old {
            #[expect(deprecated, reason = "this is how old clients do it")]
            client.set_level(SetLevelRequestParams::new(LoggingLevel::Debug)).await.expect("a level");
        } else {
            let mut meta = MetaObject::new();
            meta.0.insert("io.modelcontextprotocol/logLevel".to_owned(), json!("debug"));
            params.meta = Some(RequestMetaObject(meta));
        }
        client.call_tool(params).await.unwrap_or_else(|error| panic!("{who}: {error}"));
        assert!(client.service().hears("log", 3).await, "{who}: {:?}", client.service().heard());
    })
    .await;
}

#[tokio::test]
async fn a_resource_that_is_watched_says_when_it_changes() {
    everyone(async |client, era, who| {
        if era == Era::Old {
            #[expect(deprecated, reason = "this is how old clients do it")]
            client.subscribe(SubscribeRequestParams::new(WATCHED)).await.expect("a subscription");
            call(client, "touch_resource", json!({ "uri": WATCHED })).await;
            assert!(
                client.service().hears(&format!("updated {WATCHED}"), 1).await,
                "{who}: {:?}",
                client.service().heard()
            );
            return;
        }
        let filter = SubscriptionFilter::builder().resource_subscription(WATCHED).build();
        let mut changes = client.listen(filter).await.expect("a stream");
        call(client, "touch_resource", json!({ "uri": "test://static-text" })).await;
        call(client, "touch_resource", json!({ "uri": WATCHED })).await;
        let change = tokio::time::timeout(PATIENCE, changes.next()).await;
        let change = change.unwrap_or_else(|_| panic!("{who}: nothing")).expect("a stream").expect("a change");
        assert!(
            matches!(&change, ServerNotification::ResourceUpdatedNotification(update) if update.params.uri == WATCHED),
            "{who}: {change:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_list_that_changes_at_the_server_is_a_change_for_the_client() {
    everyone(async |client, era, who| {
        let before = client.list_all_tools().await.expect("tools").len();
        if era == Era::Old {
            call(client, "test_trigger_tool_change", json!({})).await;
            assert!(client.service().hears("tools changed", 1).await, "{who}");
        } else {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let mut changes = client.listen(filter).await.expect("a stream");
            call(client, "test_trigger_tool_change", json!({})).await;
            let change = tokio::time::timeout(PATIENCE, changes.next()).await;
            let change = change.unwrap_or_else(|_| panic!("{who}: nothing")).expect("a stream").expect("a change");
            assert!(matches!(change, ServerNotification::ToolListChangedNotification(_)), "{who}: {change:?}");
        }
        let after = client.list_all_tools().await.expect("tools").len();
        assert_eq!(after.abs_diff(before), 1, "{who}: whoever is told finds what is new");
    })
    .await;
}
