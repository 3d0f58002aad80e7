//! A client's file, rewritten so that the client reaches all its servers through Toolmark, and restored byte for byte.

mod entry;
mod error;
mod json;
mod record;
mod toml;
mod unwrap;

use std::ops::Range;
use std::sync::Arc;

use toolmark_core::document::Document;

use crate::clients::Client;
use crate::import::{Surroundings, roots};
use crate::sections::Pack;
use crate::tree::{Tree, Value};
use crate::values::Template;
pub use error::{UnwrapError, WrapError};
pub use record::Record;
pub use unwrap::{Unwrapped, unwrap};

/// What Toolmark is called in a client's file.
pub(crate) const OURSELVES: &str = "toolmark";

/// How a client reaches Toolmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It starts a program.
    Command {
        /// The program, usually `toolmark`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// It calls an address.
    Url(String),
}

/// A rewritten file.
#[derive(Clone, Debug)]
pub struct Wrapped {
    /// The new text.
    pub text: String,
    /// What is needed to restore the old one. It holds the old text, and so its secrets.
    pub record: Record,
    /// The names of the servers that were replaced.
    pub servers: Vec<String>,
}

/// A part of the old text and what stands there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) at: Range<usize>,
    pub(crate) new: String,
}

/// Replaces all servers of a client's file by one that is Toolmark, and adds it to the list of the only servers that are used, where there is
/// one. Everything else stays as it is, comments included.
///
/// # Errors
/// [`WrapError`] when the text cannot be read, when Toolmark already stands there, or when the client takes no addresses.
pub fn wrap(
    client: Client,
    text: &str,
    label: &str,
    reach: &Reach,
    surroundings: &Surroundings,
) -> Result<Wrapped, WrapError> {
    let document = Document::new(label, text.to_owned());
    let tree = read(client, &document)?;
    let found = roots(&tree, surroundings);
    let servers: Vec<String> =
        found.iter().flat_map(|root| root.servers.entries()).map(|entry| entry.key.clone()).collect();
    if found.iter().flat_map(|root| root.servers.entries()).any(|entry| is_ours(&entry.key, &words(&entry.value))) {
        return Err(WrapError::Already { label: label.to_owned() });
    }
    let tables = |root: &crate::import::Root<'_>| matches!(root.servers.value, Value::Table(_) | Value::Null);
    if !matches!(tree.value, Value::Table(_)) || !found.iter().all(tables) {
        return Err(WrapError::Shape);
    }
    let edits = if client.writes_toml() {
        toml::edits(text, client, reach)?
    } else {
        let spans: Vec<Range<usize>> = found.iter().map(|root| root.servers.span.clone()).collect();
        json::edits(text, &tree, &spans, client, reach)?
    };
    let new = apply(text, &edits);
    check(client, &tree, &new, label, surroundings)?;
    let record = Record::new(client, text, &new, &edits);
    Ok(Wrapped { text: new, record, servers })
}

/// Whether a server of a client's file is Toolmark: by what it starts, whatever it is called. An address says nothing of who is there, so
/// that one goes by its name.
#[must_use]
pub fn is_toolmark(key: &str, pack: &Pack) -> bool {
    let word = |word: &Template| word.as_literal().unwrap_or_default().expose().to_owned();
    is_ours(key, &pack.command.iter().chain(&pack.args).map(word).collect::<Vec<_>>())
}

/// The program of a server and its arguments; some clients write both as one list.
fn words(server: &Tree) -> Vec<String> {
    let parts = |value: &Tree| value.text().map_or_else(|| value.texts(), |text| vec![text.to_owned()]);
    ["command", "args"].iter().filter_map(|key| server.get(key)).flat_map(parts).collect()
}

fn is_ours(key: &str, words: &[String]) -> bool {
    let is_program = |word: &str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.split(['@', ':']).next().unwrap_or_default();
        name.strip_suffix(".exe").unwrap_or(name) == OURSELVES
    };
    // What the program is given is often a folder, and anything may be in a folder of that name.
    let is_file = |word: &str| word.starts_with(['/', '.', '~']) || word.contains('\\');
    let serves = |word: &str| word == "stdio";
    let called = key == OURSELVES;
    let Some((program, args)) = words.split_first() else { return called };
    let is_started = |word: &str| is_program(word) && !is_file(word);
    // What `wrap` writes may start another program, and another program may start this one.
    (is_program(program) && (called || args.iter().any(|arg| serves(arg))))
        || (called && (args.iter().any(|arg| is_started(arg)) || args.first().is_some_and(|arg| serves(arg))))
        || words.windows(2).any(|pair| matches!(pair, [one, next] if is_program(one) && serves(next)))
}

pub(crate) fn read(client: Client, document: &Arc<Document>) -> Result<Tree, WrapError> {
    let tree = if client.writes_toml() { Tree::toml(document) } else { Tree::json(document) };
    tree.map_err(WrapError::Unreadable)
}

/// The text with all edits made; they are in order and do not overlap.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        out.push_str(text.get(from..edit.at.start).unwrap_or_default());
        out.push_str(&edit.new);
        from = edit.at.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Before anything is handed out: the new text can be read, holds Toolmark and no other server, and says the same
/// otherwise, but that Toolmark may be used.
fn check(client: Client, old: &Tree, new: &str, label: &str, surroundings: &Surroundings) -> Result<(), WrapError> {
    let document = Document::new(label, new.to_owned());
    let failed = || WrapError::Failed { label: label.to_owned() };
    let tree = read(client, &document).map_err(|_| failed())?;
    let servers: Vec<&str> = roots(&tree, surroundings)
        .iter()
        .flat_map(|root| root.servers.entries())
        .map(|entry| entry.key.as_str())
        .collect();
    let alone = !servers.is_empty() && servers.iter().all(|name| *name == OURSELVES);
    let mut before = rest(old, surroundings);
    if json::closed_list(old, client).is_some()
        && let Some(list) = before.pointer_mut("/mcp/allowed").and_then(serde_json::Value::as_array_mut)
    {
        list.insert(0, OURSELVES.into());
    }
    if alone && before == rest(&tree, surroundings) { Ok(()) } else { Err(failed()) }
}

/// Everything that a file says besides its servers.
fn rest(tree: &Tree, surroundings: &Surroundings) -> serde_json::Value {
    let spans: Vec<Range<usize>> = roots(tree, surroundings).iter().map(|root| root.servers.span.clone()).collect();
    without(tree, &spans)
}

fn without(tree: &Tree, spans: &[Range<usize>]) -> serde_json::Value {
    match &tree.value {
        Value::Table(entries) => {
            let kept = entries.iter().filter(|entry| !spans.contains(&entry.value.span));
            serde_json::Value::Object(kept.map(|entry| (entry.key.clone(), without(&entry.value, spans))).collect())
        }
        _ => tree.to_json(),
    }
}

#[cfg(test)]
mod tests;
