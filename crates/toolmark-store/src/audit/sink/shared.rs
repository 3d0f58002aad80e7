//! What callers and the writing task share: room, counters, and what went wrong last.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::SinkSettings;
use crate::audit::node::NodeClaim;
use crate::error::StoreError;

/// How a sink is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditStats {
    /// Records that were taken.
    pub accepted: u64,
    /// Records that are in the store.
    pub written: u64,
    /// Records that were lost, each of them reported to its caller or to the log.
    pub lost: u64,
    /// Batches that were written.
    pub batches: u64,
    /// Attempts to write a batch that failed.
    pub failures: u64,
    /// Why the last attempt failed, as long as none has succeeded since.
    pub trouble: Option<StoreError>,
}

/// What callers and the task share.
pub(super) struct Shared {
    pub(super) settings: SinkSettings,
    /// Held until the last record is written.
    _claim: Option<NodeClaim>,
    /// Wakes the task before its batch has waited long enough.
    pub(super) hurry: Notify,
    pub(super) bytes: AtomicUsize,
    pub(super) closed: AtomicBool,
    pub(super) accepted: AtomicU64,
    written: AtomicU64,
    lost: AtomicU64,
    batches: AtomicU64,
    failures: AtomicU64,
    trouble: Mutex<Option<StoreError>>,
}

impl Shared {
    pub(super) fn new(settings: SinkSettings, claim: Option<NodeClaim>) -> Self {
        Self {
            settings,
            _claim: claim,
            hurry: Notify::new(),
            bytes: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            trouble: Mutex::new(None),
        }
    }

    /// Takes room for so many bytes, if there is any.
    pub(super) fn reserve(&self, weight: usize) -> bool {
        let before = self.bytes.fetch_add(weight, Ordering::AcqRel);
        let fits = before.saturating_add(weight) <= self.settings.queue_bytes;
        if !fits {
            self.release(weight);
        }
        fits
    }

    pub(super) fn release(&self, weight: usize) {
        self.bytes.fetch_sub(weight, Ordering::AcqRel);
    }

    /// Counts lost records, and says so at the first, the second, the fourth and so on: a full disk must not fill the log.
    pub(super) fn lose(&self, count: u64, why: &str) {
        let before = self.lost.fetch_add(count, Ordering::AcqRel);
        let after = before.saturating_add(count);
        if before.checked_ilog2() != after.checked_ilog2() {
            tracing::error!(lost = after, node = &*self.settings.node, "audit records are lost: {why}");
        }
    }

    pub(super) fn failed(&self, error: &StoreError) {
        let failures = self.failures.fetch_add(1, Ordering::AcqRel) + 1;
        if failures.is_power_of_two() {
            tracing::error!(failures, node = &*self.settings.node, "the audit cannot be written: {error}");
        }
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
    }

    pub(super) fn wrote(&self, count: usize) {
        self.written.fetch_add(count as u64, Ordering::AcqRel);
        self.batches.fetch_add(1, Ordering::AcqRel);
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn stats(&self) -> AuditStats {
        AuditStats {
            accepted: self.accepted.load(Ordering::Acquire),
            written: self.written.load(Ordering::Acquire),
            lost: self.lost.load(Ordering::Acquire),
            batches: self.batches.load(Ordering::Acquire),
            failures: self.failures.load(Ordering::Acquire),
            trouble: self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}
