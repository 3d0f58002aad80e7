//! The budgets of the catalog, each a ratio against something measured in the same run. Exits with 1 when one is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | resolve a canonical or exposed name, 50 to 1,000,000 tools | at most 3 × one lookup in a `HashMap` of that size with the same hasher |
//! | build the catalog of the corpus, exposed names included | at most 4 × the time `serde_json` takes to parse the same bytes into `Value` |
//! | the same for 1,000,000 tools | at most 1.5 × the time per tool of the corpus: linear |
//! | memory of 1,000,000 tools | at most 2 × the bytes of the snapshots |
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark may stop")]

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use toolmark_core::catalog::{Catalog, Resolution};
use toolmark_core::document::Document;
use toolmark_core::exposure::{ExposedTable, Mode, Profile, ProfileName, Published};
use toolmark_core::snapshot::{Snapshot, SnapshotReader};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/tools.jsonl");

/// One measured ratio and its budget.
struct Measured {
    what: String,
    ours: String,
    theirs: String,
    ratio: f64,
    budget: f64,
}

fn main() -> ExitCode {
    let argument = std::env::args().nth(1).unwrap_or_default();
    match argument.as_str() {
        "--memory" => memory(),
        // `cargo test --benches` runs this file too, without a wish for figures.
        "--test" => ExitCode::SUCCESS,
        _ => {
            let corpus = std::fs::read_to_string(CORPUS).expect("the corpus is in the repository");
            let mut all = build(&corpus);
            for size in [50, 1_000, 10_000, 100_000, 1_000_000] {
                all.extend(resolve(size));
            }
            all.push(measure_memory());
            report(&all)
        }
    }
}

fn report(all: &[Measured]) -> ExitCode {
    println!("{:<52} {:>12} {:>12} {:>7} {:>7}", "", "toolmark", "baseline", "ratio", "budget");
    for one in all {
        let verdict = if one.ratio <= one.budget { "ok" } else { "EXCEEDED" };
        println!(
            "{:<52} {:>12} {:>12} {:>7.2} {:>7.1} {verdict}",
            one.what, one.ours, one.theirs, one.ratio, one.budget
        );
    }
    if all.iter().all(|one| one.ratio <= one.budget) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The least of several runs: what the work costs when nothing disturbs it.
fn least(runs: usize, mut work: impl FnMut()) -> Duration {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn whole(document: &std::sync::Arc<Document>) -> ExposedTable {
    let catalog = Snapshot::of(document, "corpus").into_builder().build().expect("the corpus has no problems");
    expose(&catalog)
}

fn expose(catalog: &Catalog) -> ExposedTable {
    ExposedTable::build(catalog, &Profile::new(ProfileName::ClaudeCode), Mode::Auto, &Published::default())
        .expect("auto never fails")
}

fn build(corpus: &str) -> Vec<Measured> {
    let parse = least(9, || {
        for line in corpus.lines() {
            black_box(serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        }
    });
    let document = Document::new("corpus", corpus.to_owned());
    let ours = least(9, || {
        black_box(whole(&document));
    });
    let tools = corpus.lines().count();
    let copies = 1_000_000 / tools;
    let per_tool = ours.as_secs_f64() / tools as f64;
    let (large, reading) = repeated(corpus, copies);
    let start = Instant::now();
    black_box(expose(&large));
    let large_per_tool = (reading + start.elapsed()).as_secs_f64() / large.len() as f64;
    let one_changed = {
        let pack = large.packs().next().expect("a pack").0.clone();
        least(3, || {
            black_box(large.with_pack(pack.clone()).expect("rebuilds"));
        })
    };
    println!(
        "replacing one pack of {} in a catalog of {} tools: {one_changed:.1?}",
        large.packs().count(),
        large.len()
    );
    vec![
        Measured {
            what: format!("build {tools} tools, against parsing them"),
            ours: format!("{ours:.1?}"),
            theirs: format!("{parse:.1?}"),
            ratio: ours.as_secs_f64() / parse.as_secs_f64(),
            budget: 4.0,
        },
        Measured {
            what: format!("build {} tools, per tool, against {tools}", large.len()),
            ours: format!("{:.2} µs", large_per_tool * 1e6),
            theirs: format!("{:.2} µs", per_tool * 1e6),
            ratio: large_per_tool / per_tool,
            budget: 1.5,
        },
    ]
}

/// The corpus again and again, each time under new packs; and the time it took to read it, without the time to make the copies.
fn repeated(corpus: &str, copies: usize) -> (Catalog, Duration) {
    let mut reader = SnapshotReader::default();
    let mut reading = Duration::ZERO;
    for copy in 0..copies {
        let text = corpus.replace("{\"server\":\"", &format!("{{\"server\":\"c{copy}-"));
        let document = Document::new(format!("copy {copy}"), text);
        let start = Instant::now();
        reader.read(&document, "copy");
        reading += start.elapsed();
    }
    let start = Instant::now();
    let catalog = reader.finish().into_builder().build().expect("copies have packs of their own");
    (catalog, reading + start.elapsed())
}

fn resolve(size: usize) -> Vec<Measured> {
    let catalog = synthetic(size);
    let table = expose(&catalog);
    let canonical: Vec<String> = catalog.tools().map(|tool| tool.canonical().to_string()).collect();
    let exposed: Vec<String> = table.listed().map(|row| row.name.to_string()).collect();
    let rounds = (2_000_000 / size).clamp(1, 20_000);
    let mut measured = Vec::new();
    for (kind, names) in [("canonical", &canonical), ("exposed", &exposed)] {
        let plain: HashMap<String, u32, RandomState> = names.iter().cloned().zip(0..).collect();
        let order = shuffled(names.len());
        let theirs = least(5, || {
            for _ in 0..rounds {
                for &at in &order {
                    black_box(plain.get(black_box(names[at].as_str())));
                }
            }
        });
        let ours = least(5, || {
            for _ in 0..rounds {
                for &at in &order {
                    match kind {
                        "canonical" => {
                            assert!(matches!(black_box(catalog.resolve(black_box(&names[at]))), Resolution::Found(_)));
                        }
                        _ => assert!(black_box(table.resolve(black_box(&names[at]))).is_some()),
                    }
                }
            }
        });
        let each = |total: Duration| total.as_secs_f64() * 1e9 / (rounds * order.len()) as f64;
        measured.push(Measured {
            what: format!("resolve 1 of {size} by {kind} name, against HashMap"),
            ours: format!("{:.0} ns", each(ours)),
            theirs: format!("{:.0} ns", each(theirs)),
            ratio: ours.as_secs_f64() / theirs.as_secs_f64(),
            budget: 3.0,
        });
    }
    measured
}

fn synthetic(size: usize) -> Catalog {
    let per_pack = size.clamp(1, 500);
    let mut reader = SnapshotReader::default();
    for pack in 0..size.div_ceil(per_pack) {
        let first = pack * per_pack;
        let tools: Vec<String> = (first..(first + per_pack).min(size))
            .map(|n| format!("{{\"name\":\"read_item_number_{n}\",\"inputSchema\":{{\"type\":\"object\"}}}}"))
            .collect();
        reader.read(&Document::new("synthetic", format!("[{}]", tools.join(","))), &format!("server-{pack}"));
    }
    reader.finish().into_builder().build().expect("synthetic tools have no problems")
}

/// A fixed, well-mixed order, so that neighbours in memory are not asked for one after another.
fn shuffled(length: usize) -> Vec<usize> {
    let hasher = RandomState::new();
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by_key(|at| hasher.hash_one(at));
    order
}

/// Runs this program again, so that nothing else counts.
fn measure_memory() -> Measured {
    let output = Command::new(std::env::current_exe().expect("a path")).arg("--memory").output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let (bytes, peak) = (figures[0], figures[1]);
    Measured {
        what: "peak memory of 1,000,000 tools, against their bytes".into(),
        ours: format!("{:.0} MB", peak / 1e6),
        theirs: format!("{:.0} MB", bytes / 1e6),
        ratio: peak / bytes,
        budget: 2.0,
    }
}

fn memory() -> ExitCode {
    let corpus = std::fs::read_to_string(CORPUS).expect("the corpus is in the repository");
    let copies = 1_000_000 / corpus.lines().count();
    let (catalog, _) = repeated(&corpus, copies);
    let table = expose(&catalog);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok())
        .unwrap_or(0);
    println!("{} {}", corpus.len() * copies, peak * 1024);
    black_box((catalog, table));
    ExitCode::SUCCESS
}
