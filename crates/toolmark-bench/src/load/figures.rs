//! What came of it: how many, how fast, at which cost.

use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::process::Usage;

#[derive(Default)]
pub(super) struct Figures {
    micros: Vec<u64>,
    bytes: u64,
    failures: u64,
    first: Option<Failure>,
}

impl Figures {
    pub(super) fn succeeded(&mut self, took: Duration, bytes: usize) {
        self.bytes += bytes as u64;
        self.micros.push(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    pub(super) fn failed(&mut self, failure: Failure) {
        self.failures += 1;
        self.first.get_or_insert(failure);
    }

    pub(super) fn add(&mut self, other: Self) {
        self.micros.extend(other.micros);
        self.bytes += other.bytes;
        self.failures += other.failures;
        self.first = self.first.take().or(other.first);
    }

    pub(super) fn into_json(mut self, took: Duration, before: Option<Usage>, after: Option<Usage>) -> Value {
        self.micros.sort_unstable();
        let count = self.micros.len();
        let cpu = before.zip(after).map(|(before, after)| after.cpu_ms.saturating_sub(before.cpu_ms));
        json!({
            "answered": count,
            "failed": self.failures,
            "first_failure": self.first.as_ref().map(ToString::to_string),
            "per_second": ratio(count as u64, took.as_secs_f64()),
            "p50_us": self.percentile(50),
            "p99_us": self.percentile(99),
            "cpu_us": cpu.map(|cpu| ratio(cpu * 1000, ratio(count as u64, 1.0))),
            "bytes": ratio(self.bytes, ratio(count as u64, 1.0)),
            "memory_kib": after.map(|after| after.memory_kib),
        })
    }

    fn percentile(&self, percent: usize) -> Option<u64> {
        let place = (self.micros.len() * percent).div_ceil(100).saturating_sub(1);
        self.micros.get(place).copied()
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts that many answers")]
fn ratio(count: u64, by: f64) -> f64 {
    count as f64 / by
}
