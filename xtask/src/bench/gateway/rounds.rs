//! Rounds in which everybody takes a turn, and what is left of them: the median of ratios that were taken within a round.

use std::io::{self, Write as _};
use std::time::Duration;

use super::measure::{Measured, Work, posts};
use super::setup::{Setup, Shape};
use crate::run::say;

/// All measurements of a run.
pub(super) struct Rounds {
    count: usize,
    lasts: Duration,
    rows: Vec<Row>,
}

/// One measurement.
struct Row {
    shape: Shape,
    work: Work,
    target: &'static str,
    round: usize,
    measured: Measured,
}

impl Rounds {
    pub(super) fn new(count: usize, lasts: Duration) -> Self {
        Self { count, lasts, rows: Vec::new() }
    }

    /// Measures a shape: in every round each work goes to each target in turn.
    pub(super) fn take(&mut self, setup: &Setup, shape: Shape, works: &[Work]) -> Result<(), String> {
        let targets = setup.targets(shape)?;
        for round in 0..self.count {
            for &work in works {
                for target in targets.iter().filter(|target| work.is_list() || !target.lists_only) {
                    let before = posts(setup.port())?;
                    let sent = work.send(&target.url, target.pid, self.lasts);
                    let mut measured = match sent {
                        Ok(measured) => measured,
                        // A peer that fails has no figure; we and the floor must have one.
                        Err(error) if !target.is_ours() => {
                            say(&format!("{}, {}: {error}", target.name, work.name()));
                            continue;
                        }
                        Err(error) => return Err(format!("{}, {}: {error}", target.name, work.name())),
                    };
                    measured.posts = (posts(setup.port())? - before) / measured.answered.max(1) as f64;
                    say(&format!(
                        "{}, {}, {}: {:.0}/s, p50 {:.0} µs, p99 {:.0} µs, CPU {:.1} µs",
                        shape.name(),
                        work.name(),
                        target.name,
                        measured.per_second,
                        measured.p50(),
                        measured.p99(),
                        measured.cpu_us.unwrap_or(f64::NAN),
                    ));
                    self.rows.push(Row { shape, work, target: target.name, round, measured });
                }
            }
        }
        Ok(())
    }

    /// The figure of one target, the median of all rounds.
    pub(super) fn figure(&self, at: (Shape, Work), target: &str, figure: impl Fn(&Measured) -> f64) -> f64 {
        median((0..self.count).filter_map(|round| self.find(at, target, round)).map(figure))
    }

    /// A figure made of several targets of the same round, the median of all rounds.
    pub(super) fn compared<const N: usize>(
        &self,
        at: (Shape, Work),
        targets: [&str; N],
        figure: impl Fn([&Measured; N]) -> f64,
    ) -> f64 {
        median((0..self.count).filter_map(|round| {
            let found = targets.map(|target| self.find(at, target, round));
            let all: Vec<&Measured> = found.into_iter().flatten().collect();
            all.try_into().ok().map(&figure)
        }))
    }

    fn find(&self, (shape, work): (Shape, Work), target: &str, round: usize) -> Option<&Measured> {
        let is = |row: &&Row| (row.shape, row.work, row.target, row.round) == (shape, work, target, round);
        self.rows.iter().find(is).map(|row| &row.measured)
    }

    /// Prints the medians, one line for each shape, work and target.
    pub(super) fn print(&self) {
        let head =
            ["what", "who", "calls/s", "to direct", "added p50", "added p99", "CPU/call", "memory", "bytes", "POSTs"];
        let line = |cells: [&str; 10]| {
            let [what, who, rest @ ..] = cells;
            let rest: String = rest.iter().map(|cell| format!(" {cell:>10}")).collect();
            let _ = writeln!(io::stdout(), "{what:<56} {who:<16}{rest}");
        };
        line(head);
        let mut seen = Vec::new();
        for row in &self.rows {
            let at = (row.shape, row.work);
            if seen.contains(&(at, row.target)) {
                continue;
            }
            seen.push((at, row.target));
            let to_direct =
                self.compared(at, [row.target, "direct"], |[own, direct]| own.per_second / direct.per_second);
            let added = |figure: fn(&Measured) -> f64| {
                self.compared(at, [row.target, "direct"], |[own, direct]| figure(own) - figure(direct))
            };
            let figure = |figure: fn(&Measured) -> f64| self.figure(at, row.target, figure);
            line([
                &format!("{}: {}", row.shape.name(), row.work.name()),
                row.target,
                &format!("{:.0}", figure(|own| own.per_second)),
                &format!("{to_direct:.4}"),
                &format!("{:.0} µs", added(Measured::p50)),
                &format!("{:.0} µs", added(Measured::p99)),
                &format!("{:.1} µs", figure(|own| own.cpu_us.unwrap_or(f64::NAN))),
                &format!("{:.0} MiB", figure(Measured::memory)),
                &format!("{:.0}", figure(Measured::bytes)),
                &format!("{:.2}", figure(|own| own.posts)),
            ]);
        }
    }
}

/// The middle one; of two, what lies between them.
fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.filter(|figure| figure.is_finite()).collect();
    figures.sort_by(f64::total_cmp);
    let at = |place: usize| figures.get(place).copied().unwrap_or(f64::NAN);
    let middle = figures.len() / 2;
    if figures.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.saturating_sub(1)), at(middle)) }
}
