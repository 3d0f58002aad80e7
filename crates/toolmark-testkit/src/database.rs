//! A database of its own for each test, on the server that [`VARIABLE`] names.

use std::str::FromStr as _;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

use crate::postgres::VARIABLE;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// An empty database. It stays when the test ends: the server is thrown away, and what is left over says how a test failed.
#[derive(Clone)]
pub struct Database {
    url: String,
}

impl Database {
    /// Makes a database on the server that the variable names.
    ///
    /// # Panics
    /// When the variable is not set: whoever asks for tests with PostgreSQL says where it is.
    pub async fn new() -> Self {
        let server = std::env::var(VARIABLE);
        let server =
            server.unwrap_or_else(|_| panic!("{VARIABLE} must name a PostgreSQL; `cargo xtask test` starts one"));
        Self::on(&server).await
    }

    /// Makes a database on a server.
    ///
    /// # Panics
    /// When the server does not let us.
    pub async fn on(server: &str) -> Self {
        let mut connection = connect(server).await;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolmark_test_{}_{number}", std::process::id());
        // Left over by a process that had the same number once.
        for sql in [
            format!("DROP DATABASE IF EXISTS {name}"),
            format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0"),
        ] {
            connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect("a user who may make databases");
        }
        connection.close().await.expect("closed");
        let (base, query) = server.split_once('?').map_or((server, None), |(base, query)| (base, Some(query)));
        let host = base.rsplit_once('/').expect("an address with a database").0;
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        Self { url: format!("{host}/{name}{query}") }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs statements in it, as somebody else would.
    ///
    /// # Panics
    /// When they fail.
    pub async fn run(&self, sql: &str) {
        let mut connection = connect(&self.url).await;
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect("it runs");
        connection.close().await.expect("closed");
    }

    /// The number that a query answers, such as how many rows there are.
    ///
    /// # Panics
    /// When it answers none.
    pub async fn number(&self, sql: &str) -> i64 {
        let mut connection = connect(&self.url).await;
        let number = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut connection).await.expect("a number");
        connection.close().await.expect("closed");
        number
    }
}

async fn connect(url: &str) -> PgConnection {
    PgConnectOptions::from_str(url).expect("an address").connect().await.expect("a connection")
}
