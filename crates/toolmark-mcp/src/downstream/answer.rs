//! What does the service say to a request, and how is that written for the client's era?

use std::borrow::Cow;

use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use toolmark_core::explain::Code;

use super::body::Pieces;
use super::incoming::is_cacheable;
use super::service::About;
use crate::wire::params::meta;
use crate::wire::version::Era;
use crate::wire::{Change, Id, RawObject, ResultType, codes, write};

/// The end of one request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It succeeded. The endpoint adds what the client's era demands and is not there, and takes away what is not of its era.
    Result(RawObject),
    /// The same, with one more member in its `_meta`. It is put in while the answer is written, so that nobody reads the result twice.
    WithMeta(RawObject, MetaMember),
    /// It succeeded, and this text of an object has everything that the client's era demands.
    Prepared(Bytes),
    /// The same for a list with texts for people. Over HTTP, headers say in which language they are.
    Listed(Bytes, Spoken),
    /// It failed as a request; a tool that failed is a result.
    Fault(Fault),
    /// Something has to be known first. An old client is asked at once and the service called again; a new client gets the
    /// questions and repeats its request. Either way the service sees the answers in [`Incoming::input`](super::Incoming).
    InputRequired(InputRequired),
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The code, of [`codes`].
    pub code: i64,
    /// One line.
    pub message: Cow<'static, str>,
    /// JSON text.
    pub data: Option<Bytes>,
}

/// In which language a list is, and what that depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// The language, where one was wanted and is there.
    pub language: Option<Box<str>>,
    /// Whether `Accept-Language` decides about it.
    pub by_header: bool,
}

/// A member of `_meta`; one that is there already under this key is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaMember {
    /// The key.
    pub key: &'static str,
    /// JSON text.
    pub value: Bytes,
}

/// Questions that a service hands to its client without waiting for the answers.
#[derive(Clone, Debug)]
pub struct InputRequired {
    /// One member for each question, as `{"method":…,"params":…}`.
    pub requests: RawObject,
    /// What the service wants to get back. It travels through the client, sealed but readable.
    pub state: Option<Bytes>,
    /// The result in which a server asked, for whatever else it said there; empty where nobody else did.
    pub said: RawObject,
}

impl Answer {
    /// A fault with a stable code of ours in its data.
    #[must_use]
    pub fn fault(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Fault(Fault { code, message: message.into(), data: None })
    }

    /// A result that asks is an `InputRequired`, so that its state is sealed whoever made it.
    pub(super) fn settled(self) -> Self {
        match self {
            Self::Result(result) | Self::WithMeta(result, _) if result.result_type() == ResultType::InputRequired => {
                let state = result.text("requestState").map(|state| Bytes::copy_from_slice(state.as_bytes()));
                let requests = result.object("inputRequests").unwrap_or_else(RawObject::empty);
                Self::InputRequired(InputRequired { requests, state, said: result })
            }
            other => other,
        }
    }
}

impl Fault {
    /// A fault without data.
    #[must_use]
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same with a stable code in `data.code`.
    #[must_use]
    pub fn coded(self, code: Code) -> Self {
        Self { data: Some(Bytes::from(format!(r#"{{"code":"{code}"}}"#))), ..self }
    }

    /// The HTTP status that goes with it.
    #[must_use]
    pub fn status(&self, era: Era) -> StatusCode {
        match (era, self.code) {
            (_, codes::PARSE_ERROR | codes::INVALID_REQUEST) => StatusCode::BAD_REQUEST,
            (Era::Stateless, codes::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
            (Era::Stateless, codes::HEADER_MISMATCH | codes::MISSING_CAPABILITY | codes::UNSUPPORTED_VERSION) => {
                StatusCode::BAD_REQUEST
            }
            _ => StatusCode::OK,
        }
    }

    /// The whole message.
    #[must_use]
    pub fn write(&self, id: Option<&Id>) -> Bytes {
        write::error(id, self.code, &self.message, self.data.as_deref())
    }
}

/// Writes a result for a client up to 2025-11-25, which knows neither `resultType` nor who answers in `_meta`.
pub(super) fn write_in_session(id: &Id, result: &RawObject, added: Option<&MetaMember>) -> Pieces {
    let own = result.object("_meta");
    let named = own.as_ref().is_some_and(|own| own.get(meta::SERVER_INFO).is_some());
    let meta = (named || added.is_some()).then(|| rewrite_meta(own, Change::Remove(meta::SERVER_INFO), added));
    let mut changes = Vec::new();
    if let Some(meta) = &meta {
        changes.push(if &**meta == b"{}" { Change::Remove("_meta") } else { Change::Set("_meta", meta) });
    }
    if result.get("resultType").is_some() {
        changes.push(Change::Remove("resultType"));
    }
    write_changed(id, result, &changes, meta.as_ref().map_or(0, Bytes::len))
}

/// Writes a result of 2026-07-28, with what the revision demands where it is missing. Who answers is always us: behind us may be
/// many servers, and the client talks to none of them.
pub(super) fn write_stateless(
    id: &Id,
    method: &str,
    result: &RawObject,
    added: Option<&MetaMember>,
    about: &About,
) -> Pieces {
    let meta = rewrite_meta(result.object("_meta"), Change::Set(meta::SERVER_INFO, &about.server_info), added);
    let mut changes = Vec::with_capacity(4);
    if result.get("resultType").is_none() {
        changes.push(Change::Set("resultType", br#""complete""#));
    }
    changes.push(Change::Set("_meta", &meta));
    if is_cacheable(method) {
        // What says nothing may be kept by nobody: a stale list is worse than a second question.
        if result.get("ttlMs").is_none() {
            changes.push(Change::Set("ttlMs", b"0"));
        }
        if result.get("cacheScope").is_none() {
            changes.push(Change::Set("cacheScope", br#""private""#));
        }
    }
    write_changed(id, result, &changes, meta.len())
}

/// The `_meta` of a result, made if there is none.
fn rewrite_meta(own: Option<RawObject>, server: Change<'_>, added: Option<&MetaMember>) -> Bytes {
    let own = own.unwrap_or_else(RawObject::empty);
    match added {
        Some(MetaMember { key, value }) => own.rewrite(&[server, Change::Set(key, value)]),
        None => own.rewrite(&[server]),
    }
}

/// Results from this size on are sent from where they are; smaller ones are copied in less time than it takes to send pieces.
const LARGE: usize = 16 << 10;

/// A result with some members changed, straight into the message: it is copied once, and a large one that keeps all it has never.
fn write_changed(id: &Id, result: &RawObject, changes: &[Change<'_>], added: usize) -> Pieces {
    let copied = if result.raw().len() < LARGE { result.raw().len() } else { 0 };
    let mut out = BytesMut::with_capacity(copied + id.as_json().len() + added + 128);
    put_head(&mut out, id);
    if copied == 0
        && let Some(members) = result.add_before(&mut out, changes)
    {
        return Pieces::new([out.freeze(), members, Bytes::from_static(b"}}")]);
    }
    out.reserve(result.raw().len());
    result.rewrite_into(&mut out, changes);
    out.put_u8(b'}');
    out.freeze().into()
}

/// A result that is ready, in its message.
pub(super) fn write_prepared(id: &Id, result: Bytes) -> Pieces {
    let mut out = BytesMut::with_capacity(id.as_json().len() + 40);
    put_head(&mut out, id);
    Pieces::new([out.freeze(), result, Bytes::from_static(b"}")])
}

fn put_head(out: &mut BytesMut, id: &Id) {
    out.put_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.put_slice(id.as_json());
    out.put_slice(br#","result":"#);
}

/// Writes a result that asks for input, with whatever else was said in it.
pub(super) fn write_input_required(
    id: &Id,
    said: &RawObject,
    requests: &[u8],
    state: Option<&str>,
    about: &About,
) -> Bytes {
    let meta = rewrite_meta(said.object("_meta"), Change::Set(meta::SERVER_INFO, &about.server_info), None);
    let state = state.map(write::quote);
    let asks = requests != b"{}" || state.is_none();
    let result = said.rewrite(&[
        Change::Set("resultType", br#""input_required""#),
        if asks { Change::Set("inputRequests", requests) } else { Change::Remove("inputRequests") },
        state.as_ref().map_or(Change::Remove("requestState"), |state| Change::Set("requestState", state)),
        Change::Set("_meta", &meta),
    ]);
    write::reply(id, &result)
}

#[cfg(test)]
mod tests;
