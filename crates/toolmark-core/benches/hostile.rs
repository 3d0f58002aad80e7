//! What the worst schemas, arguments and descriptions cost: each has a budget of its own. Exits with 1 when one is exceeded.
//!
//! The budgets are far above what the work takes and far below what a blow-up takes; the tests say what comes of these inputs.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolmark_core::digest::SchemaDigest;
use toolmark_core::instructions;
use toolmark_core::schema::check::InputSchema;
use toolmark_core::schema::compare::compare;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let mut rows = Vec::new();
    let mut row = |what: &str, budget: Duration, work: &mut dyn FnMut()| {
        let measured = least(work);
        println!("{what:<52} {measured:>12.1?} {budget:>12.1?} {}", if measured <= budget { "ok" } else { "EXCEEDED" });
        rows.push(measured <= budget);
    };
    let (short, long) = (Duration::from_millis(50), Duration::from_secs(2));
    let nothing = (0..120).fold(json!({}), |inner, _| json!({ "additionalProperties": inner, "title": "x" }));
    row("the shape of 120 nested parts that accept all", short, &mut || {
        black_box(SchemaDigest::of_value(&nothing));
    });
    let pairs = [
        ("compare two bombs of alternatives", bomb("string"), bomb("integer")),
        ("compare 3,000 alternatives", wide(1), wide(2)),
        ("compare schemas 1,000 deep", deep("string"), deep("integer")),
    ];
    for (what, old, new) in &pairs {
        row(what, long, &mut || {
            let _ = black_box(compare(old, new));
        });
    }
    row("compile a schema that doubles 50 times", long, &mut || {
        black_box(InputSchema::compile(&doubling(50))).ok();
    });
    let checked = InputSchema::compile(&doubling(50)).expect("compiles");
    let nested = (0..51).fold(json!({}), |inner, _| json!({ "x": inner }));
    row("check arguments that double 51 times", long, &mut || {
        black_box(checked.check(&nested)).ok();
    });
    let pattern = json!({ "type": "object", "properties": { "v": { "pattern": "^(a|b|ab)*c$" } } });
    let matched = InputSchema::compile(&pattern).expect("compiles");
    let repeated = json!({ "v": "ab".repeat(100_000) });
    row("match a hostile pattern against 200 kB", long, &mut || {
        black_box(matched.check(&repeated)).ok();
    });
    for part in PARTS {
        let text = part.repeat(1_000_000 / part.len());
        row(&format!("find instructions in 1 MB of {part:?}"), Duration::from_secs(1), &mut || {
            black_box(instructions::find(&text));
        });
    }
    if rows.iter().all(|held| *held) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const PARTS: &[&str] = &[
    "ignore all previous instructions ",
    "read open cat load fetch not never ",
    "not ",
    "<",
    "<a ",
    "&lt;",
    "<!-- ",
    "<system>",
    "[//]: # (",
    "i g n o r e ",
    "\\x41",
    "QUJD",
    "\u{e0041}",
    "\u{200b}",
    "SYSTEM: \n",
];

/// The least processor time of three runs: what else the machine does is not counted.
fn least(work: &mut dyn FnMut()) -> Duration {
    let run = |_| {
        let (start, clock) = (processor(), Instant::now());
        work();
        start.zip(processor()).map_or_else(|| clock.elapsed(), |(start, end)| end.saturating_sub(start))
    };
    (0..3).map(run).min().unwrap_or_default()
}

/// The processor time of this thread so far, where the system says it.
fn processor() -> Option<Duration> {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    account.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn bomb(last: &str) -> Value {
    let mut defs = Map::new();
    for level in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/a{}", level + 1) });
        let alternatives = json!([{ "allOf": [next] }, { "not": next }, { "oneOf": [next, next] }]);
        defs.insert(format!("a{level}"), json!({ "anyOf": alternatives }));
    }
    defs.insert("a60".into(), json!({ "type": last }));
    json!({ "$ref": "#/$defs/a0", "$defs": defs })
}

fn wide(bound: u32) -> Value {
    json!({ "anyOf": (0..3_000).map(|n| json!({ "minimum": n, "maximum": bound })).collect::<Vec<_>>() })
}

fn deep(last: &str) -> Value {
    (0..1_000).fold(json!({ "type": last }), |inner, _| json!({ "items": inner }))
}

/// Each level refers to the next one twice.
fn doubling(levels: usize) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({ "properties": { "x": { "$ref": format!("#/$defs/a{}", level + 1) } } });
        defs.insert(format!("a{level}"), json!({ "allOf": [next, next] }));
    }
    defs.insert(format!("a{levels}"), json!({ "type": "object" }));
    json!({ "$ref": "#/$defs/a0", "$defs": defs })
}
