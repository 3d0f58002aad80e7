use serde_json::{Value, json};

use super::*;
use crate::wire::Limits;

fn object(text: &'static str) -> RawObject {
    RawObject::read(Bytes::from_static(text.as_bytes()), Limits::default()).unwrap()
}

fn about() -> About {
    About {
        server_info: Bytes::from_static(br#"{"name":"toolmark","version":"0"}"#),
        capabilities: RawObject::empty(),
        instructions: None,
        ttl_ms: 0,
        public: false,
    }
}

fn written(method: &str, result: &'static str) -> Value {
    serde_json::from_slice(&write_stateless(&Id::number(1), method, &object(result), None, &about()).join()).unwrap()
}

fn in_session(result: &'static str, added: Option<&MetaMember>) -> Value {
    serde_json::from_slice(&write_in_session(&Id::number(1), &object(result), added).join()).unwrap()
}

#[test]
fn a_result_gets_what_its_revision_demands() {
    let info = json!({"name": "toolmark", "version": "0"});
    let call = written("tools/call", r#"{"content":[]}"#);
    assert_eq!(call["result"], json!({"resultType": "complete", "_meta": {meta::SERVER_INFO: info}, "content": []}));
    let list = written("tools/list", r#"{"tools":[]}"#);
    assert_eq!((&list["result"]["ttlMs"], &list["result"]["cacheScope"]), (&json!(0), &json!("private")));
}

#[test]
fn what_a_result_says_itself_is_kept() {
    let list = written(
        "tools/list",
        r#"{"tools":[],"ttlMs":5,"cacheScope":"public","resultType":"task","_meta":{"a":1,"io.modelcontextprotocol/serverInfo":{"name":"x"}}}"#,
    );
    let kept = json!({"tools": [], "ttlMs": 5, "cacheScope": "public", "resultType": "task",
        "_meta": {"a": 1, meta::SERVER_INFO: {"name": "toolmark", "version": "0"}}});
    assert_eq!(list["result"], kept);
    let more = written("tools/call", r#"{"_meta":{"a":1}}"#);
    assert_eq!(more["result"]["_meta"]["a"], 1);
    assert_eq!(more["result"]["_meta"][meta::SERVER_INFO]["name"], "toolmark");
}

#[test]
fn an_old_client_gets_neither_the_type_of_a_result_nor_the_server_behind_it() {
    let new = r#"{"resultType":"complete","content":[],"_meta":{"a":1,"io.modelcontextprotocol/serverInfo":{"name":"x"},"b":2}}"#;
    assert_eq!(in_session(new, None)["result"], json!({"content": [], "_meta": {"a": 1, "b": 2}}));
    let alone = r#"{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}"#;
    assert_eq!(in_session(alone, None)["result"], json!({"content": []}));
    let escaped = r#"{"result\u0054ype":"complete","_meta":{"io.modelcontextprotocol\/serverInfo":{"name":"x"}}}"#;
    assert_eq!(in_session(escaped, None)["result"], json!({}));
}

#[test]
fn what_an_old_client_may_see_is_passed_on_byte_for_byte() {
    let raw = r#"{ "content" : [ 1e2 ],  "ttlMs":5, "_meta" : { } }"#;
    let text = write_in_session(&Id::number(1), &object(raw), None).join();
    assert_eq!(text, r#"{"jsonrpc":"2.0","id":1,"result":{"content" : [ 1e2 ],  "ttlMs":5, "_meta" : { }}}"#);
}

#[test]
fn a_large_result_is_sent_from_where_it_is_and_says_the_same() {
    let added = MetaMember { key: "dev.example/call", value: Bytes::from_static(b"1") };
    let text = "x".repeat(LARGE);
    for (own, copied) in [(String::new(), false), (r#","_meta":{"a":1}"#.to_owned(), true)] {
        let raw = Bytes::from(format!(r#"{{ "content":[{{"type":"text","text":"{text}"}}]{own} }}"#));
        let result = RawObject::read(raw.clone(), Limits::default()).unwrap();
        for pieces in [
            write_in_session(&Id::number(1), &result, Some(&added)),
            write_stateless(&Id::number(1), "tools/call", &result, Some(&added), &about()),
        ] {
            let shares = pieces.second().as_ptr_range().start == raw.slice(2..).as_ptr();
            assert_eq!(shares, !copied);
            let message: Value = serde_json::from_slice(&pieces.join()).unwrap();
            assert_eq!(message["result"]["content"][0]["text"], text);
            assert_eq!(message["result"]["_meta"]["dev.example/call"], 1);
        }
    }
}

#[test]
fn a_member_is_added_to_the_meta_of_a_result_in_either_era() {
    let added = MetaMember { key: "dev.example/call", value: Bytes::from_static(br#"{"n":1}"#) };
    let info = json!({"name": "toolmark", "version": "0"});
    for (result, own) in [
        (r#"{"content":[]}"#, json!({})),
        (r#"{"content":[],"_meta":{"a":1}}"#, json!({"a": 1})),
        (r#"{"content":[],"_meta":{"dev.example/call":"forged","a":1}}"#, json!({"a": 1})),
        (r#"{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}"#, json!({})),
        (r#"{"content":[],"_meta":7}"#, json!({})),
    ] {
        let mut expected = own.clone();
        expected["dev.example/call"] = json!({"n": 1});
        assert_eq!(in_session(result, Some(&added))["result"], json!({"content": [], "_meta": expected}));
        expected[meta::SERVER_INFO] = info.clone();
        let new = write_stateless(&Id::number(1), "tools/call", &object(result), Some(&added), &about());
        let new: Value = serde_json::from_slice(&new.join()).unwrap();
        assert_eq!(new["result"], json!({"resultType": "complete", "content": [], "_meta": expected}));
    }
}

#[test]
fn a_result_that_asks_is_taken_apart_so_that_its_state_is_sealed() {
    let asks = object(
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s\u0041"}"#,
    );
    let Answer::InputRequired(wanted) = Answer::Result(asks).settled() else { panic!("it asks") };
    assert_eq!(wanted.state.as_deref(), Some(b"sA".as_slice()));
    assert_eq!(wanted.requests.raw(), r#"{"a":{"method":"roots/list"}}"#);
    assert!(matches!(Answer::Result(object("{}")).settled(), Answer::Result(_)));
}

#[test]
fn questions_and_state_are_written_as_the_protocol_has_them() {
    let asks = |said: &RawObject, requests: &[u8]| -> Value {
        serde_json::from_slice(&write_input_required(&Id::number(1), said, requests, Some("s"), &about())).unwrap()
    };
    let both = asks(&RawObject::empty(), br#"{"a":{}}"#);
    assert_eq!(both["result"]["resultType"], "input_required");
    assert_eq!((&both["result"]["inputRequests"], &both["result"]["requestState"]), (&json!({"a": {}}), &json!("s")));
    assert!(asks(&RawObject::empty(), b"{}")["result"].get("inputRequests").is_none());
    let said = object(
        r#"{"resultType":"input_required","inputRequests":{"b":{}},"requestState":"theirs","later":1.50,"_meta":{"k":"v"}}"#,
    );
    let info = json!({"name": "toolmark", "version": "0"});
    let whole = json!({"resultType": "input_required", "inputRequests": {"a": {}}, "requestState": "s", "later": 1.50,
        "_meta": {"k": "v", meta::SERVER_INFO: info}});
    assert_eq!(asks(&said, br#"{"a":{}}"#)["result"], whole, "whatever else a server said is there");
}

#[test]
fn faults_have_the_status_of_their_era() {
    let status = |code, era| Fault::new(code, "").status(era).as_u16();
    assert_eq!(status(codes::METHOD_NOT_FOUND, Era::Stateless), 404);
    assert_eq!(status(codes::METHOD_NOT_FOUND, Era::Session), 200);
    assert_eq!(status(codes::MISSING_CAPABILITY, Era::Stateless), 400);
    assert_eq!(status(codes::INVALID_PARAMS, Era::Stateless), 200);
    assert_eq!(status(codes::PARSE_ERROR, Era::Session), 400);
}
