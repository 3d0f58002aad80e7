//! Ten million rows later, a question about a few of them must not read all: SQLite is asked how it would look for each.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, Row as _};
use tempfile::TempDir;
use toolmark_store::audit::Outcome;
use toolmark_store::{Location, Micros, Settings, Store};

#[tokio::test]
async fn what_is_rare_is_found_by_an_index_and_needs_no_sorting() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let store = Store::open(&Location::File(path.clone()), &Settings::new(|| Micros::new(0))).await.expect("a store");
    store.close().await.expect("closed");
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
    // Intents are as many as calls that change something; those that are open have a list of their own.
    let rare = Outcome::ALL.iter().filter(|outcome| !matches!(outcome, Outcome::Ok | Outcome::Intent));
    let mut cases: Vec<(String, &str)> =
        rare.map(|outcome| (format!("a.outcome = '{outcome}'"), "audit_outcome")).collect();
    cases.extend([
        ("a.verdict = 'ask'".to_owned(), "audit_verdict"),
        ("a.verdict = 'deny'".to_owned(), "audit_verdict"),
        ("a.canonical = 'github.create'".to_owned(), "audit_tool"),
        // Whoever calls is looked for along the time.
        ("a.caller = 'me'".to_owned(), "audit_time"),
        ("a.time_us >= 5 AND a.time_us < 9".to_owned(), "audit_time"),
        ("TRUE".to_owned(), "audit_time"),
        (
            "(a.outcome <> 'intent' OR EXISTS (SELECT 1 FROM audit_open o WHERE o.node = a.node AND o.id = a.id))"
                .to_owned(),
            "audit_time",
        ),
    ]);
    for (condition, index) in cases {
        for order in ["DESC", "ASC"] {
            let sql = format!(
                "EXPLAIN QUERY PLAN SELECT a.*, k.task, n.node AS node_name FROM audit a \
                 LEFT JOIN audit_kinds k ON k.id = a.kind LEFT JOIN audit_nodes n ON n.id = a.node \
                 WHERE TRUE AND {condition} ORDER BY a.time_us {order}, a.position {order} LIMIT 10"
            );
            let rows = connection.fetch_all(sqlx::query(AssertSqlSafe(sql))).await.expect("a plan");
            let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            assert!(plan.iter().any(|step| step.contains(index)), "{condition}: {plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{condition} is sorted: {plan:?}");
        }
    }
}
