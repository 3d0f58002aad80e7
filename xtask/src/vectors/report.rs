//! What a run amounts to: a table by function, the misses, and the same as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Outcome, Verdict};

/// All outcomes of a run, by function in the order of their names.
pub(crate) struct Report {
    functions: BTreeMap<String, Tally>,
}

#[derive(Default)]
struct Tally {
    passed: usize,
    missed: Vec<(String, Value, Value)>,
    pending: usize,
    waits_for: &'static str,
}

/// The longest value that is printed whole, in characters.
const SHOWN: usize = 2_000;

impl Report {
    pub(crate) fn of(outcomes: Vec<Outcome>) -> Self {
        let mut functions: BTreeMap<String, Tally> = BTreeMap::new();
        for outcome in outcomes {
            let tally = functions.entry(outcome.function).or_default();
            match outcome.verdict {
                Verdict::Passed => tally.passed += 1,
                Verdict::Missed { expected, got } => tally.missed.push((outcome.id, expected, got)),
                Verdict::Pending { waits_for } => {
                    tally.pending += 1;
                    tally.waits_for = waits_for;
                }
            }
        }
        Self { functions }
    }

    /// True when nothing missed and, if strict, nothing is pending. A run of nothing is no success.
    pub(crate) fn is_success(&self, strict: bool) -> bool {
        let all = self.total();
        all.all() > 0 && all.missed == 0 && (!strict || all.pending == 0)
    }

    /// The table, and up to `misses` misses for each function.
    pub(crate) fn to_text(&self, misses: usize) -> String {
        let width = self.functions.keys().map(String::len).max().unwrap_or(0).max(5);
        let mut out = String::new();
        for (function, tally) in &self.functions {
            let count = tally.count();
            let mut line = format!("{function:width$}  {:>5}/{:<5}", count.passed, count.all());
            if count.missed > 0 {
                let _ = write!(line, "  {} missed", count.missed);
            }
            if count.pending > 0 {
                let _ = write!(line, "  {} pending: {}", count.pending, tally.waits_for);
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        for (function, tally) in &self.functions {
            for (id, expected, got) in tally.missed.iter().take(misses) {
                let _ = writeln!(out, "\nmissed {id}\n  expected {}\n  got      {}", shown(expected), shown(got));
            }
            if tally.missed.len() > misses {
                let _ = writeln!(out, "\n{} more missed of {function}", tally.missed.len() - misses);
            }
        }
        let all = self.total();
        let _ = write!(
            out,
            "\n{:width$}  {:>5}/{:<5}  {} missed, {} pending",
            "total",
            all.passed,
            all.all(),
            all.missed,
            all.pending
        );
        out
    }

    /// The same as one JSON object, with every miss.
    pub(crate) fn to_json(&self) -> String {
        let functions = self.functions.iter().map(|(function, tally)| {
            let misses =
                tally.missed.iter().map(|(id, expected, got)| json!({ "id": id, "expected": expected, "got": got }));
            let mut entry = tally.count().to_json();
            entry.insert("misses".to_owned(), misses.collect());
            (function.clone(), Value::Object(entry))
        });
        let functions: Map<String, Value> = functions.collect();
        json!({ "total": self.total().to_json(), "functions": functions }).to_string()
    }

    fn total(&self) -> Count {
        self.functions.values().map(Tally::count).fold(Count::default(), |all, one| Count {
            passed: all.passed + one.passed,
            missed: all.missed + one.missed,
            pending: all.pending + one.pending,
        })
    }
}

#[derive(Clone, Copy, Default)]
struct Count {
    passed: usize,
    missed: usize,
    pending: usize,
}

impl Count {
    fn all(self) -> usize {
        self.passed + self.missed + self.pending
    }

    fn to_json(self) -> Map<String, Value> {
        let counts =
            [("total", self.all()), ("passed", self.passed), ("missed", self.missed), ("pending", self.pending)];
        counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect()
    }
}

impl Tally {
    fn count(&self) -> Count {
        Count { passed: self.passed, missed: self.missed.len(), pending: self.pending }
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
