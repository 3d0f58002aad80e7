use toolmark_mcp::wire::Limits;

use super::*;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn a_parent_is_read_and_written_again() {
    let remote = Remote::read(PARENT, Some("vendor=1")).expect("a parent");
    assert_eq!((remote.trace[0], remote.span[7], remote.flags), (0x4b, 0xb7, 1));
    assert_eq!(remote.write(), PARENT);
    assert_eq!(remote.state.as_deref(), Some("vendor=1"));
}

#[test]
fn what_is_no_parent_counts_as_none() {
    for wrong in [
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
    ] {
        assert_eq!(Remote::read(wrong, None), None, "{wrong}");
    }
    let later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later";
    assert_eq!(Remote::read(later, None).expect("a later version").write(), PARENT);
}

#[test]
fn a_state_that_is_too_long_or_not_text_is_left_out() {
    for state in ["", "a=\u{e9}", "a=\n", &"a".repeat(513)] {
        assert_eq!(Remote::read(PARENT, Some(state)).expect("a parent").state, None, "{state:.20}");
    }
    assert!(Remote::read(PARENT, Some(&"a".repeat(512))).expect("a parent").state.is_some());
}

#[test]
fn metadata_keeps_everything_but_the_trace() {
    let meta = Bytes::from_static(br#"{"x":[1, 2],"tracestate":"old=1","traceparent":"old","baggage":"kept=1"}"#);
    let meta = RawObject::read(meta, Limits::default()).expect("an object");
    let remote = Remote::read(PARENT, None).expect("a parent");
    let text = remote.put_into(Some(&meta), None);
    let expected = format!(r#"{{"x":[1, 2],"traceparent":"{PARENT}","baggage":"kept=1"}}"#);
    assert_eq!(String::from_utf8_lossy(&text), expected);
    let text = remote.put_into(None, Some("a=1"));
    assert_eq!(String::from_utf8_lossy(&text), format!(r#"{{"traceparent":"{PARENT}","baggage":"a=1"}}"#));
}
