//! Messages, events and headers from strangers: reading never panics, what was read is written again unharmed, and nothing grows
//! beyond what was sent by more than a little. Whoever uses this has the wire code as `crate::wire`.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::wire::headers::{self, ParamHeaders};
use crate::wire::params::{CallParams, naming_parameter};
use crate::wire::{Change, Id, Limits, Message, RawObject, ReadMessageErrorKind, read_items, sse, write};

const LIMITS: Limits = Limits { bytes: 1 << 16, depth: 64 };
/// For what we wrote ourselves.
const OURS: Limits = Limits { bytes: 1 << 22, depth: 128 };
/// The largest event.
const EVENT: usize = 1 << 12;

/// Holds for every input.
pub(crate) fn check(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    message(&bytes);
    for item in read_items(&bytes).unwrap_or_default() {
        message(&item);
    }
    events(data);
    texts(data);
    requests(data);
}

/// A message is JSON, and is written as it was read.
fn message(bytes: &Bytes) {
    let theirs = serde_json::from_slice::<Value>(bytes);
    let read = match Message::read(bytes, LIMITS) {
        Ok(read) => read,
        Err(error) => {
            assert!(matches!(error.rpc_code(), -32700 | -32600));
            if let ReadMessageErrorKind::Syntax { .. } = error.kind() {
                assert!(theirs.is_err(), "we refuse what is JSON");
            }
            return;
        }
    };
    assert!(bytes.len() <= LIMITS.bytes);
    match theirs {
        Ok(theirs) => assert!(theirs.is_object()),
        Err(error) => assert!(is_left_to_who_decodes_it(&error), "we accept what is no JSON: {error}"),
    }
    let (again, payload) = match &read {
        Message::Request { id, method, params } => {
            let raw = params.as_ref().map(|params| &**params.raw());
            (write::request(id, method, raw), params.clone())
        }
        Message::Notification { method, params } => {
            let raw = params.as_ref().map(|params| &**params.raw());
            (write::notification(method, raw), params.clone())
        }
        Message::Response { id, result } => (write::reply(id, result.raw()), Some(result.clone())),
        Message::Error { id, error } => {
            (write::error_object(id.as_ref(), error.object().raw()), Some(error.object().clone()))
        }
    };
    // A character that has to be escaped takes six bytes.
    assert!(again.len() <= 6 * bytes.len() + 64, "{} bytes became {}", bytes.len(), again.len());
    let again = Message::read(&again, OURS).expect("what we write is a message");
    match (&read, &again) {
        (Message::Request { id, method, params }, Message::Request { id: id2, method: method2, params: params2 }) => {
            assert_eq!((id.as_json(), method, raw(params)), (id2.as_json(), method2, raw(params2)));
        }
        (Message::Notification { method, params }, Message::Notification { method: method2, params: params2 }) => {
            assert_eq!((method, raw(params)), (method2, raw(params2)));
        }
        (Message::Response { id, result }, Message::Response { id: id2, result: result2 }) => {
            assert_eq!((id.as_json(), result.raw()), (id2.as_json(), result2.raw()));
        }
        (Message::Error { id, error }, Message::Error { id: id2, error: error2 }) => {
            assert_eq!(id.as_ref().map(Id::as_json), id2.as_ref().map(Id::as_json));
            assert_eq!(error.object().raw(), error2.object().raw());
        }
        _ => panic!("{read:?} became {again:?}"),
    }
    if let Some(payload) = payload {
        if let Ok(call) = CallParams::of(&payload) {
            let renamed = RawObject::read(call.renamed("x", None), OURS).expect("still an object");
            assert_eq!(renamed.text("name").as_deref(), Some("x"));
        }
        object(&payload);
    }
}

/// Whether this is about what a text means and not about whether it is JSON: numbers of any size, half of a UTF-16 pair.
fn is_left_to_who_decodes_it(error: &serde_json::Error) -> bool {
    let text = error.to_string();
    ["number out of range", "lone leading surrogate in hex escape", "unexpected end of hex escape"]
        .iter()
        .any(|known| text.starts_with(known))
}

fn raw(params: &Option<RawObject>) -> Option<&Bytes> {
    params.as_ref().map(RawObject::raw)
}

/// Adding one key to `_meta` keeps every other member byte for byte.
fn object(object: &RawObject) {
    let written = write::insert_meta(object, "k", b"1");
    assert!(written.len() <= object.raw().len() + 32);
    let marked = RawObject::read(written, OURS).expect("still an object");
    assert_eq!(marked.object("_meta").and_then(|meta| meta.count("k")), Some(1));
    for (key, value) in object.iter().filter(|(key, _)| key != "_meta") {
        assert_eq!(marked.get(&key), Some(value));
    }
    let same = object.rewrite(&[] as &[Change<'_>]);
    let same = RawObject::read(same, OURS).expect("still an object");
    assert!(same.iter().eq(object.iter()), "nothing was changed, and something is another");
}

/// Events are the same in whichever pieces they come, keep to the limit, and are written as they were read.
fn events(data: &[u8]) {
    let mut whole = sse::Reader::new(EVENT);
    whole.feed(data);
    let mut at_once = Vec::new();
    while let Ok(Some(event)) = whole.next_event() {
        at_once.push(event);
    }
    let mut pieces = sse::Reader::new(EVENT);
    let (mut one_by_one, mut broken) = (Vec::new(), false);
    for byte in data {
        pieces.feed(&[*byte]);
        loop {
            match pieces.next_event() {
                Ok(Some(event)) => one_by_one.push(event),
                Ok(None) => break,
                Err(_) => {
                    broken = true;
                    break;
                }
            }
        }
        if broken {
            break;
        }
    }
    if !broken {
        assert_eq!(at_once, one_by_one);
    }
    for event in at_once {
        assert!(event.data.len() <= EVENT, "{} bytes", event.data.len());
        let name = event.event.as_deref().filter(|name| !name.is_empty());
        let mut reader = sse::Reader::new(16 * EVENT);
        reader.feed(&sse::write(name, event.id.as_deref(), &event.data));
        let again = reader.next_event().expect("it is not too large").expect("it is whole");
        assert_eq!((again.event.as_deref(), &again.id, &again.data), (name, &event.id, &event.data));
    }
}

/// A text comes out of a header as it went in; a header that a stranger wrote is read as something that can be written, or not at all.
fn texts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let value = headers::encode(&text);
    assert!(value.as_bytes().iter().all(|byte| (0x20..=0x7e).contains(byte)));
    assert!(value.len() <= text.len().div_ceil(3) * 4 + 11, "{} bytes became {}", text.len(), value.len());
    assert_eq!(headers::decode(&value).as_deref(), Some(&*text));
    if let Ok(value) = HeaderValue::from_bytes(data)
        && let Some(read) = headers::decode(&value)
    {
        assert!(read.len() <= value.len());
        assert_eq!(headers::decode(&headers::encode(&read)).as_deref(), Some(&*read));
    }
}

/// Lines `name: value`, then messages: headers that agree with their body are those that we would write, and nothing else.
fn requests(data: &[u8]) {
    let mut sent = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n').take(64) {
        if let Ok(Message::Request { method, params, .. }) = Message::read(&Bytes::copy_from_slice(line), LIMITS) {
            request(&sent, &method, params.as_ref());
            continue;
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = HeaderName::from_bytes(parts.next().unwrap_or_default().trim_ascii());
        let value = HeaderValue::from_bytes(parts.next().unwrap_or_default().trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            sent.append(name, value);
        }
    }
}

fn request(sent: &HeaderMap, method: &str, params: Option<&RawObject>) {
    let name = naming_parameter(method).and_then(|key| params?.text(key));
    if headers::check(sent, method, params).is_ok() {
        let methods: Vec<_> = sent.get_all(headers::METHOD).iter().map(HeaderValue::as_bytes).collect();
        assert_eq!(methods, [method.as_bytes()]);
        if let (Some(name), Some(shown)) = (&name, sent.get(headers::NAME)) {
            assert_eq!(headers::decode(shown).as_ref(), Some(name));
        }
    }
    let Ok(value) = HeaderValue::from_str(method) else { return };
    let mut ours = HeaderMap::new();
    ours.insert(headers::METHOD, value.clone());
    if let Some(name) = &name {
        ours.insert(headers::NAME, headers::encode(name));
    }
    assert_eq!(headers::check(&ours, method, params), Ok(()));
    if let Some(name) = &name {
        let mut other = ours.clone();
        other.insert(headers::NAME, headers::encode(&format!("{name}x")));
        assert!(headers::check(&other, method, params).is_err(), "another name");
    }
    ours.append(headers::METHOD, value);
    assert!(headers::check(&ours, method, params).is_err(), "twice the same");
    let tree = |key: &str| serde_json::from_slice::<Value>(params?.get(key)?).ok();
    let Some(repeated) = tree("inputSchema").and_then(|schema| ParamHeaders::read(&schema).ok()) else { return };
    let arguments = tree("arguments").unwrap_or_default();
    let mut ours: HeaderMap = repeated.headers(&arguments).into_iter().collect();
    assert_eq!(repeated.check(&ours, &arguments), Ok(()));
    if let Some(name) = ours.keys().next().cloned() {
        ours.remove(&name);
        assert!(repeated.check(&ours, &arguments).is_err(), "one is missing");
    }
}
