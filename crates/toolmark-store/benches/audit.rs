//! The budgets of the audit. Exits with 1 when one is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | records of 50 tools written in batches, per second of CPU, all threads | at least 50,000 |
//! | putting a record into the queue | at most 1 µs |
//!
//! The rest is printed to be looked at: it depends on the disk.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolmark_core::verdict::Decision;
use toolmark_store::audit::{
    AuditFilter, AuditRecord, AuditSink, AuditTool, Order, Outcome, RecordError, ResultDigest, SinkSettings, Timings,
};
use toolmark_store::{Location, Micros, Settings, Store};

const RECORDS: u64 = 200_000;
const STRICT: u64 = 2_000;
const CALLERS: usize = 64;

/// The processor time that this process has used.
fn cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// Runs something and returns how long it took, by the clock and by the processor.
async fn measure<T>(work: impl Future<Output = T>) -> (T, Duration, Duration) {
    let (start, before) = (Instant::now(), cpu());
    let value = work.await;
    let wall = start.elapsed();
    let used = before.zip(cpu()).map_or(wall, |(before, after)| after - before);
    (value, wall, used)
}

/// What every record of one tool and caller shares, as the gateway would hold it.
fn template(at: u64) -> AuditRecord {
    let digest = |prefix: &str| format!("{prefix}{}", format!("{:02x}", at % 251).repeat(32));
    let text = |text: String| Some(Arc::from(text));
    AuditRecord {
        caller: text(format!("caller-{}", at % 7)),
        session: text(format!("session-{at:016x}")),
        era: Some("2026-07-28".into()),
        transport: Some("http".into()),
        tool: Some(AuditTool {
            canonical: format!("pack{}.create_issue_{at}", at % 20).into(),
            mark: digest("tm1:").parse().expect("a mark"),
            definition: digest("sha256:").parse().expect("a digest"),
        }),
        task: text("triage".into()),
        verdict: Some(Decision::Allow),
        reasons: text("[]".into()),
        rules: text("[\"allow-reads\"]".into()),
        policy: text(digest("policy1:")),
        arguments: Some(digest("args1:").parse().expect("a digest")),
        arguments_size: Some(200),
        result: Some(ResultDigest::Sha256([7; 32])),
        result_size: Some(230),
        timings: Timings {
            identify: 300,
            validate: 500,
            analyze: 900,
            judge: 700,
            approve: 0,
            dispatch: 250_000,
            shape: 400,
            total: 260_000,
        },
        trace: Some([3; 16]),
        ..AuditRecord::new(uuid::Uuid::nil(), Micros::new(0), "create_issue".into(), Outcome::Ok)
    }
}

fn numbered(template: &AuditRecord, number: u64) -> AuditRecord {
    let time = 1_790_000_000_000_000 + i64::try_from(number * 20).expect("small");
    let id = (u128::try_from(time / 1000).expect("positive") << 80) | (7 << 76) | u128::from(number);
    AuditRecord { id: uuid::Uuid::from_u128(id), time: Micros::new(time), ..template.clone() }
}

async fn store(folder: &tempfile::TempDir, name: &str) -> Store {
    let location = Location::File(folder.path().join(name));
    Store::open(&location, &Settings::new(|| Micros::new(0))).await.expect("a store")
}

async fn batched(store: &Store, templates: &[AuditRecord]) -> AuditSink {
    let sink = store.audit_sink(SinkSettings::new("bench"));
    for (number, template) in (0..RECORDS).zip(templates.iter().cycle()) {
        let mut record = Box::new(numbered(template, number));
        // As fast as the store takes them, without counting anybody's wait.
        while let Err(back) = sink.offer(*record) {
            record = back;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    sink.close().await.expect("written");
    sink
}

async fn strict(store: &Store, templates: &[AuditRecord]) -> Result<(), RecordError> {
    let sink = store.audit_sink(SinkSettings::new("strict"));
    let callers = templates.iter().cycle().take(CALLERS).map(|template| {
        let (sink, template) = (sink.clone(), template.clone());
        tokio::spawn(async move {
            for number in 0..STRICT / CALLERS as u64 {
                sink.record_strictly(numbered(&template, number)).await?;
            }
            Ok(())
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("no panic")?;
    }
    sink.close().await
}

/// What a caller pays on its way: nothing is written meanwhile.
async fn enqueue(store: &Store, templates: &[AuditRecord]) -> Duration {
    const COUNT: u64 = 10_000;
    let settings = SinkSettings { linger: Duration::from_secs(60), batch: 1 << 20, ..SinkSettings::new("queue") };
    let sink = store.audit_sink(settings);
    let mut records: Vec<_> = (0..COUNT).zip(templates.iter().cycle()).map(|(at, one)| numbered(one, at)).collect();
    let start = Instant::now();
    for record in records.drain(..) {
        sink.offer(record).expect("a place");
    }
    let took = start.elapsed() / u32::try_from(COUNT).expect("small");
    sink.close().await.expect("written");
    took
}

fn rate(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(1e-9)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    // `cargo test --benches` runs this file too, without a wish for figures.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::TempDir::new().expect("a folder");
    let templates: Vec<AuditRecord> = (0..1000).map(template).collect();
    let many = store(&folder, "many.db").await;
    let (_, wall, used) = measure(batched(&many, &templates)).await;
    println!("1,000 tools: {:.0}/s by the clock, {:.0}/s of CPU", rate(RECORDS, wall), rate(RECORDS, used));
    let file = store(&folder, "batched.db").await;
    let few: Vec<AuditRecord> = templates.iter().take(50).cloned().collect();
    let (sink, wall, used) = measure(batched(&file, &few)).await;
    let written = rate(RECORDS, used);
    println!(
        "50 tools: {RECORDS} records, {:.0}/s by the clock, {written:.0}/s of CPU, {} batches",
        rate(RECORDS, wall),
        sink.stats().batches
    );
    let size = std::fs::metadata(folder.path().join("batched.db")).expect("a file").len();
    println!("size: {} bytes a record", size / RECORDS);
    let queued = enqueue(&store(&folder, "queue.db").await, &templates).await;
    println!("queue: {} ns a record", queued.as_nanos());
    let (kept, wall, used) = measure(strict(&store(&folder, "strict.db").await, &templates)).await;
    kept.expect("written");
    println!("strict, {CALLERS} callers: {:.0}/s by the clock, {:.0}/s of CPU", rate(STRICT, wall), rate(STRICT, used));
    let (verified, _, used) = measure(file.verify_audit(&[])).await;
    let verified = verified.expect("verified");
    assert!(verified.is_whole() && verified.rows() == RECORDS);
    println!("verify: {:.0} rows/s of CPU", rate(RECORDS, used));
    let filter = AuditFilter { tool: Some("pack7.create_issue_7".into()), ..AuditFilter::default() };
    let (found, wall, _) = measure(file.audit(filter, Order::Newest).limit(50).all()).await;
    println!("find 50 calls of one tool: {} of them, {wall:.1?}", found.expect("records").len());
    let (read, _, used) =
        measure(file.audit(AuditFilter::default(), Order::Oldest).export(&mut tokio::io::sink())).await;
    println!("export: {:.0} rows/s of CPU", rate(read.expect("exported"), used));
    let (trimmed, wall, used) = measure(file.trim_audit(Micros::new(i64::MAX))).await;
    println!("trim: {:.0}/s by the clock, {:.0}/s of CPU", rate(trimmed.expect("trimmed"), wall), rate(RECORDS, used));
    let fine = written >= 50_000.0 && queued <= Duration::from_micros(1);
    println!("{}", if fine { "ok" } else { "EXCEEDED" });
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
