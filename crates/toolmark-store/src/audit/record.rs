//! One call as it is remembered: plain data that the pipeline fills in and nobody changes afterwards.
//!
//! Texts are `Arc<str>`, or borrowed where there are only a few: most are the same for many calls, and sharing them keeps the hot path
//! free of copies.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use toolmark_core::digest::{ArgumentDigest, DefinitionDigest, Mark};
use toolmark_core::verdict::Decision;
use uuid::Uuid;

use super::digest::ResultDigest;
use crate::time::Micros;

/// One call, or one refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// A UUID of version 7. What was intended and what became of it have the same.
    pub id: Uuid,
    /// When this was recorded: for what became of a call, when it ended; it began `timings.total` before.
    pub time: Micros,
    /// Who called.
    pub caller: Option<Arc<str>>,
    /// The session it belongs to, if there are sessions.
    pub session: Option<Arc<str>>,
    /// The revision of the protocol.
    pub era: Option<Cow<'static, str>>,
    /// How the call came in: `http`, `stdio`, `library`.
    pub transport: Option<Cow<'static, str>>,
    /// The name that was called, as it was written.
    pub called: Arc<str>,
    /// The tool that it means, if it means one.
    pub tool: Option<AuditTool>,
    /// The task it was called for.
    pub task: Option<Arc<str>>,
    /// What was decided. Absent when it never came to that.
    pub verdict: Option<Decision>,
    /// The reasons, as a JSON array.
    pub reasons: Option<Arc<str>>,
    /// The ids of the rules that took part, as a JSON array.
    pub rules: Option<Arc<str>>,
    /// The version of the policy that decided.
    pub policy: Option<Arc<str>>,
    /// The grant that let it through.
    pub grant: Option<Arc<str>>,
    /// What it was judged by, as compact JSON: enough to judge it again when its arguments are gone.
    pub judged: Option<Arc<str>>,
    /// The digest of the arguments.
    pub arguments: Option<ArgumentDigest>,
    /// How many bytes the arguments had.
    pub arguments_size: Option<u64>,
    /// The digest of the result.
    pub result: Option<ResultDigest>,
    /// How many bytes the result had.
    pub result_size: Option<u64>,
    /// What became of it.
    pub outcome: Outcome,
    /// The code of what refused or failed.
    pub code: Option<Arc<str>>,
    /// How long each stage took.
    pub timings: Timings,
    /// The trace it belongs to.
    pub trace: Option<[u8; 16]>,
    /// Arguments and result as they were, where somebody asked for them to be kept.
    pub bodies: Option<Box<Bodies>>,
}

/// The tool of a call, with its layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditTool {
    /// `pack.raw`, or `raw` for a tool without a pack: the canonical name, whose first dot splits it.
    pub canonical: Arc<str>,
    /// This tool in this version.
    pub mark: Mark,
    /// What its publisher said.
    pub definition: DefinitionDigest,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It ran and succeeded.
    Ok,
    /// It ran although the verdict is another: the operator only observes.
    Observed,
    /// It ran because a rule, a grant or a person answered for it.
    Approved,
    /// It ran, and the tool reported an error.
    ToolError,
    /// It was denied.
    Denied,
    /// A person was asked, and has not answered yes.
    Asked,
    /// Its arguments did not fit.
    Invalid,
    /// No tool has that name.
    UnknownTool,
    /// Several tools have that name.
    Ambiguous,
    /// What would run it is not there.
    Unavailable,
    /// What would run it has as many calls as it takes.
    Busy,
    /// What runs it broke off, or failed in a way of its own.
    UpstreamFailed,
    /// The result is larger than is passed on.
    TooLarge,
    /// It took too long.
    Timeout,
    /// The caller took it back.
    Cancelled,
    /// It is about to run. What became of it is another record with the same id.
    Intent,
    /// It was about to run when the process ended; nobody knows whether it did.
    Interrupted,
}

/// Nanoseconds that each stage of a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Which tool?
    pub identify: u64,
    /// Do the arguments fit?
    pub validate: u64,
    /// What would they do?
    pub analyze: u64,
    /// May it run?
    pub judge: u64,
    /// Has a person agreed?
    pub approve: u64,
    /// The tool itself.
    pub dispatch: u64,
    /// The answer for the model.
    pub shape: u64,
    /// From first to last, waiting included.
    pub total: u64,
}

/// Arguments and result, as JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bodies {
    /// The arguments.
    pub arguments: Option<Arc<str>>,
    /// The result.
    pub result: Option<Arc<str>>,
}

impl AuditRecord {
    /// A record with what every call has; the rest is absent.
    #[must_use]
    pub fn new(id: Uuid, time: Micros, called: Arc<str>, outcome: Outcome) -> Self {
        Self {
            id,
            time,
            caller: None,
            session: None,
            era: None,
            transport: None,
            called,
            tool: None,
            task: None,
            verdict: None,
            reasons: None,
            rules: None,
            policy: None,
            grant: None,
            judged: None,
            arguments: None,
            arguments_size: None,
            result: None,
            result_size: None,
            outcome,
            code: None,
            timings: Timings::default(),
            trace: None,
            bodies: None,
        }
    }

    /// About how many bytes it holds: what the queue is limited by.
    pub(super) fn weight(&self) -> usize {
        let shared = [
            &self.caller,
            &self.session,
            &self.task,
            &self.reasons,
            &self.rules,
            &self.policy,
            &self.grant,
            &self.judged,
            &self.code,
        ];
        let bodies = self.bodies.as_deref().map_or(0, |bodies| {
            [&bodies.arguments, &bodies.result].into_iter().flatten().map(|text| text.len()).sum::<usize>()
        });
        let texts: usize = shared.into_iter().flatten().map(|text| text.len()).sum();
        // Of era and transport there are few, and what a call brings is not copied.
        let tool = self.tool.as_ref().map_or(0, |tool| tool.canonical.len());
        size_of::<Self>() + self.called.len() + texts + tool + bodies
    }

    pub(super) fn to_json(&self) -> Value {
        let parsed = |text: &Option<Arc<str>>| {
            text.as_deref().map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)))
        };
        let (pack, raw) = self.tool.as_ref().map_or((None, None), |tool| match tool.canonical.split_once('.') {
            Some((pack, raw)) => (Some(pack), Some(raw)),
            None => (None, Some(&*tool.canonical)),
        });
        let tool = self.tool.as_ref().map(|tool| {
            json!({
                "canonical": &*tool.canonical,
                "pack": pack,
                "raw": raw,
                "mark": tool.mark,
                "digest": tool.definition,
            })
        });
        json!({
            "id": self.id.to_string(),
            "time": self.time.to_string(),
            "time_us": self.time.get(),
            "caller": self.caller.as_deref(),
            "session": self.session.as_deref(),
            "era": self.era.as_deref(),
            "transport": self.transport.as_deref(),
            "called": &*self.called,
            "tool": tool,
            "task": self.task.as_deref(),
            "verdict": self.verdict,
            "reasons": parsed(&self.reasons),
            "rules": parsed(&self.rules),
            "policy": self.policy.as_deref(),
            "grant": self.grant.as_deref(),
            "judged": parsed(&self.judged),
            "arguments": {"digest": self.arguments, "size": self.arguments_size},
            "result": {
                "sha256": self.result.and_then(|digest| digest.sha256()),
                "blake3": self.result.and_then(|digest| digest.blake3()),
                "size": self.result_size,
            },
            "outcome": self.outcome.as_str(),
            "code": self.code.as_deref(),
            "timings_ns": self.timings.to_json(),
            "trace": self.trace.map(|trace| hex(&trace)),
        })
    }
}

impl Outcome {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Ok,
        Self::Observed,
        Self::Approved,
        Self::ToolError,
        Self::Denied,
        Self::Asked,
        Self::Invalid,
        Self::UnknownTool,
        Self::Ambiguous,
        Self::Unavailable,
        Self::Busy,
        Self::UpstreamFailed,
        Self::TooLarge,
        Self::Timeout,
        Self::Cancelled,
        Self::Intent,
        Self::Interrupted,
    ];

    /// The outcome in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Observed => "observed",
            Self::Approved => "approved",
            Self::ToolError => "tool-error",
            Self::Denied => "denied",
            Self::Asked => "asked",
            Self::Invalid => "invalid",
            Self::UnknownTool => "unknown-tool",
            Self::Ambiguous => "ambiguous",
            Self::Unavailable => "unavailable",
            Self::Busy => "busy",
            Self::UpstreamFailed => "upstream-failed",
            Self::TooLarge => "too-large",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Intent => "intent",
            Self::Interrupted => "interrupted",
        }
    }

    /// True for everything but an intent: nothing comes after it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Intent)
    }

    /// The outcome that a word stands for.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|outcome| outcome.as_str() == text)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Timings {
    /// The stages in the order of the pipeline, without the total.
    #[must_use]
    pub const fn stages(&self) -> [u64; 7] {
        [self.identify, self.validate, self.analyze, self.judge, self.approve, self.dispatch, self.shape]
    }

    pub(crate) const fn from_stages(stages: [u64; 7], total: u64) -> Self {
        let [identify, validate, analyze, judge, approve, dispatch, shape] = stages;
        Self { identify, validate, analyze, judge, approve, dispatch, shape, total }
    }

    fn to_json(self) -> Value {
        json!({
            "identify": self.identify,
            "validate": self.validate,
            "analyze": self.analyze,
            "judge": self.judge,
            "approve": self.approve,
            "dispatch": self.dispatch,
            "shape": self.shape,
            "total": self.total,
        })
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(nibble), 16));
        }
    }
    text
}
