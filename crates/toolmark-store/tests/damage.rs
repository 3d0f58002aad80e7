//! Files that are not what they should be, disks that are full, rows that somebody changed: a clear error with its code, and
//! nothing lost.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use tempfile::TempDir;
use toolmark_core::explain::Explain as _;
use toolmark_core::exposure::Published;
use toolmark_store::audit::{AuditFilter, AuditRecord, AuditTool, Bodies, BreakKind, Order, Outcome, SinkSettings};
use toolmark_store::{
    KnownNames, Location, Micros, NameScope, NewToken, PublishError, Settings, Store, StoreError, TokenSecret,
};

fn settings() -> Settings {
    Settings { patience: Duration::from_millis(200), ..Settings::new(|| Micros::new(1)) }
}

async fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(&Location::File(path.into()), &settings()).await
}

async fn refusal(path: &Path) -> String {
    let error = open(path).await.err().expect("refused");
    assert!(error.to_string().contains(&*path.to_string_lossy()), "the message names the file: {error}");
    error.code().as_str().to_owned()
}

async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.expect("a connection")
}

async fn run(path: &Path, sql: &str) {
    let mut connection = raw(path).await;
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect("it runs");
    connection.close().await.expect("closed");
}

fn record(number: i64) -> AuditRecord {
    let digits = "7e".repeat(32);
    let tool = AuditTool {
        canonical: "pack.tool".into(),
        mark: format!("tm1:{digits}").parse().expect("a mark"),
        definition: format!("sha256:{digits}").parse().expect("a digest"),
    };
    let plain = AuditRecord::new(uuid::Uuid::nil(), Micros::new(number), "tool".into(), Outcome::Ok);
    AuditRecord { tool: Some(tool), ..plain }
}

/// A store in a folder with so many records, closed again.
async fn with_records(folder: &TempDir, count: i64) -> PathBuf {
    let path = folder.path().join("store.db");
    let store = open(&path).await.expect("a store");
    let sink = store.audit_sink(SinkSettings::new("n"));
    for number in 0..count {
        let bodies = Box::new(Bodies { arguments: Some(format!("{{\"n\":{number}}}").into()), result: None });
        sink.record(AuditRecord { bodies: Some(bodies), ..record(number) }).await.expect("taken");
    }
    sink.close().await.expect("written");
    store.close().await.expect("closed");
    path
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_as_it_was() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("notes.txt");
    let text = "these are my notes\n".repeat(100);
    fs::write(&path, &text).expect("written");
    assert_eq!(refusal(&path).await, "store-not-a-database");
    assert_eq!(fs::read_to_string(&path).expect("read"), text);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_as_it_was() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("photos.db");
    run(&path, "CREATE TABLE photos (id INTEGER); INSERT INTO photos VALUES (7)").await;
    let before = fs::read(&path).expect("read");
    assert_eq!(refusal(&path).await, "store-foreign");
    assert_eq!(fs::read(&path).expect("read"), before);
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_refused_and_left_as_it_was() {
    let folder = TempDir::new().expect("a folder");
    let path = with_records(&folder, 3).await;
    run(&path, "PRAGMA user_version = 99; CREATE TABLE from_the_future (x TEXT)").await;
    let error = open(&path).await.err().expect("refused");
    assert_eq!(error.code().as_str(), "store-newer");
    let report = error.report();
    assert_eq!(report.facts()["found"], 99);
    run(&path, &format!("PRAGMA user_version = {}", report.facts()["known"])).await;
    let store = open(&path).await.expect("a store");
    assert!(store.verify_audit(&[]).await.expect("verified").is_whole());
}

#[tokio::test]
async fn a_store_of_the_first_version_is_brought_up_to_date() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let first = include_str!("../src/sqlite/migrations/0001.sql");
    run(&path, &format!("{first}; PRAGMA application_id = 0x544d524b; PRAGMA user_version = 1")).await;
    let store = open(&path).await.expect("a store");
    let sink = store.audit_sink(SinkSettings::new("n"));
    sink.record_strictly(record(1)).await.expect("kept");
    sink.close().await.expect("closed");
    assert_eq!(store.verify_audit(&[]).await.expect("verified").rows(), 1);
}

#[tokio::test]
async fn a_file_that_may_only_be_read_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let path = with_records(&folder, 1).await;
    let mut permissions = fs::metadata(&path).expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("set");
    assert_eq!(refusal(&path).await, "store-read-only");
}

#[tokio::test]
async fn a_file_that_may_only_be_read_can_be_looked_into_and_stays_as_it_is() {
    let folder = TempDir::new().expect("a folder");
    let path = with_records(&folder, 3).await;
    let before = fs::read(&path).expect("a file");
    let mut permissions = fs::metadata(&path).expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("read only");
    let store = Store::open_to_read(&Location::File(path.clone()), &settings()).await.expect("a store");
    assert!(store.verify_audit(&[]).await.expect("rows").is_whole());
    let rows = store.audit(AuditFilter::default(), Order::Oldest).all().await.expect("rows");
    assert_eq!(rows.len(), 3);
    let new = NewToken { name: "laptop".into(), ..NewToken::default() };
    let secret = TokenSecret::random().expect("a secret");
    let error = store.create_token(&new, &secret).await.expect_err("refused");
    assert_eq!(error.code().as_str(), "store-read-only");
    store.close().await.expect("closed");
    assert_eq!(fs::read(&path).expect("a file"), before);
    let beside: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").flatten().map(|file| file.file_name()).collect();
    assert!(!beside.iter().any(|name| name.to_string_lossy().ends_with("-wal")), "{beside:?}");
}

#[tokio::test]
async fn what_is_in_the_log_of_a_file_is_seen_by_whoever_only_reads() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let store = open(&path).await.expect("a store");
    let new = NewToken { name: "laptop".into(), ..NewToken::default() };
    store.create_token(&new, &TokenSecret::random().expect("a secret")).await.expect("a token");
    let reading = Store::open_to_read(&Location::File(path.clone()), &settings()).await.expect("a store");
    assert_eq!(reading.tokens().await.expect("tokens").len(), 1);
    reading.close().await.expect("closed");
    store.close().await.expect("closed");
    assert!(Store::open_to_read(&Location::File(folder.path().join("none.db")), &settings()).await.is_err());
}

#[tokio::test]
async fn a_place_that_cannot_be_is_refused() {
    let folder = TempDir::new().expect("a folder");
    assert_eq!(refusal(folder.path()).await, "store-unreachable");
    fs::write(folder.path().join("file"), "").expect("written");
    assert_eq!(refusal(&folder.path().join("file").join("store.db")).await, "store-unreachable");
}

#[tokio::test]
async fn a_file_whose_pages_were_overwritten_is_refused_or_reported() {
    let folder = TempDir::new().expect("a folder");
    let path = with_records(&folder, 2000).await;
    let mut bytes = fs::read(&path).expect("read");
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0xaa;
    }
    fs::write(&path, bytes).expect("written");
    let code = match open(&path).await {
        Err(error) => error.code(),
        Ok(store) => store.verify_audit(&[]).await.expect_err("damaged").code(),
    };
    assert_eq!(code.as_str(), "store-damaged");
}

#[cfg(unix)]
#[tokio::test]
async fn folders_and_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("new").join("folder").join("store.db");
    let store = open(&path).await.expect("a store");
    let names = Published::default();
    let _ = store.save_names(&NameScope::new("a", "b"), &KnownNames::default(), &names).await.expect("saved");
    store
        .create_token(&NewToken { name: "a".into(), ..NewToken::default() }, &TokenSecret::random().expect("entropy"))
        .await
        .expect("made");
    let mode = |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("new")), 0o700);
    assert_eq!(mode(&folder.path().join("new").join("folder")), 0o700);
    for file in fs::read_dir(path.parent().expect("a folder")).expect("files") {
        let file = file.expect("a file").path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn no_secret_of_a_token_is_in_any_file() {
    use secrecy::ExposeSecret as _;
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let store = open(&path).await.expect("a store");
    let secret = TokenSecret::random().expect("entropy");
    let token =
        store.create_token(&NewToken { name: "laptop".into(), ..NewToken::default() }, &secret).await.expect("made");
    let text = secret.reveal();
    let digits = &text.expose_secret()[4..];
    let raw: Vec<u8> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("hex"), 16).expect("hex"))
        .collect();
    let contains = |haystack: &[u8], needle: &[u8]| haystack.windows(needle.len()).any(|window| window == needle);
    let mut found_the_name = false;
    for file in fs::read_dir(folder.path()).expect("files") {
        let bytes = fs::read(file.expect("a file").path()).expect("read");
        assert!(!contains(&bytes, digits.as_bytes()) && !contains(&bytes, &raw));
        found_the_name |= contains(&bytes, token.id.as_str().as_bytes());
    }
    assert!(found_the_name, "the search would find what is there");
}

#[tokio::test]
async fn another_program_that_holds_the_file_is_waited_for_and_then_reported() {
    let folder = TempDir::new().expect("a folder");
    let path = with_records(&folder, 1).await;
    let store = open(&path).await.expect("a store");
    let mut other = raw(&path).await;
    other.execute("BEGIN IMMEDIATE").await.expect("held");
    let mut names = Published::default();
    names.remember("a.b", "b");
    let scope = NameScope::new("generic", "tm");
    let error = store.save_names(&scope, &KnownNames::default(), &names).await.expect_err("held");
    let PublishError::Store(error) = error else { panic!("{error}") };
    assert_eq!(error.code().as_str(), "store-busy");
    assert_eq!(store.names(&scope).await.expect("reading goes on").version, 0);
    let sink = store.audit_sink(SinkSettings::new("n"));
    sink.record(record(5)).await.expect("taken");
    let error = sink.flush().await.expect_err("held");
    assert_eq!(error.code().as_str(), "store-busy");
    other.execute("ROLLBACK").await.expect("let go");
    sink.close().await.expect("what could not be written before is written now");
    assert_eq!(store.verify_audit(&[]).await.expect("verified").rows(), 2);
    assert_eq!(sink.stats().lost, 0);
}

#[tokio::test]
async fn a_store_without_room_says_so_keeps_what_it_has_and_recovers() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let limited = Settings { max_bytes: Some(600 * 1024), ..settings() };
    let store = Store::open(&Location::File(path.clone()), &limited).await.expect("a store");
    let strict = store.audit_sink(SinkSettings::new("n"));
    let heavy = |number: i64| AuditRecord {
        bodies: Some(Box::new(Bodies { arguments: Some("x".repeat(10_000).into()), result: None })),
        ..record(number)
    };
    let mut kept = 0;
    let error = loop {
        match strict.record_strictly(heavy(kept)).await {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code().as_str(), "store-full");
    assert!(kept > 5, "{kept}");
    let scope = NameScope::new("generic", "tm");
    let mut names = Published::default();
    for number in 0..5000 {
        names.remember(&format!("pack.some_tool_{number}"), &format!("some_tool_{number}"));
    }
    let error = store.save_names(&scope, &KnownNames::default(), &names).await.expect_err("no room");
    assert!(matches!(&error, PublishError::Store(error) if error.code().as_str() == "store-full"), "{error}");
    assert_eq!(store.names(&scope).await.expect("names"), KnownNames::default(), "all or none");
    let found = store.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole() && found.rows() == kept as u64, "{found:?}");
    // A batch that cannot be written waits until there is room again.
    let batched = store.audit_sink(SinkSettings { linger: Duration::from_millis(1), ..SinkSettings::new("n") });
    batched.record(heavy(kept)).await.expect("taken");
    assert_eq!(batched.flush().await.expect_err("no room").code().as_str(), "store-full");
    assert!(batched.stats().trouble.is_some());
    assert!(store.trim_audit(Micros::new(kept / 2)).await.expect("trimming needs no room") > 0);
    batched.close().await.expect("there is room now");
    assert_eq!(batched.stats().lost, 0);
    let found = store.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole(), "{:?}", found.breaks);
    assert_eq!(found.chains[0].head.seq, kept as u64 + 1);
}

#[tokio::test]
async fn a_sink_that_closes_on_a_full_disk_counts_what_it_loses() {
    let folder = TempDir::new().expect("a folder");
    let limited = Settings { max_bytes: Some(500 * 1024), ..settings() };
    let store = Store::open(&Location::File(folder.path().join("store.db")), &limited).await.expect("a store");
    let sink = store.audit_sink(SinkSettings { queue: 4, batch: 2, ..SinkSettings::new("n") });
    let heavy = AuditRecord {
        bodies: Some(Box::new(Bodies { arguments: Some("x".repeat(1_000_000).into()), result: None })),
        ..record(1)
    };
    let mut taken = 0;
    while sink.offer(heavy.clone()).is_ok() {
        taken += 1;
    }
    let error = sink.close().await.expect_err("no room");
    assert_eq!(error.code().as_str(), "store-full");
    assert_eq!((sink.stats().lost, sink.stats().written), (taken, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_open_a_new_store_at_once_all_get_it() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("new").join("store.db");
    let patient = Settings { patience: Duration::from_secs(60), ..settings() };
    let opening: Vec<_> = (0..8)
        .map(|_| {
            let (location, settings) = (Location::File(path.clone()), patient.clone());
            tokio::spawn(async move { Store::open(&location, &settings).await.map(|_| ()) })
        })
        .collect();
    for one in opening {
        one.await.expect("no panic").expect("a store");
    }
}

/// What somebody does to the file, and what is found.
#[tokio::test]
async fn whatever_is_done_to_the_rows_shows() {
    let cases: &[(&str, u64, &str)] = &[
        ("UPDATE audit_rows SET caller = 'somebody else' WHERE position & 255 = 5", 5, "changed"),
        ("UPDATE audit_rows SET time_us = time_us + 1 WHERE position & 255 = 5", 5, "changed"),
        ("UPDATE audit_rows SET total_ns = total_ns + 1 WHERE position & 255 = 5", 5, "changed"),
        ("UPDATE audit_rows SET has = 1 - (has & 1) WHERE position & 255 = 5", 5, "unreadable"),
        ("UPDATE audit_rows SET kind = kind + 1000 WHERE position & 255 = 5", 5, "unreadable"),
        ("UPDATE audit_rows SET position = position + 495 WHERE position & 255 = 5", 5, "missing"),
        ("DELETE FROM audit_rows WHERE position & 255 = 5", 5, "missing"),
        ("DELETE FROM audit_rows WHERE position & 255 = 1", 1, "missing"),
        ("DELETE FROM audit_rows WHERE position & 255 > 8", 9, "missing"),
        ("DELETE FROM audit_rows", 1, "missing"),
        // hash, prev, id, and what comes after.
        ("UPDATE audit_rows SET digests = x'00' WHERE position & 255 = 5", 5, "unreadable"),
        (
            "UPDATE audit_rows SET digests = unhex(hex(substr(digests, 1, 32)) || hex(zeroblob(32)) || hex(substr(digests, 65))) \
             WHERE position & 255 = 5",
            5,
            "not linked",
        ),
        (
            "UPDATE audit_rows SET digests = unhex(hex(zeroblob(32)) || hex(substr(digests, 33))) WHERE position & 255 = 5",
            5,
            "changed",
        ),
        (
            "UPDATE audit_rows SET digests = unhex(hex(zeroblob(32)) || hex(substr(digests, 33))) WHERE position & 255 = 10",
            10,
            "changed",
        ),
        (
            "UPDATE audit_rows SET digests = unhex(hex(substr(digests, 1, 64)) || hex(randomblob(16)) || hex(substr(digests, 81))) \
             WHERE position & 255 = 5",
            5,
            "changed",
        ),
        ("UPDATE audit_bodies SET arguments = '{}' WHERE position & 255 = 5", 5, "body"),
        ("UPDATE audit_nodes SET head_seq = 9", 9, "head"),
        ("UPDATE audit_nodes SET checkpoint_seq = 3", 4, "not linked"),
        ("UPDATE audit_details SET arguments_body = NULL WHERE position & 255 = 5", 5, "changed"),
        ("UPDATE audit_details SET task = 'another' WHERE position & 255 = 5", 5, "changed"),
        ("UPDATE audit_details SET outcome = 'denied' WHERE position & 255 = 5", 5, "changed"),
        ("UPDATE audit_details SET outcome = 'fine' WHERE position & 255 = 5", 5, "unreadable"),
        ("DELETE FROM audit_details WHERE position & 255 = 5", 5, "changed"),
        ("UPDATE audit_kinds SET called = 'another'", 1, "changed"),
        ("UPDATE audit_kinds SET outcome = 'denied'", 1, "changed"),
        ("DELETE FROM audit_kinds", 1, "unreadable"),
        (
            "INSERT INTO audit_rows SELECT position + 1, kind, time_us, caller, session, has, arguments_size, result_size, total_ns, \
             digests, stages_ns FROM audit_rows WHERE position & 255 = 10",
            11,
            "behind",
        ),
    ];
    for (sql, seq, expected) in cases {
        let folder = TempDir::new().expect("a folder");
        let path = with_records(&folder, 10).await;
        run(&path, sql).await;
        let store = open(&path).await.expect("a store");
        let found = store.verify_audit(&[]).await.expect("verified");
        let kinds: Vec<(u64, &str)> = found.breaks.iter().map(|one| (one.seq, kind(&one.kind))).collect();
        assert_eq!(kinds.first(), Some(&(*seq, *expected)), "{sql}: {kinds:?}");
        assert!(!found.breaks[0].to_string().is_empty() && found.breaks[0].code().as_str() == "audit-chain-broken");
        store.close().await.expect("closed");
    }
}

fn kind(kind: &BreakKind) -> &'static str {
    match kind {
        BreakKind::Missing { .. } => "missing",
        BreakKind::NotLinked => "not linked",
        BreakKind::Changed => "changed",
        BreakKind::BodyChanged => "body",
        BreakKind::Unreadable(_) => "unreadable",
        BreakKind::BehindHead => "behind",
        BreakKind::OtherHead => "head",
        BreakKind::NotTheOneNoted => "noted",
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_an_error_and_not_a_guess() {
    let folder = TempDir::new().expect("a folder");
    let path = with_records(&folder, 3).await;
    run(&path, "UPDATE audit_details SET verdict = 'maybe' WHERE position & 255 = 2").await;
    run(&path, "INSERT INTO tokens (id, hash, name, tasks, created_us) VALUES ('a', zeroblob(32), 'a', 'all', 0)")
        .await;
    let store = open(&path).await.expect("a store");
    let error = store.audit(AuditFilter::default(), Order::Oldest).all().await.expect_err("no verdict");
    assert_eq!(error.code().as_str(), "store-row-unreadable");
    let error = store.tokens().await.expect_err("a scope that cannot be read covers nothing");
    assert_eq!(error.code().as_str(), "store-row-unreadable");
}
