//! MongoDB from strangers: pipelines, commands and operations are read without a panic.

use serde_json::Value;
use toolmark_effects::mongo::{read_command, read_operation, read_pipeline};

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let _ = read_pipeline(&value);
    let _ = read_command(&value);
    for operation in ["find", "aggregate", "delete-many", "updateMany", "bulkWrite", "rename-collection", "runCommand"]
    {
        let _ = read_operation(operation, &value);
    }
}
