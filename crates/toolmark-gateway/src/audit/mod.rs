//! Calls, kept in the store: written off the path of the call, or before it answers where that is asked for.
//!
//! What is kept of arguments and results, and what is blacked out of it, is decided here, before anything reaches the queue.

mod ids;
pub(crate) mod redact;
pub(crate) mod retention;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use toolmark_config::sections::Audit;
use toolmark_config::values::KeptBodies;
use toolmark_core::behavior::Mutability;
use toolmark_core::digest::ArgumentDigest;
use toolmark_core::text::visible;
use toolmark_core::verdict::{Decision, Reason};
use toolmark_policy::Caller;
use toolmark_runtime::{DispatchErrorKind, End, Keeping, NotKept, Origin, Record, Recorder, Stray, StrayKind};
use toolmark_store::Micros;
use toolmark_store::audit::{AuditRecord, AuditSink, AuditTool, Bodies, Outcome, RecordError, ResultDigest, Timings};
use uuid::Uuid;

pub(crate) use self::ids::Ids;
use self::redact::{Redactor, cut};

/// How much is kept of a name that leads nowhere.
const LONGEST_LOOKUP: usize = 300;

/// A result that is longer is not even looked through for secrets.
const MOST_LOOKED_THROUGH: usize = 4 << 20;

/// Writes every record of the pipeline to a sink.
pub struct AuditRecorder {
    sink: AuditSink,
    ids: Ids,
    bodies: KeptBodies,
    body_bytes: usize,
    redactor: Redactor,
}

impl AuditRecorder {
    /// Writes to this sink, without arguments and results.
    #[must_use]
    pub fn new(sink: AuditSink) -> Self {
        Self::configured(sink, &Audit::default())
    }

    /// Writes to this sink what the configuration says.
    #[must_use]
    pub fn configured(sink: AuditSink, audit: &Audit) -> Self {
        Self {
            sink,
            ids: Ids::new(),
            bodies: audit.bodies,
            body_bytes: audit.body_bytes.as_usize(),
            redactor: Redactor::new(&audit.redact),
        }
    }

    /// What every row begins with.
    fn begun(id: Uuid, lookup: &str, caller: &Caller<'_>, origin: Origin, outcome: Outcome) -> AuditRecord {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = Micros::new(i64::try_from(now.as_micros()).unwrap_or(i64::MAX));
        let mut row = AuditRecord::new(id, time, lookup.into(), outcome);
        row.caller = Some(caller.name().into());
        row.session = caller.session().map(Into::into);
        row.era = origin.era.map(Cow::Borrowed);
        row.transport = origin.transport.map(Cow::Borrowed);
        row.trace = origin.trace;
        row
    }

    fn row(&self, record: &Record<'_>, outcome: Outcome) -> AuditRecord {
        let mut row = Self::begun(record.id, record.lookup, &record.caller, record.origin, outcome);
        row.tool = Some(AuditTool {
            canonical: Arc::clone(&record.identity.canonical),
            mark: record.identity.mark,
            definition: record.identity.definition,
        });
        row.task = record.task.map(Into::into);
        row.verdict = Some(record.verdict.decision());
        if record.verdict.decision() > Decision::Allow {
            // Reasons say what a call would have done, in its own words.
            row.reasons =
                record.verdict.to_json().get("reasons").map(|reasons| self.redactor.value(reasons).to_string().into());
            let by = |reason: &Reason| reason.facts.get("rule").or_else(|| reason.facts.get("policy")).cloned();
            let answered = match record.examination.outcome() {
                toolmark_runtime::Outcome::Answered(answered) => Some(Value::from(answered.by().id())),
                _ => None,
            };
            let rules: Vec<Value> = record.verdict.reasons().iter().filter_map(by).chain(answered).collect();
            row.rules = (!rules.is_empty()).then(|| serde_json::json!(rules).to_string().into());
            row.code = record.verdict.deciding().next().map(|reason| Arc::from(reason.code));
        }
        row.policy = Some(Arc::clone(record.policy));
        row.grant = record.pass.grant.map(|grant| grant.to_string().into());
        row.judged = Some(record.judged());
        row.arguments_size = Some(record.arguments_size as u64);
        row.arguments = Some(ArgumentDigest::of(record.arguments));
        row.result = record.result.map(ResultDigest::of);
        row.result_size = record.result.map(|result| result.len() as u64);
        row.bodies = self.bodies(record);
        let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let parts = record.timings.parts.unwrap_or_default();
        row.timings = Timings {
            validate: nanos(parts.validate),
            analyze: nanos(parts.analyze),
            judge: nanos(record.timings.examine.saturating_sub(parts.validate + parts.analyze)),
            approve: nanos(record.timings.approve),
            dispatch: nanos(record.timings.dispatch),
            total: nanos(record.timings.total()),
            ..Timings::default()
        };
        row
    }

    fn ended(&self, record: &Record<'_>) -> AuditRecord {
        let mut row = self.row(record, outcome(record.end));
        if matches!(record.end, End::Unrecorded) {
            row.code = Some("audit-unwritable".into());
        }
        row
    }

    /// Arguments and result as far as they are kept, without what must not be.
    fn bodies(&self, record: &Record<'_>) -> Option<Box<Bodies>> {
        let kept = |value: &Value| Arc::from(cut(self.redactor.value(value).to_string(), self.body_bytes));
        let result = |bytes: &[u8]| {
            if bytes.len() > MOST_LOOKED_THROUGH {
                return Arc::from(format!("…[cut: {} bytes]", bytes.len()));
            }
            let plain = || Value::from(String::from_utf8_lossy(bytes));
            kept(&serde_json::from_slice(bytes).unwrap_or_else(|_| plain()))
        };
        match self.bodies {
            KeptBodies::None => None,
            KeptBodies::Arguments => Some(Box::new(Bodies { arguments: Some(kept(record.body)), result: None })),
            KeptBodies::All => {
                Some(Box::new(Bodies { arguments: Some(kept(record.body)), result: record.result.map(result) }))
            }
        }
    }

    /// Puts a row into the queue; whoever waits is told when the disk has it.
    fn strictly(&self, row: AuditRecord) -> Keeping {
        match self.sink.begin_strictly(row) {
            Ok(kept) => Some(Box::pin(async move { kept.await.map_err(|error| not_kept(&error)) })),
            Err(error) => Some(Box::pin(std::future::ready(Err(not_kept(&error))))),
        }
    }
}

/// Whether a call was asked about, or is known or thought to change something.
fn matters(record: &Record<'_>) -> bool {
    let examination = record.examination;
    let changes = |mutability: Mutability| mutability == Mutability::Mutates;
    record.verdict.decision() > Decision::Allow
        || examination.facts().unclear().next().is_some()
        || examination.facts().effects().any(|effect| changes(effect.mutability))
        || examination.known().behavior_of(record.body).is_none_or(|behavior| changes(behavior.mutability()))
}

impl Recorder for AuditRecorder {
    fn ready(&self) -> Keeping {
        if self.sink.is_ready() {
            return None;
        }
        let sink = self.sink.clone();
        Some(Box::pin(async move { sink.ready().await.map_err(|error| not_kept(&error)) }))
    }

    fn intend(&self, record: &Record<'_>) -> Keeping {
        // Where a crash may lose a moment of records anyway, an intent for every tool that is only thought to read would double what is
        // written and close no window.
        if !self.sink.is_strict() && !matters(record) {
            return None;
        }
        let row = self.row(record, Outcome::Intent);
        if self.sink.is_strict() {
            return self.strictly(row);
        }
        self.sink.note(row);
        None
    }

    fn record(&self, record: &Record<'_>) {
        self.sink.note(self.ended(record));
    }

    fn keep(&self, record: &Record<'_>) -> Keeping {
        let row = self.ended(record);
        if self.sink.is_strict() {
            return self.strictly(row);
        }
        self.sink.note(row);
        None
    }

    fn stray(&self, stray: &Stray<'_>) {
        // Anybody can call anything anything; what is kept of it has an end.
        let lookup = visible(stray.lookup, LONGEST_LOOKUP);
        let mut row = Self::begun(self.ids.now(), &lookup, &stray.caller, stray.origin, strayed(stray.kind));
        row.tool = stray.tool.map(|tool| AuditTool {
            canonical: tool.canonical().as_str().into(),
            mark: tool.mark(),
            definition: tool.digest(),
        });
        row.task = stray.task.map(Into::into);
        row.code = Some(stray.kind.code().into());
        row.arguments_size = Some(stray.arguments_size as u64);
        self.sink.note(row);
    }
}

/// As it is told to who called; the sink has logged it with its place.
fn not_kept(error: &RecordError) -> NotKept {
    NotKept::new(&error.for_callers().to_string())
}

/// How a call that was never judged is kept.
pub(crate) fn strayed(kind: StrayKind) -> Outcome {
    match kind {
        StrayKind::Unknown => Outcome::UnknownTool,
        StrayKind::Ambiguous => Outcome::Ambiguous,
        StrayKind::Unreadable => Outcome::Invalid,
    }
}

/// How a call that ended is kept.
pub(crate) fn outcome(end: End) -> Outcome {
    match end {
        End::Ran => Outcome::Ok,
        End::ToolFailed => Outcome::ToolError,
        End::Observed => Outcome::Observed,
        End::Approved => Outcome::Approved,
        End::Invalid => Outcome::Invalid,
        End::Denied | End::Unrecorded => Outcome::Denied,
        End::Asked => Outcome::Asked,
        End::Failed(kind) => match kind {
            DispatchErrorKind::Unavailable => Outcome::Unavailable,
            DispatchErrorKind::Busy => Outcome::Busy,
            DispatchErrorKind::Timeout => Outcome::Timeout,
            DispatchErrorKind::Cancelled => Outcome::Cancelled,
            DispatchErrorKind::TooLarge => Outcome::TooLarge,
            DispatchErrorKind::Failed | DispatchErrorKind::Unrecorded => Outcome::UpstreamFailed,
        },
    }
}
