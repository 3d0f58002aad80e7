//! A store of an earlier version is brought up to date with everything in it.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tempfile::TempDir;
use toolmark_store::audit::{AuditFilter, AuditRecord, AuditTool, Bodies, Head, Order, Outcome, SinkSettings};
use toolmark_store::{Location, Micros, Settings, Store};

const STEPS: [&str; 4] = [
    include_str!("../src/sqlite/migrations/0001.sql"),
    include_str!("../src/sqlite/migrations/0002.sql"),
    include_str!("../src/sqlite/migrations/0003.sql"),
    include_str!("../src/sqlite/migrations/0004.sql"),
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
    record.task = (number % 2 == 0).then(|| "triage".into());
    record.judged = Some(r#"{"o":"run","v":1}"#.into());
    record.bodies = (number % 4 == 0).then(|| Box::new(bodies));
    record
}

/// A file as version 4 wrote it, with rows of two nodes.
async fn of_version_four(path: &Path, records: &[(&str, AuditRecord)]) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.expect("a file");
    for step in STEPS {
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
                 total_ns, arguments_body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ok', '[0,0,0,0,0,0,0]', 0, ?, ?, ?)",
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
                .bind(link.hash.to_vec());
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

#[tokio::test]
async fn the_audit_of_version_four_keeps_its_rows_its_bodies_and_its_chains() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let nodes = ["one", "two"].into_iter().cycle();
    let records: Vec<(&str, AuditRecord)> = nodes.zip((1..=40).map(record)).collect();
    of_version_four(&path, &records).await;

    let location = Location::File(path.clone());
    let store = Store::open(&location, &Settings::new(|| Micros::new(0))).await.expect("a store");
    let filter = || AuditFilter { bodies: true, ..AuditFilter::default() };
    let found = store.audit(filter(), Order::Oldest).all().await.expect("rows");
    let read: Vec<(&str, &AuditRecord)> = found.iter().map(|entry| (&*entry.node, &entry.record)).collect();
    let written: Vec<(&str, &AuditRecord)> = records.iter().map(|(node, record)| (*node, record)).collect();
    assert_eq!(read, written);
    assert!(store.verify_audit(&[]).await.expect("verified").breaks.is_empty());

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
