//! The way back. A file that nobody touched since becomes what it was, byte for byte; in one that was changed elsewhere, only the servers
//! come back; what would lose a change is refused.

use toolmark_core::document::Document;

use super::json::ALLOWED;
use super::{OURSELVES, Record, UnwrapError, apply, read};
use crate::import::{Surroundings, roots};
use crate::tree::Tree;
use crate::wrap::Edit;

/// A restored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped {
    /// The text.
    pub text: String,
    /// Whether it is what it was, byte for byte; else it also holds what was changed since.
    pub exact: bool,
}

/// Restores a file.
///
/// # Errors
/// [`UnwrapError::Changed`] when something was changed since that would be lost, such as a server that was added beside Toolmark.
pub fn unwrap(current: &str, record: &Record) -> Result<Unwrapped, UnwrapError> {
    if record.is_unchanged(current) {
        return Ok(Unwrapped { text: record.original().to_owned(), exact: true });
    }
    let restored = by_text(current, record).or_else(|| by_structure(current, record)).ok_or(UnwrapError::Changed)?;
    // What comes out must be readable and hold the servers of old.
    let document = Document::new("", restored.clone());
    let servers = |tree: &Tree| -> Vec<serde_json::Value> {
        roots(tree, &Surroundings::default()).iter().map(|root| root.servers.to_json()).filter(is_something).collect()
    };
    let now = read(record.client, &document).map_err(|_| UnwrapError::Changed)?;
    let before =
        read(record.client, &Document::new("", record.original().to_owned())).map_err(|_| UnwrapError::Changed)?;
    if servers(&now) == servers(&before) {
        Ok(Unwrapped { text: restored, exact: false })
    } else {
        Err(UnwrapError::Changed)
    }
}

fn is_something(value: &serde_json::Value) -> bool {
    value.as_object().is_some_and(|object| !object.is_empty())
}

/// The entry stands there as it was written: it is replaced by what it replaced.
fn by_text(current: &str, record: &Record) -> Option<String> {
    let written: Vec<_> = record.pieces.iter().filter(|piece| !piece.new.trim().is_empty()).collect();
    // Blocks that were cut out leave no trace; they come back where the first of them stood.
    let cut: String =
        record.pieces.iter().filter(|piece| piece.new.trim().is_empty()).map(|piece| piece.old.as_str()).collect();
    let mut edits = Vec::new();
    for (at, piece) in written.iter().enumerate() {
        let start = only(current, &piece.new)?;
        let more = if at == 0 { cut.as_str() } else { "" };
        edits.push(Edit { at: start..start + piece.new.len(), new: format!("{}{more}", piece.old) });
    }
    edits.sort_by_key(|edit| edit.at.start);
    let apart = edits.windows(2).all(|pair| matches!(pair, [one, other] if one.at.end <= other.at.start));
    (apart && !edits.is_empty()).then(|| apply(current, &edits))
}

/// The client wrote the file anew, with other white space: the table that holds Toolmark alone, with the same settings, is replaced.
fn by_structure(current: &str, record: &Record) -> Option<String> {
    if record.client.writes_toml() {
        return None;
    }
    let table = |text: &str| Tree::json(&Document::new("", format!("{{{text}}}"))).ok();
    let list = |text: &str| table(text)?.get(ALLOWED).map(Tree::to_json);
    let (lists, tables): (Vec<_>, Vec<_>) = record.pieces.iter().partition(|piece| list(&piece.new).is_some());
    let [piece] = tables.as_slice() else { return None };
    let tree = read(record.client, &Document::new("", current.to_owned())).ok()?;
    let found = roots(&tree, &Surroundings::default());
    let [root] = found.as_slice() else { return None };
    let ours = root.servers.get(OURSELVES).filter(|_| root.servers.entries().len() == 1)?;
    if table(&piece.new)?.get(OURSELVES)?.to_json() != ours.to_json() {
        return None;
    }
    let span = root.servers.span.clone();
    let mut edits = vec![Edit { at: span.start + 1..span.end.saturating_sub(1), new: piece.old.clone() }];
    for piece in lists {
        let found = tree.get("mcp")?.entries().iter().rev().find(|entry| entry.key == ALLOWED)?;
        if list(&piece.new)? != found.value.to_json() {
            return None;
        }
        edits.push(Edit { at: found.at..found.value.span.end, new: piece.old.clone() });
    }
    edits.sort_by_key(|edit| edit.at.start);
    Some(apply(current, &edits))
}

/// Where `piece` stands, if it stands there exactly once.
fn only(text: &str, piece: &str) -> Option<usize> {
    let mut places = text.match_indices(piece);
    let (start, _) = places.next()?;
    places.next().is_none().then_some(start)
}
