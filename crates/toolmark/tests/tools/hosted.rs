//! Tools of servers that the provider calls by itself are known to rules before the provider has shown them.

use std::sync::Arc;

use toolmark::agents::host::HostedMcp;
use toolmark::models::scripted::{ScriptedCall, Turn};
use toolmark::models::{Item, ScriptedModel};
use toolmark::policy::{PolicyConfig, Rule};
use toolmark::prelude::*;
use toolmark::runtime::WorkspaceBuilder;
use toolmark::serde_json::{Value, json};
use toolmark::verdict::Decision;

fn request(id: &str, tool: &str) -> ScriptedCall {
    ScriptedCall::hosted(json!({
        "type": "mcp_approval_request", "id": id, "server_label": "wiki", "name": tool, "arguments": "{}",
    }))
}

#[tokio::test]
async fn a_rule_denies_what_the_provider_asks_for_and_nobody_is_asked() {
    let deny = Rule::builder(Decision::Deny).id("no").tool("hosted_mcp.wiki.erase").build().expect("a rule");
    let model = ScriptedModel::new([Turn::text("hello"), Turn::calls([request("1", "erase")]), Turn::text("done")]);
    let agent = Agent::builder("A")
        .hosted_mcp(HostedMcp::new(json!({"server_label": "wiki", "server_url": "https://wiki.example/mcp"})))
        .rules(WorkspaceBuilder::new().policy(PolicyConfig::new().rule(deny)))
        .model(Arc::new(model))
        .build()
        .expect("an agent");
    // The first run hears of no such tool at all, and the rules are no mistake.
    let _ = Runner::new().run(&agent, "hi", RunContext::new()).await.expect("a run");
    let outcome = Runner::new().run(&agent, "go", RunContext::new()).await.expect("a run");
    let result = outcome.finished().expect("nobody is asked");
    let answers: Vec<&Value> = result
        .items()
        .iter()
        .filter_map(|item| match &item.item {
            Item::Hosted(raw) if raw.kind() == "mcp_approval_response" => Some(&raw.value["approve"]),
            _ => None,
        })
        .collect();
    assert_eq!(answers, [&json!(false)]);
}
