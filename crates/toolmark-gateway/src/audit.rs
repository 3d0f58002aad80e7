//! Calls, kept in the store: one row each, written off the path of the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
pub struct AuditRecorder {
    sink: AuditSink,
    ids: Ids,
}

/// Makes ids for records: UUIDs of version 7, in order. Asking the system for random bytes for each would cost as much as the rest of
/// recording; it is asked once, and what tells records of one process apart is a number that grows.
struct Ids {
    salt: u64,
    last: AtomicU64,
}

impl AuditRecorder {
    /// Writes to this sink.
    #[must_use]
    pub fn new(sink: AuditSink) -> Self {
        Self { sink, ids: Ids::new() }
    }
}

impl AuditRecorder {
    /// What every row begins with.
    fn begun(&self, lookup: &str, caller: &Caller<'_>, outcome: Outcome) -> AuditRecord {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = Micros::new(i64::try_from(now.as_micros()).unwrap_or(i64::MAX));
        let mut row = AuditRecord::new(self.ids.next(now), time, lookup.into(), outcome);
        row.caller = Some(caller.name().into());
        row.session = caller.session().map(Into::into);
        row
    }
}

impl Recorder for AuditRecorder {
    fn record(&self, record: &Record<'_>) {
        let mut row = self.begun(record.lookup, &record.caller, outcome(record.end));
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
        self.sink.note(row);
    }

    fn stray(&self, stray: &Stray<'_>) {
        // Anybody can call anything anything; what is kept of it has an end.
        let lookup = visible(stray.lookup, LONGEST_LOOKUP);
        let end = match stray.kind {
            StrayKind::Unknown => Outcome::UnknownTool,
            StrayKind::Ambiguous => Outcome::Ambiguous,
            StrayKind::Unreadable => Outcome::Invalid,
        };
        let mut row = self.begun(&lookup, &stray.caller, end);
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

impl Ids {
    fn new() -> Self {
        let (salt, _) = Uuid::new_v4().as_u64_pair();
        Self { salt, last: AtomicU64::new(0) }
    }

    /// The next one, at this time since 1970.
    fn next(&self, now: Duration) -> Uuid {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        // Twelve bits that keep the order within a millisecond, and the salt with the number in it, which no two records share.
        let mut bytes = [0; 10];
        let (order, rest) = bytes.split_at_mut(2);
        order.copy_from_slice(&(u16::try_from(number & 0x0fff).unwrap_or(0)).to_be_bytes());
        rest.copy_from_slice(&(self.salt ^ number.rotate_left(20)).to_be_bytes());
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_version_7_in_order_and_never_the_same() {
        let ids = Ids::new();
        let all: Vec<Uuid> = (0..10_000).map(|at| ids.next(Duration::from_millis(1_000 + at / 100))).collect();
        assert!(all.iter().all(|id| id.get_version_num() == 7 && id.get_variant() == uuid::Variant::RFC4122));
        let distinct: std::collections::HashSet<&Uuid> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        let ordered = all.windows(2).filter(|pair| pair.first() < pair.last()).count();
        assert!(ordered >= all.len() - 4, "only where twelve bits run over within a millisecond");
        assert_ne!(Ids::new().next(Duration::ZERO), Ids::new().next(Duration::ZERO));
    }
}
