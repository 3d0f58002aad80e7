//! Reading back: pages of records that match, and pages of a chain.

use std::borrow::Cow;
use std::sync::Arc;

use sqlx::postgres::PgRow;
use sqlx::{Postgres as Database, QueryBuilder, Row as _};
use toolmark_core::digest::{ArgumentDigest, DefinitionDigest, Mark};
use toolmark_core::verdict::Decision;
use uuid::Uuid;

use super::append::{signed, unsigned};
use crate::audit::{
    AuditCursor, AuditEntry, AuditFilter, AuditRecord, AuditTool, Bodies, Chain, ChainRow, Head, Link, Order, Outcome,
    ResultDigest, Timings,
};
use crate::error::StoreError;
use crate::postgres::Postgres;
use crate::postgres::text::{given, kept};
use crate::time::Micros;

impl Postgres {
    pub(in crate::postgres) async fn load_page(
        &self,
        filter: &AuditFilter,
        order: Order,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<(AuditCursor, AuditEntry)>, StoreError> {
        let mut query = select(filter.bodies);
        query.push(" WHERE TRUE");
        narrow(&mut query, filter);
        let (direction, beyond) = match order {
            Order::Newest => (" DESC", " < "),
            Order::Oldest => ("", " > "),
        };
        if let Some(after) = after {
            query.push(" AND (a.time_us, a.position)").push(beyond).push("(").push_bind(after.time.get());
            query.push(", ").push_bind(after.position).push(")");
        }
        query.push(" ORDER BY a.time_us").push(direction).push(", a.position").push(direction);
        query.push(" LIMIT ").push_bind(i64::from(limit));
        let rows = query.build().fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        let read = |row: &PgRow| {
            let position = self.column(row, "position")?;
            let entry = entry(row, filter.bodies).map_err(|detail| self.unreadable(&detail))?;
            Ok((AuditCursor { time: entry.record.time, position }, entry))
        };
        rows.iter().map(read).collect()
    }

    pub(in crate::postgres) async fn load_chains(&self) -> Result<Vec<Chain>, StoreError> {
        let sql = "SELECT node, head_seq, head_hash, checkpoint_seq, checkpoint_hash FROM audit_nodes ORDER BY node";
        let rows = sqlx::query(sql).fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        let chain = |row: &PgRow| {
            Ok(Chain {
                node: self.text(row, "node")?.into(),
                checkpoint: Head {
                    seq: self.count(row, "checkpoint_seq")?,
                    hash: self.digest(row, "checkpoint_hash")?,
                },
                head: Head { seq: self.count(row, "head_seq")?, hash: self.digest(row, "head_hash")? },
            })
        };
        rows.iter().map(chain).collect()
    }

    pub(in crate::postgres) async fn load_open(&self, node: &str) -> Result<Vec<AuditEntry>, StoreError> {
        let mut query = select(true);
        query.push(" JOIN audit_open o ON o.node = a.node AND o.seq = a.seq WHERE n.node = ").push_bind(kept(node));
        query.push(" ORDER BY a.seq");
        let rows = query.build().fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| entry(row, true).map_err(|detail| self.unreadable(&detail))).collect()
    }

    pub(in crate::postgres) async fn load_chain_page(
        &self,
        node: &str,
        after: u64,
        limit: u32,
    ) -> Result<Vec<ChainRow>, StoreError> {
        let mut query = select(true);
        query.push(" WHERE a.node = (SELECT id FROM audit_nodes WHERE node = ").push_bind(kept(node));
        query
            .push(") AND a.seq > ")
            .push_bind(signed(after))
            .push(" ORDER BY a.seq LIMIT ")
            .push_bind(i64::from(limit));
        let rows = query.build().fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok(ChainRow { seq: self.count(row, "seq")?, entry: entry(row, true) })).collect()
    }
}

fn select(bodies: bool) -> QueryBuilder<Database> {
    QueryBuilder::new(if bodies {
        "SELECT a.*, n.node AS node_name, b.arguments AS arguments_text, b.result AS result_text FROM audit a \
         LEFT JOIN audit_nodes n ON n.id = a.node LEFT JOIN audit_bodies b ON b.node = a.node AND b.seq = a.seq"
    } else {
        "SELECT a.*, n.node AS node_name FROM audit a LEFT JOIN audit_nodes n ON n.id = a.node"
    })
}

pub(super) fn narrow(query: &mut QueryBuilder<Database>, filter: &AuditFilter) {
    if let Some(since) = filter.since {
        query.push(" AND a.time_us >= ").push_bind(since.get());
    }
    if let Some(until) = filter.until {
        query.push(" AND a.time_us < ").push_bind(until.get());
    }
    if let Some(id) = filter.id {
        query.push(" AND a.id = ").push_bind(id);
    }
    if let Some(node) = &filter.node {
        query.push(" AND n.node = ").push_bind(kept(node).into_owned());
    }
    if let Some(pack) = &filter.pack {
        // Canonical names of a pack are those between `pack.` and `pack/`, the character after the dot.
        query.push(" AND a.canonical >= ").push_bind(kept(&format!("{pack}.")).into_owned());
        query.push(" AND a.canonical < ").push_bind(kept(&format!("{pack}/")).into_owned());
    }
    let texts = [
        (" AND a.canonical = ", &filter.tool),
        (" AND a.caller = ", &filter.caller),
        (" AND a.session = ", &filter.session),
        (" AND a.task = ", &filter.task),
    ];
    for (condition, text) in texts {
        if let Some(text) = text {
            query.push(condition).push_bind(kept(text).into_owned());
        }
    }
    match (filter.rows, filter.outcome) {
        (true, _) => {}
        (false, None) => {
            query.push(
                " AND (a.outcome <> 'intent' OR EXISTS (SELECT 1 FROM audit_open o WHERE o.node = a.node AND o.id = a.id))",
            );
        }
        (false, Some(Outcome::Intent)) => {
            query.push(" AND (a.node, a.seq) IN (SELECT o.node, o.seq FROM audit_open o)");
        }
        (false, Some(_)) => {}
    }
    // Words of our own, spelled out so that the planner sees which part of a partial index they are in.
    if let Some(verdict) = filter.verdict {
        query.push(format_args!(" AND a.verdict = '{}'", verdict.as_str()));
    }
    if let Some(outcome) = filter.outcome {
        query.push(format_args!(" AND a.outcome = '{}'", outcome.as_str()));
    }
}

/// One row as it was written, or what about it cannot be.
fn entry(row: &PgRow, with_bodies: bool) -> Result<AuditEntry, String> {
    let link = Link {
        seq: unsigned(row, "seq").map_err(text)?,
        prev: bytes(row, "prev")?.ok_or("`prev` is empty")?,
        hash: bytes(row, "hash")?.ok_or("`hash` is empty")?,
        arguments_body: bytes(row, "arguments_body")?,
        result_body: bytes(row, "result_body")?,
    };
    let node = shared(row, "node_name")?.ok_or("its node is not known")?;
    let bodies = if with_bodies { bodies(row)? } else { None };
    Ok(AuditEntry { node, link, record: record(row, bodies)? })
}

fn record(row: &PgRow, bodies: Option<Box<Bodies>>) -> Result<AuditRecord, String> {
    let outcome: &str = get(row, "outcome")?;
    Ok(AuditRecord {
        id: get::<Uuid>(row, "id")?,
        time: Micros::new(get(row, "time_us")?),
        caller: shared(row, "caller")?,
        session: shared(row, "session")?,
        era: few(row, "era")?,
        transport: few(row, "transport")?,
        called: shared(row, "called")?.ok_or("`called` is empty")?,
        tool: tool(row)?,
        task: shared(row, "task")?,
        verdict: verdict(row)?,
        reasons: shared(row, "reasons")?,
        rules: shared(row, "rules")?,
        policy: shared(row, "policy")?,
        grant: shared(row, "grant_id")?,
        judged: shared(row, "judged")?,
        arguments: bytes(row, "arguments")?.map(ArgumentDigest::from_bytes),
        arguments_size: get::<Option<i64>>(row, "arguments_size")?.map(i64::cast_unsigned),
        result: result(row)?,
        result_size: get::<Option<i64>>(row, "result_size")?.map(i64::cast_unsigned),
        outcome: Outcome::parse(outcome).ok_or_else(|| format!("`{outcome}` is no outcome"))?,
        code: shared(row, "code")?,
        timings: timings(row)?,
        trace: bytes(row, "trace")?,
        bodies,
    })
}

fn tool(row: &PgRow) -> Result<Option<AuditTool>, String> {
    let mark = bytes(row, "mark")?.map(Mark::from_bytes);
    let definition = bytes(row, "definition")?.map(DefinitionDigest::from_bytes);
    match (shared(row, "canonical")?, mark, definition) {
        (None, None, None) => Ok(None),
        (Some(canonical), Some(mark), Some(definition)) => Ok(Some(AuditTool { canonical, mark, definition })),
        _ => Err("part of the tool is missing".into()),
    }
}

fn verdict(row: &PgRow) -> Result<Option<Decision>, String> {
    read_verdict(get::<Option<&str>>(row, "verdict")?)
}

pub(super) fn read_verdict(word: Option<&str>) -> Result<Option<Decision>, String> {
    let known = [Decision::Allow, Decision::Ask, Decision::Deny];
    match word {
        None => Ok(None),
        Some(word) => known
            .into_iter()
            .find(|decision| decision.as_str() == word)
            .map(Some)
            .ok_or_else(|| format!("`{word}` is no verdict")),
    }
}

fn timings(row: &PgRow) -> Result<Timings, String> {
    let stages: &str = get(row, "stages_ns")?;
    let read: [u64; 7] = serde_json::from_str(stages).map_err(|_| "`stages_ns` is no list of seven numbers")?;
    Ok(Timings::from_stages(read, unsigned(row, "total_ns").map_err(text)?))
}

fn bodies(row: &PgRow) -> Result<Option<Box<Bodies>>, String> {
    let bodies = Bodies { arguments: shared(row, "arguments_text")?, result: shared(row, "result_text")? };
    Ok((bodies != Bodies::default()).then(|| Box::new(bodies)))
}

fn bytes<const N: usize>(row: &PgRow, column: &str) -> Result<Option<[u8; N]>, String> {
    match get::<Option<&[u8]>>(row, column)? {
        None => Ok(None),
        Some(bytes) => bytes.try_into().map(Some).map_err(|_| format!("`{column}` has {} bytes, not {N}", bytes.len())),
    }
}

fn result(row: &PgRow) -> Result<Option<ResultDigest>, String> {
    let wrong = |length: usize| format!("`result` has {length} bytes, which is no digest");
    get::<Option<&[u8]>>(row, "result")?
        .map(|bytes| ResultDigest::from_kept(bytes).ok_or_else(|| wrong(bytes.len())))
        .transpose()
}

/// One of few texts, as another version of this program may have written it.
fn few(row: &PgRow, column: &str) -> Result<Option<Cow<'static, str>>, String> {
    Ok(shared(row, column)?.map(|text| Cow::Owned(text.to_string())))
}

fn shared(row: &PgRow, column: &str) -> Result<Option<Arc<str>>, String> {
    match get::<Option<&str>>(row, column)? {
        None => Ok(None),
        Some(text) => given(text).map(|text| Some(text.into())).ok_or_else(|| format!("`{column}` is no text of ours")),
    }
}

fn get<'r, T: sqlx::Decode<'r, Database> + sqlx::Type<Database>>(row: &'r PgRow, column: &str) -> Result<T, String> {
    row.try_get(column).map_err(text)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn text(error: sqlx::Error) -> String {
    error.to_string()
}
