//! What each address shows: packs of a profile, tools of a task, names as the operator wants them.

use serde_json::json;

use crate::support::{Era, Running, by_http, call, http_fixture, names, request};

#[tokio::test]
async fn a_profile_shows_nothing_of_the_packs_that_it_leaves_out() {
    let (one, two) = (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let profile = "[profiles.small]\nclient = \"generic\"\npacks = [\"two\"]\n";
    let gateway = Running::start(&format!("{}{}{profile}", by_http("one", &one), by_http("two", &two))).await;
    let (all, small) = (gateway.client(Era::Old).await, gateway.client_at(Era::Old, "/mcp/small").await);
    assert_eq!(names(&all).await.len(), 2 * names(&small).await.len());
    let (everything, own) =
        (all.list_all_prompts().await.expect("prompts"), small.list_all_prompts().await.expect("prompts"));
    assert_eq!(everything.len(), 2 * own.len());
    // A name means the same everywhere, so the one that the other pack has means nothing here.
    assert!(own.iter().all(|prompt| prompt.name.starts_with("two__")), "{own:?}");
    let hidden = rmcp::model::GetPromptRequestParams::new("test_simple_prompt");
    assert!(small.get_prompt(hidden.clone()).await.is_err());
    assert!(all.get_prompt(hidden).await.is_ok());
    let resources = small.list_all_resources().await.expect("resources");
    assert!(resources.iter().all(|resource| resource.uri.starts_with("toolmark://two/")), "{resources:?}");
    let first = rmcp::model::ReadResourceRequestParams::new(resources[0].uri.clone());
    assert!(small.read_resource(first).await.is_ok());
    gateway.stop().await;
}

#[tokio::test]
async fn a_task_lists_its_tools_and_calls_no_others() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let task = "[tasks.few]\ntools = [\"fixture.ec*\", \"sleep_ms\"]\n";
    let gateway = Running::start(&format!("{}{task}", by_http("fixture", &fixture))).await;
    let client = gateway.client_at(Era::New, "/mcp/few").await;
    assert_eq!(names(&client).await, ["echo", "sleep_ms"]);
    assert_ne!(call(&client, "echo", json!({ "text": "a" })).await.is_error, Some(true));
    let error = client.call_tool(request("blob", json!({ "bytes": 1 }))).await.expect_err("it is not there");
    assert!(error.to_string().contains("Unknown tool: `blob`"), "{error}");
    gateway.stop().await;
}

#[tokio::test]
async fn one_pack_may_be_prefixed_where_others_are_not() {
    let (one, two) = (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let config =
        format!("{}exposure = \"prefixed\"\nprefix = \"first\"\n{}", by_http("one", &one), by_http("two", &two));
    let gateway = Running::start(&config).await;
    let client = gateway.client(Era::New).await;
    let names = names(&client).await;
    assert!(names.contains(&"first__echo".to_owned()) && names.contains(&"echo".to_owned()), "{names:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_trusted_publisher_is_taken_at_its_word() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let behavior = |trust: &str| {
        let config = format!("{}trust = \"{trust}\"\n", by_http("fixture", &fixture));
        async move {
            let gateway = Running::start(&config).await;
            let tools = gateway.client(Era::New).await.list_all_tools().await.expect("tools");
            let tool = tools.into_iter().find(|tool| tool.name == "stats").expect("the tool");
            gateway.stop().await;
            tool.meta.expect("metadata").0["dev.toolmark/behavior"]["source"].clone()
        }
    };
    assert_eq!(behavior("trusted").await, "operator");
    assert_ne!(behavior("untrusted").await, "operator");
}
