//! What many calls have in common, written once: rows of one tool, called under one name, for one task and under one policy.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use sqlx::Row as _;

use crate::audit::AuditRecord;
use crate::error::StoreError;
use crate::sqlite::{Sqlite, Writing};

/// How many kinds are remembered. Rows beyond that say everything themselves, so that nobody can fill memory or table with kinds.
const MOST: usize = 4096;

/// What was judged about most calls is shorter; what is longer is about this one call.
const LONGEST_JUDGED: usize = 160;

const KEY: &[u8] = b"toolmark/audit-kind/v1\0";

/// What a row leaves out when it has one of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    era: Option<Cow<'static, str>>,
    transport: Option<Cow<'static, str>>,
    called: Arc<str>,
    mark: [u8; 32],
    definition: [u8; 32],
    task: Option<Arc<str>>,
    policy: Option<Arc<str>>,
    judged: Option<Arc<str>>,
}

/// The kinds that the file is known to hold.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct Kinds(Mutex<HashMap<Kind, i64>>);

/// Kinds that a transaction adds.
#[derive(Debug, Default)]
pub(super) struct Fresh(HashMap<Kind, i64>);

impl Kinds {
    fn get(&self, kind: &Kind) -> Result<Option<i64>, Many> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(kind) {
            Some(id) => Ok(Some(*id)),
            None if known.len() >= MOST => Err(Many),
            None => Ok(None),
        }
    }

    pub(super) fn learn(&self, fresh: Fresh) {
        if !fresh.0.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(fresh.0);
        }
    }
}

/// There are as many kinds as are remembered.
struct Many;

impl Kind {
    /// The kind of a record; nothing for one that says little that others say too.
    fn of(record: &AuditRecord) -> Option<Self> {
        let tool = record.tool.as_ref()?;
        if record.judged.as_ref().is_some_and(|judged| judged.len() > LONGEST_JUDGED) {
            return None;
        }
        Some(Self {
            era: record.era.clone(),
            transport: record.transport.clone(),
            called: Arc::clone(&record.called),
            mark: *tool.mark.as_bytes(),
            definition: *tool.definition.as_bytes(),
            task: record.task.clone(),
            policy: record.policy.clone(),
            judged: record.judged.clone(),
        })
    }

    /// The same in every process: each part with its length in front.
    fn key(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(KEY);
        let few = [self.era.as_deref(), self.transport.as_deref()];
        let texts = [&self.task, &self.policy, &self.judged].map(Option::as_deref);
        for text in few.into_iter().chain(texts).chain([Some(&*self.called)]) {
            hash.update([u8::from(text.is_some())]);
            hash.update((text.map_or(0, str::len) as u64).to_be_bytes());
            hash.update(text.unwrap_or_default());
        }
        hash.chain_update(self.mark).chain_update(self.definition).finalize().into()
    }
}

impl Sqlite {
    /// Which kind a record is of; one that is new is written.
    pub(super) async fn kind_of(
        &self,
        transaction: &mut Writing,
        fresh: &mut Fresh,
        record: &AuditRecord,
    ) -> Result<Option<i64>, StoreError> {
        let Some(kind) = Kind::of(record) else { return Ok(None) };
        match self.kinds.get(&kind) {
            Ok(Some(id)) => return Ok(Some(id)),
            Ok(None) if fresh.0.len() < MOST => {}
            Ok(None) | Err(Many) => return Ok(None),
        }
        if let Some(id) = fresh.0.get(&kind) {
            return Ok(Some(*id));
        }
        // Another process may have written it: then its id is the one.
        let query = sqlx::query(
            "INSERT INTO audit_kinds (key, era, transport, called, mark, definition, task, policy, judged) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING id",
        );
        let query = query
            .bind(kind.key().to_vec())
            .bind(kind.era.clone())
            .bind(kind.transport.clone())
            .bind(Arc::clone(&kind.called))
            .bind(kind.mark.to_vec())
            .bind(kind.definition.to_vec())
            .bind(kind.task.clone())
            .bind(kind.policy.clone())
            .bind(kind.judged.clone());
        let row = query.fetch_one(&mut **transaction).await.map_err(|error| self.error(&error))?;
        let id: i64 = row.try_get("id").map_err(|error| self.unreadable(&error.to_string()))?;
        fresh.0.insert(kind, id);
        Ok(Some(id))
    }
}
