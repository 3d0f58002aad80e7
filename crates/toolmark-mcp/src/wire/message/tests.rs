use proptest::prelude::*;

use serde_json::Value;
use toolmark_core::explain::Explain;

use super::*;

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn failure(text: &str) -> ReadMessageError {
    Message::read(&bytes(text), Limits::default()).map(|message| format!("{message:?}")).expect_err(text)
}

#[test]
fn a_request_keeps_its_id_and_parameters_as_written() {
    let text =
        bytes(r#" {"jsonrpc":"2.0", "id" : "a-1" ,"method":"tools/call","params": { "name" : "x" , "n":1.0e5 } } "#);
    let Ok(Message::Request { id, method, params: Some(params) }) = Message::read(&text, Limits::default()) else {
        panic!("a request")
    };
    assert_eq!(id.as_json(), br#""a-1""#);
    assert_eq!(method, "tools/call");
    assert_eq!(&params.raw()[..], br#"{ "name" : "x" , "n":1.0e5 }"#);
    assert_eq!(params.get("n"), Some(&b"1.0e5"[..]));
    assert!(matches!(method, Cow::Borrowed(_)), "a method without escapes is not copied");
}

#[test]
fn members_nobody_knows_are_tolerated_in_any_order() {
    let text = bytes(r#"{"x":[{"y":{}}],"result":{"a":[]},"id":-7,"_z":null,"jsonrpc":"2.0"}"#);
    let Ok(Message::Response { id, result }) = Message::read(&text, Limits::default()) else { panic!("a response") };
    assert_eq!((id.as_json(), result.len()), (&b"-7"[..], 1));
}

#[test]
fn keys_and_methods_may_be_escaped() {
    let text = bytes(r#"{"\u006asonrpc":"2.\u0030","m\u0065thod":"tools\/list","id":1}"#);
    let Ok(Message::Request { method, .. }) = Message::read(&text, Limits::default()) else { panic!("a request") };
    assert_eq!(method, "tools/list");
}

#[test]
fn two_spellings_of_one_id_are_one_id() {
    let read = |text: &str| match Message::read(&bytes(text), Limits::default()) {
        Ok(Message::Request { id, .. }) => id,
        other => panic!("{other:?}"),
    };
    let plain = read(r#"{"jsonrpc":"2.0","id":"ab","method":"ping"}"#);
    assert_eq!(plain, read(r#"{"jsonrpc":"2.0","id":"\u0061b","method":"ping"}"#));
    assert_ne!(
        read(r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#),
        read(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
    );
    assert_eq!(Id::read(&bytes(" \"ab\" ")), Some(plain));
    assert_eq!(Id::read(&bytes("1.5")), None);
    assert_eq!(Id::read(&bytes("")), None);
}

#[test]
fn an_id_is_a_string_or_a_whole_number() {
    for id in ["null", "1.0", "1e3", "true", "{}", "[]", r#""\ud800""#] {
        let error = failure(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!((error.kind(), error.rpc_code()), (&ReadMessageErrorKind::Id, -32600), "{id}");
        assert_eq!(error.id(), None);
    }
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(2000));
    assert_eq!(failure(&long).kind(), &ReadMessageErrorKind::Id);
}

#[test]
fn an_error_may_come_without_an_id() {
    for text in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#,
    ] {
        let text = bytes(text);
        let Ok(Message::Error { id: None, error }) = Message::read(&text, Limits::default()) else {
            panic!("an error")
        };
        assert_eq!((error.code(), error.message().as_deref()), (Some(-32700), Some("no")));
    }
}

#[test]
fn a_member_that_is_null_beside_its_opposite_is_no_contradiction() {
    let text = bytes(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#);
    assert!(matches!(Message::read(&text, Limits::default()), Ok(Message::Response { .. })));
    let text = bytes(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1}}"#);
    assert!(matches!(Message::read(&text, Limits::default()), Ok(Message::Error { id: Some(_), .. })));
}

#[test]
fn batches_and_bare_values_are_invalid_requests_but_broken_ones_are_parse_errors() {
    assert_eq!(failure("[]").kind(), &ReadMessageErrorKind::Batch);
    assert_eq!(failure(r#"[{"jsonrpc":"2.0","method":"ping","id":1}]"#).rpc_code(), -32600);
    assert_eq!(failure("17").kind(), &ReadMessageErrorKind::NotAnObject);
    for broken in
        ["", "[", "{", "{]", r#"{"a"}"#, r#"{"a":}"#, r#"{"a":1,}"#, "{}x", r#"{"a":01}"#, r#"{"a":1.}"#, r#"{"a":+1}"#]
    {
        assert_eq!(failure(broken).rpc_code(), -32700, "{broken}");
    }
    for broken in
        ["{\"a\":\"\n\"}", r#"{"a":"\x"}"#, r#"{"a":"\u12g4"}"#, r#"{"a":"#, r#"{"a":tru}"#, r#"{'a':1}"#, "{\"a\":-}"]
    {
        assert!(matches!(failure(broken).kind(), ReadMessageErrorKind::Syntax { .. }), "{broken}");
    }
}

#[test]
fn the_same_key_twice_is_refused_at_every_level_that_is_read() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"isError":false,"isError":true}}"#,
    ] {
        assert!(matches!(failure(text).kind(), ReadMessageErrorKind::DuplicateMember { .. }), "{text}");
    }
    let many: Vec<_> = (0..40).map(|number| format!(r#""k{}":0"#, number % 39)).collect();
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{}}}}}"#, many.join(","));
    assert!(matches!(failure(&text).kind(), ReadMessageErrorKind::DuplicateMember { name } if name == "k0"));
}

#[test]
fn a_refused_message_still_says_which_request_it_was() {
    let error = failure(r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#);
    assert_eq!(error.id(), Some(&Id::number(5)));
    let error = failure(r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#);
    assert_eq!((error.id(), error.rpc_code()), (Some(&Id::number(5)), -32600));
}

#[test]
fn shapes_that_are_neither_request_nor_answer_are_refused() {
    for text in [
        "{}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":3}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":3}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#,
    ] {
        assert!(matches!(failure(text).kind(), ReadMessageErrorKind::Shape { .. }), "{text}");
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"x":{open}{close}}}}}"#)
    };
    let limits = Limits { bytes: 4096, depth: 32 };
    assert!(Message::read(&bytes(&nested(30)), limits).is_ok());
    let error = Message::read(&bytes(&nested(31)), limits).expect_err("too deep");
    assert!(matches!(error.kind(), ReadMessageErrorKind::TooDeep { .. }));
    let unlimited = Limits { bytes: usize::MAX, depth: u32::MAX };
    assert!(Message::read(&bytes(&nested(126)), unlimited).is_ok());
    let error = Message::read(&bytes(&nested(100_000)), unlimited).expect_err("too deep");
    assert!(matches!(error.kind(), ReadMessageErrorKind::TooDeep { .. }));
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(5000));
    let error = Message::read(&bytes(&large), limits).expect_err("too large");
    assert_eq!(error.kind(), &ReadMessageErrorKind::TooLarge { limit: 4096 });
}

#[test]
fn bytes_that_are_not_utf8_are_a_parse_error() {
    let text = Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}");
    let error = Message::read(&text, Limits::default()).expect_err("not text");
    assert_eq!((error.rpc_code(), error.code().as_str()), (-32700, "message-not-utf8"));
}

#[test]
fn what_serde_reads_we_read_and_the_other_way_round() {
    for value in [
        "0",
        "-0",
        "-1.5E+7",
        "[1,[2,{}],\"\\n\"]",
        "{\"\":[]}",
        "\"\\ud83d\\ude00\"",
        "[ ]",
        "1e",
        "--1",
        "[1 2]",
        "nul",
        "\"\t\"",
        "{\"a\" 1}",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","x":{value}}}"#);
        let theirs = serde_json::from_str::<Value>(&text).is_ok();
        assert_eq!(Message::read(&bytes(&text), Limits::default()).is_ok(), theirs, "{value}");
    }
}

#[test]
fn a_number_too_large_and_half_a_pair_are_json_that_only_who_decodes_it_refuses() {
    for value in ["-3e601", "[1e999]", r#""\ud83d""#, r#"{"\ude00":1}"#] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"x":{value}}}}}"#);
        let error = serde_json::from_str::<Value>(&text).expect_err(value);
        assert!(is_left_to_who_decodes_it(&error), "{value}: {error}");
        assert!(Message::read(&bytes(&text), Limits::default()).is_ok(), "{value}");
    }
}

/// Whether this is about what a text means and not about whether it is JSON: RFC 8259 allows numbers of any size and
/// escapes that are half of a UTF-16 pair.
fn is_left_to_who_decodes_it(error: &serde_json::Error) -> bool {
    let text = error.to_string();
    ["number out of range", "lone leading surrogate in hex escape", "unexpected end of hex escape"]
        .iter()
        .any(|known| text.starts_with(known))
}

proptest! {
    /// Bytes of real messages, each perhaps replaced: far more of them are nearly right than with random bytes.
    #[test]
    fn whatever_is_read_is_json_and_nothing_makes_the_reader_stumble(
        start in 0usize..4,
        changes in proptest::collection::vec((0usize..200, proptest::sample::select(&b"{}[]\",:\\u0e-1.tn \x00\x7f\xc3a"[..])), 0..4),
        cut in 0usize..200,
    ) {
        let messages = [
            r#"{"jsonrpc":"2.0","id":"a\u0062","method":"tools/call","params":{"name":"x","arguments":{"n":[1,-2.5e+7,true,null]}}}"#,
            r#" { "result" : {"content":[{"type":"text","text":"\"\\ \ud83d\ude00"}],"_meta":{}} , "id":17,"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"},"extra":{"a":{"b":{}}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
        ];
        let mut bytes = messages[start].as_bytes().to_vec();
        for (place, byte) in changes {
            if let Some(old) = bytes.get_mut(place) {
                *old = byte;
            }
        }
        if cut < 20 {
            bytes.truncate(bytes.len() - cut);
        }
        let bytes = Bytes::from(bytes);
        let theirs = serde_json::from_slice::<Value>(&bytes);
        match Message::read(&bytes, Limits::default()) {
            Ok(_) => prop_assert!(theirs.map_or_else(|error| is_left_to_who_decodes_it(&error), |_| true)),
            Err(error) if error.rpc_code() == -32700 => prop_assert!(theirs.is_err()),
            Err(_) => {}
        }
    }
}
