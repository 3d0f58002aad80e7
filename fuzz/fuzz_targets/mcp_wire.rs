//! Messages, events and headers from strangers: reading never panics, and what was read is written again unharmed.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

// The wire code alone: with its whole crate, every fuzz target would wait for a runtime and a TLS library.
#[path = "../../crates/toolmark-mcp/src/wire/mod.rs"]
#[expect(dead_code, unused_imports, reason = "most of it has no fuzz target")]
mod wire;

use wire::params::CallParams;
use wire::{Change, Limits, Message, RawObject, sse, write};

fuzz_target!(|data: &[u8]| {
    let bytes = Bytes::copy_from_slice(data);
    let limits = Limits { bytes: 1 << 16, depth: 64 };
    match Message::read(&bytes, limits) {
        Ok(Message::Request { params: Some(object), .. } | Message::Notification { params: Some(object), .. }) => {
            if let Ok(call) = CallParams::of(&object) {
                let renamed = RawObject::read(call.renamed("x", None), limits).expect("still an object");
                assert_eq!(renamed.text("name").as_deref(), Some("x"));
            }
            check(&object);
        }
        Ok(Message::Response { result, .. }) => check(&result),
        Ok(_) => {}
        Err(error) => assert!(matches!(error.rpc_code(), -32700 | -32600)),
    }
    // Whatever we accept, a reader of trees accepts too, unless it holds half of a UTF-16 pair or a number beyond floats.
    if Message::read(&bytes, limits).is_ok() {
        let _ = serde_json::from_slice::<Value>(&bytes);
    }
    let mut whole = sse::Reader::new(1 << 12);
    whole.feed(data);
    let mut pieces = sse::Reader::new(1 << 12);
    let mut from_pieces = Vec::new();
    let mut broken = false;
    for byte in data {
        pieces.feed(&[*byte]);
        loop {
            match pieces.next_event() {
                Ok(Some(event)) => from_pieces.push(event),
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
    let mut at_once = Vec::new();
    while let Ok(Some(event)) = whole.next_event() {
        at_once.push(event);
    }
    if !broken {
        assert_eq!(at_once, from_pieces);
    }
});

/// Adding one key to `_meta` keeps every other member byte for byte.
fn check(object: &RawObject) {
    let limits = Limits { bytes: 1 << 20, depth: 128 };
    let marked = RawObject::read(write::insert_meta(object, "k", b"1"), limits).expect("still an object");
    assert_eq!(marked.object("_meta").and_then(|meta| meta.count("k")), Some(1));
    for (key, value) in object.iter().filter(|(key, _)| key != "_meta") {
        assert_eq!(marked.get(&key), Some(value));
    }
    let same = object.rewrite(&[] as &[Change<'_>]);
    assert_eq!(RawObject::read(same, limits).expect("still an object").len(), object.len());
}
