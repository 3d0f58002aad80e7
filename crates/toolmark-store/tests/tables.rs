//! Whatever a store holds is taken along: every table and every column of both back ends is in the list, or left out on purpose.

use std::collections::BTreeSet;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _, Row as _};
use tempfile::TempDir;
use toolmark_store::transfer::TABLES;
use toolmark_store::{Location, Micros, Settings, Store};

/// Numbers that a database gives by itself and that other columns stand for, and names that would be in the way of `kind`.
const STOOD_FOR: &[(&str, &str)] = &[
    ("name_scopes", "id"),
    ("names", "scope"),
    ("definitions", "kind"),
    ("definition_history", "id"),
    ("definition_history", "kind"),
    ("audit_nodes", "id"),
    ("audit", "position"),
    ("audit", "kind"),
    ("audit_bodies", "position"),
];

/// Secrets, what says which version the store has, who lives, and the parts of which the view `audit` is made.
const LEFT_OUT: &[&str] =
    &["secrets", "toolmark_store", "audit_kinds", "audit_rows", "audit_details", "audit_seen", "node_leases"];

fn compare(found: &[(String, String)]) {
    let tables: BTreeSet<&str> = found.iter().map(|(table, _)| table.as_str()).collect();
    assert!(TABLES.iter().all(|table| tables.contains(table.name)), "{tables:?}");
    for (table, column) in found {
        let stood_for = STOOD_FOR.contains(&(table.as_str(), column.as_str()));
        let listed = TABLES.iter().find(|listed| listed.name == table);
        let known = listed.is_some_and(|listed| listed.columns.iter().any(|known| known.name == column));
        let left_out = LEFT_OUT.contains(&table.as_str());
        assert!(stood_for || known || left_out, "`{column}` of `{table}` is in no export");
    }
}

#[tokio::test]
async fn every_table_of_sqlite_is_taken_along() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let store = Store::open(&Location::File(path.clone()), &Settings::new(|| Micros::new(0))).await.expect("a store");
    store.close().await.expect("closed");
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
    let sql = "SELECT m.name AS of, c.name AS it FROM sqlite_schema m, pragma_table_info(m.name) c \
               WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite%'";
    let rows = connection.fetch_all(sql).await.expect("columns");
    compare(&rows.iter().map(|row| (row.get("of"), row.get("it"))).collect::<Vec<_>>());
}

#[tokio::test]
#[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
async fn every_table_of_postgres_is_taken_along() {
    let database = toolmark_testkit::Database::new().await;
    let location = Location::parse(database.url()).expect("an address");
    Store::open(&location, &Settings::new(|| Micros::new(0))).await.expect("a store");
    let pool = sqlx::PgPool::connect(database.url()).await.expect("a connection");
    let sql =
        "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public'";
    let rows = sqlx::query(sql).fetch_all(&pool).await.expect("columns");
    compare(&rows.iter().map(|row| (row.get(0), row.get(1))).collect::<Vec<_>>());
}
