//! What the gateway may cost. `floor` is the least that a hop can cost, so most budgets are multiples of it.

use std::io::{self, Write as _};
use std::time::Duration;

use super::measure::{Measured, Work};
use super::rounds::Rounds;
use super::setup::Shape;

/// What two measurements of the same thing may differ by.
const NOISE: f64 = 0.9;

/// Whether the gateway keeps to its budgets of speed.
pub(super) fn of_rounds(rounds: &Rounds) -> bool {
    let mut held = true;
    let speed = |at| rounds.compared(at, ["toolmark", "floor"], |[own, floor]| own.per_second / floor.per_second);
    let cpu = |at| {
        rounds.compared(at, ["toolmark", "floor"], |[own, floor]| {
            own.cpu_us.unwrap_or(f64::NAN) / floor.cpu_us.unwrap_or(f64::NAN)
        })
    };
    let added = |at, figure: fn(&Measured) -> f64| {
        rounds.compared(at, ["toolmark", "floor", "direct"], |[own, floor, direct]| {
            (figure(own) - figure(direct)) / (figure(floor) - figure(direct))
        })
    };
    for workers in [1, 16, 64] {
        let at = (Shape::One, Work::echo(workers));
        let name = at.1.name();
        held &= at_least(&format!("{name}: calls, of the floor's"), speed(at), 0.5);
        held &= at_most(&format!("{name}: added p50, of the floor's"), added(at, Measured::p50), 3.0);
        held &= at_most(&format!("{name}: added p99, of the floor's"), added(at, Measured::p99), 3.0);
        held &= at_most(&format!("{name}: CPU a call, of the floor's"), cpu(at), 3.0);
    }
    let one = speed((Shape::One, Work::echo(16)));
    let blob = (Shape::One, Work::blob(8));
    held &= at_least("100 kB results: calls, of the floor's", speed(blob), (one * NOISE).min(0.9));
    let twenty = (Shape::Twenty, Work::echo(16));
    held &= at_least("1,000 tools: calls, of the floor's", speed(twenty), (one * NOISE).min(0.9));
    for workers in [1, 16] {
        let work = Work::echo(workers);
        let http = rounds.figure((Shape::One, work), "toolmark", |own| own.per_second);
        let stdio = rounds.figure((Shape::Program, work), "toolmark", |own| own.per_second);
        held &= at_least(&format!("stdio, {}: calls, of those over HTTP", work.name()), stdio / http, 0.6);
    }
    // How long it takes to come; what clients make of it is their own.
    let list = |who| {
        let of = |figure: fn(&Measured) -> f64| {
            let at = (Shape::Twenty, Work::list(1));
            rounds.compared(at, [who, "direct"], |[own, direct]| figure(own) / figure(direct))
        };
        (of(Measured::p50), of(Measured::bytes))
    };
    for (who, what, most) in [
        ("toolmark", "as usual", Some(1.0)),
        ("toolmark, mark", "with every mark", None),
        ("toolmark, full", "all that is known", None),
    ] {
        let (time, bytes) = list(who);
        let list = format!("list of 1,000 tools, {what}");
        let title = format!("{list}: p50, of one server that has them all");
        match most {
            Some(most) => held &= at_most(&title, time, most),
            None => told(&title, time),
        }
        told(&format!("{list}: bytes, of the same"), bytes);
    }
    let posts = rounds.figure((Shape::One, Work::echo(16)), "toolmark", |own| own.posts);
    held & at_most("POSTs to the server for each call", posts, 1.02)
}

/// What the audit may cost: the gateway beside itself without one, and with one of ten million records beside 100,000 open questions.
pub(super) fn of_audit(rounds: &Rounds, large: bool) -> bool {
    let mut held = true;
    for workers in [16, 64] {
        let at = (Shape::One, Work::echo(workers));
        let name = at.1.name();
        let kept = rounds.compared(at, ["toolmark", "silent"], |[own, silent]| own.per_second / silent.per_second);
        held &= at_least(&format!("{name}: calls with the audit, of those without"), kept, 0.85);
        if large {
            let late = rounds.compared(at, ["large", "toolmark"], |[large, own]| large.per_second / own.per_second);
            held &= at_least(
                &format!("{name}: calls with 10 million records and 100,000 open questions, of those with none"),
                late,
                0.9,
            );
        }
    }
    held
}

/// Whether it starts fast and stays small.
pub(super) fn of_memory(starts: &[Duration], idle: [f64; 2], sessions: f64, stateless: f64) -> bool {
    let mut starts: Vec<f64> = starts.iter().map(Duration::as_secs_f64).collect();
    starts.sort_by(f64::total_cmp);
    let start = starts.get(starts.len() / 2).copied().unwrap_or(f64::NAN);
    let mut held = at_most("from starting to the first list, ms", start * 1000.0, 50.0);
    let [one, twenty] = idle;
    held &= at_most("memory with one server and nothing to do, MiB", one, 40.0);
    held &= at_most("memory with twenty, 1,000 tools and nothing to do, MiB", twenty, 40.0);
    held &= at_most("memory with 1,000 sessions, MiB", sessions, 200.0);
    held & at_most("memory with 10,000 clients without a session, MiB", stateless, 200.0)
}

/// Whether memory stays what it was: the last quarter beside the second, when everything has been used once.
pub(super) fn of_soak(memory: &[f64]) -> bool {
    let quarter = (memory.len() / 4).max(1);
    let most = |part: Option<&[f64]>| part.unwrap_or_default().iter().copied().fold(f64::NAN, f64::max);
    let early = most(memory.get(quarter..2 * quarter).or(Some(memory)));
    let late = most(memory.get(memory.len() - quarter..));
    let _ = writeln!(io::stdout(), "memory at full load, MiB: {memory:.0?}");
    at_most("memory at the end of a long run, of what it was early on", late / early, 1.05)
}

/// A figure that has no budget.
fn told(what: &str, figure: f64) {
    let _ = writeln!(io::stdout(), "{what:<66} {figure:>10.2}");
}

fn at_least(what: &str, figure: f64, budget: f64) -> bool {
    row(what, figure, "≥", budget, figure >= budget)
}

fn at_most(what: &str, figure: f64, budget: f64) -> bool {
    row(what, figure, "≤", budget, figure <= budget)
}

fn row(what: &str, figure: f64, sign: &str, budget: f64, held: bool) -> bool {
    let verdict = if held { "ok" } else { "EXCEEDED" };
    let _ = writeln!(io::stdout(), "{what:<66} {figure:>10.2} {sign} {budget:<8.2} {verdict}");
    held
}
