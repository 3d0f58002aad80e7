//! Amounts: numbers so large that they use up time, memory or money.

use serde_json::Value;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::{Argument, Manner};

/// More rows, pages or items than anybody asks for.
const ITEMS: f64 = 1_000_000.0;
/// Deeper than anything that is looked through on purpose.
const DEPTH: f64 = 1_000.0;
/// More machines, copies or threads than are started by hand.
const COPIES: f64 = 1_000.0;
/// A wait that is longer than any call, in seconds.
const WAIT: f64 = 3_600.0;

/// Reads an amount that is too large.
pub(super) fn read(manner: &Manner, argument: &Argument<'_>) -> Option<Effect> {
    let amount = match argument.value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) if text.len() <= 24 && text.starts_with(|c: char| c.is_ascii_digit()) => {
            text.parse().ok()?
        }
        _ => return None,
    };
    let most = limit(manner, argument.name)?;
    (amount >= most)
        .then(|| Effect::pure(Action::Read, format!("`{}` is {amount}", argument.name)).with(Danger::Exhaustion))
}

fn limit(manner: &Manner, name: &str) -> Option<f64> {
    let items = matches!(
        name,
        "limit"
            | "count"
            | "size"
            | "top"
            | "topk"
            | "take"
            | "first"
            | "last"
            | "n"
            | "k"
            | "rows"
            | "perpage"
            | "pagesize"
            | "batchsize"
            | "iterations"
            | "repeat"
            | "times"
            | "tail"
            | "taillines"
            | "number"
    ) || name.ends_with("count")
        || name.ends_with("iterations")
        || ["results", "rows", "items", "records", "pages", "limit", "steps", "count", "documents", "urls"].iter().any(
            |end| {
                name.len() > end.len()
                    && name.ends_with(end)
                    && (name.starts_with("max") || name.starts_with("num") || name.ends_with("limit"))
            },
        );
    if items {
        return Some(ITEMS);
    }
    if name.ends_with("depth") {
        return Some(DEPTH);
    }
    if matches!(
        name,
        "replicas"
            | "instances"
            | "instancecount"
            | "nodes"
            | "numnodes"
            | "nodecount"
            | "concurrency"
            | "threads"
            | "workers"
            | "parallelism"
            | "scale"
            | "desiredcount"
            | "desiredcapacity"
    ) && manner.changes
    {
        return Some(COPIES);
    }
    let waits = matches!(
        name,
        "time" | "seconds" | "duration" | "wait" | "delay" | "sleep" | "ms" | "milliseconds" | "timeout"
    ) || name.ends_with("seconds")
        || name.ends_with("ms");
    (manner.waits && waits).then_some(if name.ends_with("ms") || name == "milliseconds" {
        WAIT * 1_000.0
    } else {
        WAIT
    })
}
