//! How is a message written? By putting the pieces that are there already one after another.

use bytes::{BufMut, Bytes, BytesMut};
use toolmark_core::json::plain_length;

use super::id::Id;
use super::object::{Change, RawObject};
use super::scan::Limits;

const HEAD: &[u8] = br#"{"jsonrpc":"2.0","#;

/// An answer: `result` is JSON text.
#[must_use]
pub fn reply(id: &Id, result: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(HEAD.len() + id.as_json().len() + result.len() + 20);
    out.put_slice(HEAD);
    put_id(&mut out, id);
    out.put_slice(br#","result":"#);
    out.put_slice(result);
    out.put_u8(b'}');
    out.freeze()
}

/// An answer that says what went wrong. `data` is JSON text; without an id, the id is `null`.
#[must_use]
pub fn error(id: Option<&Id>, code: i64, message: &str, data: Option<&[u8]>) -> Bytes {
    error_object(id, &error_member(code, message, data))
}

/// The `error` member alone.
#[must_use]
pub fn error_member(code: i64, message: &str, data: Option<&[u8]>) -> Bytes {
    let mut out = BytesMut::with_capacity(message.len() + data.map_or(0, <[u8]>::len) + 48);
    out.put_slice(br#"{"code":"#);
    out.put_slice(code.to_string().as_bytes());
    out.put_slice(br#","message":"#);
    quote_into(&mut out, message);
    if let Some(data) = data {
        out.put_slice(br#","data":"#);
        out.put_slice(data);
    }
    out.put_u8(b'}');
    out.freeze()
}

/// An answer with an `error` member that is there already.
#[must_use]
pub fn error_object(id: Option<&Id>, error: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(HEAD.len() + error.len() + 40);
    out.put_slice(HEAD);
    match id {
        Some(id) => put_id(&mut out, id),
        None => out.put_slice(br#""id":null"#),
    }
    out.put_slice(br#","error":"#);
    out.put_slice(error);
    out.put_u8(b'}');
    out.freeze()
}

/// A request; `params` is the text of a JSON object.
#[must_use]
pub fn request(id: &Id, method: &str, params: Option<&[u8]>) -> Bytes {
    let mut out = BytesMut::with_capacity(room(method, params) + id.as_json().len());
    out.put_slice(HEAD);
    put_id(&mut out, id);
    out.put_u8(b',');
    put_method(&mut out, method, params);
    out.freeze()
}

/// A notification; `params` is the text of a JSON object.
#[must_use]
pub fn notification(method: &str, params: Option<&[u8]>) -> Bytes {
    let mut out = BytesMut::with_capacity(room(method, params));
    out.put_slice(HEAD);
    put_method(&mut out, method, params);
    out.freeze()
}

/// A result with one more key in its `_meta`, which is made if there is none. A key that is there already is replaced, and
/// so is a `_meta` that is no object. Nothing of the result is scanned: its places are known from reading it.
#[must_use]
pub fn insert_meta(result: &RawObject, key: &str, value: &[u8]) -> Bytes {
    let meta = match result.object("_meta") {
        Some(meta) => meta.rewrite(&[Change::Set(key, value)]),
        None => RawObject::empty().rewrite(&[Change::Set(key, value)]),
    };
    result.rewrite(&[Change::Set("_meta", &meta)])
}

/// An object with some members changed, read here first; `None` if it is no object.
#[must_use]
pub fn rewrite(object: &Bytes, changes: &[Change<'_>]) -> Option<Bytes> {
    let object = RawObject::read(object.clone(), Limits::ADMITTED).ok()?;
    Some(object.rewrite(changes))
}

/// Adds a text as a JSON string.
pub fn quote_into(out: &mut BytesMut, text: &str) {
    out.reserve(text.len() + 2);
    out.put_u8(b'"');
    let mut rest = text;
    while let Some(place) = first_special(rest.as_bytes()) {
        let (plain, special) = rest.split_at(place);
        out.put_slice(plain.as_bytes());
        match special.as_bytes().first() {
            Some(b'"') => out.put_slice(br#"\""#),
            Some(b'\\') => out.put_slice(br"\\"),
            Some(b'\n') => out.put_slice(br"\n"),
            Some(b'\r') => out.put_slice(br"\r"),
            Some(b'\t') => out.put_slice(br"\t"),
            Some(control) => out.put_slice(format!("\\u{control:04x}").as_bytes()),
            None => {}
        }
        rest = special.get(1..).unwrap_or_default();
    }
    out.put_slice(rest.as_bytes());
    out.put_u8(b'"');
}

/// Where the first character is that must be escaped.
fn first_special(text: &[u8]) -> Option<usize> {
    Some(plain_length(text)).filter(|place| *place < text.len())
}

/// A text as a JSON string.
#[must_use]
pub fn quote(text: &str) -> Bytes {
    let mut out = BytesMut::with_capacity(text.len() + 2);
    quote_into(&mut out, text);
    out.freeze()
}

fn room(method: &str, params: Option<&[u8]>) -> usize {
    HEAD.len() + method.len() + params.map_or(0, <[u8]>::len) + 40
}

fn put_id(out: &mut BytesMut, id: &Id) {
    out.put_slice(br#""id":"#);
    out.put_slice(id.as_json());
}

fn put_method(out: &mut BytesMut, method: &str, params: Option<&[u8]>) {
    out.put_slice(br#""method":"#);
    quote_into(out, method);
    if let Some(params) = params {
        out.put_slice(br#","params":"#);
        out.put_slice(params);
    }
    out.put_u8(b'}');
}

#[cfg(test)]
mod tests;
