use serde_json::{Value, json};

use super::*;
use crate::wire::{Limits, LogLevel};

fn object(text: &'static str) -> RawObject {
    RawObject::read(Bytes::from_static(text.as_bytes()), Limits::default()).expect(text)
}

fn composed(era: Era, request: &UpstreamRequest<'_>) -> (Value, Option<Bytes>) {
    let Composed { message, token } = compose(&ConnectOptions::default(), era, 7, request);
    (serde_json::from_slice(&message).expect("JSON"), token)
}

#[test]
fn a_request_of_the_old_era_keeps_every_byte_but_the_name() {
    let mut request =
        UpstreamRequest::new("tools/call", object(r#"{"name":"gh__x","arguments":{"n":1.0}, "task" :{}}"#));
    request.name = Some("x");
    let message = compose(&ConnectOptions::default(), Era::Session, 7, &request).message;
    assert_eq!(
        &message[..],
        br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"n":1.0}, "task" :{}}}"#
    );
}

#[test]
fn a_request_of_the_new_era_says_who_asks_and_in_which_version() {
    let request = UpstreamRequest::new("tools/list", RawObject::empty());
    let (message, _) = composed(Era::Stateless, &request);
    assert_eq!(
        message["params"]["_meta"],
        json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "toolmark", "version": env!("CARGO_PKG_VERSION")},
        })
    );
}

#[test]
fn what_a_client_says_of_itself_is_not_passed_on_as_ours() {
    let params = object(
        r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"1","io.modelcontextprotocol/clientInfo":{"name":"c"},"traceparent":"t"}}"#,
    );
    let request = UpstreamRequest::new("tools/list", params);
    assert_eq!(composed(Era::Session, &request).0["params"]["_meta"], json!({"traceparent": "t"}));
    let modern = composed(Era::Stateless, &request).0;
    assert_eq!(modern["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"], "toolmark");
    assert_eq!(modern["params"]["_meta"]["traceparent"], "t");
}

#[test]
fn the_progress_token_is_ours_and_the_other_one_is_remembered() {
    let request = UpstreamRequest::new("tools/call", object(r#"{"name":"a","_meta":{"progressToken":"theirs"}}"#));
    for era in [Era::Session, Era::Stateless] {
        let (message, token) = composed(era, &request);
        assert_eq!(message["params"]["_meta"]["progressToken"], 7);
        assert_eq!(token.as_deref(), Some(&br#""theirs""#[..]));
    }
}

#[test]
fn the_log_level_of_a_session_goes_to_servers_that_are_asked_every_time() {
    const LEVEL: &str = "io.modelcontextprotocol/logLevel";
    let leveled = |params| {
        let mut request = UpstreamRequest::new("tools/call", object(params));
        request.log_level = Some(LogLevel::Warning);
        request
    };
    assert_eq!(composed(Era::Stateless, &leveled(r#"{"name":"a"}"#)).0["params"]["_meta"][LEVEL], "warning");
    assert_eq!(composed(Era::Session, &leveled(r#"{"name":"a"}"#)).0["params"], json!({"name": "a"}));
    let own = leveled(r#"{"name":"a","_meta":{"io.modelcontextprotocol/logLevel":"debug"}}"#);
    assert_eq!(composed(Era::Stateless, &own).0["params"]["_meta"][LEVEL], "debug");
    assert_eq!(composed(Era::Session, &own).0["params"]["_meta"], json!({}));
}

#[test]
fn headers_repeat_the_name_the_server_knows() {
    let mut request = UpstreamRequest::new("tools/call", object(r#"{"name":"gh__x"}"#));
    request.name = Some("\u{e9}");
    let mirrored = mirror(Era::Stateless, &request);
    let value = |name: HeaderName| mirrored.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone());
    assert_eq!(value(headers::NAME), Some(HeaderValue::from_static("=?base64?w6k=?=")));
    assert_eq!(value(headers::METHOD), Some(HeaderValue::from_static("tools/call")));
    assert_eq!(value(headers::PROTOCOL_VERSION), Some(HeaderValue::from_static("2026-07-28")));
    assert!(mirror(Era::Session, &request).is_empty());
}

#[test]
fn what_a_client_writes_as_nothing_is_nothing() {
    let request = UpstreamRequest::new(
        "tools/call",
        object(r#"{"name":"a","arguments":null,"_meta":{"progressToken":null,"k":1}}"#),
    );
    for era in [Era::Session, Era::Stateless] {
        let (message, token) = composed(era, &request);
        assert_eq!(token, None);
        assert!(message["params"].get("arguments").is_none(), "{message}");
        assert!(message["params"]["_meta"].get("progressToken").is_none(), "{message}");
        assert_eq!(message["params"]["_meta"]["k"], 1);
    }
}
