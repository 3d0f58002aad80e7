//! What is kept of a call, whatever became of it. Whoever keeps it decides where.

use std::sync::Arc;
use std::time::Duration;

use toolmark_core::json::Json;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::Verdict;
use toolmark_policy::Caller;

use crate::dispatch::DispatchErrorKind;
use crate::workspace::Identity;

/// Keeps records. Called on the path of every call: it must neither wait nor fail.
pub trait Recorder: Send + Sync {
    /// Takes one record.
    fn record(&self, record: &Record<'_>);

    /// Takes the record of a call that was never judged.
    fn stray(&self, stray: &Stray<'_>);
}

/// A call that was never judged: it named no tool, or what it brought could not be read.
#[derive(Clone, Copy, Debug)]
pub struct Stray<'a> {
    /// The name under which it was called.
    pub lookup: &'a str,
    /// The tool that was meant, where that is known.
    pub tool: Option<&'a Tool>,
    /// Who called.
    pub caller: Caller<'a>,
    /// What for.
    pub task: Option<&'a str>,
    /// How many bytes of arguments came.
    pub arguments_size: usize,
    /// Why it ended here.
    pub kind: StrayKind,
}

/// Why a call was never judged. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayKind {
    /// No tool has that name.
    Unknown,
    /// Several tools have that name.
    Ambiguous,
    /// Two readers could understand its arguments differently, or nobody could.
    Unreadable,
}

/// One call, from its arrival to its end.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// The name under which it was called.
    pub lookup: &'a str,
    /// The tool that was meant.
    pub tool: &'a Tool,
    /// Which tool that is, written out.
    pub identity: &'a Identity,
    /// Who called.
    pub caller: Caller<'a>,
    /// What for.
    pub task: Option<&'a str>,
    /// The arguments as they were read.
    pub arguments: &'a Json<'a>,
    /// How many bytes they had as they came.
    pub arguments_size: usize,
    /// What was decided, and why.
    pub verdict: &'a Verdict,
    /// Under which policy.
    pub policy: &'a Arc<str>,
    /// How it ended.
    pub end: End,
    /// How long each part took.
    pub timings: Timings,
}

/// How a call ended. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ran and brought a result.
    Ran,
    /// It ran, and the tool says that it failed.
    ToolFailed,
    /// It ran although the verdict is another: the operator only observes.
    Observed,
    /// It ran because a rule or a person answered for it.
    Approved,
    /// Its arguments did not fit.
    Invalid,
    /// It was refused.
    Denied,
    /// A person was asked and has not answered, or said no.
    Asked,
    /// It brought no result.
    Failed(DispatchErrorKind),
}

/// How long each part took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Validate, analyze and judge.
    pub examine: Duration,
    /// Waiting for a person.
    pub approve: Duration,
    /// Running.
    pub dispatch: Duration,
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecords;

impl Recorder for NoRecords {
    fn record(&self, _: &Record<'_>) {}

    fn stray(&self, _: &Stray<'_>) {}
}

impl StrayKind {
    /// The reason in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown-tool",
            Self::Ambiguous => "ambiguous",
            Self::Unreadable => "unreadable",
        }
    }

    /// The code that the caller is told.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "tool-not-found",
            Self::Ambiguous => "ambiguous-tool",
            Self::Unreadable => "arguments-unreadable",
        }
    }
}

/// Tells two of a record, one after the other.
pub(crate) struct Both(pub(crate) Arc<dyn Recorder>, pub(crate) Arc<dyn Recorder>);

impl Recorder for Both {
    fn record(&self, record: &Record<'_>) {
        self.0.record(record);
        self.1.record(record);
    }

    fn stray(&self, stray: &Stray<'_>) {
        self.0.stray(stray);
        self.1.stray(stray);
    }
}

impl End {
    /// The end in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "ok",
            Self::ToolFailed => "tool-error",
            Self::Observed => "observed",
            Self::Approved => "approved",
            Self::Invalid => "invalid",
            Self::Denied => "denied",
            Self::Asked => "asked",
            Self::Failed(kind) => kind.as_str(),
        }
    }
}
