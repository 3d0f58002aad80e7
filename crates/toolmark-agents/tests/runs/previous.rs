//! Conversations that the provider keeps: only what is new is sent, and it goes on from the last answer.

use std::sync::Mutex;

use toolmark_agents::{Handoff, MemorySession};
use toolmark_models::{FunctionCall, Item, Model, ModelFuture, ModelName, ModelRequest, ModelResponse, ModelStream};

use super::*;

/// A provider that keeps what it was told and gives every answer an id.
#[derive(Debug)]
struct Keeping {
    name: ModelName,
    answers: Mutex<Vec<Vec<Item>>>,
    heard: Mutex<Vec<(Option<String>, Vec<Item>)>>,
}

impl Keeping {
    fn new(answers: impl IntoIterator<Item = Vec<Item>>) -> Arc<Self> {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Arc::new(Self {
            name: "openai:keeping".parse().expect("a name"),
            answers: Mutex::new(answers),
            heard: Mutex::default(),
        })
    }

    fn heard(&self) -> Vec<(Option<String>, Vec<Item>)> {
        self.heard.lock().expect("a lock").clone()
    }
}

impl Model for Keeping {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelResponse> {
        let mut heard = self.heard.lock().expect("a lock");
        let kept = request.conversation_id.clone().or_else(|| request.previous_response_id.clone());
        heard.push((kept, request.input.clone()));
        let items = self.answers.lock().expect("a lock").pop().expect("one more answer");
        let response_id = Some(format!("resp_{}", heard.len()));
        Box::pin(std::future::ready(Ok(ModelResponse { items, response_id, ..ModelResponse::default() })))
    }

    fn stream<'a>(&'a self, _: &'a ModelRequest) -> ModelFuture<'a, ModelStream> {
        panic!("nobody watches")
    }
}

fn calls(id: &str, name: &str, arguments: &Value) -> Vec<Item> {
    vec![Item::FunctionCall(FunctionCall::new(id.parse().expect("an id"), name, arguments.to_string()))]
}

#[tokio::test]
async fn only_what_is_new_is_sent_and_the_next_run_goes_on_from_the_last_answer() {
    let noted = Calls::default();
    let model =
        Keeping::new([calls("1", "note", &text("x")), vec![Item::assistant("noted")], vec![Item::assistant("bye")]]);
    let agent = Agent::builder("A").tool(noted.tool("note")).model(Arc::clone(&model) as _).build().expect("an agent");
    let runner = Runner::new().previous_response_id("resp_0");
    let outcome = runner.run(&agent, "note it", RunContext::new()).await.expect("a run");
    let result = outcome.finished().expect("an answer").clone();
    assert_eq!((result.output(), result.response_id()), ("noted", Some("resp_2")));
    let next = Runner::new().previous_response_id(result.response_id().expect("an id"));
    let _ = next.run(&agent, "thanks", RunContext::new()).await.expect("a run");
    let output = Item::output("1".parse().expect("an id"), "note x");
    assert_eq!(
        model.heard(),
        [
            (Some("resp_0".into()), vec![Item::user("note it")]),
            (Some("resp_1".into()), vec![output]),
            (Some("resp_2".into()), vec![Item::user("thanks")]),
        ]
    );
    // The whole conversation of the run is in its result all the same.
    assert_eq!(result.to_input().len(), 4);
}

#[tokio::test]
async fn a_run_that_is_resumed_goes_on_from_the_same_answer() {
    let noted = Calls::default();
    let model = Keeping::new([calls("1", "note", &text("x")), vec![Item::assistant("noted")]]);
    let tool = noted.tool("note").needs_approval(true);
    let agent = Agent::builder("A").tool(tool).model(Arc::clone(&model) as _).build().expect("an agent");
    let runner = Runner::new().previous_response_id("resp_0");
    let outcome = runner.run(&agent, "note it", RunContext::new()).await.expect("a run");
    let mut state = outcome.interrupted().expect("it waits");
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    assert!(resumed(&agent, &state).await.finished().is_some());
    let heard = model.heard();
    assert_eq!((heard[1].0.as_deref(), heard[1].1.len()), (Some("resp_1"), 1));
}

#[tokio::test]
async fn what_the_next_agent_may_not_read_the_provider_does_not_give_it() {
    let model = Keeping::new([calls("1", "transfer_to_b", &json!({})), vec![Item::assistant("done")]]);
    let b = Agent::builder("B").model(Arc::clone(&model) as _).build().expect("an agent");
    let handoff = Handoff::to(&b).filter(|items| items.into_iter().filter(|item| *item == Item::user("go")).collect());
    let a = Agent::builder("A").handoff(handoff).model(Arc::clone(&model) as _).build().expect("an agent");
    let outcome = Runner::new().previous_response_id("resp_0").run(&a, "go", RunContext::new()).await.expect("a run");
    assert!(outcome.finished().is_some());
    assert_eq!(model.heard()[1], (None, vec![Item::user("go")]));
}

#[tokio::test]
async fn nobody_else_keeps_the_conversation_too() {
    let agent = agent("A", [Turn::text("x")]).build().expect("an agent");
    let both = Runner::new().previous_response_id("resp_0").session(Arc::new(MemorySession::new("s")));
    let error = both.run(&agent, "go", RunContext::new()).await.expect_err("both keep it");
    assert_eq!(error.code().as_str(), "session-twice");
}

#[tokio::test]
async fn a_conversation_that_the_provider_keeps_is_sent_only_what_is_new_also_when_it_is_resumed() {
    let noted = Calls::default();
    let model = Keeping::new([calls("1", "note", &text("x")), vec![Item::assistant("noted")]]);
    let agent = Agent::builder("A")
        .tool(noted.tool("note").needs_approval(true))
        .model(Arc::clone(&model) as _)
        .build()
        .expect("an agent");
    let runner = Runner::new().conversation_id("conv_1");
    let outcome = runner.run(&agent, "note it", RunContext::new()).await.expect("a run");
    let mut state = outcome.interrupted().expect("somebody is asked");
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    // Another process knows nothing but the state.
    let outcome = resumed(&agent, &state).await;
    let result = outcome.finished().expect("an answer");
    assert_eq!((result.output(), result.conversation_id(), result.response_id()), ("noted", Some("conv_1"), None));
    let output = Item::output("1".parse().expect("an id"), "note x");
    assert_eq!(
        model.heard(),
        [(Some("conv_1".into()), vec![Item::user("note it")]), (Some("conv_1".into()), vec![output])]
    );
}

#[tokio::test]
async fn only_one_keeps_a_conversation() {
    let agent = agent("A", [Turn::text("never")]).build().expect("an agent");
    let session = || Arc::new(MemorySession::new("s"));
    for (runner, code) in [
        (Runner::new().conversation_id("c").previous_response_id("r"), "run-conversation-twice"),
        (Runner::new().conversation_id("c").session(session()), "session-twice"),
    ] {
        let error = runner.run(&agent, "go", RunContext::new()).await.expect_err("it is refused");
        assert_eq!(error.code().as_str(), code);
    }
}

#[tokio::test]
async fn a_handoff_that_hides_something_is_refused_where_the_provider_shows_it() {
    let model = Keeping::new([calls("1", "transfer_to_b", &json!({}))]);
    let second = super::agent("B", [Turn::text("never")]).build().expect("an agent");
    let agent = Agent::builder("A")
        .handoff(Handoff::to(&second).without_tools())
        .model(Arc::clone(&model) as _)
        .build()
        .expect("an agent");
    let runner = Runner::new().conversation_id("conv_1");
    let error = runner.run(&agent, "go", RunContext::new()).await.expect_err("it is refused");
    assert_eq!(error.code().as_str(), "run-conversation-handoff");
    assert_eq!(error.state().expect("it can be resumed").agent(), "A");
}
