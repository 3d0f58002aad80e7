//! A process that is killed at whatever moment leaves a store that opens, whose chain is whole, and that holds everything it
//! had said was kept.
//!
//! The test starts itself as a child: with `TOOLMARK_STORE_CRASH` set, `the_child_writes_until_it_is_killed` writes to that
//! file and reports each thing that is kept on a line of its own; without it, it does nothing.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use toolmark_core::exposure::Published;
use toolmark_store::audit::{AuditFilter, AuditRecord, Order, Outcome, SinkSettings};
use toolmark_store::{Location, Micros, NameScope, Settings, Store};

const FILE: &str = "TOOLMARK_STORE_CRASH";
const FIRST: &str = "TOOLMARK_STORE_CRASH_FIRST";

async fn open(path: &Path) -> Store {
    let settings = Settings { patience: Duration::from_secs(60), ..Settings::new(|| Micros::new(0)) };
    Store::open(&Location::File(path.into()), &settings).await.expect("a store")
}

fn scope() -> NameScope {
    NameScope::new("generic", "tm")
}

fn record(number: u64) -> AuditRecord {
    let time = Micros::new(i64::try_from(number).expect("small"));
    AuditRecord::new(uuid::Uuid::from_u128(u128::from(number)), time, "tool".into(), Outcome::Ok)
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").and_then(|()| out.flush()).expect("somebody listens");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_child_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let first: u64 = std::env::var(FIRST).expect("where to begin").parse().expect("a number");
    say("started");
    let store = open(Path::new(&path)).await;
    say("opened");
    let sink = store.audit_sink(SinkSettings { linger: Duration::from_millis(1), ..SinkSettings::new("n") });
    for step in 0u64.. {
        // Each step: one strict record, a few that are flushed together, and a name.
        let base = first + step * 10;
        sink.record_strictly(record(base)).await.expect("kept");
        say(&format!("kept {base}"));
        for number in base + 1..base + 9 {
            sink.record(record(number)).await.expect("taken");
        }
        sink.flush().await.expect("kept");
        for number in base + 1..base + 9 {
            say(&format!("kept {number}"));
        }
        let publish = |known: &Published| {
            let mut after = known.clone();
            after.remember(&format!("pack.tool{base}"), &format!("tool{base}"));
            after.remember("pack.changing", &format!("changing{base}"));
            Ok::<_, std::convert::Infallible>((after, ()))
        };
        store.publish(&scope(), publish).await.expect("kept");
        say(&format!("named {base}"));
        if step % 8 == 7 {
            // Announced before it happens: whoever is killed in between may or may not have done it.
            let cut = base - 60;
            say(&format!("trimming {cut}"));
            store.trim_audit(Micros::new(i64::try_from(cut).expect("small"))).await.expect("trimmed");
        }
    }
}

/// Runs the child until it has reported so many lines, then a little longer, and kills it. Returns what it reported.
fn child(path: &Path, first: u64, lines: usize, longer: Duration) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "the_child_writes_until_it_is_killed", "--nocapture", "--test-threads=1"])
        .env(FILE, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let (heard, hearing) = std::sync::mpsc::channel();
    let listener = std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok).filter(|line| !line.is_empty()) {
            if heard.send(line).is_err() {
                return;
            }
        }
    });
    let mut reported = Vec::new();
    while reported.len() < lines {
        match hearing.recv_timeout(Duration::from_secs(300)) {
            Ok(line) => reported.push(line),
            Err(_) => break,
        }
    }
    std::thread::sleep(longer);
    child.kill().expect("killed");
    let status = child.wait().expect("it has ended");
    assert!(!status.success(), "the child was to be killed, not to end: {reported:?}");
    listener.join().expect("no panic");
    reported.extend(hearing.try_iter());
    reported
}

fn numbers(reported: &[String], word: &str) -> BTreeSet<u64> {
    let of = |line: &String| line.strip_prefix(word)?.trim().parse().ok();
    reported.iter().filter_map(of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_kept_is_lost_when_a_process_is_killed() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("store.db");
    let mut named = BTreeSet::new();
    for round in 0u64..10 {
        let first = round * 1_000_000 + 100;
        // The lines before the first ones of the test harness count too; what matters is that the moment differs.
        let reported = child(&path, first, 6 + (round as usize * 37) % 150, Duration::from_micros(round * 700));
        let kept = numbers(&reported, "kept ");
        named.extend(numbers(&reported, "named "));
        let store = open(&path).await;
        let found = store.verify_audit(&[]).await.expect("verified");
        assert!(found.is_whole(), "round {round}: {:?}", found.breaks);
        let there: BTreeSet<u64> = {
            let filter = AuditFilter {
                since: Some(Micros::new(i64::try_from(first).expect("small"))),
                ..AuditFilter::default()
            };
            let entries = store.audit(filter, Order::Oldest).all().await.expect("records");
            entries.iter().map(|entry| u64::try_from(entry.record.time.get()).expect("positive")).collect()
        };
        // What was to be removed may be gone; everything else must be there.
        let cut = numbers(&reported, "trimming ").last().copied().unwrap_or_default();
        let lost: Vec<_> = kept.difference(&there).filter(|number| **number >= cut).collect();
        assert!(lost.is_empty(), "round {round}: kept and lost: {lost:?}");
        let names = store.names(&scope()).await.expect("names").published;
        let current: BTreeSet<&str> = names.current().map(|(tool, _)| tool).collect();
        let gone: Vec<_> =
            named.iter().filter(|number| !current.contains(format!("pack.tool{number}").as_str())).collect();
        assert!(gone.is_empty(), "round {round}: names lost: {gone:?}");
        store.close().await.expect("closed");
    }
    assert!(named.len() > 10, "the children did something: {named:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_killed_while_it_makes_the_store_leaves_one_that_can_be_made() {
    for moment in 0u64..12 {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("store.db");
        // The harness prints one line before the test begins.
        child(&path, 100, 2, Duration::from_micros(moment * moment * 60));
        let store = open(&path).await;
        assert!(store.verify_audit(&[]).await.expect("verified").is_whole());
        store.tokens_version().await.expect("all tables are there");
        store.close().await.expect("closed");
    }
}
