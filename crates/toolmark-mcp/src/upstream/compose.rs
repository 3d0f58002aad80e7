//! How does our request look to the server? The caller's bytes with the name the server knows and the `_meta` of this
//! connection; nothing else is touched.

use std::fmt::Write as _;

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderName, HeaderValue};

use super::options::ConnectOptions;
use super::request::UpstreamRequest;
use crate::wire::params::{meta, naming_parameter, progress_token};
use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Change, RawObject, headers, write};

/// A request ready to be sent.
pub(crate) struct Composed {
    pub(crate) message: Bytes,
    /// The progress token that the caller's client gave.
    pub(crate) token: Option<Bytes>,
}

const VERSION: &[u8] = br#""2026-07-28""#;

/// Writes a request.
pub(crate) fn compose(options: &ConnectOptions, era: Era, id: u64, request: &UpstreamRequest<'_>) -> Composed {
    let given = request.params.object("_meta");
    let token = given.as_ref().and_then(progress_token);
    let new_meta = match (given, era) {
        (None, Era::Session) => None,
        (given, _) => Some(compose_meta(options, era, token.is_some().then_some(id), request, given)),
    };
    let name = request.name.and_then(|name| Some((naming_parameter(request.method)?, write::quote(name))));
    let name = name.as_ref().map(|(key, name)| Change::Set(key, name));
    // Clients may write that there are none; servers expect an object or nothing.
    let none = (request.params.get("arguments") == Some(b"null")).then_some(Change::Remove("arguments"));
    let params: Vec<Change<'_>> =
        name.into_iter().chain(new_meta.as_ref().map(|meta| Change::Set("_meta", meta))).chain(none).collect();

    let room = request.params.raw().len() + new_meta.as_ref().map_or(0, Bytes::len) + 96;
    let mut out = BytesMut::with_capacity(room);
    out.put_slice(br#"{"jsonrpc":"2.0","id":"#);
    // Writing to memory does not fail.
    let _ = write!(out, "{id}");
    out.put_slice(br#","method":"#);
    write::quote_into(&mut out, request.method);
    if !request.params.is_empty() || !params.is_empty() {
        out.put_slice(br#","params":"#);
        request.params.rewrite_into(&mut out, &params);
    }
    out.put_u8(b'}');
    Composed { message: out.freeze(), token }
}

/// The caller's `_meta` as this connection has it; `token` is the progress token that takes the place of the caller's.
fn compose_meta(
    options: &ConnectOptions,
    era: Era,
    token: Option<u64>,
    request: &UpstreamRequest<'_>,
    given: Option<RawObject>,
) -> Bytes {
    let capabilities = request.capabilities.as_ref().unwrap_or(&options.capabilities);
    let mut changes = match era {
        Era::Stateless => vec![
            Change::Set(meta::PROTOCOL_VERSION, VERSION),
            Change::Set(meta::CLIENT_CAPABILITIES, capabilities),
            Change::Set(meta::CLIENT_INFO, &options.client_info),
        ],
        Era::Session => {
            let own = [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, meta::CLIENT_INFO, meta::LOG_LEVEL];
            own.map(Change::Remove).to_vec()
        }
    };
    // A client of the new era says with each request what it wants to hear; for one of the old era, its session does.
    let said = given.as_ref().is_some_and(|given| given.get(meta::LOG_LEVEL).is_some());
    let level = request.log_level.filter(|_| era == Era::Stateless && !said);
    let level = level.map(|level| write::quote(level.as_str()));
    changes.extend(level.as_ref().map(|level| Change::Set(meta::LOG_LEVEL, level)));
    // Tokens of several clients may be equal; ours is not.
    let token = token.map(|token| token.to_string());
    changes.push(
        token
            .as_ref()
            .map_or(Change::Remove(meta::PROGRESS_TOKEN), |token| Change::Set(meta::PROGRESS_TOKEN, token.as_bytes())),
    );
    given.unwrap_or_else(RawObject::empty).rewrite(&changes)
}

/// The headers that repeat what the body says (2026-07-28).
pub(crate) fn mirror(era: Era, request: &UpstreamRequest<'_>) -> Vec<(HeaderName, HeaderValue)> {
    if era == Era::Session {
        return Vec::new();
    }
    let mut mirrored = Vec::with_capacity(2 + request.headers.len());
    if let Ok(method) = HeaderValue::from_str(request.method) {
        mirrored.push((headers::METHOD, method));
    }
    mirrored.push((headers::PROTOCOL_VERSION, HeaderValue::from_static(ProtocolVersion::V2026_07_28.as_str())));
    if let Some(key) = naming_parameter(request.method) {
        if let Some(name) = request.name {
            mirrored.push((headers::NAME, headers::encode(name)));
        } else if let Some(name) = request.params.text(key) {
            mirrored.push((headers::NAME, headers::encode(&name)));
        }
    }
    mirrored.extend(request.headers.iter().cloned());
    mirrored
}

#[cfg(test)]
mod tests;
