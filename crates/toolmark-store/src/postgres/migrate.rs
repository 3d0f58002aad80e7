//! From whatever version a database has to the newest, forward only. Each step is one transaction behind a lock that all nodes
//! share, so that several may start at once and a database is never between two versions.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::error::error_at;
use crate::error::{Fault, StoreError};
use crate::location::Location;

/// One step for each version, the same versions as in SQLite. What stands here was released: it is never changed, only added to.
const STEPS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
    include_str!("migrations/0010.sql"),
];

/// The newest version that this program knows.
pub(super) const NEWEST: i64 = STEPS.len() as i64;

/// Whose schema it is, and of which version. Changes nothing.
pub(super) async fn check(connection: &mut PgConnection, place: &Location) -> Result<i64, StoreError> {
    let error = |error: sqlx::Error| error_at(place, &error);
    // What extensions bring along belongs to nobody.
    let sql = "SELECT current_schema() IS NULL AS nowhere, current_setting('server_encoding') AS encoding, \
               EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                       WHERE n.nspname = current_schema() AND c.relname = 'toolmark_store') AS ours, \
               EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                       WHERE n.nspname = current_schema() AND NOT EXISTS \
                       (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')) AS used";
    let row = connection.fetch_one(sql).await.map_err(error)?;
    let is = |column: &str| row.try_get::<bool, _>(column).map_err(error);
    if is("nowhere")? {
        return Err(StoreError::new(place, Fault::Unreachable, "no schema of the `search_path` exists"));
    }
    let encoding: String = row.try_get("encoding").map_err(error)?;
    if encoding != "UTF8" {
        return Err(StoreError::new(place, Fault::Failed, &format!("its encoding is {encoding}, not UTF8")));
    }
    if !is("ours")? {
        let foreign = is("used")?;
        return if foreign { Err(StoreError::new(place, Fault::Foreign, "")) } else { Ok(0) };
    }
    let row = connection.fetch_optional("SELECT version FROM toolmark_store").await.map_err(error)?;
    let version: i64 = row.map_or(Ok(0), |row| row.try_get("version")).map_err(error)?;
    match version {
        newer if newer > NEWEST => Err(StoreError::new(place, Fault::Newer { found: newer, known: NEWEST }, "")),
        wrong if wrong < 1 => Err(StoreError::new(place, Fault::Damaged, &format!("its version is {wrong}"))),
        version => Ok(version),
    }
}

/// Takes all steps that are missing, and returns the version from before.
pub(super) async fn run(connection: &mut PgConnection, place: &Location) -> Result<i64, StoreError> {
    let error = |error: sqlx::Error| error_at(place, &error);
    let before = check(connection, place).await?;
    let mut version = before;
    while version < NEWEST {
        // Others may take the same step, and a step over many rows takes its time.
        let begin = "BEGIN; SET LOCAL lock_timeout = '10min'; \
                     SELECT pg_advisory_xact_lock(hashtextextended('toolmark/migrate/' || current_schema(), 0))";
        let mut transaction = connection.begin_with(begin).await.map_err(error)?;
        // The version counts that is there once the lock is held.
        version = check(&mut transaction, place).await?;
        let Some(step) = usize::try_from(version).ok().and_then(|version| STEPS.get(version)) else { break };
        transaction.execute(sqlx::raw_sql(*step)).await.map_err(error)?;
        version += 1;
        let said = format!("UPDATE toolmark_store SET version = {version}");
        transaction.execute(sqlx::raw_sql(AssertSqlSafe(said))).await.map_err(error)?;
        transaction.commit().await.map_err(error)?;
    }
    Ok(before)
}
