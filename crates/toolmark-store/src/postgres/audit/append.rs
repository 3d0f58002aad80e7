//! Appending: one lock on the head of a node's chain, and one statement for many rows.

use std::borrow::Cow;
use std::collections::HashSet;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use toolmark_core::digest::ArgumentDigest;
use toolmark_core::verdict::Decision;
use uuid::Uuid;

use super::doubts::{Doubt, Key, key};
use crate::audit::{AuditRecord, Head, Link, ResultDigest};
use crate::error::{Fault, StoreError};
use crate::postgres::text::kept;
use crate::postgres::{ANSWER, Postgres, Survives, Writing};

/// How many rows a statement takes.
const ROWS: usize = 1024;

/// Where a try ended.
enum Tried {
    Done(Head),
    /// Nothing was written.
    Failed(StoreError),
    /// It broke while it was committed.
    Doubtful(StoreError),
}

impl Postgres {
    pub(in crate::postgres) async fn append_records(
        &self,
        node: &str,
        records: &[&AuditRecord],
        survives: Survives,
    ) -> Result<Head, StoreError> {
        match self.attempt(node, records, survives).await {
            Tried::Done(head) => Ok(head),
            Tried::Failed(error) => Err(error),
            // Most often the server is back at once, or another one is there: then the doubt is settled now.
            Tried::Doubtful(_) => match self.attempt(node, records, survives).await {
                Tried::Done(head) => Ok(head),
                Tried::Failed(error) | Tried::Doubtful(error) => Err(error),
            },
        }
    }

    async fn attempt(&self, node: &str, records: &[&AuditRecord], survives: Survives) -> Tried {
        let late = || StoreError::new(&self.place, Fault::Unreachable, "it does not answer");
        let limit = ANSWER.max(self.patience * 4);
        let written = tokio::time::timeout(limit, self.write(node, records, survives)).await;
        let (transaction, head) = match written.unwrap_or_else(|_| Err(late())) {
            Ok(written) => written,
            Err(error) => return Tried::Failed(error),
        };
        // From here on, whoever is cancelled leaves a doubt behind.
        self.doubts.raise(node, head, records);
        match tokio::time::timeout(limit, self.commit(transaction)).await.unwrap_or_else(|_| Err(late())) {
            Ok(()) => {
                self.doubts.settle(node, head, records);
                Tried::Done(head)
            }
            Err(error) => Tried::Doubtful(error),
        }
    }

    /// Everything but the commit.
    async fn write(
        &self,
        node: &str,
        records: &[&AuditRecord],
        survives: Survives,
    ) -> Result<(Writing, Head), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut transaction = self.begin(survives).await?;
        let (id, mut head) = self.head(&mut transaction, node).await?;
        let there = self.already_there(&mut transaction, node, id).await?;
        let fresh: Vec<&AuditRecord> = records.iter().copied().filter(|record| !there.contains(&key(record))).collect();
        let first = head.seq + 1;
        for some in fresh.chunks(ROWS) {
            head = self.insert(&mut transaction, id, node, head, some).await?;
        }
        self.settle_intents(&mut transaction, id, first, &fresh).await?;
        let query = sqlx::query("UPDATE audit_nodes SET head_seq = $1, head_hash = $2 WHERE id = $3");
        let query = query.bind(signed(head.seq)).bind(head.hash.as_slice()).bind(id);
        query.execute(&mut *transaction).await.map_err(error)?;
        Ok((transaction, head))
    }

    /// Keeps the list of intents up of which nobody knows yet what became. Most end in the batch that they began in.
    async fn settle_intents(
        &self,
        transaction: &mut Writing,
        node: i64,
        first: u64,
        records: &[&AuditRecord],
    ) -> Result<(), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let (ended, begun): (Vec<_>, Vec<_>) = (first..)
            .zip(records)
            .map(|(seq, record)| (record, seq))
            .partition(|(record, _)| record.outcome.is_final());
        let ended: HashSet<Uuid> = ended.iter().map(|(record, _)| record.id).collect();
        let open = begun.iter().filter(|(record, _)| !ended.contains(&record.id));
        let (ids, seqs): (Vec<Uuid>, Vec<i64>) = open.map(|(record, seq)| (record.id, signed(*seq))).unzip();
        if !ended.is_empty() {
            let query = sqlx::query("DELETE FROM audit_open WHERE node = $1 AND id = ANY($2)");
            let query = query.bind(node).bind(ended.into_iter().collect::<Vec<_>>());
            query.execute(&mut **transaction).await.map_err(error)?;
        }
        if !ids.is_empty() {
            let query = sqlx::query(
                "INSERT INTO audit_open (node, id, seq) SELECT $1, o.* FROM UNNEST($2::uuid[], $3::bigint[]) AS o \
                 ON CONFLICT DO NOTHING",
            );
            query.bind(node).bind(ids).bind(seqs).execute(&mut **transaction).await.map_err(error)?;
        }
        Ok(())
    }

    /// Where the chain of a node ends now that nobody else can append to it. A node that is new gets a chain.
    async fn head(&self, transaction: &mut Writing, node: &str) -> Result<(i64, Head), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let select = "SELECT id, head_seq, head_hash FROM audit_nodes WHERE node = $1 FOR UPDATE";
        let mut row = sqlx::query(select).bind(kept(node)).fetch_optional(&mut **transaction).await.map_err(error)?;
        if row.is_none() {
            let none = Head::default();
            let query = sqlx::query(
                "INSERT INTO audit_nodes (node, head_seq, head_hash, checkpoint_seq, checkpoint_hash) \
                 VALUES ($1, 0, $2, 0, $2) ON CONFLICT (node) DO NOTHING",
            );
            let query = query.bind(kept(node)).bind(none.hash.as_slice());
            query.execute(&mut **transaction).await.map_err(error)?;
            row = sqlx::query(select).bind(kept(node)).fetch_optional(&mut **transaction).await.map_err(error)?;
        }
        let row = row.ok_or_else(|| self.unreadable("a node was removed while it was written"))?;
        let head = Head { seq: self.count(&row, "head_seq")?, hash: self.digest(&row, "head_hash")? };
        Ok((self.column(&row, "id")?, head))
    }

    /// The records of batches that were in doubt and are there after all. Behind the lock, each was committed or never will be.
    async fn already_there(&self, transaction: &mut Writing, node: &str, id: i64) -> Result<HashSet<Key>, StoreError> {
        let mut there = HashSet::new();
        for Doubt { head, records } in self.doubts.of(node) {
            let query = sqlx::query("SELECT hash FROM audit WHERE node = $1 AND seq = $2");
            let query = query.bind(id).bind(signed(head.seq));
            let row = query.fetch_optional(&mut **transaction).await.map_err(|error| self.error(&error))?;
            match row {
                Some(row) if self.digest(&row, "hash")? == head.hash => there.extend(records),
                _ => self.doubts.dispel(node, head),
            }
        }
        Ok(there)
    }

    async fn insert(
        &self,
        transaction: &mut Writing,
        id: i64,
        node: &str,
        mut head: Head,
        records: &[&AuditRecord],
    ) -> Result<Head, StoreError> {
        let mut links = Vec::with_capacity(records.len());
        for record in records {
            let link = head.link(node, record);
            head = link.head();
            links.push(link);
        }
        self.insert_rows(transaction, id, records, &links).await?;
        self.insert_bodies(transaction, id, records, &links).await?;
        Ok(head)
    }

    async fn insert_rows(
        &self,
        transaction: &mut Writing,
        id: i64,
        records: &[&AuditRecord],
        links: &[Link],
    ) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO audit (node, seq, id, time_us, caller, session, era, transport, called, canonical, mark, definition, \
             task, verdict, reasons, rules, policy, grant_id, judged, arguments, arguments_size, result, result_size, outcome, code, \
             stages_ns, total_ns, trace, arguments_body, result_body, prev, hash) \
             SELECT $1, r.* FROM UNNEST($2::bigint[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], \
             $9::text[], $10::text[], $11::bytea[], $12::bytea[], $13::text[], $14::text[], $15::text[], $16::text[], \
             $17::text[], $18::text[], $19::text[], $20::bytea[], $21::bigint[], $22::bytea[], $23::bigint[], $24::text[], \
             $25::text[], $26::text[], $27::bigint[], $28::bytea[], $29::bytea[], $30::bytea[], $31::bytea[], \
             $32::bytea[]) AS r",
        );
        let query = query
            .bind(id)
            .bind(links.iter().map(|link| signed(link.seq)).collect::<Vec<_>>())
            .bind(each(records, |record| record.id))
            .bind(each(records, |record| record.time.get()))
            .bind(texts(records, |record| record.caller.as_deref()))
            .bind(texts(records, |record| record.session.as_deref()))
            .bind(texts(records, |record| record.era.as_deref()))
            .bind(texts(records, |record| record.transport.as_deref()))
            .bind(texts(records, |record| Some(&record.called)))
            .bind(texts(records, |record| record.tool.as_ref().map(|tool| &*tool.canonical)))
            .bind(bytes(records, |record| record.tool.as_ref().map(|tool| tool.mark.as_bytes().as_slice())))
            .bind(bytes(records, |record| record.tool.as_ref().map(|tool| tool.definition.as_bytes().as_slice())))
            .bind(texts(records, |record| record.task.as_deref()))
            .bind(texts(records, |record| record.verdict.map(Decision::as_str)))
            .bind(texts(records, |record| record.reasons.as_deref()))
            .bind(texts(records, |record| record.rules.as_deref()))
            .bind(texts(records, |record| record.policy.as_deref()))
            .bind(texts(records, |record| record.grant.as_deref()))
            .bind(texts(records, |record| record.judged.as_deref()))
            .bind(bytes(records, |record| {
                record.arguments.as_ref().map(|digest| ArgumentDigest::as_bytes(digest).as_slice())
            }))
            .bind(each(records, |record| record.arguments_size.map(signed)))
            .bind(each(records, |record| record.result.map(ResultDigest::to_kept)))
            .bind(each(records, |record| record.result_size.map(signed)))
            .bind(texts(records, |record| Some(record.outcome.as_str())))
            .bind(texts(records, |record| record.code.as_deref()))
            .bind(each(records, |record| serde_json::Value::from_iter(record.timings.stages()).to_string()))
            .bind(each(records, |record| signed(record.timings.total)))
            .bind(bytes(records, |record| record.trace.as_ref().map(<[u8; 16]>::as_slice)))
            .bind(links.iter().map(|link| link.arguments_body.as_ref().map(<[u8; 32]>::as_slice)).collect::<Vec<_>>())
            .bind(links.iter().map(|link| link.result_body.as_ref().map(<[u8; 32]>::as_slice)).collect::<Vec<_>>())
            .bind(links.iter().map(|link| link.prev.as_slice()).collect::<Vec<_>>())
            .bind(links.iter().map(|link| link.hash.as_slice()).collect::<Vec<_>>());
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }

    async fn insert_bodies(
        &self,
        transaction: &mut Writing,
        id: i64,
        records: &[&AuditRecord],
        links: &[Link],
    ) -> Result<(), StoreError> {
        let (mut seqs, mut arguments, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (record, link) in records.iter().zip(links) {
            let Some(bodies) = record.bodies.as_deref() else { continue };
            seqs.push(signed(link.seq));
            arguments.push(bodies.arguments.as_deref().map(kept));
            results.push(bodies.result.as_deref().map(kept));
        }
        if seqs.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(
            "INSERT INTO audit_bodies (node, seq, arguments, result) \
             SELECT $1, b.* FROM UNNEST($2::bigint[], $3::text[], $4::text[]) AS b",
        );
        let query = query.bind(id).bind(seqs).bind(arguments).bind(results);
        query.execute(&mut **transaction).await.map(|_| ()).map_err(|error| self.error(&error))
    }
}

fn each<T>(records: &[&AuditRecord], value: impl Fn(&AuditRecord) -> T) -> Vec<T> {
    records.iter().map(|record| value(record)).collect()
}

fn texts<'r>(
    records: &[&'r AuditRecord],
    text: impl Fn(&'r AuditRecord) -> Option<&'r str>,
) -> Vec<Option<Cow<'r, str>>> {
    records.iter().map(|record| text(record).map(kept)).collect()
}

fn bytes<'r>(
    records: &[&'r AuditRecord],
    bytes: impl Fn(&'r AuditRecord) -> Option<&'r [u8]>,
) -> Vec<Option<&'r [u8]>> {
    records.iter().map(|record| bytes(record)).collect()
}

/// The bits of a number as the database keeps them: what is beyond its largest number comes back as it was.
pub(super) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

/// The other way round.
pub(super) fn unsigned(row: &PgRow, column: &str) -> Result<u64, sqlx::Error> {
    row.try_get::<i64, _>(column).map(i64::cast_unsigned)
}
