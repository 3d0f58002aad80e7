//! Calls as they are judged again: the columns that matter for it, in the order of time, for readers that want millions of them.

use std::collections::VecDeque;
use std::sync::Arc;

use toolmark_core::digest::{ArgumentDigest, DefinitionDigest};
use toolmark_core::verdict::Decision;
use uuid::Uuid;

use super::query::{AuditCursor, AuditFilter, Order};
use super::record::Outcome;
use super::{AuditEntry, AuditRecord};
use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// How many rows are fetched at once.
const PAGE: u32 = 2_048;

/// One call, as far as judging it again needs it. See [`AuditRecord`] for what the fields say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of a record")]
pub struct AuditCall {
    pub id: Uuid,
    pub time: Micros,
    pub caller: Option<Arc<str>>,
    pub session: Option<Arc<str>>,
    /// The canonical name of the tool, and what its publisher said.
    pub tool: Option<(Arc<str>, DefinitionDigest)>,
    pub task: Option<Arc<str>>,
    pub verdict: Option<Decision>,
    pub code: Option<Arc<str>>,
    pub rules: Option<Arc<str>>,
    pub judged: Option<Arc<str>>,
    pub outcome: Outcome,
    pub arguments: Option<ArgumentDigest>,
    /// The arguments, where they were asked for and kept.
    pub body: Option<Arc<str>>,
}

/// Calls that match, oldest first.
pub struct CallReader {
    store: Store,
    filter: AuditFilter,
    cursor: Option<AuditCursor>,
    fetched: VecDeque<AuditCall>,
    ended: bool,
}

impl Store {
    /// Reads the calls that match, oldest first.
    #[must_use]
    pub fn calls(&self, filter: AuditFilter) -> CallReader {
        CallReader { store: self.clone(), filter, cursor: None, fetched: VecDeque::new(), ended: false }
    }

    /// The times of the first and the last record that match.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read.
    pub async fn audit_span(&self, filter: &AuditFilter) -> Result<Option<(Micros, Micros)>, StoreError> {
        let first = self.audit(filter.clone(), Order::Oldest).limit(1).next().await?;
        let last = self.audit(filter.clone(), Order::Newest).limit(1).next().await?;
        Ok(first.zip(last).map(|(first, last)| (first.record.time, last.record.time)))
    }
}

impl CallReader {
    /// Some calls, in order; none at the end.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read, or holds what cannot be understood.
    pub async fn page(&mut self) -> Result<Vec<AuditCall>, StoreError> {
        if self.ended {
            return Ok(Vec::new());
        }
        let page = self.store.backend().calls_page(&self.filter, self.cursor, PAGE).await?;
        self.ended = page.len() < PAGE as usize;
        self.cursor = page.last().map(|(cursor, _)| *cursor).or(self.cursor);
        Ok(page.into_iter().map(|(_, call)| call).collect())
    }

    /// The next call, or none at the end.
    ///
    /// # Errors
    /// As [`CallReader::page`].
    pub async fn next(&mut self) -> Result<Option<AuditCall>, StoreError> {
        if self.fetched.is_empty() {
            self.fetched = self.page().await?.into();
        }
        Ok(self.fetched.pop_front())
    }
}

impl From<AuditEntry> for AuditCall {
    fn from(entry: AuditEntry) -> Self {
        let record: AuditRecord = entry.record;
        Self {
            id: record.id,
            time: record.time,
            caller: record.caller,
            session: record.session,
            tool: record.tool.map(|tool| (tool.canonical, tool.definition)),
            task: record.task,
            verdict: record.verdict,
            code: record.code,
            rules: record.rules,
            judged: record.judged,
            outcome: record.outcome,
            arguments: record.arguments,
            body: record.bodies.and_then(|bodies| bodies.arguments),
        }
    }
}
