use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::json::read;

fn canonical(text: &str) -> String {
    to_canonical(&read(text).expect("valid JSON"))
}

/// The published sample of RFC 8785, section 3.2.4.
#[test]
fn the_sample_of_the_rfc_comes_out_as_published() {
    let input = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    assert_eq!(
        canonical(input),
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
}

#[test]
fn keys_are_sorted_by_utf16_units_as_in_the_rfc() {
    let input = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
    let order: Vec<char> = canonical(input).chars().filter(char::is_ascii_digit).collect();
    // "\r" → 2, "1" → its own digit and 4, U+0080 → 6, ö → 7, € → 1, 😀 → 5, U+FB33 → 3
    assert_eq!(order.into_iter().collect::<String>(), "2146715".to_owned() + "3");
}

#[test]
fn numbers_of_one_value_have_one_spelling() {
    for (written, expected) in [
        ("1.0", "1"),
        ("1e0", "1"),
        ("10E-1", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e5", "0"),
        ("1e21", "1e+21"),
        ("100000000000000000000", "100000000000000000000"),
        ("1000000000000000000000", "1e+21"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("9007199254740992", "9007199254740992"),
    ] {
        assert_eq!(canonical(written), expected, "{written}");
    }
}

/// Invariant: two different integers never share a canonical form, however large they are.
#[test]
fn integers_beyond_a_double_keep_every_digit() {
    assert_eq!(canonical("9007199254740993"), "9007199254740993");
    assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
    assert_eq!(canonical("-12345678901234567890123"), "-12345678901234567890123");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1i64 << 53)..(1i64 << 53)).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(entries) => {
            Value::Object(entries.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn canonical_json_is_idempotent(value in any_json()) {
        let once = to_canonical(&Json::from(&value));
        prop_assert_eq!(canonical(&once), once);
    }

    #[test]
    fn canonical_json_does_not_depend_on_the_order_of_keys(value in any_json()) {
        prop_assert_eq!(to_canonical(&Json::from(&reversed(&value))), to_canonical(&Json::from(&value)));
    }

    #[test]
    fn canonical_json_agrees_with_serde_jcs(value in any_json()) {
        let theirs = serde_jcs::to_string(&value).expect("writes");
        prop_assert_eq!(to_canonical(&Json::from(&value)), theirs);
    }
}
