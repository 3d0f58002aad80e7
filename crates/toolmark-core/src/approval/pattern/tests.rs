use serde_json::{Value, json};

use super::{ArgumentPattern, Proposal};

#[test]
fn a_pattern_frees_what_it_names_and_holds_the_rest() {
    let pattern = ArgumentPattern::freeing(&json!({"repo": "a", "issue": 7}), &["issue".into()]).expect("a pattern");
    assert!(pattern.covers(&json!({"issue": 8, "repo": "a"})));
    assert!(!pattern.covers(&json!({"issue": 8, "repo": "b"})));
    assert!(!pattern.covers(&json!({"issue": 8, "repo": "a", "force": true})), "an argument nobody saw");
    assert!(!pattern.covers(&json!({"issue": 8})));
    assert!(!pattern.covers(&json!([])));
}

#[test]
fn what_is_not_there_cannot_be_freed() {
    assert_eq!(ArgumentPattern::freeing(&json!({"a": 1}), &["b".into()]), None);
    assert_eq!(ArgumentPattern::freeing(&json!({"a": 1}), &[]), None);
}

#[test]
fn fourteen_calls_that_differ_in_one_argument_become_one_proposal() {
    let call = |issue: u32| json!({"owner": "o", "repo": "r", "issue_number": issue});
    let earlier: Vec<Value> =
        (1..14).map(call).chain([json!({"owner": "x", "repo": "y", "issue_number": 1})]).collect();
    let proposals = Proposal::from_calls(&call(14), &earlier);
    let first = proposals.first().expect("a proposal");
    assert_eq!(first.to_string(), "these 14 calls differ only in `issue_number`");
    assert!(earlier.iter().take(13).all(|call| first.pattern.covers(call)));
}

#[test]
fn the_same_call_again_is_no_pattern() {
    let call = json!({"a": 1});
    assert!(Proposal::from_calls(&call, [&call, &call]).is_empty());
}
