//! Appending: many rows in one statement, many statements in one transaction, the chain continued inside the lock.
//!
//! This is most of what the audit costs, so what most rows have in common is written once and what few rows have is left out.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, AssertSqlSafe, Row as _};
use toolmark_core::verdict::Decision;

use super::kinds::Fresh;
use crate::audit::{AuditRecord, Head, Link, ResultDigest};
use crate::error::StoreError;
use crate::sqlite::{Sqlite, Survives, Writing};

/// What every row has. How many values there are is most of what a row costs.
const PLAIN: &str =
    "position, kind, time_us, caller, session, has, arguments_size, result_size, total_ns, digests, stages_ns";
const PLAIN_WIDTH: usize = 11;

/// And what few rows have.
const DETAILS: &str = "position, code, reasons, rules, grant_id, arguments_body, result_body, era, transport, called, canonical, mark, \
                       definition, task, verdict, policy, judged, outcome";
const DETAILS_WIDTH: usize = 18;

/// How many rows a statement takes. Few different ones, so that each is prepared once and kept; and not too many at once, because calls
/// wait for whoever has the processor.
const ROWS: [usize; 4] = [32, 8, 2, 1];
const MOST_ROWS: usize = 32;

/// A batch that nobody waits for and that is far from full is written bit by bit: all at once, it would hold up the calls that come
/// just then. The lock is held meanwhile, so this has an end.
const UNHURRIED: usize = 640;
const PAUSE: Duration = Duration::from_millis(1);

static ROW_INSERTS: LazyLock<[Arc<str>; 4]> = LazyLock::new(|| inserts("audit_rows", PLAIN, PLAIN_WIDTH));
static DETAIL_INSERTS: LazyLock<[Arc<str>; 4]> = LazyLock::new(|| inserts("audit_details", DETAILS, DETAILS_WIDTH));

fn inserts(table: &str, columns: &str, width: usize) -> [Arc<str>; 4] {
    ROWS.map(|rows| {
        let row = format!("({})", vec!["?"; width].join(", "));
        format!("INSERT INTO {table} ({columns}) VALUES {}", vec![row; rows].join(", ")).into()
    })
}

/// A record as one row, and how it is chained.
struct Row<'r> {
    node: i64,
    kind: Option<i64>,
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
        let mut fresh = Fresh::default();
        let unhurried = survives == Survives::Crash && records.len() <= UNHURRIED;
        for records in records.chunks(MOST_ROWS) {
            let mut rows = Vec::with_capacity(records.len());
            for record in records {
                let kind = self.kind_of(&mut transaction, &mut fresh, record).await?;
                self.see(&mut transaction, &mut fresh, kind, record.time).await?;
                let link = head.link(node, record);
                head = link.head();
                rows.push(Row { node: id, kind, link, record });
            }
            self.insert(&mut transaction, &ROW_INSERTS, &rows, Row::bind).await?;
            rows.retain(Row::has_details);
            self.insert(&mut transaction, &DETAIL_INSERTS, &rows, Row::bind_details).await?;
            self.insert_bodies(&mut transaction, &rows).await?;
            if unhurried {
                tokio::time::sleep(PAUSE).await;
            } else {
                tokio::task::yield_now().await;
            }
        }
        self.settle(&mut transaction, id, first, records).await?;
        let query = sqlx::query("UPDATE audit_nodes SET head_seq = ?, head_hash = ? WHERE id = ?");
        let query = query.bind(signed(head.seq)).bind(head.hash.to_vec()).bind(id);
        query.execute(&mut *transaction).await.map_err(|error| self.error(&error))?;
        self.commit(transaction).await?;
        // Only now are they there for everybody.
        self.kinds.learn(fresh);
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

    async fn insert<'r>(
        &self,
        transaction: &mut Writing,
        statements: &[Arc<str>; 4],
        rows: &[Row<'r>],
        bind: fn(&Row<'r>, &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError>,
    ) -> Result<(), StoreError> {
        let mut rest = rows;
        while !rest.is_empty() {
            let Some((sql, count)) = statements.iter().zip(ROWS).find(|(_, count)| *count <= rest.len()) else { break };
            let Some((now, later)) = rest.split_at_checked(count) else { break };
            rest = later;
            let mut arguments = SqliteArguments::default();
            arguments.reserve(count * DETAILS_WIDTH, 0);
            for row in now {
                bind(row, &mut arguments).map_err(|error| self.error(&sqlx::Error::Encode(error)))?;
            }
            let query = sqlx::query_with(AssertSqlSafe(Arc::clone(sql)), arguments);
            query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        }
        Ok(())
    }

    async fn insert_bodies(&self, transaction: &mut Writing, rows: &[Row<'_>]) -> Result<(), StoreError> {
        for row in rows {
            let Some(bodies) = row.record.bodies.as_deref() else { continue };
            let query = sqlx::query("INSERT INTO audit_bodies (position, arguments, result) VALUES (?, ?, ?)");
            let query = query.bind(row.position()).bind(bodies.arguments.clone()).bind(bodies.result.clone());
            query.execute(&mut **transaction).await.map_err(|error| self.error(&error))?;
        }
        Ok(())
    }
}

impl Row<'_> {
    /// Whether something has to be said that few rows have.
    fn has_details(&self) -> bool {
        let record = self.record;
        let more = [&record.code, &record.reasons, &record.rules, &record.grant];
        self.kind.is_none() || record.bodies.is_some() || more.into_iter().any(Option::is_some)
    }

    fn position(&self) -> i64 {
        position(self.node, self.link.seq)
    }

    /// In the order of `PLAIN`.
    fn bind(&self, to: &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError> {
        let record = self.record;
        let (has, digests) = digests(&self.link, record);
        to.add(self.position())?;
        to.add(self.kind)?;
        to.add(record.time.get())?;
        to.add(record.caller.clone())?;
        to.add(record.session.clone())?;
        to.add(has)?;
        to.add(record.arguments_size.map(signed))?;
        to.add(record.result_size.map(signed))?;
        to.add(signed(record.timings.total))?;
        to.add(digests)?;
        to.add(stages(&record.timings.stages()))
    }

    /// In the order of `DETAILS`.
    fn bind_details(&self, to: &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError> {
        let (record, link) = (self.record, &self.link);
        to.add(self.position())?;
        to.add(record.code.clone())?;
        to.add(record.reasons.clone())?;
        to.add(record.rules.clone())?;
        to.add(record.grant.clone())?;
        to.add(link.arguments_body.map(Vec::from))?;
        to.add(link.result_body.map(Vec::from))?;
        // What its kind says is not said again.
        let own = self.kind.is_none().then_some(record);
        let tool = own.and_then(|record| record.tool.as_ref());
        to.add(own.and_then(|record| record.era.clone()))?;
        to.add(own.and_then(|record| record.transport.clone()))?;
        to.add(own.map(|record| Arc::clone(&record.called)))?;
        to.add(tool.map(|tool| Arc::clone(&tool.canonical)))?;
        to.add(tool.map(|tool| tool.mark.as_bytes().to_vec()))?;
        to.add(tool.map(|tool| tool.definition.as_bytes().to_vec()))?;
        to.add(own.and_then(|record| record.task.clone()))?;
        to.add(own.and_then(|record| record.verdict).map(Decision::as_str))?;
        to.add(own.and_then(|record| record.policy.clone()))?;
        to.add(own.and_then(|record| record.judged.clone()))?;
        to.add(own.map(|record| record.outcome.as_str()))
    }
}

/// Which digests there are, and all of them in one value, as the view `audit` takes it apart.
fn digests(link: &Link, record: &AuditRecord) -> (i64, Vec<u8>) {
    let mut bytes = Vec::with_capacity(160);
    bytes.extend_from_slice(&link.hash);
    bytes.extend_from_slice(&link.prev);
    bytes.extend_from_slice(record.id.as_bytes());
    let absent: [&[u8]; 3] = [&[0; 32], &[0; 32], &[0; 16]];
    let present: [Option<&[u8]>; 3] = [
        record.arguments.as_ref().map(|digest| digest.as_bytes().as_slice()),
        record.result.as_ref().map(|digest| digest.bytes().as_slice()),
        record.trace.as_ref().map(<[u8; 16]>::as_slice),
    ];
    let (mut has, mut end) = (0, bytes.len());
    for (at, (digest, absent)) in present.into_iter().zip(absent).enumerate() {
        bytes.extend_from_slice(digest.unwrap_or(absent));
        if digest.is_some() {
            (has, end) = (has | 1 << at, bytes.len());
        }
    }
    bytes.truncate(end);
    if let Some(ResultDigest::Blake3(_)) = record.result {
        has |= 8;
    }
    (has, bytes)
}

/// Where a row of a chain stands in its table.
pub(super) fn position(node: i64, seq: u64) -> i64 {
    (node << 40) | signed(seq)
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
