//! The call ledger as data: every run that was asked for, and where it stands.

use std::fmt;
use std::str::FromStr;

use super::{Ask, AskId, RunId};
use crate::text::visible;
use crate::time::Micros;

/// One run that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which.
    pub id: RunId,
    /// The question that it waits for.
    pub ask: AskId,
    /// The node that has it.
    pub node: String,
    /// Where it stands.
    pub state: RunState,
    /// How often its tool asked for more input; each round is begun once.
    pub round: u32,
    /// When it was asked for.
    pub created: Micros,
    /// When its state last changed.
    pub changed: Micros,
}

/// Where a run stands. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunState {
    /// Its caller waits for the answer.
    Waiting,
    /// Its caller was told to call again. The next call that is the same takes it up.
    Parked,
    /// Its caller was given a state to come back with. Only that state takes it up.
    Held,
    /// It runs, or ran without anybody hearing of its end yet.
    Running,
    /// It ran.
    Done,
    /// It will not run: the answer was no, or the caller gave up.
    Withdrawn,
    /// The node that ran it went away; it may have had an effect, and is not repeated.
    Lost,
}

/// How a call became part of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The question, as it stands now.
    pub ask: Ask,
    /// The run of this call. None where the answer is no already.
    pub run: Option<Run>,
    /// True when the question is new, and people have to hear of it.
    pub fresh: bool,
}

/// What came of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Made(Box<Ask>),
    /// Somebody was first, or the time was over; this is how it stands.
    TooLate(Box<Ask>),
    /// There is no such question.
    Unknown,
}

/// How often the questions and the grants changed, by whatever process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalsVersion {
    /// Questions asked, answered or expired.
    pub asks: u64,
    /// Grants given, used up or revoked.
    pub grants: u64,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Waiting, Self::Parked, Self::Held, Self::Running, Self::Done, Self::Withdrawn, Self::Lost];

    /// The state in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Parked => "parked",
            Self::Held => "held",
            Self::Running => "running",
            Self::Done => "done",
            Self::Withdrawn => "withdrawn",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for RunState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| format!("`{}` is no state of a run", visible(text, 40)))
    }
}
