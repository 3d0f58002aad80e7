use futures_util::StreamExt as _;
use tokio_util::sync::CancellationToken;
use toolmark_agents::{RunEvent, answered_outside};
use toolmark_models::scripted::Turn;
use toolmark_models::{Item, ModelEvent, ModelFuture, ModelRequest, ModelResponse, ModelStream};

use super::*;

fn paint() -> ToolBuilder {
    answered_outside("paint", "Paints the page.", json!({"properties": {"text": {"type": "string"}}}))
}

#[tokio::test]
async fn a_call_that_is_answered_outside_ends_the_run_and_goes_on_with_what_is_brought() {
    let calls = Calls::default();
    let turns =
        [Turn::calls([call("1", "paint", text("red")), call("2", "note", text("x"))]), Turn::text("It is {output}")];
    let agent = agent("A", turns).tool(paint()).tool(calls.tool("note")).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    assert_eq!(calls.all(), ["note x"], "what runs here runs");
    let outside = state.outside();
    assert_eq!((outside.len(), outside[0].name.as_str(), outside[0].call_id.as_str()), (1, "paint", "1"));
    assert!(state.pending().is_empty(), "nobody has to agree to anything");
    // Without an answer it stays where it is.
    let again = resumed(&agent, &state).await.interrupted().expect("it waits");
    assert_eq!(again.outside(), outside);
    assert!(state.bring(&"2".parse().expect("an id"), "x", false).is_err(), "that one has its answer");
    state.bring(&outside[0].call_id, "painted", false).expect("it waits");
    assert!(state.bring(&outside[0].call_id, "painted", false).is_err(), "once");
    let outcome = resumed(&agent, &state).await;
    let result = outcome.finished().expect("it has an answer");
    assert_eq!(outputs(result), [("1".into(), "painted".into()), ("2".into(), "note x".into())]);
    assert_eq!(calls.all(), ["note x"], "nothing ran twice");
}

#[tokio::test]
async fn an_agent_that_is_called_as_a_tool_cannot_reach_outside() {
    let inner = agent("Inner", [Turn::call("paint", text("red")), Turn::text("{output}")]).tool(paint());
    let inner = inner.build().expect("an agent");
    let turns = [Turn::call("inner", json!({"input": "go"})), Turn::text("{output}")];
    let outer = agent("A", turns).tool(inner.as_tool()).build().expect("an agent");
    assert!(finished(&outer, "go").await.output().contains("cannot be reached from here"));
}

#[tokio::test]
async fn edited_arguments_are_what_runs_and_only_once() {
    let calls = Calls::default();
    let turns = [Turn::calls([call("1", "pay", text("100")), call("2", "pay", text("100"))]), Turn::text("done")];
    let agent = agent("A", turns).tool(calls.tool("pay").needs_approval(true)).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.approve_edited(&pending[0], r#"{"text":"10"}"#).expect("it waits");
    state.approve(&pending[1]).expect("it waits");
    let _ = resumed(&agent, &state).await;
    let mut ran = calls.all();
    ran.sort();
    assert_eq!(ran, ["pay 10", "pay 100"]);
}

#[tokio::test]
async fn edited_arguments_are_judged_like_any_others() {
    let calls = Calls::default();
    let agent = agent("A", [Turn::call("pay", text("100")), Turn::text("{output}")]);
    let agent = agent.tool(calls.tool("pay").needs_approval(true)).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.approve_edited(&pending[0], r#"{"text":7}"#).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    assert!(calls.all().is_empty(), "they do not fit the schema");
    assert!(outcome.finished().is_some());
}

#[tokio::test]
async fn a_run_that_is_stopped_lets_calls_come_to_their_end_and_begins_nothing_new() {
    let stop = CancellationToken::new();
    let (calls, inside) = (Calls::default(), stop.clone());
    let slow = FunctionTool::builder("slow").description("Slow.").parameters(json!({})).run({
        let calls = calls.clone();
        move |_, _| {
            let (calls, stop) = (calls.clone(), inside.clone());
            async move {
                stop.cancel();
                tokio::task::yield_now().await;
                calls.say("slow");
                Ok("slept")
            }
        }
    });
    let turns = [Turn::call("slow", json!({})), Turn::text("never said")];
    let agent = agent("A", turns).tool(slow).build().expect("an agent");
    let error = Runner::new().stopped_by(stop).run(&agent, "go", RunContext::new()).await.expect_err("it was stopped");
    assert_eq!(error.code().as_str(), "run-stopped");
    assert_eq!(calls.all(), ["slow"]);
    let state = error.into_state().expect("what was done is kept");
    let left: Vec<_> = state.left_behind().into_iter().map(|item| item.item).collect();
    assert!(matches!(left.as_slice(), [Item::FunctionCall(_), Item::FunctionOutput(output)]
        if output.output.joined_text() == "slept"));
    assert_eq!(resumed(&agent, &state).await.finished().expect("it goes on").output(), "never said");
    assert_eq!(calls.all(), ["slow"], "nothing ran twice");
}

/// A model that never comes to the end of what it says.
#[derive(Debug)]
struct Endless(toolmark_models::ModelName);

impl toolmark_models::Model for Endless {
    fn name(&self) -> &toolmark_models::ModelName {
        &self.0
    }

    fn respond<'a>(&'a self, _: &'a ModelRequest) -> ModelFuture<'a, ModelResponse> {
        Box::pin(std::future::pending())
    }

    fn stream<'a>(&'a self, _: &'a ModelRequest) -> ModelFuture<'a, ModelStream> {
        let words = futures_util::stream::repeat_with(|| Ok(ModelEvent::Text { delta: "more ".into() })).take(3);
        let stream: ModelStream = Box::pin(words.chain(futures_util::stream::pending()));
        Box::pin(std::future::ready(Ok(stream)))
    }
}

#[tokio::test]
async fn a_run_that_is_stopped_while_its_model_speaks_takes_nothing_over() {
    let stop = CancellationToken::new();
    let model = Endless("openai:endless".parse().expect("a name"));
    let agent = Agent::builder("A").model(Arc::new(model)).build().expect("an agent");
    let mut stream = Runner::new().stopped_by(stop.clone()).run_stream(&agent, "go", RunContext::new());
    while let Some(event) = stream.next().await {
        if matches!(event, RunEvent::Model { .. }) {
            stop.cancel();
        }
    }
    let error = stream.outcome().await.expect_err("it was stopped");
    assert_eq!(error.code().as_str(), "run-stopped");
    assert!(error.state().expect("it is kept").left_behind().is_empty());
}

#[tokio::test]
async fn whoever_does_not_go_on_with_a_run_gets_an_answer_for_every_call() {
    let calls = Calls::default();
    let turns =
        [Turn::calls([call("1", "pay", text("a")), call("2", "note", text("b")), call("3", "paint", json!({}))])];
    let agent = agent("A", turns).tool(calls.tool("pay").needs_approval(true)).tool(calls.tool("note")).tool(paint());
    let state = interrupted(&agent.build().expect("an agent"), "go").await;
    let outputs: Vec<_> = state
        .left_behind()
        .into_iter()
        .filter_map(|item| match item.item {
            Item::FunctionOutput(output) => Some((output.output.joined_text(), output.failed)),
            _ => None,
        })
        .collect();
    let not = ("It was not called: the run ended before.".to_owned(), true);
    assert_eq!(outputs, [not.clone(), ("note b".into(), false), not]);
}
