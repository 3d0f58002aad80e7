//! What does AG-UI add to a run? The same run of a scripted model, watched and thrown away, or translated, checked and written down; both in
//! turns in one process. The model speaks as fast as the fastest that people use, and the tool does nothing.
//!
//! Budget: at most 5 % of the time of a run. What an event costs by itself is said too, without a budget.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench says what it measured")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::json;
use toolmark_agents::{Agent, RunEvent, Runner};
use toolmark_agui::{Guard, PlainCards, Translator, sse};
use toolmark_models::scripted::Turn;
use toolmark_models::{Model, ModelFuture, ModelName, ModelRequest, ModelResponse, ModelStream, ScriptedModel};
use toolmark_runtime::tools::{FunctionTool, RunContext};

/// How many words a second the model says: more than any that is served today.
const PACE: u64 = 2000;
const ROUNDS: usize = 15;
const BUDGET: f64 = 1.05;

/// A model that takes its time.
#[derive(Debug)]
struct Paced(ScriptedModel);

impl Model for Paced {
    fn name(&self) -> &ModelName {
        self.0.name()
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelResponse> {
        self.0.respond(request)
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelStream> {
        Box::pin(async move {
            let stream = self.0.stream(request).await?;
            let start = Instant::now();
            let paced = stream.enumerate().then(move |(at, event)| async move {
                let due = start + Duration::from_micros(1_000_000 / PACE * at as u64);
                while Instant::now() < due {
                    tokio::task::yield_now().await;
                }
                event
            });
            let paced: ModelStream = Box::pin(paced);
            Ok(paced)
        })
    }
}

fn turns() -> [Turn; 3] {
    let words = "word ".repeat(60);
    let call = Turn { text: Some(words.clone()), ..Turn::call("note", json!({"text": "x".repeat(200)})) };
    [call.clone(), call, Turn::text(words)]
}

fn agent(model: Arc<dyn Model>) -> Agent {
    let note = FunctionTool::builder("note")
        .description("Does nothing.")
        .parameters(json!({"properties": {"text": {"type": "string"}}, "required": ["text"]}))
        .run(|_, _| async { Ok("noted") });
    Agent::builder("A").tool(note).model(model).build().expect("an agent")
}

async fn watched(agent: &Agent) -> usize {
    let mut stream = Runner::new().run_stream(agent, "go", RunContext::new());
    let mut events = 0;
    while stream.next().await.is_some() {
        events += 1;
    }
    assert!(stream.outcome().await.is_ok());
    events
}

async fn translated(agent: &Agent) -> usize {
    let mut stream = Runner::new().run_stream(agent, "go", RunContext::new());
    let mut translator = Translator::new("t", "r", "p", &PlainCards);
    let (mut guard, mut frames) = (Guard::new(), Vec::new());
    let mut write = |events: Vec<toolmark_agui::Event>| {
        for event in events {
            guard.check(&event).expect("in order");
            sse::write(&event, Some(1_700_000_000_000), &mut frames);
        }
    };
    write(translator.begin());
    while let Some(event) = stream.next().await {
        write(translator.event(&event));
    }
    let outcome = stream.outcome().await.expect("it runs");
    let result = outcome.finished().expect("it has an answer");
    write(translator.succeed_using(Some(result.output()), &[], result.usage()));
    frames.len()
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut plain, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let one = agent(Arc::new(Paced(ScriptedModel::new(turns()))));
        let start = Instant::now();
        runtime.block_on(watched(&one));
        plain.push(start.elapsed());
        let other = agent(Arc::new(Paced(ScriptedModel::new(turns()))));
        let start = Instant::now();
        runtime.block_on(translated(&other));
        with.push(start.elapsed());
    }
    let (plain, with) = (median(plain), median(with));
    let ratio = with.as_secs_f64() / plain.as_secs_f64();
    let verdict = if ratio <= BUDGET { "ok" } else { "EXCEEDED" };
    println!("a run, watched                         {plain:>12.2?}");
    println!("the same as AG-UI events               {with:>12.2?}   {ratio:.3} of {BUDGET} {verdict}");
    // By itself: events that are there already.
    let events = runtime.block_on(async {
        let one = agent(Arc::new(ScriptedModel::new(turns())));
        let stream = Runner::new().run_stream(&one, "go", RunContext::new());
        stream.collect::<Vec<RunEvent>>().await
    });
    let start = Instant::now();
    let (mut written, mut frames) = (0_usize, Vec::new());
    for _ in 0..200 {
        let mut translator = Translator::new("t", "r", "p", &PlainCards);
        let mut guard = Guard::new();
        frames.clear();
        for event in translator.begin().into_iter().chain(events.iter().flat_map(|event| translator.event(event))) {
            guard.check(&event).expect("in order");
            sse::write(&event, None, &mut frames);
            written += 1;
        }
    }
    println!(
        "one event, translated and written      {:>12.2?}",
        start.elapsed() / u32::try_from(written.max(1)).unwrap_or(u32::MAX)
    );
    if ratio <= BUDGET { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
