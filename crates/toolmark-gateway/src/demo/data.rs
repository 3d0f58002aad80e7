//! The database of the demo: a few believable rows in memory, made when somebody first asks.

use serde_json::{Map, Number, Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Executor as _, Row as _, SqliteConnection, TypeInfo as _,
    ValueRef as _,
};
use tokio::sync::{Mutex, MutexGuard};

/// At most so many rows come back.
const MOST_ROWS: usize = 200;

const ROWS: &str = "
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL);
INSERT INTO users (name, email) VALUES ('Ada', 'ada@example.com'), ('Grace', 'grace@example.com'), ('Edsger', 'edsger@example.com');
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, stock INTEGER NOT NULL);
INSERT INTO products (name, price, stock) VALUES ('Teapot', 24.5, 12), ('Kettle', 39.0, 4), ('Cup', 6.25, 80);
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, product_id INTEGER NOT NULL REFERENCES products, amount INTEGER NOT NULL);
INSERT INTO orders (user_id, product_id, amount) VALUES (1, 1, 1), (1, 3, 4), (2, 2, 1);
CREATE TABLE issues (number INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'open');
INSERT INTO issues (title, body) VALUES ('The kettle drips', 'Seen in three of them.'), ('Search is slow', 'More than 2 s with 10,000 products.'), ('Typo on the start page', '');
CREATE TABLE pages (title TEXT PRIMARY KEY, body TEXT NOT NULL);
INSERT INTO pages VALUES ('Returns', '# Returns' || char(10) || 'Within 30 days.'), ('Shipping', '# Shipping' || char(10) || 'Two days, from the depot.');
CREATE TABLE messages (id TEXT PRIMARY KEY, sender TEXT NOT NULL, recipient TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL);
INSERT INTO messages VALUES ('m1', 'ada@example.com', 'shop@example.com', 'Where is my teapot?', 'Ordered on Monday.'), ('m2', 'grace@example.com', 'shop@example.com', 'Thanks', 'The kettle is fine.');
";

/// One database for all packs of a gateway.
#[derive(Debug, Default)]
pub(super) struct Data(Mutex<Option<SqliteConnection>>);

impl Data {
    async fn open(&self) -> Result<MutexGuard<'_, Option<SqliteConnection>>, sqlx::Error> {
        let mut held = self.0.lock().await;
        if held.is_none() {
            let mut connection = SqliteConnectOptions::new().in_memory(true).connect().await?;
            connection.execute(ROWS).await?;
            *held = Some(connection);
        }
        Ok(held)
    }

    /// Runs statements and gives the rows of the last that has any.
    pub(super) async fn read(&self, sql: &str, values: &[&Value]) -> Result<Vec<Value>, sqlx::Error> {
        let mut held = self.open().await?;
        let Some(connection) = held.as_mut() else { return Ok(Vec::new()) };
        let rows = connection.fetch_all(bound(sql, values)).await?;
        Ok(rows.iter().take(MOST_ROWS).map(to_json).collect())
    }

    /// Runs statements and says how many rows they changed.
    pub(super) async fn write(&self, sql: &str, values: &[&Value]) -> Result<u64, sqlx::Error> {
        let mut held = self.open().await?;
        let Some(connection) = held.as_mut() else { return Ok(0) };
        Ok(connection.execute(bound(sql, values)).await?.rows_affected())
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

fn bound<'q>(sql: &str, values: &[&Value]) -> Query<'q> {
    // The statement of the demo's caller is run as it is: that is what such a server does.
    let mut query = sqlx::query(AssertSqlSafe(sql.to_owned()));
    for value in values {
        query = match value {
            Value::Number(number) => query.bind(number.as_i64()),
            Value::String(text) => query.bind(text.clone()),
            other => query.bind(other.to_string()),
        };
    }
    query
}

fn to_json(row: &SqliteRow) -> Value {
    let cell = |at: usize| -> Value {
        let Ok(raw) = row.try_get_raw(at) else { return Value::Null };
        if raw.is_null() {
            return Value::Null;
        }
        let kind = raw.type_info().name().to_owned();
        match kind.as_str() {
            "INTEGER" | "BOOLEAN" => row.try_get::<i64, _>(at).map_or(Value::Null, Value::from),
            "REAL" => row.try_get::<f64, _>(at).ok().and_then(Number::from_f64).map_or(Value::Null, Value::Number),
            "BLOB" => row.try_get::<Vec<u8>, _>(at).map_or(Value::Null, |bytes| json!({"bytes": bytes.len()})),
            _ => row.try_get::<String, _>(at).map_or(Value::Null, Value::String),
        }
    };
    let columns = row.columns().iter().enumerate();
    columns.map(|(at, column)| (column.name().to_owned(), cell(at))).collect::<Map<_, _>>().into()
}
