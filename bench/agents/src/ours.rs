//! Toolmark's side: the script as a [`Model`], the tools as `#[tool]`, and the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use toolmark::agents::RunEvent;
use toolmark::models::{
    Finish, FunctionCall, Item, Model, ModelError, ModelEvent, ModelFuture, ModelName, ModelRequest, ModelResponse,
    ModelStream, Provider, Usage,
};
use toolmark::prelude::*;

use crate::script::{self, ANSWER, Call, NOTHING, Script};
use crate::side::{Failure, First, Side};

/// Says what the weather will be.
///
/// # Arguments
/// * `city`: Where.
/// * `days`: For how many days.
#[tool]
async fn forecast(city: String, days: u32) -> String {
    script::forecast(&city, days)
}

/// Computes something.
///
/// # Arguments
/// * `rounds`: For how long.
#[tool]
async fn compute(rounds: u32) -> u64 {
    script::compute(rounds)
}

/// An agent of toolmark.
pub(crate) struct Ours {
    agent: Agent,
    runner: Runner,
    model: Scripted,
}

impl Ours {
    pub(crate) fn new(script: Arc<Script>) -> Result<Self, Failure> {
        let turns = u32::try_from(script.requests())?;
        let model = Scripted { name: ModelName::new(Provider::Scripted, "bench")?, script };
        let agent = Agent::builder("Assistant")
            .instructions("Be brief.")
            .tool(forecast::tool())
            .tool(compute::tool())
            .model(Arc::new(model.clone()))
            .build()?;
        Ok(Self { agent, runner: Runner::new().max_turns(turns), model })
    }
}

impl Side for Ours {
    async fn run(&self) -> Result<String, Failure> {
        let outcome = self.runner.run(&self.agent, "What will the weather be?", RunContext::new()).await?;
        Ok(outcome.finished().ok_or("the run did not finish")?.output().to_owned())
    }

    async fn first(&self) -> Result<First, Failure> {
        let start = Instant::now();
        let mut stream = self.runner.run_stream(&self.agent, "What will the weather be?", RunContext::new());
        let mut first = None;
        while let Some(event) = stream.next().await {
            if first.is_none() && matches!(event, RunEvent::Model { event: ModelEvent::Text { .. }, .. }) {
                first = Some(First { from_start: start.elapsed(), from_model: self.model.script.since() });
            }
        }
        let outcome = stream.outcome().await?;
        let output = outcome.finished().ok_or("the run did not finish")?.output().to_owned();
        assert_eq!(output, ANSWER.concat(), "the run says what the model says");
        Ok(first.ok_or("nothing was streamed")?)
    }

    async fn first_of_model(&self) -> Result<Duration, Failure> {
        let start = Instant::now();
        let request = ModelRequest::of_text("What will the weather be?");
        let mut stream = self.model.stream(&request).await?;
        let mut first = None;
        while let Some(event) = stream.next().await {
            if matches!(event?, ModelEvent::Text { .. }) {
                first.get_or_insert_with(|| start.elapsed());
            }
        }
        Ok(first.ok_or("nothing was streamed")?)
    }
}

/// The script as a model.
#[derive(Clone, Debug)]
struct Scripted {
    name: ModelName,
    script: Arc<Script>,
}

impl Scripted {
    fn answer(&self) -> Result<ModelResponse, ModelError> {
        let usage = Usage { requests: 1, ..Usage::default() };
        let response = ModelResponse { usage, ..ModelResponse::default() };
        Ok(match self.script.next() {
            Some(calls) => {
                ModelResponse { items: calls.iter().map(item).collect(), finish: Finish::ToolCalls, ..response }
            }
            None => ModelResponse { items: vec![Item::assistant(ANSWER.concat())], ..response },
        })
    }
}

fn item(call: &Call) -> Item {
    let id = call.id.parse().unwrap_or_else(|error| panic!("`{}` is an id: {error}", call.id));
    Item::FunctionCall(FunctionCall::new(id, call.name, call.arguments.as_str()))
}

impl Model for Scripted {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn respond<'a>(&'a self, _: &'a ModelRequest) -> ModelFuture<'a, ModelResponse> {
        Box::pin(std::future::ready(self.answer()))
    }

    /// Only the answer is streamed in pieces; no figure is taken of calls that are.
    fn stream<'a>(&'a self, _: &'a ModelRequest) -> ModelFuture<'a, ModelStream> {
        let script = Arc::clone(&self.script);
        let stream = self.answer().map(|response| -> ModelStream {
            let calls = response.items.iter().any(|item| matches!(item, Item::FunctionCall(_)));
            let text = if calls { &NOTHING[..] } else { &ANSWER[..] };
            let pieces = text.iter().enumerate().map(move |(at, text)| {
                if at == 0 {
                    script.leaves();
                }
                ModelEvent::Text { delta: (*text).to_owned() }
            });
            let end = ModelEvent::Completed(Box::new(response));
            Box::pin(futures_util::stream::iter(pieces.chain([end]).map(Ok)))
        });
        Box::pin(std::future::ready(stream))
    }
}
