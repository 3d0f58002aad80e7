//! MongoDB: pipelines, commands and operations, which are JSON. Keys in the place of a stage or operator count; values never do.

mod command;
mod filter;
mod operation;
mod pipeline;

use serde_json::Value;
use toolmark_core::facts::Reading;

/// Documents of more nodes are not read.
const NODES: usize = 50_000;

/// What an aggregation pipeline does.
///
/// ```
/// use toolmark_core::facts::Reading;
/// use toolmark_effects::mongo::read_pipeline;
///
/// let pipeline = serde_json::json!([{"$match": {"stage": "$out"}}]);
/// let Reading::Understood(effects) = read_pipeline(&pipeline) else { panic!() };
/// assert!(effects[0].is_harmless());
/// ```
#[must_use]
pub fn read_pipeline(pipeline: &Value) -> Reading {
    answer(pipeline, || pipeline::read(pipeline).map(|effect| vec![effect]))
}

/// What a database command does, such as `{"delete": "users", "deletes": […]}`.
#[must_use]
pub fn read_command(command: &Value) -> Reading {
    answer(command, || command::read(command))
}

/// What an operation of a driver or tool does, such as `delete-many` or `deleteMany` with its arguments.
#[must_use]
pub fn read_operation(name: &str, arguments: &Value) -> Reading {
    answer(arguments, || operation::read(name, arguments))
}

fn answer<T: Into<Vec<toolmark_core::facts::Effect>>>(
    value: &Value,
    read: impl FnOnce() -> Result<T, String>,
) -> Reading {
    if count(value) > NODES {
        return Reading::CannotTell { reason: "it is too large".into() };
    }
    match read() {
        Ok(effects) => Reading::Understood(effects.into()),
        Err(reason) => Reading::CannotTell { reason },
    }
}

/// How many nodes a value has, counted no further than is asked for and without recursion.
fn count(value: &Value) -> usize {
    let mut left = vec![value];
    let mut nodes = 0;
    while let Some(value) = left.pop() {
        nodes += 1;
        if nodes > NODES {
            return nodes;
        }
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            _ => {}
        }
    }
    nodes
}

#[cfg(test)]
mod tests;
