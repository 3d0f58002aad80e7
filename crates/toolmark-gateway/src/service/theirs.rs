//! What does an error of a server mean to our client? Of a call, a failure that the model reads; of anything else, an error that nobody
//! takes for one of the gateway itself. Only what concerns the client's own program or user is passed on as it is.

use bytes::{BufMut as _, Bytes, BytesMut};
use serde_json::{Value, json};
use toolmark_core::explain::Code;
use toolmark_mcp::downstream::{Fault, Incoming};
use toolmark_mcp::wire::version::{Era, ProtocolVersion};
use toolmark_mcp::wire::{RpcError, codes};

use crate::shown::shown;

/// The stable code of a failure that a server reported as an error of the protocol.
pub(super) const CODE: Code = Code::new("upstream-error");

/// How much of a message is passed on, in characters.
const MESSAGE: usize = 2_000;
/// How many bytes of data are passed on; what is longer is left out whole, since half of it would be no JSON.
const DATA: usize = 2 << 10;

/// The error of a call that its client has to hear as it is; nothing for one that the model should read.
pub(super) fn for_the_client(error: &RpcError, request: &Incoming) -> Option<Fault> {
    let its_own = match error.code()? {
        // The user has to visit a page first; later revisions have another way to say that.
        codes::URL_ELICITATION_REQUIRED => request.version == ProtocolVersion::V2025_11_25,
        codes::MISSING_CAPABILITY => lacks(error, request),
        // The client came back with answers, and they are its own, not the model's.
        codes::INVALID_PARAMS => {
            request.era() == Era::Stateless && (request.input.responses.is_some() || request.input.state.is_some())
        }
        _ => false,
    };
    its_own.then(|| fault(error, error.code().unwrap_or(codes::INTERNAL_ERROR)))
}

/// What the model reads of a call that its server answered with an error.
pub(super) fn told(error: &RpcError, tool: &str) -> String {
    let message = shown(&error.message().unwrap_or_default(), MESSAGE);
    let said = if message.trim().is_empty() { "no reason given" } else { message.trim_end_matches('.') };
    let mut text = format!("`{}` failed: {said}", shown(tool, 200));
    if let Some(code) = error.code() {
        text.push_str(&format!(" (code {code})"));
    }
    text.push('.');
    if let Some(data) = small(error) {
        text.push_str(&format!("\n{}", shown(&String::from_utf8_lossy(data), DATA)));
    }
    text
}

/// The same for programs: the member that is added to what `_meta` says about the call.
pub(super) fn put(out: &mut BytesMut, error: &RpcError) {
    out.put_slice(br#","upstream":"#);
    out.put_slice(described(error).to_string().as_bytes());
}

/// An error in place of a result that is none of a tool. Codes by which clients find out what we are able to do are ours alone.
pub(super) fn passed_on(error: &RpcError, request: &Incoming) -> Fault {
    let code = error.code().unwrap_or(codes::INTERNAL_ERROR);
    match code {
        codes::MISSING_CAPABILITY if lacks(error, request) => fault(error, code),
        codes::URL_ELICITATION_REQUIRED if request.version == ProtocolVersion::V2025_11_25 => fault(error, code),
        // Eras differ in how they say that there is no such resource.
        codes::RESOURCE_NOT_FOUND => fault(error, codes::resource_not_found(request.era())),
        codes::PARSE_ERROR
        | codes::INVALID_REQUEST
        | codes::METHOD_NOT_FOUND
        | codes::HEADER_MISMATCH
        | codes::MISSING_CAPABILITY
        | codes::URL_ELICITATION_REQUIRED
        | codes::UNSUPPORTED_VERSION => {
            let data = json!({"code": CODE.as_str(), "upstream": described(error)}).to_string();
            Fault { data: Some(Bytes::from(data)), ..fault(error, codes::INTERNAL_ERROR) }
        }
        _ => fault(error, code),
    }
}

fn fault(error: &RpcError, code: i64) -> Fault {
    let message = shown(&error.message().unwrap_or_default(), MESSAGE);
    Fault { code, message: message.into(), data: error.data().map(Bytes::copy_from_slice) }
}

/// True when the client really has not declared what the server says it lacks. Anything else would be a server's word about us.
fn lacks(error: &RpcError, request: &Incoming) -> bool {
    let read = |text: &[u8]| serde_json::from_slice::<Value>(text).ok();
    let required =
        error.data().and_then(read).and_then(|mut data| data.get_mut("requiredCapabilities").map(Value::take));
    let declared = read(request.client.capabilities()).unwrap_or_default();
    request.era() == Era::Stateless
        && required.is_some_and(|required| required.is_object() && !covers(&declared, &required))
}

fn covers(declared: &Value, required: &Value) -> bool {
    match (declared.as_object(), required.as_object()) {
        (Some(declared), Some(required)) => {
            required.iter().all(|(key, needed)| declared.get(key).is_some_and(|own| covers(own, needed)))
        }
        (None, Some(_)) => false,
        (_, None) => true,
    }
}

/// Its code, and its data where that is small.
fn described(error: &RpcError) -> Value {
    let data = small(error).and_then(|data| serde_json::from_slice::<Value>(data).ok());
    match data {
        Some(data) => json!({"code": error.code(), "data": data}),
        None => json!({"code": error.code()}),
    }
}

fn small(error: &RpcError) -> Option<&[u8]> {
    error.data().filter(|data| data.len() <= DATA && *data != b"null")
}
