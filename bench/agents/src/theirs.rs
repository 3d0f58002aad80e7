//! The side of `rig`: the script as a completion model with a wire of its own, the tools, and the run.
//!
//! The wire is the least that `rig` takes: frames need no parsing, and no document is put together from them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use rig::agent::{Agent, AgentBuilder, MultiTurnStreamItem};
use rig::completion::options::{Mapping, OptionFields, OptionMap};
use rig::completion::{Accepts, CompletionRequest, FinishReason, ReplayTarget};
use rig::driver::{Exchange, Model, Opened, Opening, Transport};
use rig::error::{EncodeError, ProviderError};
use rig::message::Api;
use rig::operation::{Block, CallFragment, Completion, Finish};
use rig::streaming::{Item, StreamEvent};
use rig::tool::{Tool, ToolContext};
use rig::wire::document::{Reassemble, Serves};
use rig::wire::{Decoder, Descriptor, Flow, Mode, Out, Wire, WireEvent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::script::{self, ANSWER, Call, NOTHING, Script};
use crate::side::{Failure, First, Side};

/// What the small tool takes.
#[derive(Deserialize, JsonSchema)]
struct Place {
    /// Where.
    city: String,
    /// For how many days.
    days: u32,
}

struct Forecast;

impl Tool for Forecast {
    const NAME: &'static str = "forecast";
    type Args = Place;
    type Output = String;
    type Error = Infallible;

    fn description(&self) -> String {
        "Says what the weather will be.".into()
    }

    fn parameters(&self) -> Value {
        schemars::schema_for!(Place).to_value()
    }

    async fn call(&self, _: &mut ToolContext, Place { city, days }: Place) -> Result<String, Infallible> {
        Ok(script::forecast(&city, days))
    }
}

/// What the tool takes that computes.
#[derive(Deserialize, JsonSchema)]
struct Work {
    /// For how long.
    rounds: u32,
}

struct Compute;

impl Tool for Compute {
    const NAME: &'static str = "compute";
    type Args = Work;
    type Output = u64;
    type Error = Infallible;

    fn description(&self) -> String {
        "Computes something.".into()
    }

    fn parameters(&self) -> Value {
        schemars::schema_for!(Work).to_value()
    }

    async fn call(&self, _: &mut ToolContext, Work { rounds }: Work) -> Result<u64, Infallible> {
        Ok(script::compute(rounds))
    }
}

/// An agent of `rig`.
pub(crate) struct Theirs {
    agent: Agent,
    model: Model<Scripted, Played>,
    turns: usize,
    /// As many at a time as there are in a turn, since one at a time is its default.
    at_a_time: usize,
}

impl Theirs {
    pub(crate) fn new(script: Arc<Script>) -> Self {
        let turns = script.requests();
        let at_a_time = script.calls() / (turns - 1).max(1);
        let model = Model::new(Scripted, Played(script));
        let agent = AgentBuilder::new(model.clone())
            .name("Assistant")
            .preamble("Be brief.")
            .tool(Forecast)
            .tool(Compute)
            .build();
        Self { agent, model, turns, at_a_time }
    }
}

impl Side for Theirs {
    async fn run(&self) -> Result<String, Failure> {
        let run = self.agent.prompt("What will the weather be?").max_turns(self.turns).tool_concurrency(self.at_a_time);
        Ok(run.run().await?.output())
    }

    async fn first(&self) -> Result<First, Failure> {
        let start = Instant::now();
        let mut stream = self.agent.prompt("What will the weather be?").max_turns(self.turns).stream();
        let mut first = None;
        let mut output = String::new();
        while let Some(item) = stream.next().await {
            match item? {
                MultiTurnStreamItem::StreamAssistantItem(Item::Event(StreamEvent::Text { .. })) if first.is_none() => {
                    first = Some(First { from_start: start.elapsed(), from_model: self.model.transport.0.since() });
                }
                MultiTurnStreamItem::FinalResponse(response) => output = response.output(),
                _ => {}
            }
        }
        assert_eq!(output, ANSWER.concat(), "the run says what the model says");
        Ok(first.ok_or("nothing was streamed")?)
    }

    async fn first_of_model(&self) -> Result<Duration, Failure> {
        let start = Instant::now();
        let mut stream = self.model.stream(CompletionRequest::new("What will the weather be?"))?;
        let mut first = None;
        while let Some(item) = stream.next().await {
            if matches!(item?, Item::Event(StreamEvent::Text { .. })) {
                first.get_or_insert_with(|| start.elapsed());
            }
        }
        Ok(first.ok_or("nothing was streamed")?)
    }
}

/// The wire: a request goes as it is, and an answer comes in frames.
#[derive(Clone, Debug)]
struct Scripted;

/// A piece of an answer.
#[derive(Clone, Debug)]
enum Frame {
    Text(&'static str),
    Call(usize, Call),
    Done(FinishReason),
}

/// The transport: plays the script.
#[derive(Clone, Debug)]
struct Played(Arc<Script>);

impl Transport<Scripted> for Played {
    fn send(&self, _: CompletionRequest, _: Exchange) -> Opening<Frame> {
        let script = Arc::clone(&self.0);
        let (calls, texts, finish) = match self.0.next() {
            Some(calls) => (calls.to_vec(), &NOTHING[..], FinishReason::ToolCalls),
            None => (Vec::new(), &ANSWER[..], FinishReason::Stop),
        };
        let texts = texts.iter().enumerate().map(move |(at, text)| {
            if at == 0 {
                script.leaves();
            }
            Frame::Text(text)
        });
        let calls = calls.into_iter().enumerate().map(|(at, call)| Frame::Call(at, call));
        let frames = calls.chain(texts).chain([Frame::Done(finish)]);
        Opening::ready(Opened::new(futures_util::stream::iter(frames.map(Ok))))
    }
}

impl Wire for Scripted {
    type Op = Completion;
    type Payload = CompletionRequest;
    type Frame = Frame;
    type Decoder<'id> = Frames<'id>;
    type Reassembler = NoDocument;

    fn describe(&self) -> Descriptor<'_> {
        Descriptor::new("bench").replay(self)
    }

    fn encode(&self, request: CompletionRequest, _: Mode) -> Result<CompletionRequest, EncodeError> {
        Ok(request)
    }

    fn decoder<'id>(&self) -> Frames<'id> {
        Frames::default()
    }
}

/// Writes frames as parts of an answer.
#[derive(Default)]
struct Frames<'id> {
    of: std::marker::PhantomData<fn(&'id ()) -> &'id ()>,
}

impl<'id> Decoder<'id, Completion, Frame> for Frames<'id> {
    type Event = Frame;

    fn classify(&self, frame: Frame) -> WireEvent<Frame> {
        WireEvent::Known(frame)
    }

    fn decode(&mut self, frame: Frame, mut out: Out<'id, Completion>) -> Result<Flow, ProviderError> {
        match frame {
            Frame::Text(text) => {
                out.run(Block::Text, text)?;
            }
            Frame::Call(at, Call { id, name, arguments }) => {
                let fragment = CallFragment { id: Some(&id), name: Some(name), arguments: Some(&arguments) };
                out.fragment(Some(at), fragment)?;
            }
            Frame::Done(reason) => {
                out.end_run()?;
                out.finish_open()?;
                return Ok(out.end(Finish { reason: Some(reason), ..Finish::default() }));
            }
        }
        Ok(Flow::More)
    }
}

/// No document is put together.
#[derive(Default)]
struct NoDocument;

impl Serves<Completion> for NoDocument {}

impl Reassemble<Frame> for NoDocument {
    fn absorb(&mut self, _: &Frame) {}

    fn finish(self) -> Value {
        Value::Null
    }
}

impl ReplayTarget for Scripted {
    fn api(&self) -> Api {
        Api::from_static("bench.script")
    }

    fn provider(&self) -> &str {
        "bench"
    }

    fn model(&self) -> &str {
        ""
    }

    fn accepts(&self, _: &str) -> Accepts {
        Accepts::ALL
    }

    fn map_options(&self, _: &CompletionRequest, _: OptionFields<'_>) -> OptionMap {
        // No run here sets one.
        OptionMap {
            reasoning: Mapping::Nothing,
            cache: Mapping::Nothing,
            service_tier: Mapping::Nothing,
            verbosity: Mapping::Nothing,
            parallel_tool_calls: Mapping::Nothing,
            top_p: Mapping::Nothing,
            seed: Mapping::Nothing,
            stop: Mapping::Nothing,
        }
    }
}
