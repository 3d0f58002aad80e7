//! Everything out of SQLite and into it, in one transaction each.

use std::fmt::Write as _;

use futures_util::TryStreamExt as _;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, AssertSqlSafe, Executor as _, Row as _};
use tokio::sync::mpsc;
use toolmark_core::text::visible;
use uuid::Uuid;

use super::{Sqlite, Survives, Writing};
use crate::error::StoreError;
use crate::transfer::{Cell, Part, Row, Rows, Shape, TABLES, Table, Taken};

impl Sqlite {
    /// Sends every row, as of one moment. Ends early when nobody takes them.
    pub(super) async fn send_all(&self, out: mpsc::Sender<(&'static Table, Row)>) -> Result<(), StoreError> {
        let mut connection = self.readers.acquire().await.map_err(|error| self.error(&error))?;
        connection.execute("BEGIN").await.map_err(|error| self.error(&error))?;
        for table in TABLES {
            let mut rows = sqlx::query(table.select.sqlite()).fetch(&mut *connection);
            while let Some(row) = rows.try_next().await.map_err(|error| self.error(&error))? {
                if out.send((table, self.cells(table, &row)?)).await.is_err() {
                    return Ok(());
                }
            }
        }
        connection.execute("COMMIT").await.map(|_| ()).map_err(|error| self.error(&error))
    }

    fn cells(&self, table: &Table, row: &SqliteRow) -> Result<Row, StoreError> {
        let cell = |(at, column): (usize, &crate::transfer::Column)| {
            let read = match column.shape {
                Shape::Text => row.try_get::<Option<String>, _>(at).map(|text| text.map(Cell::Text)),
                Shape::Number => row.try_get::<Option<i64>, _>(at).map(|number| number.map(Cell::Number)),
                Shape::Bytes => row.try_get::<Option<Vec<u8>>, _>(at).map(|bytes| bytes.map(Cell::Bytes)),
                Shape::Id => row.try_get::<Option<Uuid>, _>(at).map(|id| id.map(Cell::Id)),
            };
            read.map(|cell| cell.unwrap_or(Cell::Null))
                .map_err(|error| self.unreadable(&format!("{}: {error}", table.kind)))
        };
        table.columns.iter().enumerate().map(cell).collect()
    }

    pub(super) async fn take_all(&self, mut parts: mpsc::Receiver<Part>) -> Result<Taken, StoreError> {
        let mut transaction = self.begin(Survives::PowerLoss).await?;
        for table in TABLES.iter().filter(|table| !table.preset) {
            let query = sqlx::query(AssertSqlSafe(format!("SELECT 1 FROM {} LIMIT 1", table.name)));
            if query.fetch_optional(&mut *transaction).await.map_err(|error| self.error(&error))?.is_some() {
                return Ok(Taken::NotEmpty(table.kind));
            }
        }
        while let Some(part) = parts.recv().await {
            let rows = match part {
                Part::Rows(rows) => rows,
                Part::End => {
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
        match self.put_by(transaction, rows, rows.table.insert.sqlite()).await {
            Ok(done) if done == rows.rows.len() as u64 => {}
            Ok(_) => return Ok(Some(format!("a {} belongs to something that is not there", rows.table.kind))),
            // Code 19: what the tables do not allow, such as one key twice.
            Err(sqlx::Error::Database(error)) if code(&*error) == 19 => return Ok(Some(visible(error.message(), 200))),
            Err(error) => return Err(self.error(&error)),
        }
        for part in rows.table.parts {
            self.put_by(transaction, rows, part).await.map_err(|error| self.error(&error))?;
        }
        Ok(None)
    }

    /// Writes rows by one statement; says how many it wrote.
    async fn put_by(&self, transaction: &mut Writing, rows: &Rows, statement: &str) -> Result<u64, sqlx::Error> {
        let mut arguments = SqliteArguments::default();
        for cell in rows.rows.iter().flatten() {
            let added = match cell.clone() {
                Cell::Null => arguments.add(None::<i64>),
                Cell::Text(text) => arguments.add(text),
                Cell::Number(number) => arguments.add(number),
                Cell::Bytes(bytes) => arguments.add(bytes),
                Cell::Id(id) => arguments.add(id),
            };
            added.map_err(sqlx::Error::Encode)?;
        }
        let sql = statement.replace("{rows}", &placeholders(rows));
        let done = sqlx::query_with(AssertSqlSafe(sql), arguments).execute(&mut **transaction).await?;
        Ok(done.rows_affected())
    }
}

fn code(error: &dyn sqlx::error::DatabaseError) -> i32 {
    error.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or_default() & 0xff
}

/// `(SELECT column1 AS a, column2 AS b, column3 AS at FROM (VALUES (?, ?, 0), (?, ?, 1))) AS r`
fn placeholders(rows: &Rows) -> String {
    let columns = rows.table.columns;
    let mut sql = "(SELECT ".to_owned();
    // Writing to memory cannot fail.
    for (at, column) in columns.iter().enumerate() {
        let _ = write!(sql, "column{} AS {}, ", at + 1, column.name);
    }
    let _ = write!(sql, "column{} AS at FROM (VALUES ", columns.len() + 1);
    let row = "?, ".repeat(columns.len());
    for at in 0..rows.rows.len() {
        let _ = write!(sql, "{}({row}{at})", if at == 0 { "" } else { ", " });
    }
    sql.push_str(")) AS r");
    sql
}
