//! How the schema of today relates to the schema that somebody reviewed: the same in other words, less, more, or something else.
//!
//! It compares keyword by keyword and never says that a schema accepts less, or the same, when it might accept more. Where the
//! meaning of one keyword hangs on another (`not`, `oneOf`, `if`), only an equal part counts as unchanged.

mod bounds;
mod branches;
mod change;
mod dialect;
mod parts;
mod same;
mod walk;
mod words;

use serde_json::Value;

pub use change::{Change, ChangeKind, Direction, SchemaChange};

/// Compares the schema that is known with the one that is offered now.
///
/// ```
/// use serde_json::json;
/// use toolmark_core::schema::compare::{ChangeKind, Direction, compare};
///
/// let old = json!({ "properties": { "text": { "type": "string" } } });
/// let new = json!({ "properties": { "text": { "type": "string" }, "sidenote": { "type": "string" } } });
/// let change = compare(&old, &new);
/// assert_eq!(change.overall(), Direction::Wider);
/// assert_eq!(change.changes()[0].kind(), &ChangeKind::NewParameter("sidenote".into()));
/// ```
pub fn compare(old: &Value, new: &Value) -> SchemaChange {
    if old == new {
        return SchemaChange::default();
    }
    let mut changes = if same::aside_from_words(old, new) { walk::words(old, new) } else { walk::all(old, new) };
    if changes.is_empty() {
        changes.push(Change::new(String::new(), ChangeKind::Spelling, Direction::Wording));
    }
    SchemaChange::of(changes)
}

#[cfg(test)]
mod tests;
