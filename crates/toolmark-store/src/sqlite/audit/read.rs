//! Reading back: pages of records that match, and pages of a chain.

use std::borrow::Cow;
use std::sync::Arc;

use sqlx::sqlite::SqliteRow;
use sqlx::{Executor as _, QueryBuilder, Row as _, Sqlite as Database};
use toolmark_core::digest::{ArgumentDigest, DefinitionDigest, Mark};
use toolmark_core::verdict::Decision;
use uuid::Uuid;

use super::append::{signed, unsigned};
use crate::audit::{
    AuditCall, AuditCursor, AuditEntry, AuditFilter, AuditRecord, AuditTool, Bodies, Chain, ChainRow, Head, Link,
    Order, Outcome, ResultDigest, Timings,
};
use crate::error::StoreError;
use crate::sqlite::Sqlite;
use crate::time::Micros;

impl Sqlite {
    pub(in crate::sqlite) async fn load_page(
        &self,
        filter: &AuditFilter,
        order: Order,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<(AuditCursor, AuditEntry)>, StoreError> {
        // Ids have no index, but begin with the time: a call is looked for where most calls end, and everywhere only if it is not there.
        if let Some(near) = nearby(filter) {
            let found = Box::pin(self.load_page(&near, order, after, limit)).await?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let mut found = Vec::new();
        for stretch in self.stretches(filter, order, after).await? {
            let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
            if left == 0 {
                break;
            }
            found.extend(self.load_stretch(&stretch, order, after, left).await?);
        }
        Ok(found)
    }

    async fn load_stretch(
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
        query.push(" LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        let read = |row: &SqliteRow| {
            let position = self.column(row, "position")?;
            let entry = entry(row, filter.bodies).map_err(|detail| self.unreadable(&detail))?;
            Ok((AuditCursor { time: entry.record.time, position }, entry))
        };
        rows.iter().map(read).collect()
    }

    pub(in crate::sqlite) async fn load_calls(
        &self,
        filter: &AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<(AuditCursor, AuditCall)>, StoreError> {
        let mut found = Vec::new();
        for stretch in self.stretches(filter, Order::Oldest, after).await? {
            let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
            if left == 0 {
                break;
            }
            found.extend(self.load_calls_of(&stretch, after, left).await?);
        }
        Ok(found)
    }

    async fn load_calls_of(
        &self,
        filter: &AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<(AuditCursor, AuditCall)>, StoreError> {
        let mut query = QueryBuilder::new(
            "SELECT a.position, a.id, a.time_us, a.caller, a.session, a.canonical, a.definition, a.task, a.verdict, a.code, a.rules, \
             a.judged, a.outcome, a.arguments",
        );
        query.push(if filter.bodies { ", b.arguments FROM audit a" } else { " FROM audit a" });
        if filter.node.is_some() {
            query.push(" JOIN audit_nodes n ON n.id = a.node");
        }
        if filter.bodies {
            query.push(" LEFT JOIN audit_bodies b ON b.position = a.position");
        }
        query.push(" WHERE TRUE");
        narrow(&mut query, filter);
        if let Some(after) = after {
            query.push(" AND (a.time_us, a.position) > (").push_bind(after.time.get());
            query.push(", ").push_bind(after.position).push(")");
        }
        query.push(" ORDER BY a.time_us, a.position LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| call(row, filter.bodies).map_err(|detail| self.unreadable(&detail))).collect()
    }

    pub(in crate::sqlite) async fn load_chains(&self) -> Result<Vec<Chain>, StoreError> {
        let sql = "SELECT node, head_seq, head_hash, checkpoint_seq, checkpoint_hash FROM audit_nodes ORDER BY node";
        let rows = self.readers.fetch_all(sql).await.map_err(|error| self.error(&error))?;
        let chain = |row: &SqliteRow| {
            Ok(Chain {
                node: self.column::<&str>(row, "node")?.into(),
                checkpoint: Head {
                    seq: self.count(row, "checkpoint_seq")?,
                    hash: self.digest(row, "checkpoint_hash")?,
                },
                head: Head { seq: self.count(row, "head_seq")?, hash: self.digest(row, "head_hash")? },
            })
        };
        rows.iter().map(chain).collect()
    }

    pub(in crate::sqlite) async fn load_open(&self, node: &str) -> Result<Vec<AuditEntry>, StoreError> {
        let mut query = select(true);
        query
            .push(" JOIN audit_open o ON a.position = (o.node << 40) | o.seq WHERE n.node = ")
            .push_bind(node.to_owned());
        query.push(" ORDER BY a.seq");
        let rows = query.build().fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| entry(row, true).map_err(|detail| self.unreadable(&detail))).collect()
    }

    pub(in crate::sqlite) async fn load_chain_page(
        &self,
        node: &str,
        after: u64,
        limit: u32,
    ) -> Result<Vec<ChainRow>, StoreError> {
        let mut query = select(true);
        // Positions of a chain are those between its node's and the next node's.
        query.push(" JOIN (SELECT id FROM audit_nodes WHERE node = ").push_bind(node.to_owned());
        query.push(") this WHERE a.position > ((this.id << 40) | ").push_bind(signed(after));
        query.push(") AND a.position < ((this.id + 1) << 40) ORDER BY a.position LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&self.readers).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| Ok(ChainRow { seq: self.count(row, "seq")?, entry: entry(row, true) })).collect()
    }
}

/// A call in the columns of `load_calls`, by their places: there may be millions.
fn call(row: &SqliteRow, with_body: bool) -> Result<(AuditCursor, AuditCall), String> {
    let text = |at: usize| Ok::<_, String>(at_place::<Option<&str>>(row, at)?.map(Arc::from));
    let definition: Option<[u8; 32]> = bytes_at(row, 6)?;
    let outcome: &str = at_place(row, 12)?;
    let call = AuditCall {
        id: Uuid::from_bytes(bytes_at(row, 1)?.ok_or("`id` is empty")?),
        time: Micros::new(at_place(row, 2)?),
        caller: text(3)?,
        session: text(4)?,
        tool: text(5)?.zip(definition.map(DefinitionDigest::from_bytes)),
        task: text(7)?,
        verdict: read_verdict(at_place(row, 8)?)?,
        code: text(9)?,
        rules: text(10)?,
        judged: text(11)?,
        outcome: Outcome::parse(outcome).ok_or_else(|| format!("`{outcome}` is no outcome"))?,
        arguments: bytes_at(row, 13)?.map(ArgumentDigest::from_bytes),
        body: if with_body { text(14)? } else { None },
    };
    Ok((AuditCursor { time: call.time, position: at_place(row, 0)? }, call))
}

fn at_place<'r, T: sqlx::Decode<'r, Database> + sqlx::Type<Database>>(
    row: &'r SqliteRow,
    at: usize,
) -> Result<T, String> {
    row.try_get(at).map_err(text)
}

fn bytes_at<const N: usize>(row: &SqliteRow, at: usize) -> Result<Option<[u8; N]>, String> {
    match at_place::<Option<&[u8]>>(row, at)? {
        None => Ok(None),
        Some(bytes) => bytes.try_into().map(Some).map_err(|_| format!("a digest has {} bytes, not {N}", bytes.len())),
    }
}

/// The same question about the minutes after an id was made; nothing where that is what is asked already.
fn nearby(filter: &AuditFilter) -> Option<AuditFilter> {
    const SLACK: i64 = 60_000_000;
    const USUAL: i64 = 600_000_000;
    if filter.since.is_some() || filter.until.is_some() {
        return None;
    }
    let (seconds, nanos) = filter.id?.get_timestamp()?.to_unix();
    let made = i64::try_from(seconds).ok()?.checked_mul(1_000_000)?.checked_add(i64::from(nanos / 1000))?;
    let around = |by: i64| made.checked_add(by).map(Micros::new);
    Some(AuditFilter { since: Some(around(-SLACK)?), until: Some(around(USUAL)?), ..filter.clone() })
}

fn select(bodies: bool) -> QueryBuilder<Database> {
    let mut query = QueryBuilder::new("SELECT a.*, n.node AS node_name");
    if bodies {
        query.push(", b.arguments AS arguments_text, b.result AS result_text");
    }
    query.push(" FROM audit a LEFT JOIN audit_nodes n ON n.id = a.node");
    if bodies {
        query.push(" LEFT JOIN audit_bodies b ON b.position = a.position");
    }
    query
}

fn narrow(query: &mut QueryBuilder<Database>, filter: &AuditFilter) {
    if let Some(since) = filter.since {
        query.push(" AND a.time_us >= ").push_bind(since.get());
    }
    if let Some(until) = filter.until {
        query.push(" AND a.time_us < ").push_bind(until.get());
    }
    if let Some(id) = filter.id {
        query.push(" AND a.id = ").push_bind(id.as_bytes().to_vec());
    }
    if let Some(node) = &filter.node {
        query.push(" AND n.node = ").push_bind(node.clone());
    }
    if let Some(pack) = &filter.pack {
        // Canonical names of a pack are those between `pack.` and `pack/`, the character after the dot.
        query.push(" AND a.canonical >= ").push_bind(format!("{pack}."));
        query.push(" AND a.canonical < ").push_bind(format!("{pack}/"));
    }
    let texts = [
        (" AND a.canonical = ", &filter.tool),
        (" AND a.caller = ", &filter.caller),
        (" AND a.session = ", &filter.session),
        (" AND a.task = ", &filter.task),
    ];
    for (condition, text) in texts {
        if let Some(text) = text {
            query.push(condition).push_bind(text.clone());
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
            query.push(" AND a.position IN (SELECT (o.node << 40) | o.seq FROM audit_open o)");
        }
        (false, Some(_)) => {}
    }
    if let Some(verdict) = filter.verdict {
        query.push(" AND a.verdict = ").push_bind(verdict.as_str());
    }
    if let Some(outcome) = filter.outcome {
        query.push(" AND a.outcome = ").push_bind(outcome.as_str());
    }
}

/// One row as it was written, or what about it cannot be.
fn entry(row: &SqliteRow, with_bodies: bool) -> Result<AuditEntry, String> {
    let link = Link {
        seq: unsigned(row, "seq").map_err(text)?,
        prev: bytes(row, "prev")?.ok_or("`prev` is empty")?,
        hash: bytes(row, "hash")?.ok_or("`hash` is empty")?,
        arguments_body: bytes(row, "arguments_body")?,
        result_body: bytes(row, "result_body")?,
    };
    let node: &str = get(row, "node_name")?;
    let bodies = if with_bodies { bodies(row)? } else { None };
    Ok(AuditEntry { node: node.into(), link, record: record(row, bodies)? })
}

fn record(row: &SqliteRow, bodies: Option<Box<Bodies>>) -> Result<AuditRecord, String> {
    let outcome: &str = get(row, "outcome")?;
    Ok(AuditRecord {
        id: Uuid::from_bytes(bytes(row, "id")?.ok_or("`id` is empty")?),
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

fn tool(row: &SqliteRow) -> Result<Option<AuditTool>, String> {
    let mark = bytes(row, "mark")?.map(Mark::from_bytes);
    let definition = bytes(row, "definition")?.map(DefinitionDigest::from_bytes);
    match (shared(row, "canonical")?, mark, definition) {
        (None, None, None) => Ok(None),
        (Some(canonical), Some(mark), Some(definition)) => Ok(Some(AuditTool { canonical, mark, definition })),
        _ => Err("part of the tool is missing".into()),
    }
}

fn verdict(row: &SqliteRow) -> Result<Option<Decision>, String> {
    read_verdict(get::<Option<&str>>(row, "verdict")?)
}

fn read_verdict(word: Option<&str>) -> Result<Option<Decision>, String> {
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

fn timings(row: &SqliteRow) -> Result<Timings, String> {
    let stages: &str = get(row, "stages_ns")?;
    let read: [u64; 7] = serde_json::from_str(stages).map_err(|_| "`stages_ns` is no list of seven numbers")?;
    Ok(Timings::from_stages(read, unsigned(row, "total_ns").map_err(text)?))
}

fn bodies(row: &SqliteRow) -> Result<Option<Box<Bodies>>, String> {
    let bodies = Bodies { arguments: shared(row, "arguments_text")?, result: shared(row, "result_text")? };
    Ok((bodies != Bodies::default()).then(|| Box::new(bodies)))
}

fn bytes<const N: usize>(row: &SqliteRow, column: &str) -> Result<Option<[u8; N]>, String> {
    match get::<Option<&[u8]>>(row, column)? {
        None => Ok(None),
        Some(bytes) => bytes.try_into().map(Some).map_err(|_| format!("`{column}` has {} bytes, not {N}", bytes.len())),
    }
}

fn result(row: &SqliteRow) -> Result<Option<ResultDigest>, String> {
    let wrong = |length: usize| format!("`result` has {length} bytes, which is no digest");
    get::<Option<&[u8]>>(row, "result")?
        .map(|bytes| ResultDigest::from_kept(bytes).ok_or_else(|| wrong(bytes.len())))
        .transpose()
}

/// One of few texts, as another version of this program may have written it.
fn few(row: &SqliteRow, column: &str) -> Result<Option<Cow<'static, str>>, String> {
    Ok(shared(row, column)?.map(|text| Cow::Owned(text.to_string())))
}

fn shared(row: &SqliteRow, column: &str) -> Result<Option<Arc<str>>, String> {
    Ok(get::<Option<&str>>(row, column)?.map(Into::into))
}

fn get<'r, T: sqlx::Decode<'r, Database> + sqlx::Type<Database>>(
    row: &'r SqliteRow,
    column: &str,
) -> Result<T, String> {
    row.try_get(column).map_err(text)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn text(error: sqlx::Error) -> String {
    error.to_string()
}
