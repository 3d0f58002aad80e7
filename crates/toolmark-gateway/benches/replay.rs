//! The budget of a replay. Exits with 1 when it is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | recorded calls judged again by another policy, per second, from a file, on all cores | at least 100,000 |
//!
//! Calls are of 40 tools, by 25 callers in 200 sessions, for two tasks; a third carries SQL of which 2,000 statements differ. With
//! `TOOLMARK_BENCH_CALLS`, another number of calls than 400,000.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use toolmark_config::Config;
use toolmark_core::catalog::Catalog;
use toolmark_core::digest::ArgumentDigest;
use toolmark_core::document::Document;
use toolmark_core::pins::Pins;
use toolmark_core::snapshot::SnapshotReader;
use toolmark_gateway::assemble::{self, Strictness, Surroundings};
use toolmark_gateway::replay::{ReplaySettings, replay};
use toolmark_policy::Caller;
use toolmark_runtime::replay::Change;
use toolmark_runtime::{Judged, Request, Workspace};
use toolmark_store::audit::{AuditFilter, AuditRecord, AuditTool, Bodies, Outcome, SinkSettings};
use toolmark_store::{Location, Micros, Settings, Store};

const CALLS: u64 = 400_000;
const BUDGET: f64 = 100_000.0;

const NEW: &str = r#"
[policy]
preset = "careful"

[[rules]]
id = "no-deletes"
verdict = "deny"
effect = "MUTATES|DELETE"

[[rules]]
id = "writers"
verdict = "ask"
behavior = "MUTATES|*|*"
caller = ["caller-1*"]
"#;

fn catalog() -> Catalog {
    let query = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
    let mut tools = vec![
        json!({"name": "read_query", "description": "Execute a SELECT query on the SQLite database", "inputSchema": query}),
        json!({"name": "write_query", "description": "Execute an INSERT, UPDATE, or DELETE query on the SQLite database", "inputSchema": query}),
    ];
    for number in 0..19 {
        let id = json!({"type": "object", "properties": {"id": {"type": "integer"}}});
        tools.push(json!({"name": format!("list_things_{number}"), "description": "List things", "inputSchema": id}));
        tools.push(
            json!({"name": format!("create_thing_{number}"), "description": "Create a thing", "inputSchema": id}),
        );
    }
    let mut reader = SnapshotReader::default();
    reader.read(&Document::new("db.json", Value::from(tools).to_string()), "db");
    reader.finish().into_builder().build().expect("a catalog")
}

fn workspace(config: &str) -> (Workspace, Config) {
    let config = Config::read(config, "toolmark.toml").expect("a configuration");
    let (directory, baselines) = (std::path::Path::new(""), std::collections::BTreeMap::new());
    let surroundings = Surroundings { directory, environment: &|_| None, baselines: &baselines, effects: None };
    let workspace = assemble::workspace(&config, catalog(), Pins::default(), &surroundings, Strictness::Running);
    (workspace.expect("a workspace"), config)
}

/// The call with this number: which tool, and with what.
fn call(number: u64) -> (String, Value) {
    let table = number.wrapping_mul(2_654_435_761) % 2_000;
    match number % 6 {
        0 => ("read_query".into(), json!({"query": format!("SELECT * FROM table_{table} WHERE id = {number}")})),
        1 if number.is_multiple_of(5) => {
            ("write_query".into(), json!({"query": format!("DELETE FROM table_{table} WHERE id = 1")}))
        }
        1 => ("write_query".into(), json!({"query": format!("INSERT INTO table_{table} VALUES ({number})")})),
        2 => (format!("create_thing_{}", number % 19), json!({"id": number})),
        _ => (format!("list_things_{}", number % 19), json!({"id": number})),
    }
}

async fn fill(store: &Store, calls: u64, bodies: bool) {
    let (workspace, _) = workspace("");
    let sink = store.audit_sink(SinkSettings::new("local"));
    for number in 0..calls {
        let (name, arguments) = call(number);
        let tool = workspace.catalog().find(&name, |_| true).expect("a tool");
        let task = (number % 4 == 0).then(|| &**workspace.tasks().find("read-only").expect("a task"));
        let caller = format!("caller-{}", number % 25);
        let request = Request { tool, arguments: &arguments, task, caller: Caller::new(&caller) };
        let found = workspace.examine(&request).expect("an examination");
        let time = Micros::new(1_700_000_000_000_000 + i64::try_from(number).expect("small") * 1_000);
        let text = arguments.to_string();
        let read = toolmark_core::json::read(&text).expect("JSON");
        let record = AuditRecord {
            caller: Some(caller.as_str().into()),
            session: Some(format!("session-{}", number % 200).into()),
            tool: Some(AuditTool {
                canonical: tool.canonical().as_str().into(),
                mark: tool.mark(),
                definition: tool.digest(),
            }),
            task: task.map(|task| task.name().as_str().into()),
            verdict: Some(found.verdict().decision()),
            code: found.verdict().deciding().next().map(|reason| reason.code.into()),
            judged: Some(Judged::of(&found, &arguments).to_text().into()),
            arguments: Some(ArgumentDigest::of(&read)),
            policy: Some("policy1:00".into()),
            bodies: bodies.then(|| Box::new(Bodies { arguments: Some(text.as_str().into()), result: None })),
            ..AuditRecord::new(uuid::Uuid::from_u128(u128::from(number)), time, name.into(), Outcome::Ok)
        };
        sink.record(record).await.expect("kept");
    }
    sink.close().await.expect("written");
}

async fn measure(what: &str, calls: u64, bodies: bool) -> f64 {
    let folder = tempfile::TempDir::new().expect("a folder");
    let workers = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    let settings = Settings { readers: u32::try_from(workers).expect("few"), ..Settings::new(|| Micros::new(0)) };
    let store = Store::open(&Location::File(folder.path().join("store.db")), &settings).await.expect("a store");
    fill(&store, calls, bodies).await;
    let (workspace, config) = workspace(NEW);
    let (workspace, config) = (Arc::new(workspace), Arc::new(config));
    let filter = AuditFilter { bodies, ..AuditFilter::default() };
    let settings = ReplaySettings { filter, examples: 3, workers, most: None };
    let mut best = 0.0_f64;
    for _ in 0..3 {
        let start = Instant::now();
        let report = replay(&store, Arc::clone(&workspace), Arc::clone(&config), &settings, Arc::new(|_, _| ())).await;
        let report = report.expect("a report");
        assert_eq!(report.calls, calls);
        assert!(report.count(Change::Denied) > 0 && report.count(Change::Asked) > 0 && report.unchanged > 0);
        assert_eq!(report.count_not_judged(), 0);
        best = best.max(calls as f64 / start.elapsed().as_secs_f64());
    }
    println!("{what:<60} {best:>10.0} calls/s");
    best
}

fn main() -> ExitCode {
    let calls = std::env::var("TOOLMARK_BENCH_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(CALLS);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let kept = runtime.block_on(measure("replay of calls by what was kept of them", calls, false));
    runtime.block_on(measure("replay of calls by their arguments (no budget)", calls / 4, true));
    let held = kept >= BUDGET;
    println!("{:<60} {kept:>10.0} ≥ {BUDGET:<9.0} {}", "replay, calls a second", if held { "ok" } else { "EXCEEDED" });
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
