//! From whatever version a file has to the newest, forward only, and in one transaction: a file is never between two versions, even if
//! the process is killed half-way.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::error_at;
use crate::error::{Fault, StoreError};
use crate::location::Location;

/// `TMRK`: what makes a SQLite file ours.
pub(super) const APPLICATION_ID: i64 = 0x544d_524b;

/// One step for each version. What stands here was released: it is never changed, only added to.
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

/// What all of them lead to, for a file that is new: renaming and dropping what nobody used takes a while.
const NEW: &[&str] = &[include_str!("migrations/newest.sql")];

/// The newest version that this program knows.
pub(super) const NEWEST: i64 = STEPS.len() as i64;

/// Whose file it is, and of which version. Changes nothing.
pub(super) async fn check(connection: &mut SqliteConnection, place: &Location) -> Result<i64, StoreError> {
    let sql = "SELECT (SELECT application_id FROM pragma_application_id) AS application, \
               (SELECT user_version FROM pragma_user_version) AS version, \
               (SELECT count(*) FROM sqlite_schema) AS objects";
    let row = connection.fetch_one(sql).await.map_err(|error| error_at(place, &error))?;
    let number = |column: &str| row.try_get::<i64, _>(column).map_err(|error| error_at(place, &error));
    let (application, version, objects) = (number("application")?, number("version")?, number("objects")?);
    if application == 0 && version == 0 && objects == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        return Err(StoreError::new(place, Fault::Foreign, ""));
    }
    if version > NEWEST {
        return Err(StoreError::new(place, Fault::Newer { found: version, known: NEWEST }, ""));
    }
    if version < 1 {
        return Err(StoreError::new(place, Fault::Damaged, &format!("its version is {version}")));
    }
    Ok(version)
}

/// Takes all steps that are missing, in one transaction: what waits for the disk is its end.
pub(super) async fn run(connection: &mut SqliteConnection, place: &Location) -> Result<(), StoreError> {
    let error = |error: sqlx::Error| error_at(place, &error);
    let mut transaction = connection.begin_with("PRAGMA synchronous = FULL; BEGIN IMMEDIATE").await.map_err(error)?;
    // Another process may have taken them: the version counts that is there once the lock is held.
    let version = check(&mut transaction, place).await?;
    let missing = match usize::try_from(version) {
        Ok(0) => NEW,
        Ok(version) => STEPS.get(version..).unwrap_or_default(),
        Err(_) => &[],
    };
    if missing.is_empty() {
        return Ok(());
    }
    for step in missing {
        transaction.execute(sqlx::raw_sql(*step)).await.map_err(error)?;
    }
    let header = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {NEWEST}");
    transaction.execute(sqlx::raw_sql(AssertSqlSafe(header))).await.map_err(error)?;
    transaction.commit().await.map_err(error)
}
