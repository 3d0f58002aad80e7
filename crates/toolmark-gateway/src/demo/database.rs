//! The data of the demo: one SQLite database in memory that all its packs share, filled when it is first needed.

use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use serde_json::{Map, Value};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqlitePoolOptions, SqliteRow};
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Executor as _, Row as _, Sqlite, SqlitePool, TypeInfo as _,
    ValueRef as _,
};

use super::outcome::Failure;

const SEED: &str = include_str!("../../demo/seed.sql");
/// More rows than this are not returned, as a query may have no end.
const MOST_ROWS: usize = 1000;
/// Nor is waited longer for one.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many steps of SQLite lie between two looks at the clock.
const STEPS: i32 = 10_000;

/// The database. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pool: SqlitePool,
}

/// The rows that a query gave.
pub(super) struct Rows {
    pub(super) rows: Vec<Value>,
    /// True when there were more.
    pub(super) cut: bool,
}

impl Database {
    pub(super) fn new() -> Self {
        let options = SqliteConnectOptions::new().in_memory(true).foreign_keys(true).disable_statement_logging();
        // Invariant: one connection that is never given up, as it *is* the database.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .acquire_timeout(PATIENCE * 2)
            .after_connect(|connection, _| Box::pin(async move { connection.execute(SEED).await.map(|_| ()) }))
            // Whoever was cancelled, or said BEGIN, leaves a transaction behind. Without one, this is an error that says so.
            .after_release(|connection, _| {
                Box::pin(async move {
                    let _ = connection.execute("ROLLBACK").await;
                    Ok(true)
                })
            })
            .connect_lazy_with(options);
        Self { pool }
    }

    /// Executes whatever it is given, and returns rows.
    pub(super) async fn anything(&self, sql: String) -> Result<Rows, Failure> {
        rows(&mut *self.connection().await?, sql, Vec::new()).await
    }

    /// Executes whatever it is given, and returns how many rows that changed.
    pub(super) async fn change(&self, sql: String) -> Result<i64, Failure> {
        let mut connection = self.connection().await?;
        let total = "SELECT total_changes()";
        let before: i64 = sqlx::query_scalar(total).fetch_one(&mut *connection).await?;
        rows(&mut connection, sql, Vec::new()).await?;
        let after: i64 = sqlx::query_scalar(total).fetch_one(&mut *connection).await?;
        Ok(after - before)
    }

    /// Executes one statement of ours with values, and returns its rows.
    pub(super) async fn ask(&self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Value>, Failure> {
        Ok(rows(&mut *self.connection().await?, sql.to_owned(), values).await?.rows)
    }

    async fn connection(&self) -> Result<PoolConnection<Sqlite>, Failure> {
        let mut connection = self.pool.acquire().await?;
        let end = Instant::now() + PATIENCE;
        connection.lock_handle().await?.set_progress_handler(STEPS, move || Instant::now() < end);
        Ok(connection)
    }
}

async fn rows(connection: &mut sqlx::SqliteConnection, sql: String, values: Vec<Value>) -> Result<Rows, Failure> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        bind(&mut arguments, value)?;
    }
    let mut found = sqlx::query_with(AssertSqlSafe(sql), arguments).persistent(false).fetch(connection);
    let mut rows = Vec::new();
    while let Some(row) = found.try_next().await? {
        if rows.len() == MOST_ROWS {
            return Ok(Rows { rows, cut: true });
        }
        rows.push(object(&row)?);
    }
    Ok(Rows { rows, cut: false })
}

fn bind(arguments: &mut SqliteArguments, value: Value) -> Result<(), Failure> {
    use sqlx::Arguments as _;
    let added = match value {
        Value::String(text) => arguments.add(text),
        Value::Number(number) => arguments.add(number.as_i64()),
        other => arguments.add(other.to_string()),
    };
    added.map_err(|error| Failure::Sql(error.to_string()))
}

/// A row by the names of its columns; of two with the same name, the second gets a number.
fn object(row: &SqliteRow) -> Result<Value, Failure> {
    let mut object = Map::new();
    for (at, column) in row.columns().iter().enumerate() {
        let mut name = column.name().to_owned();
        let mut number = 2;
        while object.contains_key(&name) {
            name = format!("{}_{number}", column.name());
            number += 1;
        }
        object.insert(name, value(row, at)?);
    }
    Ok(Value::Object(object))
}

fn value(row: &SqliteRow, at: usize) -> Result<Value, Failure> {
    let raw = row.try_get_raw(at)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    // By what the value is, not by what its column was declared as: SQLite holds anything anywhere.
    Ok(match raw.type_info().name() {
        "INTEGER" => row.try_get_unchecked::<i64, _>(at)?.into(),
        "REAL" => row.try_get_unchecked::<f64, _>(at)?.into(),
        "BLOB" => {
            let bytes: Vec<u8> = row.try_get_unchecked(at)?;
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
        }
        _ => String::from_utf8_lossy(&row.try_get_unchecked::<Vec<u8>, _>(at)?).into_owned().into(),
    })
}
