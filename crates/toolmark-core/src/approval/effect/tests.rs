use crate::behavior::Action;
use crate::facts::{Danger, Effect, Facts, Part, Reading};

use super::EffectBound;

fn sql(effects: Vec<Effect>) -> Facts {
    Facts::new(vec![Part { pointer: "/query".into(), language: "sql", reading: Reading::Understood(effects) }])
}

#[test]
fn a_bound_covers_the_same_kind_on_other_targets_and_nothing_more() {
    let read = Effect::pure(Action::Read, "SELECT").on(["users".to_owned()]);
    let bound = EffectBound::of(&sql(vec![read.clone()])).expect("a bound");
    assert!(bound.covers(&sql(vec![Effect::pure(Action::Read, "SELECT").on(["orders".to_owned()])])));
    assert!(!bound.covers(&sql(vec![read.clone(), Effect::mutating(Action::Delete, "DELETE")])));
    assert!(!bound.covers(&sql(vec![read.with(Danger::Secret)])));
    assert!(!bound.covers(&Facts::default()), "no program is not the same program");
}

#[test]
fn a_bounded_change_does_not_cover_an_unbounded_one() {
    let bound = EffectBound::of(&sql(vec![Effect::mutating(Action::Delete, "DELETE")])).expect("a bound");
    assert!(!bound.covers(&sql(vec![Effect::mutating(Action::Delete, "DELETE").unbounded()])));
}

#[test]
fn what_was_not_understood_bounds_nothing_and_is_covered_by_nothing() {
    let unclear = Facts::new(vec![Part {
        pointer: "/query".into(),
        language: "sql",
        reading: Reading::CannotTell { reason: "unknown statement".into() },
    }]);
    assert_eq!(EffectBound::of(&unclear), None);
    let bound = EffectBound::of(&sql(vec![Effect::pure(Action::Read, "SELECT")])).expect("a bound");
    assert!(!bound.covers(&unclear));
}
