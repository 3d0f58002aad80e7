//! How is an agent run? What holds for a whole run, and the ways to begin, to watch and to go on with one.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolmark_core::call::CallId;
use toolmark_runtime::TaskName;
use toolmark_runtime::tools::{RunContext, ToolError};
use uuid::Uuid;

use super::driver::Driver;
use super::error::{RunError, RunErrorKind};
use super::event::{RunStream, Sink};
use super::item::Input;
use super::machine::Machine;
use super::result::RunOutcome;
use super::state::{InSession, Phase, RunState};
use crate::agent::Agent;
use crate::graph::Graph;
use crate::hooks::Hooks;
use crate::models::Models;
use crate::session::{Session, SessionError};

/// What holds for a whole run. Cheap to clone.
#[derive(Clone)]
pub struct Runner {
    pub(super) max_turns: u32,
    pub(super) concurrency: Option<NonZeroUsize>,
    pub(super) models: Models,
    pub(super) hooks: Option<Arc<dyn Hooks>>,
    pub(super) session: Option<Arc<dyn Session>>,
    pub(super) history: Option<usize>,
    pub(super) take_over: bool,
    pub(super) previous: Option<Arc<str>>,
    pub(super) conversation: Option<Arc<str>>,
    pub(super) caller: Option<Arc<str>>,
    pub(super) task: Option<TaskName>,
    pub(super) says: Option<Says>,
    pub(super) stop: CancellationToken,
    /// True for an agent that is called as a tool.
    pub(super) nested: bool,
    pub(super) traces_contents: bool,
}

type Says = Arc<dyn Fn(&ToolFault<'_>) -> Option<String> + Send + Sync>;

/// A call that went wrong, for whoever puts another text in place of the default one.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ToolFault<'a> {
    /// The tool failed.
    #[non_exhaustive]
    Failed {
        /// The name that the model called.
        name: &'a str,
        /// The call.
        call_id: &'a CallId,
        /// The error, which may hold secrets.
        error: &'a ToolError,
        /// What the model would read.
        default: &'a str,
    },
    /// A person said no, without a message of their own.
    #[non_exhaustive]
    Rejected {
        /// The name that the model called.
        name: &'a str,
        /// The call.
        call_id: &'a CallId,
        /// What the model would read.
        default: &'a str,
    },
    /// There is no such tool.
    #[non_exhaustive]
    Unknown {
        /// The name that the model called.
        name: &'a str,
        /// The call.
        call_id: &'a CallId,
        /// What the model would read.
        default: &'a str,
    },
}

impl Default for Runner {
    fn default() -> Self {
        Self {
            max_turns: 10,
            concurrency: None,
            models: Models::default(),
            hooks: None,
            session: None,
            history: None,
            take_over: false,
            previous: None,
            conversation: None,
            caller: None,
            task: None,
            says: None,
            stop: CancellationToken::new(),
            nested: false,
            traces_contents: false,
        }
    }
}

impl Runner {
    /// At most ten turns, all calls of a turn at once, no session.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How often a model is asked at most.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = turns;
        self
    }

    /// How many calls run side by side at most.
    #[must_use]
    pub fn max_parallel_calls(mut self, calls: NonZeroUsize) -> Self {
        self.concurrency = Some(calls);
        self
    }

    /// The models that agents name, and the one for those that name none.
    #[must_use]
    pub fn models(mut self, models: Models) -> Self {
        self.models = models;
        self
    }

    /// Who hears about everything.
    #[must_use]
    pub fn hooks(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// The conversation that the run belongs to. It is held until the run is over, so that a second run in it is refused; a run that
    /// waits for a person keeps it, and one that ends with an error gives it back.
    #[must_use]
    pub fn session(mut self, session: Arc<dyn Session>) -> Self {
        self.session = Some(session);
        self
    }

    /// How much of the session is read at most.
    #[must_use]
    pub fn history(mut self, items: usize) -> Self {
        self.history = Some(items);
        self
    }

    /// Takes the session over if another run has it, such as one whose process is gone. That run can add nothing to it any more.
    #[must_use]
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Goes on from an answer that the provider keeps ([`RunResult::response_id`](super::RunResult::response_id)): it is sent only what
    /// is new, in every turn. Not together with a session, which would say everything twice; only `openai:` models have this.
    #[must_use]
    pub fn previous_response_id(mut self, id: &str) -> Self {
        self.previous = Some(id.into());
        self
    }

    /// Goes on in a conversation that OpenAI keeps under this id (`conv_…`): it is sent only what is new, in every turn. Not together with
    /// a session or [`Runner::previous_response_id`]; only `openai:` models have this.
    #[must_use]
    pub fn conversation_id(mut self, id: &str) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// For whom it runs: rules, grants and records name them.
    #[must_use]
    pub fn caller(mut self, name: &str) -> Self {
        self.caller = Some(name.into());
        self
    }

    /// What for: the expectation of the task holds for every call.
    #[must_use]
    pub fn task(mut self, task: TaskName) -> Self {
        self.task = Some(task);
        self
    }

    /// What ends the run early: nothing new is begun once it is cancelled. Calls under way come to their end, so that it is known what
    /// became of them; an answer of the model that is not complete counts for nothing. The run ends with
    /// [`RunErrorKind::Stopped`].
    #[must_use]
    pub fn stopped_by(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }

    /// Whether spans hold what is said: answers of models, arguments and outputs of tools, each cut. They may hold secrets; without this,
    /// spans hold none of it.
    #[must_use]
    pub fn trace_contents(mut self, contents: bool) -> Self {
        self.traces_contents = contents;
        self
    }

    /// Another text for the model where a call went wrong and nobody wrote one for it; nothing leaves the default.
    #[must_use]
    pub fn say_faults(mut self, says: impl Fn(&ToolFault<'_>) -> Option<String> + Send + Sync + 'static) -> Self {
        self.says = Some(Arc::new(says));
        self
    }

    /// Runs an agent until it has an answer or somebody must agree to something.
    ///
    /// # Errors
    /// [`RunError`], with what is left of the run.
    pub async fn run(
        &self,
        agent: &Agent,
        input: impl Into<Input>,
        context: RunContext,
    ) -> Result<RunOutcome, RunError> {
        self.begin(agent, input.into(), context, Sink::default()).await
    }

    /// The same, to be watched.
    #[must_use]
    pub fn run_stream(&self, agent: &Agent, input: impl Into<Input>, context: RunContext) -> RunStream {
        let (runner, agent, input) = (self.clone(), agent.clone(), input.into());
        RunStream::new(move |sink| Box::pin(async move { runner.begin(&agent, input, context, sink).await }))
    }

    /// Goes on with a run, with the agent that it began with. Calls that are answered are not made again; those that somebody decided
    /// about are made or refused; the others interrupt the run again.
    ///
    /// # Errors
    /// [`RunError`], with what is left of the run.
    pub async fn resume(&self, agent: &Agent, state: RunState, context: RunContext) -> Result<RunOutcome, RunError> {
        self.go_on(agent, state, context, Sink::default()).await
    }

    /// The same, to be watched.
    #[must_use]
    pub fn resume_stream(&self, agent: &Agent, state: RunState, context: RunContext) -> RunStream {
        let (runner, agent) = (self.clone(), agent.clone());
        RunStream::new(move |sink| Box::pin(async move { runner.go_on(&agent, state, context, sink).await }))
    }

    pub(crate) async fn begin(
        &self,
        agent: &Agent,
        input: Input,
        context: RunContext,
        sink: Sink,
    ) -> Result<RunOutcome, RunError> {
        let graph = Graph::of(agent).map_err(|error| RunError::new(error.into(), None))?;
        if let (Some(session), true) = (&self.session, self.previous.is_some() || self.conversation.is_some()) {
            return Err(RunError::new(SessionError::twice(session.id()).into(), None));
        }
        if self.previous.is_some() && self.conversation.is_some() {
            return Err(RunError::new(RunErrorKind::ConversationTwice, None));
        }
        let run = Uuid::now_v7();
        let history = match &self.session {
            Some(session) => session
                .begin(run, self.history, self.take_over)
                .await
                .map_err(|error| RunError::new(error.into(), None))?,
            None => Vec::new(),
        };
        let mut machine = Machine::begin(agent.name(), history, input.0);
        if let Some(session) = &self.session {
            machine.belongs_to(InSession { id: session.id().to_owned(), run });
        }
        if let Some(previous) = &self.previous {
            machine.follows(previous.to_string());
        }
        if let Some(conversation) = &self.conversation {
            machine.converses(conversation.to_string());
        }
        self.drive(graph, machine, context, sink).await
    }

    /// Drives a run, and gives its session back where it came to no end. One that waits for a person keeps it.
    async fn drive(
        &self,
        graph: Graph,
        machine: Machine,
        context: RunContext,
        sink: Sink,
    ) -> Result<RunOutcome, RunError> {
        let held = self.session.clone().zip(machine.state().session.clone());
        let outcome = Driver::new(self, graph, machine, context, sink).drive().await;
        if let (Err(_), Some((session, own))) = (&outcome, held)
            && let Err(error) = session.release(own.run).await
        {
            tracing::warn!(%error, "a session was not given back");
        }
        outcome
    }

    pub(crate) async fn go_on(
        &self,
        agent: &Agent,
        state: RunState,
        context: RunContext,
        sink: Sink,
    ) -> Result<RunOutcome, RunError> {
        let graph = match Graph::of(agent) {
            Ok(graph) => graph,
            Err(error) => return Err(RunError::new(error.into(), Some(state))),
        };
        if state.start != agent.name() {
            let kind = RunErrorKind::AgentGone(state.start.clone());
            return Err(RunError::new(kind, Some(state)));
        }
        let mut state = state;
        if let Err(error) = self.join(&mut state).await {
            return Err(RunError::new(error.into(), Some(state)));
        }
        let machine = match Machine::resume(state.clone()) {
            Ok(machine) => machine,
            Err(error) => return Err(RunError::new(error, Some(state))),
        };
        self.drive(graph, machine, context, sink).await
    }

    /// Takes up the session of a run again. It has what was said: only who has the session counts.
    async fn join(&self, state: &mut RunState) -> Result<(), SessionError> {
        let given = self.session.as_deref().map(Session::id);
        if let Some(own) = &state.session
            && given != Some(own.id.as_str())
        {
            return Err(SessionError::other(&own.id, given));
        }
        let Some(session) = &self.session else { return Ok(()) };
        if state.conversation.is_some() {
            return Err(SessionError::twice(session.id()));
        }
        let run =
            state.session.get_or_insert_with(|| InSession { id: session.id().to_owned(), run: Uuid::now_v7() }).run;
        match session.begin(run, Some(0), self.take_over).await {
            // A run that is over has said what it says, most likely; the session knows.
            Err(error) if error.is_busy() && matches!(state.phase, Phase::Done { .. }) => Ok(()),
            begun => begun.map(|_| ()),
        }
    }

    /// The same for an agent that is called as a tool: the conversation there is its own.
    pub(crate) fn nested(&self) -> Self {
        Self { session: None, previous: None, conversation: None, nested: true, ..self.clone() }
    }

    /// The same with another limit.
    pub(crate) fn turns(mut self, turns: Option<u32>) -> Self {
        self.max_turns = turns.unwrap_or(self.max_turns);
        self
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("max_turns", &self.max_turns).finish_non_exhaustive()
    }
}
