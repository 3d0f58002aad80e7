//! Servers that the provider calls by itself: it asks, the rules and people of the run answer, and nobody is asked twice.

use futures_util::StreamExt as _;
use toolmark_agents::host::{HostedMcp, McpAnswer};
use toolmark_agents::{RunEvent, RunItem};
use toolmark_models::{HostedTool, Item};

use super::*;

fn config(label: &str) -> Value {
    json!({"server_label": label, "server_url": "https://wiki.example/mcp", "require_approval": "always"})
}

fn request(id: &str, tool: &str, arguments: &Value) -> ScriptedCall {
    ScriptedCall::hosted(json!({
        "type": "mcp_approval_request", "id": id, "server_label": "wiki", "name": tool,
        "arguments": arguments.to_string(),
    }))
}

fn list(description: &str) -> ScriptedCall {
    ScriptedCall::hosted(json!({
        "type": "mcp_list_tools", "id": "mcpl_1", "server_label": "wiki",
        "tools": [{
            "name": "ask", "description": description, "annotations": {"read_only": false},
            "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        }],
    }))
}

fn wiki(turns: impl IntoIterator<Item = Turn>) -> AgentBuilder {
    agent("A", turns).hosted_mcp(HostedMcp::new(config("wiki")))
}

fn answers(items: &[RunItem]) -> Vec<Value> {
    let answers = items.iter().filter_map(|item| match &item.item {
        Item::Hosted(raw) if raw.kind() == "mcp_approval_response" => Some(raw.value.clone()),
        _ => None,
    });
    answers.collect()
}

#[tokio::test]
async fn what_the_provider_asks_for_waits_for_a_person_who_sees_server_tool_and_arguments() {
    let turns = [Turn::calls([list("Asks."), request("mcpr_1", "ask", &json!({"q": "why?"}))]), Turn::text("because")];
    let agent = wiki(turns).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].server_label(), pending[0].server_tool()), (Some("wiki"), Some("ask")));
    assert_eq!((pending[0].tool(), pending[0].call_id().as_str()), ("hosted_mcp.wiki.ask", "mcpr_1"));
    assert!(pending[0].arguments().contains("why?"));
    assert!(
        pending[0].prompt().contains("wiki.ask") && pending[0].prompt().contains("why?"),
        "{}",
        pending[0].prompt()
    );
    state.approve(&pending[0]).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    let result = outcome.finished().expect("nobody is asked a second time");
    assert_eq!(result.output(), "because");
    assert_eq!(
        answers(result.items()),
        [json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true})]
    );
}

#[tokio::test]
async fn a_rejection_and_its_reason_reach_the_provider() {
    let turns = || {
        [
            Turn::calls([list("Asks."), request("mcpr_1", "ask", &json!({"q": "a"}))]),
            Turn::calls([request("mcpr_2", "ask", &json!({"q": "b"}))]),
            Turn::text("done"),
        ]
    };
    let agent = wiki(turns()).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.reject_always(&pending[0], Some("not today")).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    let result = outcome.finished().expect("an answer");
    let no = |id: &str| json!({"type": "mcp_approval_response", "approval_request_id": id, "approve": false, "reason": "not today"});
    assert_eq!(answers(result.items()), [no("mcpr_1"), no("mcpr_2")]);
}

#[tokio::test]
async fn an_approval_for_all_calls_holds_for_that_tool_of_that_server_as_it_was() {
    let turns = [
        Turn::calls([list("Asks."), request("1", "ask", &json!({"q": "a"}))]),
        Turn::calls([request("2", "ask", &json!({"q": "b"})), request("3", "tell", &json!({}))]),
        Turn::text("never"),
    ];
    let agent = wiki(turns).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.approve_always(&pending[0]).expect("it waits");
    let state = resumed(&agent, &state).await.interrupted().expect("another tool is another question");
    let waiting: Vec<String> = state.pending().iter().map(|pending| pending.call_id().to_string()).collect();
    assert_eq!(waiting, ["3"]);

    // The server says something else of the tool in the meantime.
    let turns = [
        Turn::calls([list("Asks."), request("1", "ask", &json!({"q": "a"}))]),
        Turn::calls([list("Asks, and tells everybody."), request("2", "ask", &json!({"q": "b"}))]),
        Turn::text("never"),
    ];
    let agent = wiki(turns).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.approve_always(&pending[0]).expect("it waits");
    let state = resumed(&agent, &state).await.interrupted().expect("it is another tool now");
    assert_eq!(state.pending()[0].call_id().as_str(), "2");
}

#[tokio::test]
async fn a_function_may_answer_in_place_of_a_person_while_the_run_is_watched() {
    let asked = Calls::default();
    let noted = asked.clone();
    let server = HostedMcp::new(config("wiki")).on_approval_request(move |turn, request| {
        noted.say(format!("{} {} {} {}", turn.agent(), request.server_label, request.tool, request.arguments));
        async move {
            match request.tool.as_str() {
                "ask" => McpAnswer::Approve,
                _ => McpAnswer::Reject(Some("only questions".into())),
            }
        }
    });
    let turns =
        [Turn::calls([request("1", "ask", &json!({"q": "a"})), request("2", "erase", &json!({}))]), Turn::text("done")];
    let agent = agent("A", turns).hosted_mcp(server).build().expect("an agent");
    let mut stream = Runner::new().run_stream(&agent, "go", RunContext::new());
    let mut ended = Vec::new();
    while let Some(event) = stream.next().await {
        if let RunEvent::ToolEnded { name, code, .. } = event {
            ended.push((name, code));
        }
    }
    let outcome = stream.outcome().await.expect("a run");
    let result = outcome.finished().expect("an answer");
    let mut asked = asked.all();
    asked.sort();
    assert_eq!(asked, [r#"A wiki ask {"q":"a"}"#, "A wiki erase {}"]);
    assert_eq!(
        answers(result.items()),
        [
            json!({"type": "mcp_approval_response", "approval_request_id": "1", "approve": true}),
            json!({"type": "mcp_approval_response", "approval_request_id": "2", "approve": false, "reason": "only questions"}),
        ]
    );
    ended.sort();
    assert_eq!(ended, [("wiki.ask".to_owned(), None), ("wiki.erase".to_owned(), Some("effect-unbounded"))]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_what_the_server_says_are_refused_without_asking_anybody() {
    let turns = [Turn::calls([list("Asks."), request("1", "ask", &json!({"q": 7}))]), Turn::text("done")];
    let result = finished(&wiki(turns).build().expect("an agent"), "go").await;
    let answer = &answers(result.items())[0];
    assert_eq!(answer["approve"], false);
    assert!(answer["reason"].as_str().is_some_and(|reason| reason.contains('q')), "{answer}");
}

#[tokio::test]
async fn a_server_that_nobody_configured_ends_the_run_as_before() {
    let stray = ScriptedCall::hosted(json!({
        "type": "mcp_approval_request", "id": "1", "server_label": "other", "name": "ask", "arguments": "{}",
    }));
    for call in [
        stray,
        ScriptedCall::hosted(json!({"type": "mcp_approval_request", "id": 7, "server_label": "wiki", "name": "ask"})),
    ] {
        let agent = wiki([Turn::calls([call])]).build().expect("an agent");
        let (code, state) = code(&agent).await;
        assert_eq!(code, "run-hosted-call");
        assert!(state.is_some(), "and can be resumed");
    }
}

#[tokio::test]
async fn what_is_given_as_a_plain_hosted_tool_is_asked_about_too() {
    let Value::Object(settings) = config("wiki") else { panic!("an object") };
    let agent = agent("A", [Turn::calls([request("1", "ask", &json!({}))]), Turn::text("done")])
        .hosted(HostedTool::Mcp { config: settings })
        .build()
        .expect("an agent");
    assert_eq!(interrupted(&agent, "go").await.pending().len(), 1);
}
