use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::explain::Explain;

fn code(text: &str) -> &'static str {
    read(text).expect_err("refused").code().as_str()
}

#[test]
fn a_truncated_document_says_that_it_ends_too_early() {
    for text in ["", "{", "[1,", "{\"a\"", "{\"a\":", "\"abc", "\"a\\", "\"\\u12", "tru", "-"] {
        assert_eq!(code(text), "json-truncated", "{text}");
    }
}

#[test]
fn an_error_names_line_and_column() {
    let error = read("{\n  \"a\": tru3\n}").expect_err("refused");
    assert_eq!((error.line(), error.column()), (2, 11));
}

#[test]
fn a_key_that_appears_twice_is_refused_in_small_and_large_objects() {
    assert_eq!(code(r#"{"a":1,"b":2,"a":3}"#), "json-duplicate-key");
    let many: Vec<String> = (0..100).map(|n| format!("\"k{}\":1", n % 99)).collect();
    assert_eq!(code(&format!("{{{}}}", many.join(","))), "json-duplicate-key");
}

#[test]
fn the_same_key_spelled_with_an_escape_is_the_same_key() {
    assert_eq!(code(r#"{"a":1,"\u0061":2}"#), "json-duplicate-key");
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    for text in [r#""\ud800""#, r#""\ud800\u0041""#, r#""\udc00""#, r#""\ud800x""#] {
        assert_eq!(code(text), "json-not-text", "{text}");
    }
    assert_eq!(read(r#""\ud83d\ude00""#), Ok(Json::String("😀".into())));
}

#[test]
fn ten_thousand_levels_are_refused_without_a_crash() {
    assert_eq!(code(&"[".repeat(10_000)), "json-too-deep");
    assert_eq!(code(&"{\"a\":".repeat(10_000)), "json-too-deep");
}

#[test]
fn a_number_that_no_double_holds_is_refused() {
    assert_eq!(code("1e999"), "json-number-out-of-range");
    assert_eq!(code(&"9".repeat(400)), "json-number-out-of-range");
    assert!(read("123456789012345678901234567890").is_ok());
}

#[test]
fn raw_control_characters_and_loose_syntax_are_refused() {
    for text in ["\"a\nb\"", "[1,]", "{,}", "{\"a\":1,}", "01", "[1.]", ".5", "+1", "NaN", "'a'", "[1]x", "\u{feff}1"] {
        assert_eq!(code(text), "json-syntax", "{text}");
    }
}

#[test]
fn a_document_with_too_many_values_is_refused() {
    let limits = Limits { values: 10, ..Limits::default() };
    let error = read_with("[1,2,3,4,5,6,7,8,9,10,11]", limits).expect_err("refused");
    assert_eq!(error.code().as_str(), "json-too-large");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_json_writes_we_read_back_the_same(value in any_json()) {
        let compact = value.to_string();
        prop_assert_eq!(read(&compact).expect("valid").to_value(), value.clone());
        let pretty = serde_json::to_string_pretty(&value).expect("writes");
        prop_assert_eq!(read(&pretty).expect("valid").to_value(), value);
    }

    #[test]
    fn any_text_is_accepted_exactly_when_serde_json_accepts_it_or_refused_for_a_stricter_reason(text in "[\\[\\]{}\":,0-9eE+.\\-a-fnrtu\\\\ \n]{0,24}") {
        match (read(&text), serde_json::from_str::<Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.to_value(), theirs),
            (Err(error), Ok(_)) => prop_assert!(matches!(error.kind(), ReadJsonErrorKind::DuplicateKey(_)), "{error}"),
            (Ok(_), Err(error)) => prop_assert!(false, "we accept what serde_json refuses: {error}"),
            (Err(_), Err(_)) => {}
        }
    }
}

#[test]
fn the_first_byte_that_needs_attention_is_found_wherever_it_stands_and_whatever_follows() {
    for length in 0..200 {
        let plain: Vec<u8> =
            (0..length).map(|n| [b'a', 0x7f, 0x80, 0xa2, 0xdc, 0xff, b' ', b'!', b'#', b'[', b']'][n % 11]).collect();
        assert_eq!(plain_length(&plain), plain.len(), "nothing to find");
        for place in 0..length {
            for special in [b'"', b'\\', 0x00, 0x1f, b'\n'] {
                let mut bytes = plain.clone();
                bytes[place] = special;
                assert_eq!(plain_length(&bytes), place, "{special:#x} in {length} bytes");
            }
        }
    }
}

proptest! {
    #[test]
    fn plain_stretches_end_where_a_look_at_every_byte_says(bytes in prop::collection::vec(any::<u8>(), 0..150)) {
        let one_by_one = bytes.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
        prop_assert_eq!(plain_length(&bytes), one_by_one.unwrap_or(bytes.len()));
    }
}
