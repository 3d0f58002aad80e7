//! What many calls have in common, written once: rows of one tool, called under one name, for one task, under one
//! policy and with one outcome. When there were rows of a kind is noted by the minute, so that rare ones are found.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use sha2::{Digest as _, Sha256};
use sqlx::Row as _;
use toolmark_core::verdict::Decision;

use crate::audit::{AuditRecord, AuditTool, Outcome};
use crate::error::StoreError;
use crate::sqlite::{Sqlite, Writing};
use crate::time::Micros;

/// How many kinds are remembered. Rows beyond that say everything themselves, so that nobody can fill memory or table with kinds.
const MOST: usize = 4096;

/// What was judged about most calls is shorter; what is longer is about this one call.
const LONGEST_JUDGED: usize = 160;

/// How many of them may be of one tool: they are looked for one after the other.
const MOST_OF_A_TOOL: usize = 64;

/// Stands for rows without a kind.
pub(super) const NO_KIND: i64 = 0;

/// How long a stretch of time is, in the bits of its microseconds: about a minute.
pub(super) const STRETCH_BITS: u32 = 26;

const KEY: &[u8] = b"toolmark/audit-kind/v2\0";

/// What a row leaves out when it has one of these.
#[derive(Debug)]
struct Kind {
    era: Option<Cow<'static, str>>,
    transport: Option<Cow<'static, str>>,
    called: Arc<str>,
    canonical: Arc<str>,
    mark: [u8; 32],
    definition: [u8; 32],
    task: Option<Arc<str>>,
    verdict: Option<Decision>,
    policy: Option<Arc<str>>,
    judged: Option<Arc<str>>,
    outcome: Outcome,
}

/// The kinds that the file is known to hold, by the mark of their tool.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct Kinds(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    kinds: HashMap<[u8; 32], Vec<(Kind, i64)>>,
    count: usize,
    /// The stretch of time that each was last seen in.
    seen: HashMap<i64, i64>,
}

/// What a transaction adds.
#[derive(Debug, Default)]
pub(super) struct Fresh(Known);

impl Known {
    /// The id of the kind of a record, where it is known; an error where there is no room for one more.
    fn get(&self, record: &AuditRecord, mark: &[u8; 32]) -> Result<Option<i64>, Many> {
        let of_tool = self.kinds.get(mark).map(Vec::as_slice).unwrap_or_default();
        match of_tool.iter().find(|(kind, _)| kind.is_of(record)) {
            Some((_, id)) => Ok(Some(*id)),
            None if self.count >= MOST || of_tool.len() >= MOST_OF_A_TOOL => Err(Many),
            None => Ok(None),
        }
    }

    fn add(&mut self, kind: Kind, id: i64) {
        self.kinds.entry(kind.mark).or_default().push((kind, id));
        self.count += 1;
    }
}

impl Kinds {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn learn(&self, fresh: Fresh) {
        let mut known = self.known();
        for (kind, id) in fresh.0.kinds.into_values().flatten() {
            known.add(kind, id);
        }
        known.seen.extend(fresh.0.seen);
    }

    /// Forgets when each was last seen: what is noted of that may have been removed.
    pub(super) fn look_again(&self) {
        self.known().seen.clear();
    }
}

/// There are as many kinds as are remembered.
struct Many;

impl Kind {
    fn new(record: &AuditRecord, tool: &AuditTool) -> Self {
        Self {
            era: record.era.clone(),
            transport: record.transport.clone(),
            called: Arc::clone(&record.called),
            canonical: Arc::clone(&tool.canonical),
            mark: *tool.mark.as_bytes(),
            definition: *tool.definition.as_bytes(),
            task: record.task.clone(),
            verdict: record.verdict,
            policy: record.policy.clone(),
            judged: record.judged.clone(),
            outcome: record.outcome,
        }
    }

    /// Whether a record of the same mark is of this kind.
    fn is_of(&self, record: &AuditRecord) -> bool {
        let tool =
            |tool: &AuditTool| tool.canonical == self.canonical && *tool.definition.as_bytes() == self.definition;
        self.outcome == record.outcome
            && self.verdict == record.verdict
            && self.called == record.called
            && self.era == record.era
            && self.transport == record.transport
            && self.task == record.task
            && self.policy == record.policy
            && self.judged == record.judged
            && record.tool.as_ref().is_some_and(tool)
    }

    /// The same in every process: each part with its length in front.
    fn key(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(KEY);
        let few = [self.era.as_deref(), self.transport.as_deref()];
        let texts = [&self.task, &self.policy, &self.judged].map(Option::as_deref);
        let words = [self.verdict.map(Decision::as_str), Some(self.outcome.as_str())];
        let names = [Some(&*self.called), Some(&*self.canonical)];
        for text in few.into_iter().chain(texts).chain(words).chain(names) {
            hash.update([u8::from(text.is_some())]);
            hash.update((text.map_or(0, str::len) as u64).to_be_bytes());
            hash.update(text.unwrap_or_default());
        }
        hash.chain_update(self.mark).chain_update(self.definition).finalize().into()
    }
}

/// The stretch that a time is in.
pub(super) fn stretch(time: Micros) -> i64 {
    time.get() >> STRETCH_BITS
}

impl Sqlite {
    /// Which kind a record is of; one that is new is written.
    pub(super) async fn kind_of(
        &self,
        transaction: &mut Writing,
        fresh: &mut Fresh,
        record: &AuditRecord,
    ) -> Result<Option<i64>, StoreError> {
        // A record that says little that others say too has none.
        let Some(tool) = &record.tool else { return Ok(None) };
        if record.judged.as_ref().is_some_and(|judged| judged.len() > LONGEST_JUDGED) {
            return Ok(None);
        }
        let mark = tool.mark.as_bytes();
        let known = self.kinds.known().get(record, mark);
        match (known, fresh.0.get(record, mark)) {
            (Ok(Some(id)), _) | (_, Ok(Some(id))) => return Ok(Some(id)),
            (Ok(None), Ok(None)) => {}
            (Err(Many), _) | (_, Err(Many)) => return Ok(None),
        }
        let kind = Kind::new(record, tool);
        // Another process may have written it: then its id is the one.
        let query = sqlx::query(
            "INSERT INTO audit_kinds (key, era, transport, called, canonical, mark, definition, task, verdict, policy, judged, outcome) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING id",
        );
        let query = query
            .bind(kind.key().to_vec())
            .bind(kind.era.clone())
            .bind(kind.transport.clone())
            .bind(Arc::clone(&kind.called))
            .bind(Arc::clone(&kind.canonical))
            .bind(kind.mark.to_vec())
            .bind(kind.definition.to_vec())
            .bind(kind.task.clone())
            .bind(kind.verdict.map(Decision::as_str))
            .bind(kind.policy.clone())
            .bind(kind.judged.clone())
            .bind(kind.outcome.as_str());
        let row = query.fetch_one(&mut **transaction).await.map_err(|error| self.error(&error))?;
        let id: i64 = row.try_get("id").map_err(|error| self.unreadable(&error.to_string()))?;
        fresh.0.add(kind, id);
        Ok(Some(id))
    }

    /// Notes that there is a row of a kind in a stretch of time; most often that is known.
    pub(super) async fn see(
        &self,
        transaction: &mut Writing,
        fresh: &mut Fresh,
        kind: Option<i64>,
        time: Micros,
    ) -> Result<(), StoreError> {
        let (kind, stretch) = (kind.unwrap_or(NO_KIND), stretch(time));
        let last = fresh.0.seen.get(&kind).copied().or_else(|| self.kinds.known().seen.get(&kind).copied());
        if last == Some(stretch) {
            return Ok(());
        }
        let query = sqlx::query("INSERT OR IGNORE INTO audit_seen (kind, stretch) VALUES (?, ?)");
        query.bind(kind).bind(stretch).execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        fresh.0.seen.insert(kind, stretch);
        Ok(())
    }
}
