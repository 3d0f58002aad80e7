//! Looking back: records that match a filter, page by page, so that no reader holds up a writer.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;
use toolmark_core::verdict::Decision;
use uuid::Uuid;

use super::chain::AuditEntry;
use super::record::Outcome;
use crate::backend::Backend;
use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// How many rows are fetched at once.
const PAGE: u32 = 512;

/// Which records; what is absent does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// From this time on.
    pub since: Option<Micros>,
    /// Before this time.
    pub until: Option<Micros>,
    /// This record.
    pub id: Option<Uuid>,
    /// Recorded by this node.
    pub node: Option<String>,
    /// Calls of the tool with this canonical name.
    pub tool: Option<String>,
    /// Calls of any tool of this pack.
    pub pack: Option<String>,
    /// Calls by this caller.
    pub caller: Option<String>,
    /// Calls of this session.
    pub session: Option<String>,
    /// Calls for this task.
    pub task: Option<String>,
    /// Calls with this verdict.
    pub verdict: Option<Decision>,
    /// Calls with this outcome.
    pub outcome: Option<Outcome>,
    /// With arguments and results, where they were kept.
    pub bodies: bool,
    /// Every row. Without it, an intent is left out once it is known what became of it, so that a call is one record.
    pub rows: bool,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The newest.
    #[default]
    Newest,
    /// The oldest.
    Oldest,
}

/// A place between two records, to go on from. Written as two numbers; a made-up one leads to some place, and to no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditCursor {
    /// The time of the record before it.
    pub time: Micros,
    /// The position of that record in its store.
    pub position: i64,
}

/// Text that is no cursor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a place in the audit")]
pub struct ParseCursorError(String);

/// Records that match, one after the other.
pub struct AuditReader {
    backend: Arc<dyn Backend>,
    filter: AuditFilter,
    order: Order,
    cursor: Option<AuditCursor>,
    fetched: VecDeque<(AuditCursor, AuditEntry)>,
    left: Option<u64>,
    ended: bool,
}

impl Store {
    /// Reads the records that match.
    #[must_use]
    pub fn audit(&self, filter: AuditFilter, order: Order) -> AuditReader {
        let backend = Arc::clone(self.backend());
        AuditReader { backend, filter, order, cursor: None, fetched: VecDeque::new(), left: None, ended: false }
    }
}

impl AuditReader {
    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.left = Some(limit);
        self
    }

    /// From a cursor on.
    #[must_use]
    pub fn after(mut self, cursor: AuditCursor) -> Self {
        self.cursor = Some(cursor);
        self
    }

    /// The next record, or none at the end.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read, or holds what cannot be understood.
    pub async fn next(&mut self) -> Result<Option<AuditEntry>, StoreError> {
        if self.left == Some(0) {
            return Ok(None);
        }
        if self.fetched.is_empty() && !self.ended {
            let limit = self.left.map_or(PAGE, |left| u32::try_from(left).unwrap_or(PAGE).min(PAGE));
            let page = self.backend.audit_page(&self.filter, self.order, self.cursor, limit).await?;
            self.ended = page.len() < limit as usize;
            self.fetched = page.into();
        }
        let Some((cursor, entry)) = self.fetched.pop_front() else { return Ok(None) };
        self.cursor = Some(cursor);
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        Ok(Some(entry))
    }

    /// Everything that is left, for those who know that it is little.
    ///
    /// # Errors
    /// As [`AuditReader::next`].
    pub async fn all(mut self) -> Result<Vec<AuditEntry>, StoreError> {
        let mut all = Vec::new();
        while let Some(entry) = self.next().await? {
            all.push(entry);
        }
        Ok(all)
    }

    /// Where to go on after the last record that was returned.
    #[must_use]
    pub fn cursor(&self) -> Option<AuditCursor> {
        self.cursor
    }
}

impl fmt::Display for AuditCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.time.get(), self.position)
    }
}

impl FromStr for AuditCursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let read = || {
            let (time, position) = text.split_once('.')?;
            Some(Self { time: Micros::new(time.parse().ok()?), position: position.parse().ok()? })
        };
        read().filter(|cursor| cursor.to_string() == text).ok_or_else(|| ParseCursorError(visible(text, 60)))
    }
}

impl Explain for ParseCursorError {
    fn code(&self) -> Code {
        Code::new("audit-cursor")
    }

    fn why(&self) -> String {
        "going on from a guess would skip records, or show some twice".into()
    }

    fn fix(&self) -> String {
        "use the cursor of the page before as it was given, or leave it out to begin again".into()
    }
}
