use futures_util::StreamExt as _;
use toolmark_agents::RunEvent;
use toolmark_models::ModelEvent;
use toolmark_models::scripted::{Fault, Turn};

use super::*;

fn name(event: &RunEvent) -> String {
    match event {
        RunEvent::AgentStarted { agent } => format!("{agent} started"),
        RunEvent::TurnStarted { agent, turn } => format!("{agent} turn {turn}"),
        RunEvent::Model { event: ModelEvent::Text { delta }, .. } => format!("said {delta}"),
        RunEvent::Model { .. } => "model".into(),
        RunEvent::ToolStarted { tool, .. } => format!("{tool} started"),
        RunEvent::ToolEnded { name, output, .. } => format!("{name} ended: {output}"),
        RunEvent::HandedOver { from, to } => format!("{from} to {to}"),
        RunEvent::Nested { call_id, event } => format!("{} > {}", call_id.as_str(), name(event)),
        RunEvent::ApprovalNeeded(pending) => format!("{} waits", pending.tool()),
        RunEvent::Finished { output } => format!("finished: {output}"),
        other => format!("{other:?}"),
    }
}

async fn watched(agent: &Agent) -> (Vec<String>, Result<RunOutcome, toolmark_agents::RunError>) {
    let mut stream = Runner::new().run_stream(agent, "go", RunContext::new());
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        seen.push(name(&event));
    }
    seen.retain(|event| !event.ends_with("model") && !event.contains("said "));
    (seen, stream.outcome().await)
}

#[tokio::test]
async fn a_run_can_be_watched_from_the_first_word_to_the_last() {
    let calls = Calls::default();
    let inner = agent("Inner", [Turn::call("note", text("x")), Turn::text("inner")]).tool(calls.tool("note"));
    let b = agent("B", [Turn::text("good bye")]).build().expect("an agent");
    let turns = [
        Turn::calls([call("o", "inner", json!({"input": "go"}))]),
        Turn::calls([call("h", "transfer_to_b", json!({}))]),
    ];
    let a = agent("A", turns).tool(inner.build().expect("ok").as_tool()).handoff(&b).build().expect("an agent");
    let (seen, outcome) = watched(&a).await;
    assert_eq!(
        seen,
        [
            "A started",
            "A turn 1",
            "inner started",
            "o > Inner started",
            "o > Inner turn 1",
            "o > note started",
            "o > note ended: note x",
            "o > Inner turn 2",
            "o > finished: inner",
            "inner ended: inner",
            "A turn 2",
            r#"transfer_to_b ended: {"assistant":"B"}"#,
            "A to B",
            "B started",
            "B turn 3",
            "finished: good bye",
        ]
    );
    assert_eq!(outcome.expect("it runs").finished().expect("it has an answer").output(), "good bye");
}

#[tokio::test]
async fn what_a_model_says_arrives_as_it_says_it() {
    let agent = agent("A", [Turn::text("one two three")]).build().expect("an agent");
    let mut stream = Runner::new().run_stream(&agent, "go", RunContext::new());
    let mut said = String::new();
    while let Some(event) = stream.next().await {
        if let RunEvent::Model { event: ModelEvent::Text { delta }, .. } = event {
            said.push_str(&delta);
        }
    }
    assert_eq!(said, "one two three");
    assert!(stream.outcome().await.expect("it runs").finished().is_some());
}

#[tokio::test]
async fn a_run_that_is_watched_is_interrupted_like_any_other() {
    let calls = Calls::default();
    let agent = agent("A", [Turn::call("pay", text("x")), Turn::text("done")]);
    let agent = agent.tool(calls.tool("pay").needs_approval(true)).build().expect("an agent");
    let (seen, outcome) = watched(&agent).await;
    assert_eq!(seen, ["A started", "A turn 1", "pay waits"]);
    let mut state = outcome.expect("it is interrupted").interrupted().expect("it is interrupted");
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    let outcome = Runner::new().resume_stream(&agent, state, RunContext::new()).outcome().await.expect("it runs");
    assert_eq!(outcome.finished().expect("it has an answer").output(), "done");
}

#[tokio::test]
async fn a_stream_that_dies_half_way_leaves_a_run_that_can_go_on() {
    let calls = Calls::default();
    let turns = [
        Turn::call("note", text("x")),
        Turn { fail: Some(Fault::Truncated), ..Turn::call("note", text("half")) },
        Turn::text("done"),
    ];
    let agent = agent("A", turns).tool(calls.tool("note")).build().expect("an agent");
    let (_, outcome) = watched(&agent).await;
    let error = outcome.expect_err("it died");
    assert!(error.code().as_str().starts_with("model-"), "{}", error.code());
    let outcome = resumed(&agent, &error.into_state().expect("it is kept")).await;
    assert_eq!(outcome.finished().expect("it has an answer").output(), "done");
    assert_eq!(calls.all(), ["note x"]);
}
