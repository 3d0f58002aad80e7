use serde_json::json;

use super::*;

fn pattern(value: &Value) -> ArgumentPattern {
    ArgumentPattern::parse(value).unwrap()
}

fn both(written: &Value, value: &Value) -> (bool, bool) {
    let pattern = pattern(written);
    (pattern.matches(value, Stance::Restrictive), pattern.matches(value, Stance::Permissive))
}

#[test]
fn every_form_matches_what_it_says() {
    for (written, value) in [
        (json!("main"), json!("main")),
        (json!("release/*"), json!("release/1.2")),
        (json!("*"), json!({"any": "thing"})),
        (json!(10), json!(10.0)),
        (json!(true), json!(true)),
        (json!(">=10"), json!(10)),
        (json!("< 2.5"), json!(2)),
        (json!(">-1"), json!(0)),
        (json!("<=18446744073709551615"), json!(u64::MAX)),
        (json!(["a", 1, "b*"]), json!("bcd")),
        (json!({"not": "main"}), json!("next")),
        (json!({"not": ["a", "b"]}), json!("c")),
        (json!({"equals": ">=10"}), json!(">=10")),
        (json!({"equals": {"a": [1]}}), json!({"a": [1]})),
        (json!({"not": {"not": 1}}), json!(1)),
    ] {
        assert_eq!(both(&written, &value), (true, true), "{written} on {value}");
    }
    for (written, value) in [
        (json!("main"), json!("Main")),
        (json!(10), json!(11)),
        (json!(">10"), json!(10)),
        (json!(">10"), json!("many")),
        (json!(">10"), json!([11])),
        (json!("a*"), json!({"a": 1})),
        (json!({"not": "a*"}), json!("ab")),
    ] {
        assert_eq!(both(&written, &value), (false, false), "{written} on {value}");
    }
}

#[test]
fn a_restrictive_rule_reads_a_number_in_a_text_and_a_permissive_one_does_not() {
    for (written, value) in [
        (json!(10), json!(" 10 ")),
        (json!(true), json!("True")),
        (json!("10"), json!(10)),
        (json!(">=1000"), json!("5000")),
        (json!(">=1000"), json!("1e9")),
        (json!("tr*"), json!(true)),
    ] {
        assert_eq!(both(&written, &value), (true, false), "{written} on {value}");
    }
    // Under `not`, doubt turns around: a text that may be read as 10 is not surely something else.
    assert_eq!(both(&json!({"not": 10}), &json!("10")), (true, false));
}

#[test]
fn a_star_in_an_allow_rule_does_not_climb_out_of_a_folder_or_over_a_line_break() {
    for value in ["/srv/../etc/passwd", "/srv/a/..", "/srv/%2E%2e/etc", "/srv/..%2fetc", r"/srv/a\..\b"] {
        assert_eq!(both(&json!("/srv/*"), &json!(value)), (true, false), "{value}");
    }
    assert_eq!(both(&json!("/srv/*"), &json!("/srv/a..b/100%")), (true, true));
    assert_eq!(both(&json!("*@example.com"), &json!("a@b.c\nBcc: d@example.com")), (true, false));
    assert_eq!(both(&json!("../*"), &json!("../a")), (true, true));
}

#[test]
fn an_absent_argument_is_not_this_value_for_a_restrictive_rule_only() {
    let absent = |written: Value| {
        let pattern = pattern(&written);
        (pattern.matches_absence(Stance::Restrictive), pattern.matches_absence(Stance::Permissive))
    };
    assert_eq!(absent(json!("main")), (false, false));
    assert_eq!(absent(json!("*")), (false, false));
    assert_eq!(absent(json!({"not": "main"})), (true, false));
    assert_eq!(absent(json!(["a", {"not": "*"}])), (true, false));
}

#[test]
fn conditions_that_cannot_hold_are_refused() {
    for written in [json!(null), json!([]), json!(">=ten"), json!({}), json!({"not": 1, "equals": 2}), json!({"or": 1})]
    {
        let error = ArgumentPattern::parse(&written).unwrap_err();
        assert_eq!(error.code().as_str(), "rule-syntax", "{written}");
        assert!(!error.fix().is_empty());
    }
}

#[test]
fn what_is_printed_reads_back_the_same() {
    for written in [
        json!("*"),
        json!("a*"),
        json!(1.5),
        json!(false),
        json!(">=10"),
        json!([1, {"not": "b"}]),
        json!({"equals": ">x"}),
    ] {
        let first = pattern(&written);
        assert_eq!(pattern(&first.to_json()), first);
    }
}
