//! Was it committed? A connection can break while a commit is on its way, and then nobody knows.
//!
//! Such a batch is in doubt: the next one looks first, behind the lock, whether it is there, and leaves out what is. So a record that is
//! tried again is never written twice.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use crate::audit::{AuditRecord, Head, Outcome};
use crate::time::Micros;

/// What tells one record from another.
pub(super) type Key = (Uuid, Outcome, Micros);

/// How many batches of one node may be in doubt; each sink has at most one.
const DOUBTS: usize = 32;

/// Batches of which nobody knows whether they were committed, by node.
#[derive(Default)]
pub(in crate::postgres) struct Doubts(Mutex<HashMap<String, Vec<Doubt>>>);

/// A batch in doubt: where the chain ended if it was committed, and what it held.
#[derive(Clone)]
pub(super) struct Doubt {
    pub(super) head: Head,
    pub(super) records: HashSet<Key>,
}

impl Doubts {
    fn with<T>(&self, look: impl FnOnce(&mut HashMap<String, Vec<Doubt>>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a batch before it is committed.
    pub(super) fn raise(&self, node: &str, head: Head, records: &[&AuditRecord]) {
        let records = records.iter().map(|record| key(record)).collect();
        self.with(|doubts| {
            let doubts = doubts.entry(node.to_owned()).or_default();
            if doubts.len() >= DOUBTS {
                doubts.remove(0);
            }
            doubts.push(Doubt { head, records });
        });
    }

    /// A batch is committed: nothing that holds any of its records is in doubt any more.
    pub(super) fn settle(&self, node: &str, head: Head, records: &[&AuditRecord]) {
        self.with(|doubts| {
            let Some(of_node) = doubts.get_mut(node) else { return };
            of_node.retain(|doubt| {
                doubt.head != head && !records.iter().any(|record| doubt.records.contains(&key(record)))
            });
            if of_node.is_empty() {
                doubts.remove(node);
            }
        });
    }

    /// The batch that was to end there was not committed.
    pub(super) fn dispel(&self, node: &str, head: Head) {
        self.with(|doubts| {
            if let Some(of_node) = doubts.get_mut(node) {
                of_node.retain(|doubt| doubt.head != head);
            }
        });
    }

    pub(super) fn of(&self, node: &str) -> Vec<Doubt> {
        self.with(|doubts| doubts.get(node).cloned().unwrap_or_default())
    }
}

/// What tells it from others.
pub(super) fn key(record: &AuditRecord) -> Key {
    (record.id, record.outcome, record.time)
}
