use serde_json::json;

use super::super::{ArgumentPattern, Covers, GrantId, Scope};
use super::samples::{ask, given, ruling};
use super::{AskKey, RulingError};
use crate::time::Micros;

#[test]
fn the_key_tells_apart_everything_that_a_decision_is_bound_to() {
    let ask = ask(r#"{"n":1}"#);
    let key =
        |principal: &str, task: Option<&str>, policy: &str| AskKey::of(principal, &ask.mark, &ask.digest, task, policy);
    let all =
        [key("a", None, "p"), key("b", None, "p"), key("a", Some(""), "p"), key("a", None, "q"), key("ap", None, "")];
    for (at, one) in all.iter().enumerate() {
        assert!(all.iter().skip(at + 1).all(|other| other != one));
    }
    assert_eq!(key("a", None, "p"), key("a", None, "p"));
}

#[test]
fn once_leaves_nothing_behind_and_two_uses_leave_one() {
    let ask = ask(r#"{"n":1}"#);
    let (decided, grant) = ask.settle(&ruling(Scope::Once), GrantId::new(1)).expect("settled");
    assert!(decided.allows && grant.is_none());
    let twice = super::Ruling { uses: Some(2), ..ruling(Scope::Once) };
    let (_, grant) = ask.settle(&twice, GrantId::new(1)).expect("settled");
    let grant = grant.expect("one more use");
    assert_eq!((grant.uses, &grant.covers), (Some(1), &Covers::Arguments(ask.digest)));
}

#[test]
fn a_pattern_must_cover_the_call_that_was_shown() {
    let ask = ask(r#"{"n":1}"#);
    assert_eq!(ask.settle(&ruling(Scope::Pattern), GrantId::new(1)), Err(RulingError::Pattern));
    let other = ArgumentPattern::freeing(&json!({"n": 1, "m": 2}), &["n".into()]);
    let wrong = super::Ruling { pattern: other, ..ruling(Scope::Pattern) };
    assert_eq!(ask.settle(&wrong, GrantId::new(1)), Err(RulingError::Pattern));
    let own = ArgumentPattern::freeing(&json!({"n": 1}), &["n".into()]);
    let right = super::Ruling { pattern: own, ..ruling(Scope::Pattern) };
    assert!(ask.settle(&right, GrantId::new(1)).is_ok_and(|(_, grant)| grant.is_some()));
}

#[test]
fn what_is_not_offered_cannot_be_answered() {
    let mut ask = ask("{}");
    ask.session = None;
    let refused = |scope| matches!(ask.settle(&ruling(scope), GrantId::new(1)), Err(RulingError::NotOffered { .. }));
    assert!(refused(Scope::Session) && refused(Scope::Effect) && refused(Scope::Pattern));
    assert!(!refused(Scope::Always));
}

#[test]
fn an_answer_about_other_arguments_is_refused() {
    let (this, that) = (ask(r#"{"n":1}"#), ask(r#"{"n":2}"#));
    let seen = super::Ruling { seen: Some(that.digest), ..ruling(Scope::Once) };
    assert_eq!(this.settle(&seen, GrantId::new(1)), Err(RulingError::SeenOther));
}

#[test]
fn edited_arguments_are_an_object_for_the_calls_that_wait() {
    let ask = ask("{}");
    let edited = |text: &str, scope| super::Ruling { edited: Some(text.into()), ..ruling(scope) };
    assert!(ask.settle(&edited(r#"{"a":1}"#, Scope::Once), GrantId::new(1)).is_ok());
    for bad in [edited("[]", Scope::Once), edited("{", Scope::Once), edited("{}", Scope::Always)] {
        assert!(matches!(ask.settle(&bad, GrantId::new(1)), Err(RulingError::Edited(_))), "{bad:?}");
    }
}

#[test]
fn an_answer_that_holds_for_nothing_is_refused() {
    let ask = ask("{}");
    let late = super::Ruling { expires: Some(given().at), ..ruling(Scope::Always) };
    assert_eq!(ask.settle(&late, GrantId::new(1)), Err(RulingError::Empty));
    let none = super::Ruling { uses: Some(0), ..ruling(Scope::Once) };
    assert_eq!(ask.settle(&none, GrantId::new(1)), Err(RulingError::Empty));
    assert!(ask.is_open(Micros::new(1)) && !ask.is_open(ask.expires));
}

#[test]
fn what_stays_of_a_first_use_pins_the_tool_and_what_stays_of_a_change_does_not() {
    let pin = |code: &str, scope: Scope, allows: bool| {
        let mut ask = ask("{}");
        ask.reasons = serde_json::json!([{"code": code, "message": "m"}]);
        let ruling = super::Ruling { allows, ..ruling(scope) };
        ask.settle(&ruling, GrantId::new(1)).unwrap().0.pin
    };
    assert!(pin("first-use", Scope::Always, true));
    assert!(pin("first-use", Scope::Session, true));
    assert!(!pin("first-use", Scope::Once, true));
    assert!(!pin("first-use", Scope::Always, false), "a standing no approves nothing");
    assert!(!pin("definition-changed", Scope::Always, true), "a change is never pinned by the way");
}

#[test]
fn only_a_yes_to_what_was_shown_whole_can_pin() {
    let pins = super::Ruling { pin: true, ..ruling(Scope::Once) };
    assert!(ask("{}").settle(&pins, GrantId::new(1)).unwrap().0.pin);
    let no = super::Ruling { allows: false, ..pins.clone() };
    assert!(matches!(ask("{}").settle(&no, GrantId::new(1)), Err(RulingError::Pin(_))));
    let mut long = ask("{}");
    long.changes = vec!["x".repeat(5000)];
    assert!(matches!(long.settle(&pins, GrantId::new(1)), Err(RulingError::Pin(_))));
}
