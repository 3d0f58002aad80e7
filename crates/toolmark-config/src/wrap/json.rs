//! Edits of a JSON file: the inside of each table of servers, or a new table where there is none; and the list of the only servers that are
//! used.

use std::ops::Range;

use super::{Edit, OURSELVES, Reach, WrapError, entry};
use crate::clients::Client;
use crate::tree::{Entry, Tree, Value};

/// What has to change. `spans` are the tables of servers, as far as there are any.
pub(super) fn edits(
    text: &str,
    tree: &Tree,
    spans: &[Range<usize>],
    client: Client,
    reach: &Reach,
) -> Result<Vec<Edit>, WrapError> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = unit(text);
    let mut all = Vec::new();
    for span in spans {
        let indent = indent(text, span.start);
        let table = text.get(span.clone()).unwrap_or_default();
        // `null` stands for no servers.
        let (at, inside) = (span.clone(), entry::inside(client, reach, &indent, unit, newline)?);
        all.push(if table.starts_with('{') {
            Edit { at: at.start + 1..at.end.saturating_sub(1), new: inside }
        } else {
            Edit { at, new: format!("{{{inside}}}") }
        });
    }
    if all.is_empty() {
        all.push(new_table(text, tree, client, reach, unit, newline)?);
    }
    all.extend(closed_list(tree, client).map(|list| open(text, list, newline)));
    all.sort_by_key(|edit| edit.at.start);
    Ok(all)
}

/// The key of the list in which Gemini CLI names the only servers that it uses.
pub(super) const ALLOWED: &str = "allowed";

/// The list of the only servers that a client uses, where it has one and Toolmark is not in it.
pub(super) fn closed_list(tree: &Tree, client: Client) -> Option<&Entry> {
    let mcp = tree.get("mcp").filter(|_| client == Client::GeminiCli)?;
    let list = mcp.entries().iter().rev().find(|entry| entry.key == ALLOWED)?;
    let closed = matches!(list.value.value, Value::List(_)) && !list.value.texts().iter().any(|name| name == OURSELVES);
    closed.then_some(list)
}

/// Puts Toolmark in front of the others, as they are written. The key and the whole list are replaced: that much stands there only once.
fn open(text: &str, list: &Entry, newline: &str) -> Edit {
    let at = list.at..list.value.span.end;
    let items: &[Tree] = if let Value::List(items) = &list.value.value { items } else { &[] };
    let (place, new) = match items.first().map(|first| first.span.start) {
        None => (list.value.span.start + 1, format!("\"{OURSELVES}\"")),
        Some(first) => (first, format!("\"{OURSELVES}\"{}", gap(text, first, newline))),
    };
    let part = |range: Range<usize>| text.get(range).unwrap_or_default();
    Edit { new: format!("{}{new}{}", part(at.start..place), part(place..at.end)), at }
}

/// What stands between a new item and the first of old, which begins at a byte: a line of its own only where that has one.
fn gap(text: &str, first: usize, newline: &str) -> String {
    let own_line = text.get(..first).is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with('\n'));
    if own_line { format!(",{newline}{}", indent(text, first)) } else { ", ".to_owned() }
}

/// A table of servers at the end of the file's own table; a file of its own where there is nothing yet.
fn new_table(
    text: &str,
    tree: &Tree,
    client: Client,
    reach: &Reach,
    unit: &str,
    newline: &str,
) -> Result<Edit, WrapError> {
    let root = client.root();
    let table = |indent: &str| {
        let inside = entry::inside(client, reach, indent, unit, newline)?;
        Ok::<_, WrapError>(format!("\"{root}\": {{{inside}}}"))
    };
    if tree.span.is_empty() {
        // A comment at the end of the file must not swallow what comes.
        let gap = if text.trim_start_matches('\u{feff}').is_empty() || text.ends_with('\n') { "" } else { newline };
        let new = format!("{gap}{{{newline}{unit}{}{newline}}}{newline}", table(unit)?);
        return Ok(Edit { at: text.len()..text.len(), new });
    }
    let Value::Table(entries) = &tree.value else { return Err(WrapError::Shape) };
    match entries.last() {
        None => {
            // Whatever stands between the braces, a comment perhaps, stays.
            let open = tree.span.start + 1;
            let before = text.get(open..tree.span.end.saturating_sub(1)).unwrap_or_default();
            let end = if before.trim().is_empty() { newline } else { "" };
            Ok(Edit { at: open..open, new: format!("{newline}{unit}{}{end}", table(unit)?) })
        }
        Some(last) => {
            // Before the first entry there is always a brace or white space or a comment, and a comma always fits behind the new one.
            let first = entries.first().unwrap_or(last);
            let indent = indent(text, first.at);
            let gap = gap(text, first.at, newline);
            Ok(Edit { at: first.at..first.at, new: format!("{}{gap}", table(&indent)?) })
        }
    }
}

/// The white space with which the line of a byte begins.
fn indent(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(line..).unwrap_or_default().trim_start_matches('\u{feff}');
    line.chars().take_while(|character| matches!(character, ' ' | '\t')).collect()
}

/// One step of indentation, as the file has it: that of its first indented line.
fn unit(text: &str) -> &str {
    let indented = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let Some(line) = indented else { return "  " };
    if line.starts_with('\t') {
        return "\t";
    }
    let spaces = line.len() - line.trim_start_matches(' ').len();
    "        ".get(..spaces.clamp(1, 8)).unwrap_or("  ")
}
