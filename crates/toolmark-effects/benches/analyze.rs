//! The budgets of the analyzers, in microseconds per call. Exits with 1 when one is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | a command of 200 bytes | 30 µs |
//! | a call of a tool that carries nothing | 0.2 µs |
//! | a path, an address, a request | 10 µs |
//! | finding the carriers of a tool, on average over the corpus | 100 µs |
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use toolmark_effects::analyze_with;
use toolmark_effects::carriers::Carriers;
use toolmark_effects::settings::Settings;
use toolmark_testkit::corpus_catalog;

const COMMAND: &str = "cd /srv/app && git log --oneline --since=yesterday | grep -v 'merge' | awk '{print $1}' | \
    xargs -n1 git show --stat 2>/dev/null | sort | uniq -c | sort -rn | head -20 > /tmp/report.txt; echo done $(date +%F)";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--test") {
        return ExitCode::SUCCESS;
    }
    let catalog = corpus_catalog();
    let carriers = |name: &str| Carriers::of(catalog.find(name, |_| true).expect("a tool of the corpus"));
    let settings = Settings::default();
    let call = |name: &str, arguments: Value| {
        let carriers = carriers(name);
        microseconds(20_000, || {
            black_box(analyze_with(&carriers, black_box(&arguments), &settings));
        })
    };
    let tools = catalog.len();
    let all = microseconds(1, || {
        for tool in catalog.tools() {
            black_box(Carriers::of(tool));
        }
    }) / tools as f64;
    let rows = [
        ("a command of 200 bytes", call("mcp-server-commands.run_command", json!({ "command": COMMAND })), 30.0),
        ("a short command", call("mcp-server-commands.run_command", json!({ "command": "git status" })), 10.0),
        ("a path", call("filesystem.read_text_file", json!({ "path": "/srv/project/docs/../README.md" })), 10.0),
        ("an address", call("ref-fetch.fetch", json!({ "url": "https://example.com/a/b?c=d" })), 10.0),
        (
            "a request",
            call(
                "mcp-grafana.grafana_api_request",
                json!({"method": "PUT", "endpoint": "/api/org/users/2", "body": "{\"a\":1}"}),
            ),
            10.0,
        ),
        ("a call that carries nothing", call("ref-memory.read_graph", json!({ "a": "b" })), 0.2),
        ("the carriers of a tool", all, 100.0),
    ];
    println!("{:<40} {:>12} {:>12}", "", "µs", "budget");
    for (what, measured, budget) in &rows {
        println!("{what:<40} {measured:>12.2} {budget:>12.1} {}", if measured <= budget { "ok" } else { "EXCEEDED" });
    }
    if rows.iter().all(|(_, measured, budget)| measured <= budget) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The least of several runs, per round.
fn microseconds(rounds: u32, mut work: impl FnMut()) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        for _ in 0..rounds {
            work();
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    }
    least
}
