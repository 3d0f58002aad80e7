//! Why is there no answer? What is left of the run comes with the error, so that nothing is lost and nothing is done twice.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::compat::{ApprovalError, ResolveCollisionsError};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_models::ModelError;
use toolmark_runtime::tools::{OpenTurnError, Raised};

use super::state::RunState;
use crate::graph::GraphError;
use crate::models::ModelUnknownError;
use crate::session::SessionError;

/// A run that has no answer, with what is left of it.
#[derive(Debug)]
pub struct RunError {
    kind: Box<RunErrorKind>,
    state: Option<Box<RunState>>,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The model was asked this often, and still has no answer.
    #[error("the run has no answer after {0} turns")]
    MaxTurns(u32),
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An agent has no model.
    #[error(transparent)]
    ModelUnknown(#[from] ModelUnknownError),
    /// A turn cannot begin.
    #[error(transparent)]
    Turn(#[from] OpenTurnError),
    /// Tools and handoffs share a name.
    #[error(transparent)]
    Collisions(#[from] ResolveCollisionsError),
    /// A tool of the provider has the name of another.
    #[error("the name `{0}` means a tool of the provider and another tool or handoff")]
    HostedCollision(String),
    /// The agents cannot take part in one run.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A call id stands for two calls, or cannot be used.
    #[error(transparent)]
    Call(#[from] ApprovalError),
    /// The model makes calls that it has made before, and nothing else.
    #[error("the model repeats calls that have their answer, and says nothing else")]
    Repeats,
    /// The model calls something that only a host can do, and this one cannot.
    #[error("the model waits for a `{0}` to be answered, which nobody here can do")]
    HostedCall(String),
    /// A tool or one of its guardrails ends the run.
    #[error(transparent)]
    Raised(#[from] Raised),
    /// Somebody wanted it to end.
    #[error("the run was stopped")]
    Stopped,
    /// A check ends the run.
    #[error("the check `{check}` stopped the run: {message}")]
    Check {
        /// The check.
        check: String,
        /// What it said.
        message: String,
    },
    /// The model will not answer.
    #[error("the model refuses to answer: {0}")]
    Refused(String),
    /// The final answer does not have the shape that it must have.
    #[error("the answer does not have the shape `{shape}`: {problem}")]
    Output {
        /// The shape.
        shape: String,
        /// What is wrong.
        problem: String,
    },
    /// The history cannot be read or written.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The run is to go on from an answer and in a conversation at once.
    #[error("the run cannot go on from an answer and in a conversation at once")]
    ConversationTwice,
    /// A handoff hides something that the provider shows.
    #[error("the handoff to `{0}` has a filter, and the provider keeps the conversation")]
    ConversationHandoff(String),
    /// A saved run belongs to agents that are not here.
    #[error("the saved run is with the agent `{0}`, which takes no part in this run")]
    AgentGone(String),
}

impl RunError {
    pub(super) fn new(kind: RunErrorKind, state: Option<RunState>) -> Self {
        Self { kind: Box::new(kind), state: state.map(Box::new) }
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &RunErrorKind {
        &self.kind
    }

    /// What is left of the run, where it had begun; it can be resumed.
    #[must_use]
    pub fn state(&self) -> Option<&RunState> {
        self.state.as_deref()
    }

    /// The same, to be resumed.
    #[must_use]
    pub fn into_state(self) -> Option<RunState> {
        self.state.map(|state| *state)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.kind)
    }
}

impl RunErrorKind {
    /// The error that it was made of, where that explains itself.
    fn inner(&self) -> Option<&dyn Explain> {
        Some(match self {
            Self::Model(error) => error,
            Self::ModelUnknown(error) => error,
            Self::Turn(error) => error,
            Self::Collisions(error) => error,
            Self::Graph(error) => error,
            Self::Call(error) => error,
            Self::Raised(error) => error,
            Self::Session(error) => error,
            _ => return None,
        })
    }
}

impl Explain for RunErrorKind {
    fn code(&self) -> Code {
        if let Some(inner) = self.inner() {
            return inner.code();
        }
        match self {
            Self::MaxTurns(_) => Code::new("run-max-turns"),
            Self::HostedCollision(_) => Code::new("hosted-tool-collision"),
            Self::Repeats => Code::new("run-repeats"),
            Self::HostedCall(_) => Code::new("run-hosted-call"),
            Self::Stopped => Code::new("run-stopped"),
            Self::Check { .. } => Code::new("run-check"),
            Self::Refused(_) => Code::new("run-refused"),
            Self::Output { .. } => Code::new("run-output"),
            Self::ConversationTwice => Code::new("run-conversation-twice"),
            Self::ConversationHandoff(_) => Code::new("run-conversation-handoff"),
            _ => Code::new("run-agent-gone"),
        }
    }

    fn why(&self) -> String {
        if let Some(inner) = self.inner() {
            return inner.why();
        }
        match self {
            Self::MaxTurns(_) => "a model that never comes to an end costs money and may act for ever",
            Self::HostedCollision(_) => "a call by that name could mean either of the two",
            Self::Repeats => "what was done is not done twice, and the model does not take the answer that it has",
            Self::HostedCall(_) => "what is not answered would be forgotten, and the model would wait for it",
            Self::Stopped => "whoever asked for the run wanted it to end, or the program ends",
            Self::Check { .. } => "the check says that the run must not go on",
            Self::Refused(_) => "a refusal is no answer, and must not be taken for one",
            Self::ConversationTwice => "the two name different places to go on from, and the provider takes only one",
            Self::ConversationHandoff(_) => "what was to be hidden from an agent would be shown to it",
            Self::Output { .. } => "a program that reads it would read something else than the model meant",
            _ => "another agent has other tools, and what was decided for one does not hold for the other",
        }
        .into()
    }

    fn fix(&self) -> String {
        if let Some(inner) = self.inner() {
            return inner.fix();
        }
        match self {
            Self::MaxTurns(turns) => {
                format!("resume the state with a higher limit: `Runner::new().max_turns({})`", turns * 2)
            }
            Self::HostedCollision(name) => format!("rename the function or handoff `{name}`"),
            Self::Repeats => "resume the state to ask the model again, or use another model".into(),
            Self::HostedCall(_) => "leave the hosted tool out; use a function tool in its place".into(),
            Self::Stopped => "resume the state to go on: what was done is in it and is not done again".into(),
            Self::Check { check, .. } => format!("look at what `{check}` was given"),
            Self::Refused(_) => "ask something else".into(),
            Self::ConversationTwice => "leave out `previous_response_id` or `conversation_id`".into(),
            Self::ConversationHandoff(_) => {
                "hand over without a filter, or use a session in place of `conversation_id`".into()
            }
            Self::Output { .. } => {
                "resume the state to ask the model again; a strict schema holds it to the shape".into()
            }
            _ => "resume it with the agent that it began with".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        if let Some(inner) = self.inner() {
            return inner.facts();
        }
        match self {
            Self::MaxTurns(turns) => facts([("turns", (*turns).into())]),
            Self::HostedCollision(name) => facts([("name", visible(name, 200).into())]),
            Self::HostedCall(kind) => facts([("kind", visible(kind, 200).into())]),
            Self::Check { check, .. } => facts([("check", check.as_str().into())]),
            Self::Output { shape, problem } => {
                facts([("shape", shape.as_str().into()), ("problem", problem.as_str().into())])
            }
            Self::AgentGone(agent) => facts([("agent", agent.as_str().into())]),
            _ => Map::new(),
        }
    }
}

impl Explain for RunError {
    fn code(&self) -> Code {
        self.kind.code()
    }

    fn why(&self) -> String {
        self.kind.why()
    }

    fn fix(&self) -> String {
        self.kind.fix()
    }

    fn facts(&self) -> Map<String, Value> {
        self.kind.facts()
    }
}
