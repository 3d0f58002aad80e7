//! A store of an earlier version is brought up to date with everything in it.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tempfile::TempDir;
use toolmark_core::verdict::Decision;
use toolmark_store::audit::{
    AuditFilter, AuditRecord, AuditTool, Bodies, Head, Order, Outcome, ResultDigest, SinkSettings,
};
use toolmark_store::{Location, Micros, Settings, Store, TakenThread, ThreadClaim};

/// All steps there are; a file of version 4 has taken the first four.
const STEPS: [&str; 10] = [
    include_str!("../src/sqlite/migrations/0001.sql"),
    include_str!("../src/sqlite/migrations/0002.sql"),
    include_str!("../src/sqlite/migrations/0003.sql"),
    include_str!("../src/sqlite/migrations/0004.sql"),
    include_str!("../src/sqlite/migrations/0005.sql"),
    include_str!("../src/sqlite/migrations/0006.sql"),
    include_str!("../src/sqlite/migrations/0007.sql"),
    include_str!("../src/sqlite/migrations/0008.sql"),
    include_str!("../src/sqlite/migrations/0009.sql"),
    include_str!("../src/sqlite/migrations/0010.sql"),
];

fn record(number: i64) -> AuditRecord {
    let digits = "7e".repeat(32);
    let tool = AuditTool {
        canonical: "pack.tool".into(),
        mark: format!("tm1:{digits}").parse().expect("a mark"),
        definition: format!("sha256:{digits}").parse().expect("a digest"),
    };
    let bodies = Bodies { arguments: Some(format!("{{\"n\":{number}}}").into()), result: None };
    let mut record = AuditRecord::new(
        uuid::Uuid::from_u128(number.unsigned_abs().into()),
        Micros::new(number),
        "tool".into(),
        Outcome::Ok,
    );
    record.tool = (number % 3 != 0).then_some(tool);
    let digest = format!("args1:{}", format!("{number:02x}").repeat(32));
    record.arguments = (number % 5 != 0).then(|| digest.parse().expect("a digest"));
    record.arguments_size = record.arguments.map(|_| number.unsigned_abs());
    record.result = (number % 7 != 0).then_some(ResultDigest::Sha256([u8::try_from(number).expect("small"); 32]));
    record.trace = (number % 2 != 0).then_some([9; 16]);
    record.verdict = (number % 4 != 1).then_some(Decision::Deny);
    record.code = (number % 6 == 0).then(|| "call-denied".into());
    record.task = (number % 2 == 0).then(|| "triage".into());
    record.judged = Some(r#"{"o":"run","v":1}"#.into());
    record.bodies = (number % 4 == 0).then(|| Box::new(bodies));
    record
}

/// Every table, index and view of a file without spaces and quotes, the counters, and the version.
async fn shape(path: &Path) -> (Vec<(String, String)>, Vec<(String, i64)>, i64) {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.expect("a file");
    let objects = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY name";
    let objects = sqlx::query_as::<_, (String, String)>(objects).fetch_all(&mut connection).await.expect("a schema");
    let bare = |sql: &str| sql.chars().filter(|letter| !letter.is_whitespace() && *letter != '"').collect();
    let objects = objects.into_iter().map(|(name, sql)| (name, bare(&sql))).collect();
    let counters = sqlx::query_as("SELECT name, value FROM counters ORDER BY name");
    let counters = counters.fetch_all(&mut connection).await.expect("counters");
    let (version,) = sqlx::query_as("PRAGMA user_version").fetch_one(&mut connection).await.expect("a version");
    (objects, counters, version)
}

#[tokio::test]
async fn a_new_file_is_what_all_steps_lead_to() {
    let folder = TempDir::new().expect("a folder");
    let (new, stepped) = (folder.path().join("new.db"), folder.path().join("stepped.db"));
    let mut connection =
        SqliteConnectOptions::new().filename(&stepped).create_if_missing(true).connect().await.expect("a file");
    for step in STEPS {
        connection.execute(sqlx::raw_sql(step)).await.expect("a step");
    }
    let header = format!("PRAGMA user_version = {}", STEPS.len());
    connection.execute(AssertSqlSafe(header)).await.expect("a header");
    let location = Location::File(new.clone());
    let store = Store::open(&location, &Settings::new(|| Micros::new(0))).await.expect("a store");
    store.close().await.expect("closed");
    assert_eq!(shape(&new).await, shape(&stepped).await);
}

/// A file as version 4 wrote it, with rows of two nodes.
async fn of_version_four(path: &Path, records: &[(&str, AuditRecord)]) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.expect("a file");
    for step in STEPS.into_iter().take(4) {
        connection.execute(sqlx::raw_sql(step)).await.expect("a step");
    }
    connection.execute("PRAGMA application_id = 1414353483; PRAGMA user_version = 4").await.expect("a header");
    for (at, node) in ["one", "two"].into_iter().enumerate() {
        let id = i64::try_from(at + 1).expect("small");
        let mut head = Head::default();
        for (_, record) in records.iter().filter(|(of, _)| *of == node) {
            let link = head.link(node, record);
            head = link.head();
            let tool = record.tool.as_ref();
            let query = sqlx::query(
                "INSERT INTO audit (node, seq, id, time_us, called, canonical, mark, definition, task, judged, outcome, stages_ns, \
                 total_ns, arguments_body, prev, hash, arguments, arguments_size, result, trace, verdict, code) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ok', '[0,0,0,0,0,0,0]', 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            );
            let query = query
                .bind(id)
                .bind(i64::try_from(link.seq).expect("small"))
                .bind(record.id.as_bytes().to_vec())
                .bind(record.time.get())
                .bind(record.called.to_string())
                .bind(tool.map(|tool| tool.canonical.to_string()))
                .bind(tool.map(|tool| tool.mark.as_bytes().to_vec()))
                .bind(tool.map(|tool| tool.definition.as_bytes().to_vec()))
                .bind(record.task.as_deref().map(str::to_owned))
                .bind(record.judged.as_deref().map(str::to_owned))
                .bind(link.arguments_body.map(Vec::from))
                .bind(link.prev.to_vec())
                .bind(link.hash.to_vec())
                .bind(record.arguments.map(|digest| digest.as_bytes().to_vec()))
                .bind(record.arguments_size.map(|size| i64::try_from(size).expect("small")))
                .bind(record.result.map(ResultDigest::to_kept))
                .bind(record.trace.map(Vec::from))
                .bind(record.verdict.map(Decision::as_str))
                .bind(record.code.as_deref().map(str::to_owned));
            let row = query.execute(&mut connection).await.expect("a row").last_insert_rowid();
            if let Some(bodies) = record.bodies.as_deref() {
                let query = sqlx::query("INSERT INTO audit_bodies (position, arguments) VALUES (?, ?)");
                let query = query.bind(row).bind(bodies.arguments.as_deref().map(str::to_owned));
                query.execute(&mut connection).await.expect("a body");
            }
        }
        let query = sqlx::query(
            "INSERT INTO audit_nodes (id, node, head_seq, head_hash, checkpoint_seq, checkpoint_hash) \
             VALUES (?, ?, ?, ?, 0, zeroblob(32))",
        );
        let query = query.bind(id).bind(node).bind(i64::try_from(head.seq).expect("small")).bind(head.hash.to_vec());
        query.execute(&mut connection).await.expect("a node");
    }
    connection.execute(AssertSqlSafe("PRAGMA wal_checkpoint".to_owned())).await.expect("written");
}

/// What version 5 made of it: rows of tools leave out what their kind says.
async fn to_version_five(path: &Path) {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.expect("a file");
    connection.execute(sqlx::raw_sql(STEPS[4])).await.expect("a step");
    let kinds = "INSERT INTO audit_kinds (key, called, mark, definition, task, judged) SELECT randomblob(32), * \
                 FROM (SELECT DISTINCT called, mark, definition, task, judged FROM audit WHERE mark IS NOT NULL); \
                 UPDATE audit SET kind = (SELECT k.id FROM audit_kinds k WHERE k.task IS audit.task) WHERE mark IS NOT NULL; \
                 UPDATE audit SET called = NULL, mark = NULL, definition = NULL, task = NULL, judged = NULL WHERE kind IS NOT NULL; \
                 PRAGMA user_version = 5";
    connection.execute(sqlx::raw_sql(kinds)).await.expect("kinds");
}

#[tokio::test]
async fn the_audit_of_version_four_keeps_its_rows_its_bodies_and_its_chains() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    of_version_four(&path, &records()).await;
    everything_is_there(&path).await;
}

#[tokio::test]
async fn the_audit_of_version_five_keeps_its_rows_its_bodies_and_its_chains() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    of_version_four(&path, &records()).await;
    to_version_five(&path).await;
    everything_is_there(&path).await;
}

#[tokio::test]
async fn threads_of_version_eight_go_when_they_are_old_and_other_sessions_stay() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = options.connect().await.expect("a file");
    for step in STEPS.into_iter().take(8) {
        connection.execute(sqlx::raw_sql(step)).await.expect("a step");
    }
    let rows = r#"INSERT INTO sessions (name, changed_us) VALUES ('agui:["demo","local","a"]', 5), ('agui:["demo","local","b"]', 50), ('notes', 5);
                  INSERT INTO session_items (session, position, text) VALUES ('agui:["demo","local","a"]', 1, '{}'), ('notes', 1, '{}');
                  PRAGMA application_id = 1414353483; PRAGMA user_version = 8"#;
    connection.execute(sqlx::raw_sql(rows)).await.expect("rows");
    drop(connection);
    let settings = Settings::new(|| Micros::new(100));
    let store = Store::open(&Location::File(path), &settings).await.expect("a store");
    let gone = store.trim_threads_step(Micros::new(10), Micros::new(10)).await.expect("trimmed");
    assert_eq!((gone.idle, gone.waiting), (1, 0));
    let kept = store.sessions(None).await.expect("sessions");
    let mut left: Vec<String> = kept.into_iter().map(|kept| kept.name).collect();
    left.sort();
    assert_eq!(left, [r#"agui:["demo","local","b"]"#, "notes"]);
    // Whoever takes it again owns it from then on, and it counts.
    for (thread, forgotten) in [(r#"agui:["demo","local","b"]"#, 0), ("agui:c", 1)] {
        let claim = ThreadClaim { thread, owner: "local", most: 1, holder: "h", until: Micros::new(200) };
        assert_eq!(store.take_thread(claim).await.expect("taken"), TakenThread::Ours { waits: None, forgotten });
        assert!(store.leave_thread(thread, "h", &[], None).await.expect("left"));
    }
    store.close().await.expect("closed");
}

fn records() -> Vec<(&'static str, AuditRecord)> {
    ["one", "two"].into_iter().cycle().zip((1..=40).map(record)).collect()
}

async fn everything_is_there(path: &Path) {
    let records = records();
    let location = Location::File(path.to_owned());
    let store = Store::open(&location, &Settings::new(|| Micros::new(0))).await.expect("a store");
    let filter = || AuditFilter { bodies: true, ..AuditFilter::default() };
    let found = store.audit(filter(), Order::Oldest).all().await.expect("rows");
    let read: Vec<(&str, &AuditRecord)> = found.iter().map(|entry| (&*entry.node, &entry.record)).collect();
    let written: Vec<(&str, &AuditRecord)> = records.iter().map(|(node, record)| (*node, record)).collect();
    assert_eq!(read, written);
    assert!(store.verify_audit(&[]).await.expect("verified").breaks.is_empty());

    // What is looked for in stretches of time is found as well.
    let tool = AuditFilter { tool: Some("pack.tool".into()), verdict: Some(Decision::Deny), ..filter() };
    let found = store.audit(tool, Order::Newest).all().await.expect("rows");
    let wanted = |(_, record): &&(&str, AuditRecord)| record.tool.is_some() && record.verdict.is_some();
    let wanted: Vec<_> = records.iter().filter(wanted).map(|(_, record)| record.id).rev().collect();
    assert_eq!(found.iter().map(|entry| entry.record.id).collect::<Vec<_>>(), wanted);

    // And it goes on where it ended.
    let sink = store.audit_sink(SinkSettings::new("two"));
    sink.record(record(41)).await.expect("taken");
    sink.close().await.expect("written");
    assert!(store.verify_audit(&[]).await.expect("verified").breaks.is_empty());
    let id = record(41).id;
    let one = store.audit(AuditFilter { id: Some(id), ..filter() }, Order::Newest).all().await.expect("a row");
    assert_eq!(one.iter().map(|entry| (entry.link.seq, &entry.record)).collect::<Vec<_>>(), [(21, &record(41))]);
    store.close().await.expect("closed");
}
