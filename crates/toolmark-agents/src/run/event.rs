//! What happens in a run while it goes on, for whoever watches. The run goes on only while somebody does.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt as _};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toolmark_core::call::CallId;
use toolmark_models::ModelEvent;
use toolmark_runtime::approve::Later;

use super::error::RunError;
use super::pending::Pending;
use super::result::RunOutcome;

/// Something that happens in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunEvent {
    /// An agent takes over.
    AgentStarted {
        /// The agent.
        agent: String,
    },
    /// The model of an agent is about to be asked.
    TurnStarted {
        /// The agent.
        agent: String,
        /// How often a model was asked in this run, this time included.
        turn: u32,
    },
    /// The model of an agent says something.
    Model {
        /// The agent.
        agent: String,
        /// What it says.
        event: ModelEvent,
    },
    /// The body of a tool begins.
    ToolStarted {
        /// The agent that calls.
        agent: String,
        /// The call.
        call_id: CallId,
        /// The canonical name of the tool.
        tool: String,
        /// What it is called with.
        arguments: String,
    },
    /// A call has its answer, whether or not anything ran.
    ToolEnded {
        /// The agent that calls.
        agent: String,
        /// The call.
        call_id: CallId,
        /// The name that the model called.
        name: String,
        /// What the model reads.
        output: String,
        /// The code of what went wrong, where anything did.
        code: Option<&'static str>,
    },
    /// The conversation passes on.
    HandedOver {
        /// From this agent.
        from: String,
        /// To this one.
        to: String,
    },
    /// Something happens in the run of an agent that is called as a tool.
    Nested {
        /// The call of the agent.
        call_id: CallId,
        /// What happens.
        event: Box<RunEvent>,
    },
    /// Somebody has to agree before the run goes on. It ends as interrupted.
    ApprovalNeeded(Box<Pending>),
    /// The run has an answer.
    Finished {
        /// The answer.
        output: String,
    },
}

/// Where events go, if anybody watches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sink {
    to: Option<UnboundedSender<RunEvent>>,
    /// The calls of agents that it is nested in, innermost first.
    inside: Vec<CallId>,
}

impl Sink {
    pub(super) fn is_watched(&self) -> bool {
        self.to.is_some()
    }

    /// The same for the run of an agent that this call asks.
    pub(super) fn inside(&self, call: &CallId) -> Self {
        if self.to.is_none() {
            return Self::default();
        }
        let inside = std::iter::once(call.clone()).chain(self.inside.iter().cloned()).collect();
        Self { to: self.to.clone(), inside }
    }

    /// Says what happens. The event is made only where somebody watches.
    pub(super) fn say(&self, event: impl FnOnce() -> RunEvent) {
        if let Some(to) = &self.to {
            let nested =
                |event, call_id: &CallId| RunEvent::Nested { call_id: call_id.clone(), event: Box::new(event) };
            // Whoever stopped watching has dropped the run too.
            let _ = to.send(self.inside.iter().fold(event(), nested));
        }
    }
}

/// A run as it goes on. It goes on when events are taken, and stops when it is dropped.
pub struct RunStream {
    events: UnboundedReceiver<RunEvent>,
    run: Option<Later<'static, Result<RunOutcome, RunError>>>,
    outcome: Option<Result<RunOutcome, RunError>>,
}

impl RunStream {
    pub(super) fn new(run: impl FnOnce(Sink) -> Later<'static, Result<RunOutcome, RunError>>) -> Self {
        let (to, events) = unbounded_channel();
        Self { events, run: Some(run(Sink { to: Some(to), inside: Vec::new() })), outcome: None }
    }

    /// Lets the run come to its end, and says what came of it. Events that were not taken are passed over.
    ///
    /// # Errors
    /// [`RunError`] as [`super::Runner::run`].
    pub async fn outcome(mut self) -> Result<RunOutcome, RunError> {
        while self.next().await.is_some() {}
        match (self.outcome.take(), self.run.take()) {
            (Some(outcome), _) => outcome,
            (None, Some(run)) => run.await,
            // The stream ended, so that there is an outcome.
            (None, None) => std::future::pending().await,
        }
    }
}

impl Stream for RunStream {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        if let Poll::Ready(Some(event)) = self.events.poll_recv(context) {
            return Poll::Ready(Some(event));
        }
        if let Some(run) = &mut self.run
            && let Poll::Ready(outcome) = run.as_mut().poll(context)
        {
            self.outcome = Some(outcome);
            self.run = None;
        }
        match self.events.poll_recv(context) {
            Poll::Ready(Some(event)) => Poll::Ready(Some(event)),
            _ if self.run.is_none() => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }
}

impl fmt::Debug for RunStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream").field("ended", &self.run.is_none()).finish_non_exhaustive()
    }
}
