//! What becomes of a call: an answer for the model, a question for a person, or the end of the run.

use std::sync::Arc;

use toolmark_core::explain::Explain as _;
use toolmark_core::names::CanonicalName;

use super::error::ToolError;
use super::output::ToolOutput;
use super::perform::{Fault, Performed, Raised};
use crate::approve::Handed;
use crate::dispatch::DispatchError;
use crate::pipeline::Passage;
use crate::record::StrayKind;

/// The code of a call that a guardrail stopped.
pub(super) const GUARDED: &str = "guardrail-rejected";

/// What became of a call. Exhaustive on purpose.
#[derive(Debug)]
#[must_use]
pub enum Called {
    /// The model gets an answer, whatever it says.
    Answered(Answer),
    /// Nothing ran: a person is asked, and the call comes back with what they say.
    Waiting(Box<Handed>, Passage),
    /// The tool itself waits for somebody, and goes on when the same call comes again.
    Unfinished(Passage),
    /// The run cannot go on.
    Raised(Raised, Passage),
}

/// What the model gets.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What it reads.
    pub output: ToolOutput,
    /// How the call ended.
    pub ended: Ended,
    /// The tool, where the call meant one.
    pub tool: Option<CanonicalName>,
    /// What was decided about it, where it was judged.
    pub passage: Option<Passage>,
}

/// How a call ended. Exhaustive on purpose.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The tool brought this.
    Ran,
    /// The tool failed. Where the text is the default one, whoever runs the agent may put another in its place.
    Failed {
        /// Its error, which may hold secrets.
        error: Arc<ToolError>,
        /// Whether the text is the default one.
        default_text: bool,
    },
    /// A guardrail put its own text in place of the output.
    Guarded {
        /// The guardrail.
        guardrail: String,
    },
    /// It did not run.
    Refused {
        /// The code of the first reason.
        code: &'static str,
    },
    /// It brought no result.
    Undelivered(DispatchError),
    /// It meant no tool, or nobody could read its arguments.
    Stray(StrayKind),
}

impl Called {
    pub(super) fn of(performed: Performed, tool: Option<CanonicalName>, passage: Passage) -> Self {
        let ended = match performed.fault {
            None => Ended::Ran,
            Some(Fault::Tool(error, default_text)) => Ended::Failed { error, default_text },
            Some(Fault::Guardrail(guardrail)) => Ended::Guarded { guardrail },
            Some(Fault::Unfinished) => return Self::Unfinished(passage),
        };
        match performed.result {
            Ok(output) => Self::Answered(Answer { output, ended, tool, passage: Some(passage) }),
            Err(raised) => Self::Raised(raised, passage),
        }
    }

    pub(super) fn stray(text: String, kind: StrayKind, tool: Option<CanonicalName>) -> Self {
        Self::Answered(Answer { output: ToolOutput::Text(text), ended: Ended::Stray(kind), tool, passage: None })
    }

    /// The answer, where there is one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::Waiting(..) | Self::Unfinished(_) | Self::Raised(..) => None,
        }
    }
}

impl Ended {
    /// The code of what went wrong, where anything did.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Ran => None,
            Self::Failed { error, .. } => Some(error.code().as_str()),
            Self::Guarded { .. } => Some(GUARDED),
            Self::Refused { code } => Some(code),
            Self::Undelivered(error) => Some(error.code().as_str()),
            Self::Stray(kind) => Some(kind.code()),
        }
    }
}
