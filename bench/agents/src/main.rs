//! What does a run cost beside the model and the tools? Measured beside `rig`, both with the same scripted model and the same tools,
//! without a network. Exits with 1 when a budget is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | a whole run of 10 and of 100 turns with one call each, for each call | at most 50 µs |
//! | a turn of 1,000 calls that compute for 100 µs, beyond the same work in bare tasks, for each call | at most 50 µs |
//! | how much faster that turn is with all processors than with one | at least 0.8 × as much as bare tasks are |
//! | the first word of a streamed run, beyond the model's own | at most 1 ms later |

mod measure;
mod ours;
mod script;
mod side;
mod theirs;

use std::process::ExitCode;
use std::sync::Arc;

use measure::{PerCall, Streamed, median};
use ours::Ours;
use script::Script;
use side::Failure;
use theirs::Theirs;
use tokio::runtime::{Builder, Runtime};

/// A call of the small tool.
const FORECAST: &str = r#"{"city": "Delft", "days": 3}"#;

fn main() -> ExitCode {
    println!("{:<58} {:>10} {:>10} {:>10} {:>12}", "", "toolmark", "rig 0.44", "of rig's", "budget");
    match all() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn all() -> Result<bool, Failure> {
    let short = in_turn(10, 30, 100)?;
    let long = in_turn(100, 3, 60)?;
    let many = side_by_side(1000, 11)?;
    let first = first_word(1000)?;
    Ok(short && long && many && first)
}

/// One call after the other, in runs of so many turns.
fn in_turn(turns: usize, runs: usize, rounds: usize) -> Result<bool, Failure> {
    let runtime = Builder::new_current_thread().build()?;
    let script = || Arc::new(Script::new(turns, 1, "forecast", FORECAST));
    let (our_script, their_script) = (script(), script());
    let (ours, theirs) = (Ours::new(Arc::clone(&our_script))?, Theirs::new(Arc::clone(&their_script)));
    let mut all: Vec<(PerCall, PerCall)> = Vec::with_capacity(rounds);
    // The first round warms up.
    for round in 0..=rounds {
        let our = runtime.block_on(measure::runs(&ours, &our_script, runs))?;
        let their = runtime.block_on(measure::runs(&theirs, &their_script, runs))?;
        if round > 0 {
            all.push((our, their));
        }
    }
    let what = format!("{turns} turns with one call each, for each call");
    let held = Row::new(&what, all.iter().map(|(our, their)| (our.wall, their.wall))).at_most(50.0).print();
    Row::new("– CPU", all.iter().map(|(our, their)| (our.cpu, their.cpu))).print();
    Ok(held)
}

/// All calls in one turn, on one thread and on all processors.
fn side_by_side(calls: usize, rounds: usize) -> Result<bool, Failure> {
    let work = measure::rounds_for(100.0);
    let script = || Arc::new(Script::new(1, calls, "compute", &format!(r#"{{"rounds": {work}}}"#)));
    let (our_script, their_script) = (script(), script());
    let (ours, theirs) =
        (Arc::new(Ours::new(Arc::clone(&our_script))?), Arc::new(Theirs::new(Arc::clone(&their_script))));
    let processors = std::thread::available_parallelism()?.get();
    let runtimes = [threads(1)?, threads(processors)?];
    let (mut one, mut more) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        for (runtime, into) in runtimes.iter().zip([&mut one, &mut more]) {
            let bare = measure::bare(runtime, calls, work)?;
            let our = measure::on(runtime, &ours, &our_script)?;
            let their = measure::on(runtime, &theirs, &their_script)?;
            if round > 0 {
                into.push((bare, our, their));
            }
        }
    }
    let beyond = one.iter().map(|(bare, our, their)| (our - bare, their - bare));
    let what = format!("{calls} calls of 100 µs in one turn, 1 thread: beyond bare tasks");
    let cheap = Row::new(&what, beyond).at_most(50.0).print();
    if processors == 1 {
        println!("there is one processor, so that nothing can be said about several");
        return Ok(cheap);
    }
    let faster = || one.iter().zip(&more).map(|(one, more)| (one.0 / more.0, one.1 / more.1, one.2 / more.2));
    let bare = median(faster().map(|(bare, ..)| bare));
    let what = format!("– with {processors} threads, times as fast (bare tasks: {bare:.2})");
    let scales = Row::new(&what, faster().map(|(_, our, their)| (our, their))).unit("×").at_least(0.8 * bare).print();
    Ok(cheap && scales)
}

/// The first word of a streamed run.
fn first_word(rounds: usize) -> Result<bool, Failure> {
    let runtime = Builder::new_current_thread().build()?;
    let script = || Arc::new(Script::new(0, 0, "forecast", FORECAST));
    let (ours, theirs) = (Ours::new(script())?, Theirs::new(script()));
    let mut all: Vec<(Streamed, Streamed)> = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        let our = runtime.block_on(measure::streamed(&ours))?;
        let their = runtime.block_on(measure::streamed(&theirs))?;
        if round > 0 {
            all.push((our, their));
        }
    }
    let added = all.iter().map(|(our, their)| (our.added, their.added));
    let held = Row::new("first word of a streamed run, beyond the model's own", added).at_most(1000.0).print();
    Row::new("– from the model to whoever watches", all.iter().map(|(our, their)| (our.passed_on, their.passed_on)))
        .print();
    Ok(held)
}

fn threads(count: usize) -> Result<Runtime, Failure> {
    Ok(Builder::new_multi_thread().worker_threads(count).build()?)
}

/// One line of the table: the medians of both sides, and of their ratio within a round.
struct Row<'a> {
    what: &'a str,
    ours: f64,
    theirs: f64,
    ratio: f64,
    unit: &'static str,
    /// The limit, and whether it is the most or the least.
    budget: Option<(f64, bool)>,
}

impl<'a> Row<'a> {
    fn new(what: &'a str, rounds: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        Self {
            what,
            ours: median(rounds.clone().map(|(our, _)| our)),
            theirs: median(rounds.clone().map(|(_, their)| their)),
            ratio: median(rounds.map(|(our, their)| our / their)),
            unit: "µs",
            budget: None,
        }
    }

    fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    fn at_most(self, most: f64) -> Self {
        Self { budget: Some((most, true)), ..self }
    }

    fn at_least(self, least: f64) -> Self {
        Self { budget: Some((least, false)), ..self }
    }

    /// Prints it, and says whether the budget was kept.
    fn print(&self) -> bool {
        let Self { what, ours, theirs, ratio, unit, budget } = self;
        let digits = if *unit == "×" { 2 } else { 1 };
        let show = |value: f64| format!("{value:.digits$} {unit}");
        let held = budget.is_none_or(|(limit, most)| if most { *ours <= limit } else { *ours >= limit });
        let (limit, verdict) = match budget {
            Some((limit, most)) => {
                let sign = if *most { '≤' } else { '≥' };
                (format!("{sign} {}", show(*limit)), if held { "ok" } else { "EXCEEDED" })
            }
            None => (String::new(), ""),
        };
        println!("{what:<58} {:>10} {:>10} {ratio:>10.2} {limit:>12} {verdict}", show(*ours), show(*theirs));
        held
    }
}
