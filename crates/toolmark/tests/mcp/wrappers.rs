//! Servers compose with everything that toolsets and agents have: wrappers, rules, runs.

use super::*;
use toolmark::models::ScriptedModel;
use toolmark::models::scripted::{ScriptedCall, Turn as Scripted};
use toolmark::policy::{PolicyConfig, Rule};
use toolmark::runtime::WorkspaceBuilder;
use toolmark::serde_json::json;
use toolmark::tools::Condition;
use toolmark::verdict::Decision;

#[tokio::test]
async fn wrappers_change_what_is_shown_and_not_what_is_called() {
    let fixture = listening(Era::Both).await;
    let server = McpServer::at("f", fixture.url()).build().expect("a server");
    let toolset = server
        .filtered(|tool| matches!(tool.name().as_str(), "echo" | "env" | "stats"))
        .renamed([("echo", "repeat")])
        .prefixed("my")
        .enabled_when(Condition::when(|turn: &TurnContext| turn.agent() == "assistant"));
    let (toolbox, turn) = turn(toolset).await;
    assert_eq!(names(&turn), ["f.my_repeat", "f.my_env", "f.my_stats"]);
    assert_eq!(
        text(&turn, "f", "my_repeat", json!({"text": "raw names reach the server"})).await,
        "raw names reach the server"
    );
    assert!(text(&turn, "f", "my_stats", json!({})).await.contains("\"echo\":1"));
    let other = toolbox.turn(TurnContext::new("somebody else", RunContext::new())).await.expect("a turn");
    assert!(names(&other).is_empty());

    let late = McpServer::at("f", fixture.url()).only(["echo"]).build().expect("a server").deferred();
    let (_toolbox, turn) = super::turn(late).await;
    assert!(turn.offered().all(|(tool, _)| tool.defers_loading()));

    let guarded = McpServer::at("f", fixture.url()).only(["echo"]).build().expect("a server").approval_required();
    let (_toolbox, turn) = super::turn(guarded).await;
    let refused = answer(&turn, "f", "echo", json!({})).await;
    assert!(matches!(refused.ended, Ended::Refused { .. }), "nobody can be asked here: {refused:?}");
}

#[tokio::test]
async fn rules_name_tools_of_servers_in_any_spelling() {
    let fixture = listening(Era::Both).await;
    for spelling in ["f.echo", "f/echo", "f:echo", "mcp__f__echo", "f.ech*"] {
        let deny = Rule::builder(Decision::Deny).id("no").tool(spelling).build().expect("a rule");
        let toolbox = Toolbox::builder()
            .toolset(McpServer::at("f", fixture.url()).only(["echo", "stats"]).build().expect("a server"))
            .rules(WorkspaceBuilder::new().policy(PolicyConfig::new().rule(deny)))
            .build();
        let turn = toolbox.turn(context()).await.expect(spelling);
        let refused = answer(&turn, "f", "echo", json!({})).await;
        assert!(matches!(refused.ended, Ended::Refused { .. }), "{spelling}: {refused:?}");
        text(&turn, "f", "stats", json!({})).await;
    }
    // A rule that matches nothing is an error, as everywhere.
    let lost = Rule::builder(Decision::Deny).id("no").tool("f.nothing").build().expect("a rule");
    let toolbox = Toolbox::builder()
        .toolset(McpServer::at("f", fixture.url()).only(["echo"]).build().expect("a server"))
        .rules(WorkspaceBuilder::new().policy(PolicyConfig::new().rule(lost)))
        .build();
    assert!(toolbox.turn(context()).await.is_err());
}

#[tokio::test]
async fn an_agent_calls_two_servers_and_a_person_agrees_to_one_of_them() {
    let (one, two) = (listening(Era::New).await, listening(Era::Old).await);
    let call = |pack: &str, text: &str| ScriptedCall {
        namespace: Some(pack.into()),
        ..ScriptedCall::new("echo", json!({ "text": text }))
    };
    let model = ScriptedModel::new([Scripted::calls([call("one", "a"), call("two", "b")]), Scripted::text("{output}")]);
    let agent = Agent::builder("assistant")
        .toolset(McpServer::at("one", one.url()).only(["echo"]).build().expect("a server"))
        .toolset(McpServer::at("two", two.url()).only(["echo"]).build().expect("a server").approval_required())
        .model(shared(model))
        .build()
        .expect("an agent");
    let outcome = Runner::new().run(&agent, "go", RunContext::new()).await.expect("a run");
    let mut state = outcome.interrupted().expect("somebody must agree");
    let pending = state.pending();
    assert_eq!(pending.iter().map(|pending| pending.tool().to_owned()).collect::<Vec<_>>(), ["two.echo"]);
    state.approve(&pending[0]).expect("it waits");
    let outcome = Runner::new().resume(&agent, state, RunContext::new()).await.expect("a run");
    assert_eq!(outcome.finished().expect("an answer").output(), "a\nb");
}
