//! A row as one line of JSON, and back. What is not exactly a row of a table that is known is refused, never guessed at.

use serde_json::{Map, Value};
use toolmark_core::text::visible;
use uuid::Uuid;

use super::tables::{Cell, Column, Row, Shape, TABLES, Table};
use crate::audit::ResultDigest;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It is no line of an export.
    Syntax(String),
    /// It is of a kind that is not known.
    Kind(String),
}

/// Appends a row as a line.
pub(super) fn write(table: &Table, row: &[Cell], line: &mut Vec<u8>) {
    line.extend_from_slice(b"{\"kind\":");
    push_text(line, table.kind);
    for (column, cell) in table.columns.iter().zip(row) {
        line.push(b',');
        push_text(line, column.name);
        line.push(b':');
        match cell {
            Cell::Null => line.extend_from_slice(b"null"),
            Cell::Text(text) => push_text(line, text),
            Cell::Number(number) => line.extend_from_slice(number.to_string().as_bytes()),
            Cell::Bytes(bytes) => {
                line.push(b'"');
                push_hex(line, bytes);
                line.push(b'"');
            }
            Cell::Id(id) => push_text(line, &id.hyphenated().to_string()),
        }
    }
    line.extend_from_slice(b"}\n");
}

fn push_text(line: &mut Vec<u8>, text: &str) {
    // Writing text into memory cannot fail.
    let _ = serde_json::to_writer(line, text);
}

pub(super) fn push_hex(line: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    line.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}

/// The object that a line holds.
pub(super) fn object(line: &[u8]) -> Result<Map<String, Value>, Wrong> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Wrong::Syntax("it is no JSON object".into())),
        Err(error) => Err(Wrong::Syntax(error.to_string())),
    }
}

/// Its kind, taken out of it.
pub(super) fn kind(object: &mut Map<String, Value>) -> Result<String, Wrong> {
    match object.shift_remove("kind") {
        Some(Value::String(kind)) => Ok(kind),
        _ => Err(Wrong::Syntax("it has no `kind`".into())),
    }
}

/// The row that an object is, without its kind.
pub(super) fn row(kind: &str, mut object: Map<String, Value>) -> Result<(&'static Table, Row), Wrong> {
    let table = TABLES.iter().find(|table| table.kind == kind).ok_or_else(|| Wrong::Kind(visible(kind, 60)))?;
    let mut row = Vec::with_capacity(table.columns.len());
    for column in table.columns {
        row.push(cell(column, object.shift_remove(column.name))?);
    }
    match object.keys().next() {
        None => Ok((table, row)),
        Some(key) => Err(Wrong::Syntax(format!("a {kind} has no `{}`", visible(key, 60)))),
    }
}

fn cell(column: &Column, value: Option<Value>) -> Result<Cell, Wrong> {
    let wrong = |what: &str| Wrong::Syntax(format!("`{}` is {what}", column.name));
    match (column.shape, value) {
        (_, Some(Value::Null)) | (_, None) if column.nullable => Ok(Cell::Null),
        (_, None) => column.default.map(Cell::Number).ok_or_else(|| wrong("missing")),
        (Shape::Text, Some(Value::String(text))) => Ok(Cell::Text(text)),
        (Shape::Number, Some(Value::Number(number))) => {
            number.as_i64().map(Cell::Number).ok_or_else(|| wrong("no whole number of 64 bits"))
        }
        (Shape::Bytes, Some(Value::String(text))) => {
            let bytes = bytes(&text).ok_or_else(|| wrong("no hexadecimal bytes"))?;
            let fits = column.lengths.is_empty() || column.lengths.contains(&bytes.len());
            // Of a column that has several lengths, what is not of the first says itself what it is.
            let usual = column.lengths.first().is_none_or(|usual| *usual == bytes.len());
            if !fits {
                let lengths: Vec<String> = column.lengths.iter().map(usize::to_string).collect();
                Err(wrong(&format!("{} bytes long instead of {}", bytes.len(), lengths.join(" or "))))
            } else if usual || ResultDigest::from_kept(&bytes).is_some() {
                Ok(Cell::Bytes(bytes))
            } else {
                Err(wrong("no digest of a kind that is known"))
            }
        }
        (Shape::Id, Some(Value::String(text))) => {
            let id = Uuid::parse_str(&text).ok().filter(|id| id.hyphenated().to_string() == text);
            id.map(Cell::Id).ok_or_else(|| wrong("no UUID"))
        }
        (shape, Some(_)) => Err(wrong(match shape {
            Shape::Text => "no text",
            Shape::Number => "no number",
            Shape::Bytes => "no hexadecimal bytes",
            Shape::Id => "no UUID",
        })),
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| pair.iter().try_fold(0, |byte: u8, digit| Some((byte << 4) | nibble(*digit)?))).collect()
}

#[cfg(test)]
mod tests;
