//! Calls, kept in the store: one row each, written off the path of the call.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use toolmark_core::digest::ArgumentDigest;
use toolmark_core::text::visible;
use toolmark_core::verdict::Decision;
use toolmark_policy::Caller;
use toolmark_runtime::{DispatchErrorKind, End, Record, Recorder, Stray, StrayKind};
use toolmark_store::Micros;
use toolmark_store::audit::{AuditRecord, AuditSink, AuditTool, Outcome, Timings};
use uuid::Uuid;

/// How much is kept of a name that leads nowhere.
const LONGEST_LOOKUP: usize = 300;

/// Writes every record of the pipeline to a sink.
pub struct AuditRecorder(AuditSink);

impl AuditRecorder {
    /// Writes to this sink.
    #[must_use]
    pub fn new(sink: AuditSink) -> Self {
        Self(sink)
    }
}

impl Recorder for AuditRecorder {
    fn record(&self, record: &Record<'_>) {
        let mut row = begun(record.lookup, &record.caller, outcome(record.end));
        row.tool = Some(AuditTool {
            canonical: Arc::clone(&record.identity.canonical),
            mark: record.identity.mark,
            definition: record.identity.definition,
        });
        row.task = record.task.map(Into::into);
        row.verdict = Some(record.verdict.decision());
        if record.verdict.decision() > Decision::Allow {
            row.reasons = record.verdict.to_json().get("reasons").map(|reasons| reasons.to_string().into());
            let rules: Vec<&serde_json::Value> =
                record.verdict.reasons().iter().filter_map(|reason| reason.facts.get("rule")).collect();
            row.rules = (!rules.is_empty()).then(|| serde_json::json!(rules).to_string().into());
            row.code = record.verdict.deciding().next().map(|reason| Arc::from(reason.code));
        }
        row.policy = Some(Arc::clone(record.policy));
        row.arguments_size = Some(record.arguments_size as u64);
        row.arguments = Some(ArgumentDigest::of(record.arguments));
        let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        row.timings = Timings {
            judge: nanos(record.timings.examine),
            approve: nanos(record.timings.approve),
            dispatch: nanos(record.timings.dispatch),
            total: nanos(record.timings.total()),
            ..Timings::default()
        };
        self.0.note(row);
    }

    fn stray(&self, stray: &Stray<'_>) {
        // Anybody can call anything anything; what is kept of it has an end.
        let lookup = visible(stray.lookup, LONGEST_LOOKUP);
        let end = match stray.kind {
            StrayKind::Unknown => Outcome::UnknownTool,
            StrayKind::Ambiguous => Outcome::Ambiguous,
            StrayKind::Unreadable => Outcome::Invalid,
        };
        let mut row = begun(&lookup, &stray.caller, end);
        row.tool = stray.tool.map(|tool| AuditTool {
            canonical: tool.canonical().as_str().into(),
            mark: tool.mark(),
            definition: tool.digest(),
        });
        row.task = stray.task.map(Into::into);
        row.code = Some(stray.kind.code().into());
        row.arguments_size = Some(stray.arguments_size as u64);
        self.0.note(row);
    }
}

/// What every row begins with.
fn begun(lookup: &str, caller: &Caller<'_>, outcome: Outcome) -> AuditRecord {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = Micros::new(i64::try_from(now.as_micros()).unwrap_or(i64::MAX));
    let mut row = AuditRecord::new(Uuid::now_v7(), time, lookup.into(), outcome);
    row.caller = Some(caller.name().into());
    row.session = caller.session().map(Into::into);
    row
}

fn outcome(end: End) -> Outcome {
    match end {
        End::Ran => Outcome::Ok,
        End::ToolFailed => Outcome::ToolError,
        End::Observed => Outcome::Observed,
        End::Approved => Outcome::Approved,
        End::Invalid => Outcome::Invalid,
        End::Denied => Outcome::Denied,
        End::Asked => Outcome::Asked,
        End::Failed(kind) => match kind {
            DispatchErrorKind::Unavailable => Outcome::Unavailable,
            DispatchErrorKind::Busy => Outcome::Busy,
            DispatchErrorKind::Timeout => Outcome::Timeout,
            DispatchErrorKind::Cancelled => Outcome::Cancelled,
            DispatchErrorKind::TooLarge => Outcome::TooLarge,
            DispatchErrorKind::Failed => Outcome::UpstreamFailed,
        },
    }
}
