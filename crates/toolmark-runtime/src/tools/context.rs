//! What a tool may know about the run that calls it: the program's own values, the turn, and the call.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolmark_core::call::CallId;
use toolmark_core::names::CanonicalName;

use super::arguments::Arguments;
use super::error::ToolError;
use crate::task::TaskName;

/// The program's own values, one of each type. Tools read them; models never see them. Cheap to clone.
///
/// ```
/// use toolmark_runtime::tools::RunContext;
///
/// struct User { name: String }
///
/// let context = RunContext::new().with(User { name: "Ada".into() });
/// assert_eq!(context.get::<User>().unwrap().name, "Ada");
/// assert!(context.get::<String>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct RunContext(Arc<HashMap<TypeId, Value>>);

type Value = Arc<dyn Any + Send + Sync>;

/// One turn of an agent: who may see which tool is decided for it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TurnContext {
    context: RunContext,
    agent: Arc<str>,
    caller: Arc<str>,
    session: Option<Arc<str>>,
    task: Option<TaskName>,
    number: u32,
    usage: Usage,
}

/// What a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests to models.
    pub requests: u64,
    /// Tokens that models were sent.
    pub input_tokens: u64,
    /// Tokens that they answered with.
    pub output_tokens: u64,
}

/// One call, as its tool sees it. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext(Arc<Inner>);

struct Inner {
    turn: TurnContext,
    tool: CanonicalName,
    call_id: CallId,
    arguments: Arguments,
    attempt: u32,
    cancel: CancellationToken,
}

impl RunContext {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more value; it takes the place of another of its type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_shared(Arc::new(value))
    }

    /// The same with a value that the program keeps a share of.
    #[must_use]
    pub fn with_shared<T: Send + Sync + 'static>(self, value: Arc<T>) -> Self {
        let mut all = Arc::try_unwrap(self.0).unwrap_or_else(|shared| (*shared).clone());
        all.insert(TypeId::of::<T>(), value);
        Self(Arc::new(all))
    }

    /// The value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

/// Values of the program may hold secrets: only their number is shown.
impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunContext({} values)", self.0.len())
    }
}

impl TurnContext {
    /// The first turn of an agent with this name, for a caller who is nobody in particular.
    #[must_use]
    pub fn new(agent: &str, context: RunContext) -> Self {
        Self {
            context,
            agent: agent.into(),
            caller: "program".into(),
            session: None,
            task: None,
            number: 1,
            usage: Usage::default(),
        }
    }

    /// The same for somebody: rules, grants and records name them.
    #[must_use]
    pub fn caller(mut self, name: &str) -> Self {
        self.caller = name.into();
        self
    }

    /// The same in a session.
    #[must_use]
    pub fn session(mut self, session: &str) -> Self {
        self.session = Some(session.into());
        self
    }

    /// The same for a task, whose expectation holds for its calls.
    #[must_use]
    pub fn task(mut self, task: TaskName) -> Self {
        self.task = Some(task);
        self
    }

    /// A later turn, with what the run has used so far.
    #[must_use]
    pub fn turn(mut self, number: u32, usage: Usage) -> Self {
        self.number = number;
        self.usage = usage;
        self
    }

    /// The program's value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.context.get()
    }

    /// The program's values.
    #[must_use]
    pub fn context(&self) -> &RunContext {
        &self.context
    }

    /// The name of the agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Whom the agent works for.
    #[must_use]
    pub fn caller_name(&self) -> &str {
        &self.caller
    }

    /// In which session.
    #[must_use]
    pub fn session_name(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// What for.
    #[must_use]
    pub fn task_name(&self) -> Option<&TaskName> {
        self.task.as_ref()
    }

    /// Which turn it is, counted from one.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// What the run has used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }
}

impl Usage {
    /// All tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl ToolContext {
    pub(crate) fn new(
        turn: TurnContext,
        tool: CanonicalName,
        call_id: CallId,
        arguments: Arguments,
        attempt: u32,
        cancel: CancellationToken,
    ) -> Self {
        Self(Arc::new(Inner { turn, tool, call_id, arguments, attempt, cancel }))
    }

    /// The program's value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.turn.get()
    }

    /// The same for a tool that cannot do without.
    ///
    /// # Errors
    /// [`ToolError`] when the run was given no value of this type. The model is not told which.
    pub fn need<T: Send + Sync + 'static>(&self) -> Result<&T, ToolError> {
        self.get().ok_or_else(|| ToolError::without_context(type_name::<T>()))
    }

    /// The id that the provider gave the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.0.call_id
    }

    /// The canonical name of the tool.
    #[must_use]
    pub fn tool(&self) -> &CanonicalName {
        &self.0.tool
    }

    /// What it is called with. Where a person edited the arguments, these are the edited ones.
    #[must_use]
    pub fn arguments(&self) -> &Arguments {
        &self.0.arguments
    }

    /// The turn in which it is called.
    #[must_use]
    pub fn turn(&self) -> &TurnContext {
        &self.0.turn
    }

    /// The agent that calls.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.0.turn.agent()
    }

    /// What the run has used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.0.turn.usage()
    }

    /// How often the model has called the tool in a row, counted from one; set by whoever runs the agent.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// Cancelled when the call is given up or takes too long. A body that is async is dropped then; one that blocks a thread should
    /// look here.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.cancel
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("tool", &self.0.tool.as_str())
            .field("call_id", &self.0.call_id.as_str())
            .field("agent", &self.agent())
            .finish_non_exhaustive()
    }
}
