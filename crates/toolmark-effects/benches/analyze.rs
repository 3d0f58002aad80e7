//! The budgets of the analyzers. Exits with 1 when one is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | a statement or a command of 200 bytes | 30 µs |
//! | the same again, out of the cache | 2 µs |
//! | a call of a tool that carries nothing | 0.2 µs |
//! | a path, an address, a request | 10 µs |
//! | finding the carriers of a tool and what its options mean, once a tool, on average over the corpus | 250 µs |
//! | the worst text in any language, up to 5 MB | 50 ms |
//! | memory while such texts are read, the text itself included | 64 MB |
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_effects::carriers::Carriers;
use toolmark_effects::settings::Settings;
use toolmark_effects::{Analyzer, EffectCache, analyze_cached, analyze_with};
use toolmark_testkit::{catalog, corpus_catalog};

const COMMAND: &str = "cd /srv/app && git log --oneline --since=yesterday | grep -v 'merge' | awk '{print $1}' | \
    xargs -n1 git show --stat 2>/dev/null | sort | uniq -c | sort -rn | head -20 > /tmp/report.txt; echo done $(date +%F)";
const SELECT: &str = "SELECT c.name, count(*) AS orders, sum(o.total) FROM customers c JOIN orders o ON o.customer_id = c.id \
    WHERE o.status IN ('paid', 'delete') AND o.day > '2026-01-01' GROUP BY c.name ORDER BY 3 DESC LIMIT 20";
const CHANGE: &str = "WITH old AS (SELECT id FROM sessions WHERE expires_at < now() - interval '30 days' LIMIT 1000) \
    DELETE FROM sessions s USING old WHERE s.id = old.id AND s.note <> 'keep; drop' RETURNING s.id, s.user_id";

/// One measured figure and its budget.
struct Row {
    what: String,
    measured: f64,
    budget: f64,
    unit: &'static str,
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        // `cargo test --benches` runs this file too, without a wish for figures.
        Some("--test") => return ExitCode::SUCCESS,
        Some("--memory") => return memory(),
        _ => {}
    }
    let mut rows = ordinary();
    rows.extend(hostile());
    rows.push(measure_memory());
    for Row { what, measured, budget, unit } in &rows {
        let verdict = if measured <= budget { "ok" } else { "EXCEEDED" };
        println!("{what:<52} {measured:>10.2} {budget:>8.1} {unit} {verdict}");
    }
    if rows.iter().all(|row| row.measured <= row.budget) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn ordinary() -> Vec<Row> {
    let catalog = corpus_catalog();
    let tool = |name: &str| catalog.find(name, |_| true).expect("a tool of the corpus");
    let settings = Settings::default();
    let call = |what: &str, name: &str, arguments: Value, budget: f64| {
        let carriers = Carriers::of(tool(name));
        let measured = microseconds(50, || {
            black_box(analyze_with(&carriers, black_box(&arguments), &settings));
        });
        Row { what: what.into(), measured, budget, unit: "µs" }
    };
    let repeated = |what: &str, name: &str, arguments: Value, budget: f64| {
        let (cache, analyzer) = (EffectCache::default(), Analyzer::of(tool(name), settings.clone()));
        let measured = microseconds(50, || {
            black_box(analyze_cached(&cache, &analyzer, black_box(&arguments)));
        });
        Row { what: what.into(), measured, budget, unit: "µs" }
    };
    let found = microseconds(1, || {
        for tool in catalog.tools() {
            black_box(Carriers::of(tool));
        }
    }) / catalog.len() as f64;
    let request = json!({"method": "PUT", "endpoint": "/api/org/users/2", "body": "{\"a\":1}"});
    vec![
        call("a command of 200 bytes", "mcp-server-commands.run_command", json!({ "command": COMMAND }), 30.0),
        call("a query of 200 bytes, SQLite", "sqlite.read_query", json!({ "query": SELECT }), 30.0),
        call("a query of 200 bytes, PostgreSQL", "awslabs-postgres.run_query", json!({ "sql": SELECT }), 30.0),
        call("a query of 200 bytes, MySQL", "mysql-mcp-server.execute_sql", json!({ "query": SELECT }), 30.0),
        call("a query of 200 bytes, ClickHouse", "mcp-clickhouse.run_query", json!({ "query": SELECT }), 30.0),
        call("a query of 200 bytes, any dialect", "mcp-alchemy.execute_query", json!({ "query": SELECT }), 30.0),
        call("a change of 200 bytes, PostgreSQL", "awslabs-postgres.run_query", json!({ "sql": CHANGE }), 30.0),
        call("a change of 200 bytes, any dialect", "mcp-alchemy.execute_query", json!({ "query": CHANGE }), 30.0),
        repeated("a command again", "mcp-server-commands.run_command", json!({ "command": COMMAND }), 2.0),
        repeated("a query again", "sqlite.read_query", json!({ "query": SELECT }), 2.0),
        call("a short command", "mcp-server-commands.run_command", json!({ "command": "git status" }), 10.0),
        call("a path", "filesystem.read_text_file", json!({ "path": "/srv/project/docs/../README.md" }), 10.0),
        call("an address", "ref-fetch.fetch", json!({ "url": "https://example.com/a/b?c=d" }), 10.0),
        call("a request", "mcp-grafana.grafana_api_request", request, 10.0),
        call("a call that carries nothing", "ref-memory.read_graph", json!({ "a": "b" }), 0.2),
        Row { what: "the carriers of a tool".into(), measured: found, budget: 250.0, unit: "µs" },
    ]
}

/// Tools in every language, each with the argument that carries it.
const LANGUAGES: &[(&str, &str, &str, &str)] = &[
    ("sqlite", "read_query", "Run SQL", "query"),
    ("postgres", "run_query", "Run SQL", "query"),
    ("mysql", "run_query", "Run SQL", "query"),
    ("duckdb", "run_query", "Run SQL", "query"),
    ("clickhouse", "run_query", "Run SQL", "query"),
    ("database", "run_query", "Run SQL", "query"),
    ("machine", "run_command", "Run a shell command", "command"),
    ("files", "read_file", "Read a file of the filesystem", "path"),
    ("web", "fetch", "Fetch a web page", "url"),
    ("neo4j", "run_query", "Run Cypher", "query"),
    ("graph", "query_graphql", "Run a GraphQL document", "query"),
    ("redis", "call", "Call Redis", "command"),
    ("browser", "evaluate", "Evaluate JavaScript code", "code"),
];

fn tools() -> Vec<(&'static str, &'static str, Carriers)> {
    let one = |(pack, name, description, argument): &(&'static str, &'static str, &'static str, &'static str)| {
        let tool = json!([{
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": {*argument: {"type": "string"}}}
        }]);
        let catalog: Catalog = catalog(&[(pack, &tool.to_string())]);
        let carriers = Carriers::of(catalog.tools().next().expect("a tool"));
        assert!(!carriers.is_empty(), "{pack}.{name} carries nothing");
        (*pack, *argument, carriers)
    };
    LANGUAGES.iter().map(one).collect()
}

/// Pieces that make readers work hard when they are repeated.
const PIECES: &[&str] = &[
    "(",
    "((",
    "$(",
    "`",
    "'",
    "\"",
    "\\",
    "{",
    "[",
    "<(",
    "<<a\n",
    "/*",
    "/*!",
    "--",
    "$$",
    "$a$",
    ";",
    "|",
    "&&",
    "a,",
    "a=b ",
    "${a:-",
    "\"$(",
    "$'\\x41'",
    "sh -c '",
    "eval ",
    "sudo ",
    "xargs ",
    "find . -exec ",
    "SELECT (",
    "SELECT 1;",
    "CASE WHEN ",
    "NOT ",
    "a OR ",
    "1+",
    "WITH a AS (",
    "EXPLAIN ",
    "BEGIN ",
    "UNION SELECT ",
    "{a",
    "...a ",
    "query a{",
    "MATCH (",
    "CALL {",
    "../",
    "%2e%2e/",
    "@",
    "http://",
    "\u{202e}",
    "é",
    "\0",
    "document.",
    "a[",
];

fn texts(size: usize) -> impl Iterator<Item = String> {
    PIECES.iter().map(move |piece| piece.repeat(size / piece.len()))
}

/// The worst text of each language, at sizes around and beyond what is read.
fn hostile() -> Vec<Row> {
    let settings = Settings::default();
    let row = |(pack, argument, carriers): (&str, &str, Carriers)| {
        let (mut worst, mut what) = (0.0, String::new());
        for size in [10_000, 100_000, 250_000, 5_000_000] {
            for text in texts(size) {
                let begins: String = text.chars().take(12).collect();
                let arguments = json!({ argument: text });
                let run = || {
                    let (start, clock) = (processor(), Instant::now());
                    black_box(analyze_with(&carriers, black_box(&arguments), &settings));
                    let took = start
                        .zip(processor())
                        .map_or_else(|| clock.elapsed(), |(start, end)| end.saturating_sub(start));
                    took.as_secs_f64() * 1e3
                };
                // Only what looks bad is measured again: the least of several runs is what the work costs.
                let first = run();
                let least = if first > worst { (0..4).map(|_| run()).fold(first, f64::min) } else { first };
                if least > worst {
                    (worst, what) = (least, format!("the worst for {pack}: {size} bytes of {begins:?}"));
                }
            }
        }
        Row { what, measured: worst, budget: 50.0, unit: "ms" }
    };
    tools().into_iter().map(row).collect()
}

/// Runs this program again, so that nothing else counts.
fn measure_memory() -> Row {
    let output = Command::new(std::env::current_exe().expect("a path")).arg("--memory").output().expect("runs");
    let peak: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a figure");
    Row { what: "the peak of memory over all of these".into(), measured: peak / 1e6, budget: 64.0, unit: "MB" }
}

fn memory() -> ExitCode {
    let settings = Settings::default();
    for (_, argument, carriers) in tools() {
        for size in [10_000, 250_000, 5_000_000] {
            for text in texts(size) {
                let arguments = json!({ argument: text });
                black_box(analyze_with(&carriers, &arguments, &settings));
            }
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok())
        .unwrap_or(usize::MAX / 1024);
    println!("{}", peak * 1024);
    ExitCode::SUCCESS
}

/// The processor time of this thread so far, where the system says it.
fn processor() -> Option<Duration> {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    account.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The least of many short runs, per round: most are too short to be interrupted.
fn microseconds(rounds: u32, mut work: impl FnMut()) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..if rounds > 1 { 400 } else { 5 } {
        let start = Instant::now();
        for _ in 0..rounds {
            work();
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    }
    least
}
