//! The budget of the classifier, measured over every tool of the corpus. Exits with 1 when it is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | infer everything about one tool from its definition, reading the text included | at most 50 µs on average |
//! | the same without reading | at most 4 × the time that `serde_json` takes to parse the definition |
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a benchmark reports on standard output and may stop")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolmark_core::definition::{Definition, Form};
use toolmark_core::document::Slice;
use toolmark_core::inference::{Inference, Mode};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/tools.jsonl");
const BUDGET: Duration = Duration::from_micros(50);

fn main() -> ExitCode {
    // `cargo test --benches` runs this file too, without a wish for figures.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let corpus = std::fs::read_to_string(CORPUS).expect("the corpus is in the repository");
    let tools: Vec<Definition> = corpus
        .lines()
        .map(|line| Definition::read(&Slice::of("corpus", line.to_owned()), Form::Row).expect("a definition"))
        .collect();
    let each = |total: Duration| total / u32::try_from(tools.len()).expect("few tools");
    let whole = each(least(|| {
        for tool in &tools {
            black_box(Inference::of(tool, Mode::Full));
        }
    }));
    let readings: Vec<_> = tools.iter().map(Definition::reading).collect();
    let inferring = each(least(|| {
        for reading in &readings {
            black_box(Inference::of_reading(reading, Mode::Full));
        }
    }));
    let parsing = each(least(|| {
        for tool in &tools {
            black_box(serde_json::from_str::<Value>(tool.raw_json()).expect("JSON"));
        }
    }));
    let ratio = inferring.as_secs_f64() / parsing.as_secs_f64();
    println!("infer one tool, reading included      {whole:>10.1?}  budget {BUDGET:.1?}");
    println!(
        "infer one tool, already read          {inferring:>10.1?}  {ratio:.2} × serde_json ({parsing:.1?}), budget 4"
    );
    if whole <= BUDGET && ratio <= 4.0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The least of several runs: what the work costs when nothing disturbs it.
fn least(mut work: impl FnMut()) -> Duration {
    let run = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..7).map(run).min().unwrap_or_default()
}
