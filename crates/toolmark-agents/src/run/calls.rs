//! How are the calls of a turn made? Side by side, each through the pipeline, and each with an answer whatever happens to it.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolmark_models::{FunctionCall, Output};
use toolmark_runtime::StrayKind;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{self, Called, ToolCall, ToolContext, ToolHooks, ToolOutput, Turn};
use tracing::instrument::WithSubscriber as _;
use tracing::{Instrument as _, Span};

use super::approve::Said;
use super::error::RunErrorKind;
use super::event::{RunEvent, Sink};
use super::machine::{Asked, Ended};
use super::nest::Nest;
use super::runner::{Runner, ToolFault};
use super::state::Question;
use super::trace;
use crate::hooks::Hooks;

/// Everything that one call needs, so that it can run on any thread.
pub(super) struct Making {
    pub(super) at: usize,
    pub(super) call: FunctionCall,
    pub(super) said: Said,
    pub(super) attempt: u32,
    /// True when it is one of several in the provider's own words: those of one tool are made one after the other.
    pub(super) in_order: bool,
    pub(super) turn: Turn,
    pub(super) with: Arc<With>,
    /// For whoever traces.
    pub(super) span: Span,
}

/// What all calls of a turn share.
pub(super) struct With {
    pub(super) runner: Runner,
    pub(super) sink: Sink,
    pub(super) nest: Nest,
    pub(super) hooks: Vec<Arc<dyn Hooks>>,
    /// What else could be called: the handoffs.
    pub(super) handoffs: Vec<String>,
}

/// What came of a call, and why the run cannot go on, where it cannot.
pub(super) struct Made {
    pub(super) at: usize,
    pub(super) ended: Ended,
    pub(super) raised: Option<RunErrorKind>,
}

/// Makes calls. The order in which they come back is not the order in which they were made.
pub(super) async fn make(calls: Vec<Making>, limit: Option<usize>) -> Vec<Made> {
    // One call needs no thread of its own.
    if calls.len() == 1 || limit == Some(1) {
        let mut made = Vec::with_capacity(calls.len());
        for call in calls {
            made.push(call.make().await);
        }
        return made;
    }
    let room = limit.map(|limit| Arc::new(Semaphore::new(limit)));
    let mut running = JoinSet::new();
    let mut made = Vec::with_capacity(calls.len());
    for row in rows(calls) {
        let room = room.clone();
        let making = async move {
            let mut made = Vec::with_capacity(row.len());
            for call in row {
                let _place = match &room {
                    Some(room) => room.acquire().await.ok(),
                    None => None,
                };
                made.push(call.make().await);
            }
            made
        };
        // Whoever listens to this thread only hears of the others too.
        running.spawn(making.with_current_subscriber());
    }
    while let Some(joined) = running.join_next().await {
        match joined {
            Ok(row) => made.extend(row),
            // Bodies that panic are caught in the pipeline; what panics beyond it goes on here.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
    }
    made
}

/// What may run side by side: each call by itself, but those of one screen or one shell in the order in which the model made them.
fn rows(calls: Vec<Making>) -> Vec<Vec<Making>> {
    let mut rows: Vec<Vec<Making>> = Vec::with_capacity(calls.len());
    for call in calls {
        let same = |row: &&mut Vec<Making>| {
            call.in_order && row.first().is_some_and(|first| first.in_order && first.call.name == call.call.name)
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.push(call),
            None => rows.push(vec![call]),
        }
    }
    rows
}

impl Making {
    async fn make(self) -> Made {
        let span = self.span.clone();
        let runner = self.with.runner.clone();
        let made = self.made().instrument(span.clone()).await;
        let (outcome, output, code) = match &made.ended {
            Ended::Answered { output, code } => ("answered", Some(output.joined_text()), *code),
            Ended::Asked(_) => ("waiting", None, None),
            Ended::Inside(_) => ("inside", None, None),
            Ended::Outside => ("outside", None, None),
        };
        trace::called(&span, &runner, outcome, output.as_deref(), code);
        made
    }

    async fn made(self) -> Made {
        let hooks = Heard { with: &self.with };
        let call = ToolCall::new(&self.call.name, &self.call.call_id, &self.call.arguments)
            .in_namespace(self.call.namespace.as_deref())
            .attempt(self.attempt)
            .client(&self.said)
            .hooks(&hooks);
        let called = self.turn.call(&call).await;
        let (ended, raised) = match called {
            Called::Answered(answer) => {
                let code = answer.ended.code();
                let output = self.text(&answer).map_or_else(|| output(&answer.output), Output::Text);
                (Ended::Answered { output, code }, None)
            }
            Called::Waiting(handed, _) => {
                let found = self.turn.find(&self.call.name, self.call.namespace.as_deref()).ok();
                let tool = found.map_or_else(|| self.call.name.clone(), |(_, tool)| tool.canonical().to_string());
                let definition = found.map(|(own, _)| own.definition().digest().to_string()).unwrap_or_default();
                let prompt = handed.prompt.text().to_owned();
                (Ended::Asked(Asked(Question { tool, definition, prompt, run: handed.run })), None)
            }
            Called::Unfinished(_) => match self.with.nest.take(&self.call.call_id) {
                Some(run) => (Ended::Inside(Box::new(run)), None),
                None if self.with.nest.take_outside(&self.call.call_id) => (Ended::Outside, None),
                None => (self.broke("It waits for something that nobody here can give it."), None),
            },
            Called::Raised(raised, _) => {
                let ended =
                    self.broke("It failed, and the run ended. It may have had an effect: check before you repeat it.");
                (ended, Some(RunErrorKind::Raised(raised)))
            }
        };
        if let Ended::Answered { output, code } = &ended {
            self.with.sink.say(|| RunEvent::ToolEnded {
                agent: self.turn.context().agent().to_owned(),
                call_id: self.call.call_id.clone(),
                name: self.call.name.clone(),
                output: output.joined_text(),
                code: *code,
            });
        }
        Made { at: self.at, ended, raised }
    }

    /// What was called is not called again, so that it has an answer of some kind.
    fn broke(&self, text: &str) -> Ended {
        Ended::Answered { output: Output::Text(text.to_owned()), code: Some("tool-failed") }
    }

    /// Another text in place of the one that the pipeline has.
    fn text(&self, answer: &tools::Answer) -> Option<String> {
        let default = || answer.output.to_text();
        let (name, call_id) = (self.call.name.as_str(), &self.call.call_id);
        let ask = |fault: ToolFault<'_>| self.with.runner.says.as_ref().and_then(|says| says(&fault));
        match &answer.ended {
            tools::Ended::Failed { error, default_text: true } => {
                ask(ToolFault::Failed { name, call_id, error, default: &default() })
            }
            tools::Ended::Refused { .. } => match self.said.refused() {
                // What a person wrote for the model is what it reads, even if that is nothing.
                Some(Some(message)) => Some(message.to_owned()),
                Some(None) => ask(ToolFault::Rejected { name, call_id, default: &default() }),
                _ => None,
            },
            tools::Ended::Stray(StrayKind::Unknown | StrayKind::Ambiguous) => {
                let mut text = default();
                if !self.with.handoffs.is_empty() {
                    text.push_str(&format!(" You can hand over with: `{}`.", self.with.handoffs.join("`, `")));
                }
                Some(ask(ToolFault::Unknown { name, call_id, default: &text }).unwrap_or(text))
            }
            _ => None,
        }
    }
}

/// What a model reads of what a tool brought.
fn output(output: &ToolOutput) -> Output {
    match output {
        ToolOutput::Text(_) | ToolOutput::Json(_) => Output::Text(output.to_text()),
        ToolOutput::Parts(parts) => Output::Parts(parts.iter().map(part).collect()),
    }
}

fn part(part: &tools::Part) -> toolmark_models::Part {
    use toolmark_models::{Detail, File, Image, Part};
    match part {
        tools::Part::Text(text) => Part::text(text),
        tools::Part::Image(image) => Part::Image(Image {
            url: image.url.clone(),
            file_id: image.file_id.clone(),
            detail: image.detail.map(|detail| match detail {
                tools::Detail::Low => Detail::Low,
                tools::Detail::High => Detail::High,
                tools::Detail::Auto => Detail::Auto,
            }),
        }),
        tools::Part::File(file) => Part::File(File {
            data: file.data.clone(),
            url: file.url.clone(),
            file_id: file.file_id.clone(),
            filename: file.filename.clone(),
        }),
    }
}

/// Tells everybody about a body.
struct Heard<'a> {
    with: &'a With,
}

impl ToolHooks for Heard<'_> {
    fn started<'a>(&'a self, context: &'a ToolContext) -> Later<'a, ()> {
        self.with.sink.say(|| RunEvent::ToolStarted {
            agent: context.agent().to_owned(),
            call_id: context.call_id().clone(),
            tool: context.tool().to_string(),
            arguments: context.arguments().text().to_owned(),
        });
        Box::pin(async move {
            for hooks in &self.with.hooks {
                hooks.tool_started(context).await;
            }
        })
    }

    fn ended<'a>(&'a self, context: &'a ToolContext, output: &'a ToolOutput) -> Later<'a, ()> {
        Box::pin(async move {
            for hooks in &self.with.hooks {
                hooks.tool_ended(context, output).await;
            }
        })
    }
}
