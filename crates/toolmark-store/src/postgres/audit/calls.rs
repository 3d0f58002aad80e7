//! Calls as they are judged again, by the places of their columns: there may be millions.

use std::sync::Arc;

use sqlx::postgres::PgRow;
use sqlx::{Postgres as Database, QueryBuilder, Row as _};
use toolmark_core::digest::{ArgumentDigest, DefinitionDigest};

use super::read::{narrow, read_verdict};
use crate::audit::{AuditCall, AuditCursor, AuditFilter, Outcome};
use crate::error::StoreError;
use crate::postgres::Postgres;
use crate::postgres::text::given;
use crate::time::Micros;

impl Postgres {
    pub(in crate::postgres) async fn load_calls(
        &self,
        filter: &AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<(AuditCursor, AuditCall)>, StoreError> {
        let mut query = QueryBuilder::new(
            "SELECT a.position, a.id, a.time_us, a.caller, a.session, a.canonical, a.definition, a.task, a.verdict, a.code, \
             a.rules, a.judged, a.outcome, a.arguments",
        );
        query.push(if filter.bodies { ", b.arguments FROM audit a" } else { " FROM audit a" });
        if filter.node.is_some() {
            query.push(" JOIN audit_nodes n ON n.id = a.node");
        }
        if filter.bodies {
            query.push(" LEFT JOIN audit_bodies b ON b.node = a.node AND b.seq = a.seq");
        }
        query.push(" WHERE TRUE");
        narrow(&mut query, filter);
        if let Some(after) = after {
            query.push(" AND (a.time_us, a.position) > (").push_bind(after.time.get());
            query.push(", ").push_bind(after.position).push(")");
        }
        query.push(" ORDER BY a.time_us, a.position LIMIT ").push_bind(i64::from(limit));
        let rows = query.build().fetch_all(&self.pool).await.map_err(|error| self.error(&error))?;
        rows.iter().map(|row| call(row, filter.bodies).map_err(|detail| self.unreadable(&detail))).collect()
    }
}

fn call(row: &PgRow, with_body: bool) -> Result<(AuditCursor, AuditCall), String> {
    let definition: Option<[u8; 32]> = bytes(row, 6)?;
    let outcome: &str = at(row, 12)?;
    let call = AuditCall {
        id: at(row, 1)?,
        time: Micros::new(at(row, 2)?),
        caller: text(row, 3)?,
        session: text(row, 4)?,
        tool: text(row, 5)?.zip(definition.map(DefinitionDigest::from_bytes)),
        task: text(row, 7)?,
        verdict: read_verdict(at(row, 8)?)?,
        code: text(row, 9)?,
        rules: text(row, 10)?,
        judged: text(row, 11)?,
        outcome: Outcome::parse(outcome).ok_or_else(|| format!("`{outcome}` is no outcome"))?,
        arguments: bytes(row, 13)?.map(ArgumentDigest::from_bytes),
        body: if with_body { text(row, 14)? } else { None },
    };
    Ok((AuditCursor { time: call.time, position: at(row, 0)? }, call))
}

fn at<'r, T: sqlx::Decode<'r, Database> + sqlx::Type<Database>>(row: &'r PgRow, place: usize) -> Result<T, String> {
    row.try_get(place).map_err(|error| error.to_string())
}

fn text(row: &PgRow, place: usize) -> Result<Option<Arc<str>>, String> {
    match at::<Option<&str>>(row, place)? {
        None => Ok(None),
        Some(kept) => given(kept).map(|text| Some(text.into())).ok_or_else(|| "a text is none of ours".to_owned()),
    }
}

fn bytes(row: &PgRow, place: usize) -> Result<Option<[u8; 32]>, String> {
    match at::<Option<&[u8]>>(row, place)? {
        None => Ok(None),
        Some(bytes) => bytes.try_into().map(Some).map_err(|_| format!("a digest has {} bytes, not 32", bytes.len())),
    }
}
