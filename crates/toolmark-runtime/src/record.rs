//! What is kept of a call, whatever became of it. Whoever keeps it decides where, and whether the call waits for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolmark_core::json::Json;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::Verdict;
use toolmark_policy::Caller;
use uuid::Uuid;

use crate::approve::Pass;
use crate::dispatch::DispatchErrorKind;
use crate::examine::Examination;
use crate::judged;
use crate::origin::Origin;
use crate::workspace::Identity;

/// What a call waits for until its record is kept; nothing where it need not wait. What it stands for goes on when it is dropped.
pub type Keeping = Option<Pin<Box<dyn Future<Output = Result<(), NotKept>> + Send>>>;

/// Keeps records. Called on the path of every call: where nothing is returned to wait for, it must neither wait nor fail.
pub trait Recorder: Send + Sync {
    /// Asked before a call runs: is there room for its record?
    fn ready(&self) -> Keeping {
        None
    }

    /// True while somebody looks on: only then the parts of examining are measured, and [`begin`](Self::begin) is told. Asked on the path
    /// of every call.
    fn is_watched(&self) -> bool {
        false
    }

    /// Takes word of a call that was examined, before anybody is asked and before it runs.
    fn begin(&self, record: &Record<'_>) {
        let _ = record;
    }

    /// Takes word of a call that is about to run and that was asked for or may change something. How it ends is not known yet:
    /// `end`, `result` and the time of its dispatch say nothing.
    fn intend(&self, record: &Record<'_>) -> Keeping {
        let _ = record;
        None
    }

    /// Takes one record.
    fn record(&self, record: &Record<'_>);

    /// The same, for a caller that can wait before it answers.
    fn keep(&self, record: &Record<'_>) -> Keeping {
        self.record(record);
        None
    }

    /// Takes the record of a call that was never judged.
    fn stray(&self, stray: &Stray<'_>);
}

/// A record that could not be kept, with what is told about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotKept {
    message: String,
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
    /// How it came in.
    pub origin: Origin,
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
    /// The id of the call. What was intended and what became of it have the same.
    pub id: Uuid,
    /// The name under which it was called.
    pub lookup: &'a str,
    /// The tool that was meant.
    pub tool: &'a Tool,
    /// Which tool that is, written out.
    pub identity: &'a Identity,
    /// Who called.
    pub caller: Caller<'a>,
    /// How it came in.
    pub origin: Origin,
    /// What for.
    pub task: Option<&'a str>,
    /// The arguments as they were read.
    pub arguments: &'a Json<'a>,
    /// How many bytes they had as they came.
    pub arguments_size: usize,
    /// The same as a value.
    pub body: &'a Value,
    /// What it brought, as it came, where it brought anything.
    pub result: Option<&'a [u8]>,
    /// Everything that was found out about it.
    pub examination: &'a Examination<'a>,
    /// What was decided, and why.
    pub verdict: &'a Verdict,
    /// Under which policy.
    pub policy: &'a Arc<str>,
    /// What let it through, where somebody was asked.
    pub pass: &'a Pass,
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
    /// It was refused because no record of it could be kept.
    Unrecorded,
    /// It brought no result.
    Failed(DispatchErrorKind),
}

/// How long each part took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Validate, analyze and judge.
    pub examine: Duration,
    /// Validate and analyze, where somebody looks on; both are part of `examine`.
    pub parts: Option<Parts>,
    /// Waiting for a person.
    pub approve: Duration,
    /// Running.
    pub dispatch: Duration,
}

/// How long the first two parts of examining took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Do the arguments fit?
    pub validate: Duration,
    /// What would they do?
    pub analyze: Duration,
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
    fn ready(&self) -> Keeping {
        both(self.0.ready(), self.1.ready())
    }

    fn is_watched(&self) -> bool {
        self.0.is_watched() || self.1.is_watched()
    }

    fn begin(&self, record: &Record<'_>) {
        self.0.begin(record);
        self.1.begin(record);
    }

    fn intend(&self, record: &Record<'_>) -> Keeping {
        both(self.0.intend(record), self.1.intend(record))
    }

    fn keep(&self, record: &Record<'_>) -> Keeping {
        both(self.0.keep(record), self.1.keep(record))
    }

    fn record(&self, record: &Record<'_>) {
        self.0.record(record);
        self.1.record(record);
    }

    fn stray(&self, stray: &Stray<'_>) {
        self.0.stray(stray);
        self.1.stray(stray);
    }
}

/// Waits for one, then for the other.
fn both(one: Keeping, other: Keeping) -> Keeping {
    match (one, other) {
        (Some(one), Some(other)) => Some(Box::pin(async move {
            let first = one.await;
            other.await.and(first)
        })),
        (one, other) => one.or(other),
    }
}

impl NotKept {
    /// A record that could not be kept, and why.
    #[must_use]
    pub fn new(message: &str) -> Self {
        Self { message: visible(message, 500) }
    }
}

impl Record<'_> {
    /// What the call was judged by, as compact JSON: enough to judge it again when its arguments are gone.
    #[must_use]
    pub fn judged(&self) -> Arc<str> {
        judged::text(self.examination, self.identity, self.body)
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
            Self::Unrecorded => "unrecorded",
            Self::Failed(kind) => kind.as_str(),
        }
    }
}
