//! `#/…` references: taken apart into keys, and followed through objects only.

use super::error::{StrictSchemaErrorKind as Kind, shown};
use super::graph::{Graph, Id};

/// The object that a reference points to, in the schema as it is by now.
pub(super) fn resolve(graph: &Graph, root: Id, reference: &str) -> Result<Id, Kind> {
    let mut at = root;
    for key in keys(reference)? {
        at = graph.get(at, &key).ok_or_else(|| Kind::RefMissingKey(shown(reference), shown(&key)))?;
        let members = graph.members(at).ok_or_else(|| Kind::RefNotAnObject(shown(reference), shown(&key)))?;
        if members.get("$id").is_some_and(|id| graph.text(id).is_some()) {
            return Err(Kind::NestedResource);
        }
    }
    Ok(at)
}

/// The keys of a reference. It is decoded as a whole first, so an encoded slash separates like a plain one.
fn keys(reference: &str) -> Result<Vec<String>, Kind> {
    let path = reference.strip_prefix("#/").ok_or_else(|| Kind::RefFormat(shown(reference)))?;
    let path = percent_decoded(path).ok_or_else(|| Kind::RefPercentEncoding(shown(reference)))?;
    Ok(path.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect())
}

/// Decodes `%XX`; what is no such escape stays. None when the bytes of one stretch of ASCII do not come out as UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii()).unwrap_or(rest.len());
        let (ascii, after) = rest.split_at(end);
        out.push_str(&String::from_utf8(decoded_bytes(ascii.as_bytes())).ok()?);
        let end = after.find(|character: char| character.is_ascii()).unwrap_or(after.len());
        let (other, after) = after.split_at(end);
        out.push_str(other);
        rest = after;
    }
    Some(out)
}

fn decoded_bytes(mut rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escaped = (byte == b'%').then(|| after.first_chunk::<2>().and_then(hex_byte)).flatten();
        if escaped.is_some() {
            rest = after.get(2..).unwrap_or_default();
        }
        out.push(escaped.unwrap_or(byte));
    }
    out
}

fn hex_byte(digits: &[u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok()));
    Some(high? << 4 | low?)
}
