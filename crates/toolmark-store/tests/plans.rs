//! Ten million rows later, a question about a few of them must not read all: SQLite is asked how it would look for each.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, Row as _};
use tempfile::TempDir;
use toolmark_store::{Location, Micros, Settings, Store};

#[tokio::test]
async fn what_is_rare_is_found_by_an_index_and_needs_no_sorting() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let store = Store::open(&Location::File(path.clone()), &Settings::new(|| Micros::new(0))).await.expect("a store");
    store.close().await.expect("closed");
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
    let cases = [
        ("a.caller = 'me'", "audit_time"),
        ("a.canonical = 'github.create'", "audit_time"),
        ("a.time_us >= 5 AND a.time_us < 9", "audit_time"),
        ("TRUE", "audit_time"),
        (
            "(a.outcome <> 'intent' OR EXISTS (SELECT 1 FROM audit_open o WHERE o.node = a.node AND o.id = a.id))",
            "audit_time",
        ),
        ("a.position > 5 AND a.position < 9", "INTEGER PRIMARY KEY"),
    ];
    for (condition, index) in cases {
        for order in ["DESC", "ASC"] {
            let by_place = format!("a.position {order}");
            let by_time = format!("a.time_us {order}, a.position {order}");
            let ordered = if index == "audit_time" { by_time } else { by_place };
            let sql = format!(
                "EXPLAIN QUERY PLAN SELECT a.*, n.node AS node_name FROM audit a LEFT JOIN audit_nodes n ON n.id = a.node \
                 WHERE TRUE AND {condition} ORDER BY {ordered} LIMIT 10"
            );
            let rows = connection.fetch_all(sqlx::query(AssertSqlSafe(sql))).await.expect("a plan");
            let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            assert!(plan.iter().any(|step| step.contains(index)), "{condition}: {plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{condition} is sorted: {plan:?}");
        }
    }
}
