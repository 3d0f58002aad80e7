//! Canonical JSON (RFC 8785): one spelling for one value, so that a digest says what was said and not how it was written.
//!
//! RFC 8785 is defined for numbers that a double holds. An integer that it cannot hold is written here in full instead of
//! rounded: rounding would give the calls `{"id": 9007199254740992}` and `{"id": 9007199254740993}` one digest.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::json::{Json, plain_length};

/// Writes the canonical form of `value`.
#[must_use]
pub fn to_canonical(value: &Json<'_>) -> String {
    // Every part that `write` appends is UTF-8.
    String::from_utf8(to_canonical_bytes(value)).unwrap_or_default()
}

/// The same as bytes, for whoever takes a digest of it.
#[must_use]
pub fn to_canonical_bytes(value: &Json<'_>) -> Vec<u8> {
    // As much as the arguments of most calls need, so that it does not have to grow.
    let mut out = Vec::with_capacity(512);
    write(value, &mut out);
    out
}

/// Appends the canonical form of `value` to `out`.
///
/// Recursion is bounded by the depth that the reader allows; values made from `serde_json` are bounded by its own limit.
pub fn write(value: &Json<'_>, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(text) => write_number(text, out),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Json::Object(entries) => write_object(entries.iter().map(|(key, value)| (key.as_ref(), value)), out),
    }
}

/// Appends an object of the given entries, in canonical order.
pub fn write_object<'a, 'v: 'a>(entries: impl Iterator<Item = (&'a str, &'a Json<'v>)>, out: &mut Vec<u8>) {
    let mut sorted: Vec<(&str, &Json<'_>)> = entries.collect();
    sorted.sort_unstable_by(|(one, _), (other, _)| utf16_order(one, other));
    out.push(b'{');
    for (index, (key, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(key, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// Appends a string with exactly the escapes that RFC 8785 asks for.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    if plain_length(bytes) == bytes.len() {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    }
    let mut done = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x09 => b't',
            0x0A => b'n',
            0x0C => b'f',
            0x0D => b'r',
            0x00..=0x1F => 0,
            _ => continue,
        };
        out.extend_from_slice(bytes.get(done..index).unwrap_or_default());
        if short == 0 {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
        done = index + 1;
    }
    out.extend_from_slice(bytes.get(done..).unwrap_or_default());
    out.push(b'"');
}

fn write_number(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(canonical_number(text).as_bytes());
}

fn canonical_number(text: &str) -> Cow<'_, str> {
    if text == "-0" {
        return "0".into();
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    // Fifteen digits always survive a double and are written plainly by it.
    if whole && digits.len() <= 15 {
        return text.into();
    }
    let Ok(double) = text.parse::<f64>() else {
        return text.into();
    };
    if whole && format!("{double:.0}") != text {
        return text.into();
    }
    ryu_js::Buffer::new().format(double).to_owned().into()
}

/// The order of RFC 8785: by UTF-16 code units, which differs from the order of code points above U+FFFF only.
pub(crate) fn utf16_order(one: &str, other: &str) -> Ordering {
    if one.is_ascii() || other.is_ascii() {
        return one.cmp(other);
    }
    one.encode_utf16().cmp(other.encode_utf16())
}

#[cfg(test)]
mod tests;
