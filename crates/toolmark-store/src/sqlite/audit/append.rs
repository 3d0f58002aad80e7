//! Appending: many rows in one statement, many statements in one transaction, the chain continued inside the lock.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, AssertSqlSafe, Row as _};
use toolmark_core::verdict::Decision;

use crate::audit::{AuditRecord, Head, Link, Outcome};
use crate::error::StoreError;
use crate::sqlite::{Sqlite, Survives, Writing};

const COLUMNS: &str = "node, seq, id, time_us, caller, session, era, transport, called, canonical, mark, definition, \
                       task, verdict, reasons, rules, policy, grant_id, judged, arguments, arguments_size, result, \
                       result_size, outcome, code, stages_ns, total_ns, trace, arguments_body, result_body, prev, hash";
const WIDTH: usize = 32;

/// How many rows a statement takes. Few different ones, so that each is prepared once and kept; and not too many at once, because calls
/// wait for whoever has the processor.
const ROWS: [usize; 4] = [32, 8, 2, 1];

static INSERTS: LazyLock<[Arc<str>; 4]> = LazyLock::new(|| {
    ROWS.map(|rows| {
        let row = format!("({})", ["?"; WIDTH].join(", "));
        format!("INSERT INTO audit ({COLUMNS}) VALUES {}", vec![row; rows].join(", ")).into()
    })
});

/// The words that almost every row has, shared instead of copied.
static OUTCOMES: LazyLock<Vec<(Outcome, Arc<str>)>> =
    LazyLock::new(|| Outcome::ALL.iter().map(|outcome| (*outcome, outcome.as_str().into())).collect());
static VERDICTS: LazyLock<[(Decision, Arc<str>); 3]> =
    LazyLock::new(|| [Decision::Allow, Decision::Ask, Decision::Deny].map(|one| (one, one.as_str().into())));

/// A record as one row, and how it is chained.
struct Row<'r> {
    node: i64,
    link: Link,
    record: &'r AuditRecord,
}

impl Sqlite {
    pub(in crate::sqlite) async fn append_records(
        &self,
        node: &str,
        records: &[&AuditRecord],
        survives: Survives,
    ) -> Result<Head, StoreError> {
        let mut transaction = self.begin(survives).await?;
        let (id, mut head) = self.head(&mut transaction, node).await?;
        let first = head.seq + 1;
        let mut rest = records;
        while !rest.is_empty() {
            let (sql, rows) = INSERTS
                .iter()
                .zip(ROWS)
                .find(|(_, rows)| *rows <= rest.len())
                .map_or(("", 0), |(sql, rows)| (&**sql, rows));
            let Some((now, later)) = rest.split_at_checked(rows).filter(|(now, _)| !now.is_empty()) else { break };
            rest = later;
            head = self.insert(&mut transaction, sql, id, node, head, now).await?;
            tokio::task::yield_now().await;
        }
        self.settle(&mut transaction, id, first, records).await?;
        let query = sqlx::query("UPDATE audit_nodes SET head_seq = ?, head_hash = ? WHERE id = ?");
        let query = query.bind(signed(head.seq)).bind(head.hash.to_vec()).bind(id);
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        Ok(head)
    }

    /// Where the chain of a node ends now that nobody else can append to it. A node that is new gets a chain.
    async fn head(&self, transaction: &mut Writing, node: &str) -> Result<(i64, Head), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let query = sqlx::query("SELECT id, head_seq, head_hash FROM audit_nodes WHERE node = ?").bind(node.to_owned());
        if let Some(row) = query.fetch_optional(&mut **transaction).await.map_err(error)? {
            let head = Head { seq: self.count(&row, "head_seq")?, hash: self.digest(&row, "head_hash")? };
            return Ok((self.column(&row, "id")?, head));
        }
        let head = Head::default();
        let query = sqlx::query(
            "INSERT INTO audit_nodes (node, head_seq, head_hash, checkpoint_seq, checkpoint_hash) VALUES (?, 0, ?, 0, ?)",
        );
        let query = query.bind(node.to_owned()).bind(head.hash.to_vec()).bind(head.hash.to_vec());
        let done = query.execute(&mut **transaction).await.map_err(error)?;
        Ok((done.last_insert_rowid(), head))
    }

    /// Keeps the list of intents up of which nobody knows yet what became. Most end in the batch that they began in.
    async fn settle(
        &self,
        transaction: &mut Writing,
        node: i64,
        first: u64,
        records: &[&AuditRecord],
    ) -> Result<(), StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let query = sqlx::query("SELECT id FROM audit_open WHERE node = ?").bind(node);
        let open = query.fetch_all(&mut **transaction).await.map_err(error)?;
        let intends = records.iter().any(|record| !record.outcome.is_final());
        if open.is_empty() && !intends {
            return Ok(());
        }
        let ended: HashSet<&[u8; 16]> =
            records.iter().filter(|record| record.outcome.is_final()).map(|record| record.id.as_bytes()).collect();
        for row in &open {
            let id: &[u8] = self.column(row, "id")?;
            if <&[u8; 16]>::try_from(id).is_ok_and(|id| ended.contains(id)) {
                let query =
                    sqlx::query("DELETE FROM audit_open WHERE node = ? AND id = ?").bind(node).bind(id.to_vec());
                query.execute(&mut **transaction).await.map_err(error)?;
            }
        }
        let begun = (first..).zip(records).filter(|(_, record)| !record.outcome.is_final());
        for (seq, record) in begun.filter(|(_, record)| !ended.contains(record.id.as_bytes())) {
            let query = sqlx::query("INSERT OR IGNORE INTO audit_open (node, id, seq) VALUES (?, ?, ?)");
            let query = query.bind(node).bind(record.id.as_bytes().to_vec()).bind(signed(seq));
            query.execute(&mut **transaction).await.map_err(error)?;
        }
        Ok(())
    }

    async fn insert(
        &self,
        transaction: &mut Writing,
        sql: &str,
        id: i64,
        node: &str,
        mut head: Head,
        records: &[&AuditRecord],
    ) -> Result<Head, StoreError> {
        let mut arguments = SqliteArguments::default();
        arguments.reserve(records.len() * WIDTH, 0);
        let first = head.seq + 1;
        for record in records {
            let link = head.link(node, record);
            head = link.head();
            let bound = Row { node: id, link, record }.bind(&mut arguments);
            bound.map_err(|error| self.error(&sqlx::Error::Encode(error)))?;
        }
        let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
        query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        for (seq, record) in (first..).zip(records) {
            let Some(bodies) = record.bodies.as_deref() else { continue };
            let query = sqlx::query(
                "INSERT INTO audit_bodies (position, arguments, result) \
                 SELECT position, ?, ? FROM audit WHERE node = ? AND seq = ?",
            );
            let query = query.bind(bodies.arguments.clone()).bind(bodies.result.clone());
            let query = query.bind(id).bind(signed(seq));
            query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        }
        Ok(head)
    }
}

impl Row<'_> {
    /// In the order of `COLUMNS`.
    fn bind(&self, to: &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError> {
        let (record, link) = (self.record, &self.link);
        let tool = record.tool.as_ref();
        to.add(self.node)?;
        to.add(signed(link.seq))?;
        to.add(record.id.as_bytes().to_vec())?;
        to.add(record.time.get())?;
        to.add(record.caller.clone())?;
        to.add(record.session.clone())?;
        to.add(record.era.clone())?;
        to.add(record.transport.clone())?;
        to.add(Arc::clone(&record.called))?;
        to.add(tool.map(|tool| Arc::clone(&tool.canonical)))?;
        to.add(tool.map(|tool| tool.mark.as_bytes().to_vec()))?;
        to.add(tool.map(|tool| tool.definition.as_bytes().to_vec()))?;
        to.add(record.task.clone())?;
        to.add(record.verdict.and_then(|verdict| word(&*VERDICTS, verdict)))?;
        to.add(record.reasons.clone())?;
        to.add(record.rules.clone())?;
        to.add(record.policy.clone())?;
        to.add(record.grant.clone())?;
        to.add(record.judged.clone())?;
        to.add(record.arguments.map(|digest| digest.as_bytes().to_vec()))?;
        to.add(record.arguments_size.map(signed))?;
        to.add(record.result.map(Vec::from))?;
        to.add(record.result_size.map(signed))?;
        to.add(word(&OUTCOMES, record.outcome))?;
        to.add(record.code.clone())?;
        to.add(stages(&record.timings.stages()))?;
        to.add(signed(record.timings.total))?;
        to.add(record.trace.map(Vec::from))?;
        to.add(link.arguments_body.map(Vec::from))?;
        to.add(link.result_body.map(Vec::from))?;
        to.add(link.prev.to_vec())?;
        to.add(link.hash.to_vec())
    }
}

fn word<T: Copy + PartialEq>(words: &[(T, Arc<str>)], value: T) -> Option<Arc<str>> {
    words.iter().find(|(known, _)| *known == value).map(|(_, word)| Arc::clone(word))
}

/// The stages as a JSON array, so that `json_extract` finds them.
fn stages(stages: &[u64; 7]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(48);
    for (at, stage) in stages.iter().enumerate() {
        text.push(if at == 0 { '[' } else { ',' });
        // Most stages of most calls take no time, which is said faster than a number is written.
        let _ = if *stage == 0 { text.write_char('0') } else { write!(text, "{stage}") };
    }
    text.push(']');
    text
}

/// The bits of a number as SQLite keeps them: what is beyond its largest number comes back as it was.
pub(super) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

/// The other way round.
pub(super) fn unsigned(row: &SqliteRow, column: &str) -> Result<u64, sqlx::Error> {
    row.try_get::<i64, _>(column).map(i64::cast_unsigned)
}
