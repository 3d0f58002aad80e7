//! The text rules of Python 3.11 that the SDK's names depend on: what is blank, what is lower case, how a string is quoted.
//!
//! They differ from Rust's in small ways that decide which tool a name means, so they are written down once, here.

mod unprintable;

use unprintable::UNPRINTABLE;

/// True for what Python's `str.isspace` and `\s` take for white space: four separators more than Rust does.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, '\u{1C}'..='\u{1F}') || character.is_whitespace()
}

/// The text without white space at both ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The text in lower case, as Unicode 14.0 knows it.
///
/// Letters that became known later stay as they are and, as there, end the context of a final sigma.
pub(super) fn lower(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, unknown)) = rest.char_indices().find(|(_, character)| is_newer_capital(*character)) {
        let (before, after) = rest.split_at(at);
        out.push_str(&before.to_lowercase());
        out.push(unknown);
        rest = after.get(unknown.len_utf8()..).unwrap_or_default();
    }
    out.push_str(&rest.to_lowercase());
    out
}

/// The text as Python's `repr` writes it.
pub(super) fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character == quote => out.extend(['\\', quote]),
            _ if is_printable(character) => out.push(character),
            _ => out.push_str(&escape(u32::from(character))),
        }
    }
    out.push(quote);
    out
}

fn escape(point: u32) -> String {
    match point {
        0..=0xFF => format!("\\x{point:02x}"),
        0x100..=0xFFFF => format!("\\u{point:04x}"),
        _ => format!("\\U{point:08x}"),
    }
}

fn is_printable(character: char) -> bool {
    let point = u32::from(character);
    let after = UNPRINTABLE.partition_point(|&(first, _)| first <= point);
    after.checked_sub(1).and_then(|at| UNPRINTABLE.get(at)).is_none_or(|&(_, last)| point > last)
}

fn is_newer_capital(character: char) -> bool {
    !character.is_ascii() && !is_printable(character) && !character.to_lowercase().eq([character])
}

#[cfg(test)]
mod tests;
