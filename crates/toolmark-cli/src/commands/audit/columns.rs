//! One record as people read it: short texts, times to the second, durations in whatever unit fits.

use toolmark_store::Micros;
use toolmark_store::audit::AuditEntry;

use crate::output;

/// The columns of a list.
pub(super) const HEADER: [&str; 8] = ["time", "caller", "tool", "verdict", "outcome", "why", "took", "id"];

/// One row under them.
pub(super) fn row(entry: &AuditEntry) -> [String; 8] {
    let record = &entry.record;
    let tool = record.tool.as_ref().map_or(&record.called, |tool| &tool.canonical);
    [
        second(record.time),
        output::safe(record.caller.as_deref().unwrap_or("-")),
        output::safe(tool),
        record.verdict.map_or("-", |verdict| verdict.as_str()).to_owned(),
        record.outcome.to_string(),
        output::safe(record.code.as_deref().unwrap_or("-")),
        took(record.timings.total),
        record.id.to_string(),
    ]
}

/// A time to the second, in UTC.
pub(super) fn second(time: Micros) -> String {
    let text = time.to_string();
    text.get(..19).map_or_else(|| text.clone(), |short| format!("{}Z", short.replace('T', " ")))
}

/// How long something took.
pub(super) fn took(nanos: u64) -> String {
    match nanos {
        0 => "-".to_owned(),
        1..1_000_000 => format!("{} µs", nanos.div_ceil(1_000)),
        1_000_000..10_000_000_000 => format!("{} ms", nanos / 1_000_000),
        _ => format!("{} s", nanos / 1_000_000_000),
    }
}
