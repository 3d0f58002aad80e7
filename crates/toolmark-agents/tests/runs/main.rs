//! Runs of agents from outside, with models that say what they were told to say.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod approvals;
mod bad_input;
mod basics;
mod computer;
mod handoffs;
mod host;
mod hosted_mcp;
mod nested;
mod outside;
mod previous;
mod sessions;
mod streaming;
mod traces;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolmark_agents::{Agent, AgentBuilder, RunOutcome, RunResult, RunState, Runner};
use toolmark_core::explain::Explain as _;
use toolmark_models::ScriptedModel;
use toolmark_models::scripted::{ScriptedCall, Turn};
use toolmark_runtime::tools::{FunctionTool, RunContext, ToolBuilder};

/// What tools were called with, in the order in which they ran.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    pub(crate) fn say(&self, text: impl Into<String>) {
        self.0.lock().expect("no test panics while it writes").push(text.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().expect("no test panics while it writes").clone()
    }

    /// A tool that writes down that it ran, and says so.
    pub(crate) fn tool(&self, name: &str) -> ToolBuilder {
        let (calls, own) = (self.clone(), name.to_owned());
        FunctionTool::builder(name)
            .description("Writes down what it was called with.")
            .parameters(json!({"properties": {"text": {"type": "string"}}, "required": ["text"]}))
            .run(move |_, arguments| {
                let said = format!("{own} {}", arguments.value()["text"].as_str().unwrap_or_default());
                calls.say(said.clone());
                async move { Ok(said) }
            })
    }
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "text": text })
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> ScriptedCall {
    ScriptedCall { call_id: Some(id.into()), ..ScriptedCall::new(name, arguments) }
}

pub(crate) fn scripted(turns: impl IntoIterator<Item = Turn>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::remembering(turns))
}

pub(crate) fn agent(name: &str, turns: impl IntoIterator<Item = Turn>) -> AgentBuilder {
    Agent::builder(name).model(scripted(turns))
}

pub(crate) async fn finished(agent: &Agent, input: &str) -> RunResult {
    let outcome = Runner::new().run(agent, input, RunContext::new()).await.expect("the run has an answer");
    outcome.finished().cloned().expect("the run is not interrupted")
}

pub(crate) async fn interrupted(agent: &Agent, input: &str) -> RunState {
    let outcome = Runner::new().run(agent, input, RunContext::new()).await.expect("the run is interrupted");
    outcome.interrupted().expect("the run is interrupted")
}

/// Goes on in another process: nothing but text comes along.
pub(crate) async fn resumed(agent: &Agent, state: &RunState) -> RunOutcome {
    let state = RunState::from_json(&state.to_json()).expect("what was written can be read");
    Runner::new().resume(agent, state, RunContext::new()).await.expect("the run goes on")
}

pub(crate) async fn code(agent: &Agent) -> (&'static str, Option<RunState>) {
    let error = Runner::new().run(agent, "go", RunContext::new()).await.expect_err("the run has no answer");
    (error.code().as_str(), error.into_state())
}

/// The outputs that a model was given, in their order.
pub(crate) fn outputs(result: &RunResult) -> Vec<(String, String)> {
    let outputs = result.items().iter().filter_map(|item| match &item.item {
        toolmark_models::Item::FunctionOutput(output) => {
            Some((output.call_id.as_str().to_owned(), output.output.joined_text()))
        }
        _ => None,
    });
    outputs.collect()
}

pub(crate) struct Counter(AtomicUsize);

impl Counter {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(0)))
    }

    pub(crate) fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
