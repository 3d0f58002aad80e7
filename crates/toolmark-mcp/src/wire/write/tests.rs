use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::wire::{Message, ResultType};

fn object(text: &str) -> RawObject {
    RawObject::read(Bytes::copy_from_slice(text.as_bytes()), Limits::default()).expect(text)
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

#[test]
fn messages_are_put_together_from_their_pieces() {
    let id = Id::text("x\n");
    assert_eq!(parsed(&reply(&id, b"{}")), json!({"jsonrpc":"2.0","id":"x\n","result":{}}));
    assert_eq!(parsed(&request(&Id::number(1), "a", None)), json!({"jsonrpc":"2.0","id":1,"method":"a"}));
    assert_eq!(parsed(&notification("n", Some(b"{\"a\":1}"))), json!({"jsonrpc":"2.0","method":"n","params":{"a":1}}));
    assert_eq!(
        parsed(&error(None, -32700, "quote \" it", Some(b"[1]"))),
        json!({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"quote \" it","data":[1]}})
    );
}

#[test]
fn meta_goes_into_the_one_that_is_there() {
    let result = object(r#"{"content":[{"text":"\"_meta\":{"}],"_meta": {"other" : 1},"isError":true}"#);
    assert!(result.is_error());
    let bytes = insert_meta(&result, "dev.toolmark/call", b"{\"v\":1}");
    assert_eq!(
        &bytes[..],
        br#"{"content":[{"text":"\"_meta\":{"}],"_meta": {"dev.toolmark/call":{"v":1},"other" : 1},"isError":true}"#
    );
}

#[test]
fn meta_is_made_where_there_is_none_or_something_else() {
    assert_eq!(&insert_meta(&object("{}"), "k", b"1")[..], br#"{"_meta":{"k":1}}"#);
    assert_eq!(&insert_meta(&object(r#"{"a":{"_meta":{}}}"#), "k", b"1")[..], br#"{"_meta":{"k":1},"a":{"_meta":{}}}"#);
    assert_eq!(&insert_meta(&object(r#"{"_meta":null}"#), "k", b"1")[..], br#"{"_meta":{"k":1}}"#);
}

#[test]
fn a_key_that_a_server_forged_is_replaced() {
    let result = object(r#"{"_meta":{"\u006b":"forged","z":2}}"#);
    assert_eq!(parsed(&insert_meta(&result, "k", b"1")), json!({"_meta":{"k":1,"z":2}}));
}

#[test]
fn the_type_of_a_result_is_seen() {
    assert_eq!(object("{}").result_type(), ResultType::Complete);
    assert_eq!(object(r#"{"resultType":"input_required"}"#).result_type(), ResultType::InputRequired);
    assert_eq!(object(r#"{"resultType":"input\u005frequired"}"#).result_type(), ResultType::InputRequired);
    assert_eq!(object(r#"{"resultType":"task"}"#).result_type(), ResultType::Other);
}

#[test]
fn members_are_removed_without_a_trace() {
    let object = object(r#"{"a":1, "b":2 ,"c":3}"#);
    assert_eq!(&object.rewrite(&[Change::Remove("a"), Change::Remove("c")])[..], br#"{"b":2}"#);
    assert_eq!(&object.rewrite(&[Change::Remove("a"), Change::Remove("b"), Change::Remove("c")])[..], b"{}");
    assert_eq!(&object.rewrite(&[])[..], br#"{"a":1, "b":2 ,"c":3}"#);
}

proptest! {
    #[test]
    fn any_text_survives_being_quoted(text in any::<String>()) {
        prop_assert_eq!(serde_json::from_slice::<String>(&quote(&text)).expect("a string"), text);
    }

    #[test]
    fn inserting_meta_is_what_a_tree_would_do(
        members in proptest::collection::btree_map("[a-c_]{1,3}|_meta", "[a-z\"\\\\{}\\n]{0,9}", 0..6),
        inner in proptest::collection::btree_map("[k-n]", 0u8..9, 0..4),
        key in "[k-n]",
    ) {
        let mut tree: Value = json!(members);
        if members.contains_key("_meta") {
            tree["_meta"] = json!(inner);
        }
        let pretty = serde_json::to_string_pretty(&tree).expect("text");
        let written = insert_meta(&object(&pretty), &key, b"true");
        if !members.contains_key("_meta") {
            tree["_meta"] = json!({});
        }
        tree["_meta"][&key] = json!(true);
        prop_assert_eq!(parsed(&written), tree);
    }

    #[test]
    fn what_is_written_is_read_again(method in any::<String>(), id in any::<u64>()) {
        let bytes = request(&Id::number(id), &method, Some(b"{}"));
        let message = Message::read(&bytes, Limits::default()).expect("a message");
        let Message::Request { id: read, method: heard, .. } = message else { panic!("a request") };
        prop_assert_eq!((read, heard.into_owned()), (Id::number(id), method));
    }
}
