//! Puts texts into a file of names and leaves everything else as it is: comments, order, what nobody knows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml_edit::{DocumentMut, InlineTable, Item, Table, value};
use toolmark_core::display::Kind;

use super::fluent::{agent_id, message_id, offer_message};
use super::{LocaleFile, LocaleFormat, Subject};

/// A file that cannot be changed because it cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the file cannot be changed: {0}")]
pub struct EditLocaleError(String);

/// The text of a file after these texts were put into it. The file must be one that can be read.
///
/// # Errors
/// [`EditLocaleError`] when it is not.
pub fn edit(
    text: &str,
    format: LocaleFormat,
    known: Option<&LocaleFile>,
    texts: &BTreeMap<(Subject, Kind), String>,
) -> Result<String, EditLocaleError> {
    match format {
        LocaleFormat::Fluent => Ok(fluent(text, known, texts)),
        LocaleFormat::Toml => toml(text, texts),
    }
}

fn fluent(text: &str, known: Option<&LocaleFile>, texts: &BTreeMap<(Subject, Kind), String>) -> String {
    let mut blocks: BTreeMap<String, BTreeMap<&'static str, String>> = BTreeMap::new();
    for ((subject, kind), text) in texts {
        let (id, field) = place(subject, *kind);
        blocks.entry(id).or_default().insert(field, text.clone());
    }
    // What a message has and nobody changes stays in it.
    for entry in known.map(LocaleFile::entries).unwrap_or_default() {
        let (id, field) = place(&entry.of, entry.kind);
        if let Some(block) = blocks.get_mut(&id) {
            block.entry(field).or_insert_with(|| entry.text.clone());
        }
    }
    let mut out = String::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let id = line.split_once('=').map(|(id, _)| id.trim_end()).filter(|id| !id.starts_with([' ', '#', '}']));
        let Some(block) = id.and_then(|id| blocks.remove(id).map(|block| (id, block))) else {
            out.push_str(line);
            continue;
        };
        // The rest of the message is indented; blank lines before the next one are not its own.
        let mut blank = String::new();
        while let Some(next) = lines.next_if(|next| next.starts_with([' ', '}']) || next.trim().is_empty()) {
            if next.trim().is_empty() {
                blank.push_str(next);
            } else {
                blank.clear();
            }
        }
        message(&mut out, block.0, &block.1);
        out.push_str(&blank);
    }
    if !out.is_empty() && !blocks.is_empty() {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        // A comment right above a message would be about it.
        let last = out.lines().last().unwrap_or_default();
        if last.starts_with('#') {
            out.push('\n');
        }
    }
    for (id, block) in &blocks {
        message(&mut out, id, block);
    }
    out
}

/// Which message, and which part of it: its value, or an attribute.
fn place(subject: &Subject, kind: Kind) -> (String, &'static str) {
    match subject {
        Subject::Tool(name) => (message_id(name), field(kind)),
        Subject::Message(id) => (id.clone(), field(kind)),
        Subject::Pack(name) => (format!("-{name}"), ""),
        Subject::Agent(name) => (agent_id(name), field(kind)),
        Subject::Handoff(name) => (agent_id(name), "handoff"),
        Subject::Offer(kind, name) => (offer_message(*kind, name), ""),
    }
}

fn field(kind: Kind) -> &'static str {
    match kind {
        Kind::Name => "",
        Kind::Spoken => "spoken",
        Kind::Category => "category",
    }
}

fn message(out: &mut String, id: &str, block: &BTreeMap<&str, String>) {
    match block.get("") {
        Some(name) => {
            let _ = writeln!(out, "{id} = {}", literal(name));
        }
        None => {
            let _ = writeln!(out, "{id} =");
        }
    }
    for (field, text) in block.iter().filter(|(field, _)| !field.is_empty()) {
        let _ = writeln!(out, "    .{field} = {}", literal(text));
    }
}

/// A text as Fluent takes it: what would mean something else is quoted.
fn literal(text: &str) -> String {
    let special = text.contains(['{', '}']) || text.starts_with(['.', '*', '[', '"']) || text.trim() != text;
    if special { format!("{{ \"{}\" }}", text.replace('\\', "\\\\").replace('"', "\\\"")) } else { text.to_owned() }
}

fn toml(text: &str, texts: &BTreeMap<(Subject, Kind), String>) -> Result<String, EditLocaleError> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| EditLocaleError(error.message().trim().replace('\n', "; ")))?;
    for ((subject, kind), text) in texts {
        let (section, name, field) = match subject {
            Subject::Tool(name) | Subject::Message(name) => ("tools", name, field(*kind)),
            Subject::Pack(name) => ("packs", name, ""),
            Subject::Agent(name) => ("agents", name, field(*kind)),
            Subject::Handoff(name) => ("agents", name, "handoff"),
            Subject::Offer(kind, name) => (kind.table(), name, ""),
        };
        let mut fresh = Table::new();
        fresh.set_implicit(true);
        let section = document.entry(section).or_insert(Item::Table(fresh));
        let Some(section) = section.as_table_like_mut() else { continue };
        let new = match section.get(name).cloned() {
            // A table of texts gets one more, or another.
            Some(mut own) if own.is_table_like() => {
                if let Some(table) = own.as_table_like_mut() {
                    table.insert(if field.is_empty() { "name" } else { field }, value(text.as_str()));
                }
                own
            }
            _ if field.is_empty() => value(text.as_str()),
            // A name alone becomes a table with the name in it.
            own => {
                let mut table = InlineTable::new();
                if let Some(name) = own.as_ref().and_then(Item::as_str) {
                    table.insert("name", name.into());
                }
                table.insert(field, text.as_str().into());
                value(table)
            }
        };
        section.insert(name, new);
    }
    Ok(document.to_string())
}
