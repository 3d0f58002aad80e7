//! Everything out of PostgreSQL and into it, in one transaction each.

use std::fmt::Write as _;

use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments as _, AssertSqlSafe, Executor as _, Row as _};
use tokio::sync::mpsc;
use toolmark_core::text::visible;
use uuid::Uuid;

use super::text::{given, kept};
use super::{Postgres, Survives, Writing};
use crate::error::StoreError;
use crate::transfer::{Cell, Part, Row, Rows, Shape, TABLES, Table, Taken};
use crate::watch::Change;

impl Postgres {
    /// Sends every row, as of one moment. Ends early when nobody takes them.
    pub(super) async fn send_all(&self, out: mpsc::Sender<(&'static Table, Row)>) -> Result<(), StoreError> {
        let begun = self.pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await;
        let mut transaction = begun.map_err(|error| self.error(&error))?;
        for table in TABLES {
            let mut rows = sqlx::query(table.select.postgres()).fetch(&mut *transaction);
            while let Some(row) = rows.try_next().await.map_err(|error| self.error(&error))? {
                if out.send((table, self.cells(table, &row)?)).await.is_err() {
                    return Ok(());
                }
            }
        }
        self.commit(transaction).await
    }

    fn cells(&self, table: &Table, row: &PgRow) -> Result<Row, StoreError> {
        let cell = |(at, column): (usize, &crate::transfer::Column)| {
            let read = match column.shape {
                Shape::Text => row.try_get::<Option<&str>, _>(at).map(|text| match text.map(given) {
                    None => Some(None),
                    Some(given) => given.map(|text| Some(Cell::Text(text.into_owned()))),
                }),
                Shape::Number => row.try_get::<Option<i64>, _>(at).map(|number| Some(number.map(Cell::Number))),
                Shape::Bytes => row.try_get::<Option<Vec<u8>>, _>(at).map(|bytes| Some(bytes.map(Cell::Bytes))),
                Shape::Id => row.try_get::<Option<Uuid>, _>(at).map(|id| Some(id.map(Cell::Id))),
            };
            let read = read.map_err(|error| self.unreadable(&format!("{}: {error}", table.kind)))?;
            let strange = || self.unreadable(&format!("`{}` of a {} is no text of ours", column.name, table.kind));
            read.map(|cell| cell.unwrap_or(Cell::Null)).ok_or_else(strange)
        };
        table.columns.iter().enumerate().map(cell).collect()
    }

    pub(super) async fn take_all(&self, mut parts: mpsc::Receiver<Part>) -> Result<Taken, StoreError> {
        let error = |error: sqlx::Error| self.error(&error);
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        // Nobody writes meanwhile, on whatever node.
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let lock = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", names.join(", "));
        transaction.execute(sqlx::raw_sql(AssertSqlSafe(lock))).await.map_err(error)?;
        for table in TABLES.iter().filter(|table| !table.preset) {
            let query = sqlx::query(AssertSqlSafe(format!("SELECT 1 FROM {} LIMIT 1", table.name)));
            if query.fetch_optional(&mut *transaction).await.map_err(error)?.is_some() {
                return Ok(Taken::NotEmpty(table.kind));
            }
        }
        // A slow reader is no reason to end the transaction.
        transaction.execute("SET LOCAL idle_in_transaction_session_timeout = 0").await.map_err(error)?;
        while let Some(part) = parts.recv().await {
            let rows = match part {
                Part::Rows(rows) => rows,
                Part::End => {
                    self.announce(&mut transaction, Change::Unknown).await?;
                    self.commit(transaction).await?;
                    return Ok(Taken::All);
                }
            };
            if let Some(why) = self.put(&mut transaction, &rows).await? {
                return Ok(Taken::Refused { line: rows.line, why });
            }
        }
        Ok(Taken::Abandoned)
    }

    /// Writes rows; says why they cannot be, where that is their own fault.
    async fn put(&self, transaction: &mut Writing, rows: &Rows) -> Result<Option<String>, StoreError> {
        let mut arguments = PgArguments::default();
        let mut columns = String::new();
        let mut unnest = String::new();
        for (at, column) in rows.table.columns.iter().enumerate() {
            let cells = rows.rows.iter().filter_map(|row| row.get(at));
            let (added, kind) = match column.shape {
                Shape::Text => (arguments.add(cells.map(text).collect::<Vec<_>>()), "text"),
                Shape::Number => (arguments.add(cells.map(number).collect::<Vec<_>>()), "bigint"),
                Shape::Bytes => (arguments.add(cells.map(bytes).collect::<Vec<_>>()), "bytea"),
                Shape::Id => (arguments.add(cells.map(id).collect::<Vec<_>>()), "uuid"),
            };
            added.map_err(|error| self.error(&sqlx::Error::Encode(error)))?;
            // Writing to memory cannot fail.
            let _ = write!(unnest, "{}${}::{kind}[]", if at == 0 { "" } else { ", " }, at + 1);
            let _ = write!(columns, "{}, ", column.name);
        }
        let source = format!("UNNEST({unnest}) WITH ORDINALITY AS r ({columns}at)");
        let sql = rows.table.insert.postgres().replace("{rows}", &source);
        match sqlx::query_with(AssertSqlSafe(sql), arguments).execute(&mut **transaction).await {
            Ok(done) if done.rows_affected() == rows.rows.len() as u64 => Ok(None),
            Ok(_) => Ok(Some(format!("a {} belongs to something that is not there", rows.table.kind))),
            // Class 23: what the tables do not allow, such as one key twice. 21000: one row twice in one statement.
            Err(sqlx::Error::Database(error))
                if error.code().is_some_and(|code| code.starts_with("23") || code == "21000") =>
            {
                Ok(Some(visible(error.message(), 200)))
            }
            Err(error) => Err(self.error(&error)),
        }
    }
}

fn text(cell: &Cell) -> Option<std::borrow::Cow<'_, str>> {
    if let Cell::Text(text) = cell { Some(kept(text)) } else { None }
}

fn number(cell: &Cell) -> Option<i64> {
    if let Cell::Number(number) = cell { Some(*number) } else { None }
}

fn bytes(cell: &Cell) -> Option<&[u8]> {
    if let Cell::Bytes(bytes) = cell { Some(bytes) } else { None }
}

fn id(cell: &Cell) -> Option<Uuid> {
    if let Cell::Id(id) = cell { Some(*id) } else { None }
}
