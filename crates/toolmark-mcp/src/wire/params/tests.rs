use super::*;
use crate::wire::Limits;

fn object(text: &'static str) -> RawObject {
    RawObject::read(Bytes::from_static(text.as_bytes()), Limits::default()).expect(text)
}

#[test]
fn a_call_is_renamed_and_every_other_byte_stays() {
    let params = object(r#"{ "future" :[1, 2.50],"name" : "old", "arguments":{"b":1,"a":2} , "_meta":{"x":1}}"#);
    let call = CallParams::of(&params).expect("a call");
    assert_eq!(call.name(), "old");
    assert_eq!(call.arguments().as_deref(), Some(&br#"{"b":1,"a":2}"#[..]));
    assert_eq!(
        &call.renamed("n\"ew", None)[..],
        br#"{"future" :[1, 2.50],"name" : "n\"ew","arguments":{"b":1,"a":2} , "_meta":{"x":1}}"#
    );
    assert_eq!(
        &call.renamed("new", Some(b"{}"))[..],
        br#"{"future" :[1, 2.50],"name" : "new","arguments":{"b":1,"a":2},"_meta":{}}"#
    );
}

#[test]
fn meta_is_added_where_there_is_none() {
    let params = object(r#"{"name":"a"}"#);
    assert_eq!(
        &CallParams::of(&params).expect("a call").renamed("b", Some(b"{\"k\":1}"))[..],
        br#"{"_meta":{"k":1},"name":"b"}"#
    );
}

#[test]
fn what_only_some_revisions_have_is_found() {
    let params =
        object(r#"{"name":"a","inputResponses":{"q":{}},"requestState":"s\u0031","task":{"ttl":5},"arguments":null}"#);
    let call = CallParams::of(&params).expect("a call");
    assert_eq!(call.input_responses().as_deref(), Some(&br#"{"q":{}}"#[..]));
    assert_eq!(call.request_state().as_deref(), Some("s1"));
    assert_eq!(call.task().as_deref(), Some(&br#"{"ttl":5}"#[..]));
    assert_eq!((call.arguments(), call.meta()), (None, None));
}

#[test]
fn a_call_without_a_name_or_with_odd_arguments_is_refused() {
    for (text, expected) in [
        (r#"{}"#, ReadParamsError::Name),
        (r#"{"name":7}"#, ReadParamsError::Name),
        (r#"{"name":"\ud800"}"#, ReadParamsError::Name),
        (r#"{"name":"a","arguments":[]}"#, ReadParamsError::Arguments),
        (r#"{"name":"a","_meta":null}"#, ReadParamsError::Meta),
    ] {
        assert_eq!(CallParams::of(&object(text)).expect_err(text), expected);
    }
}

#[test]
fn each_method_names_its_subject_by_one_parameter() {
    assert_eq!(naming_parameter("tools/call"), Some("name"));
    assert_eq!(naming_parameter("resources/read"), Some("uri"));
    assert_eq!(naming_parameter("tools/list"), None);
}
