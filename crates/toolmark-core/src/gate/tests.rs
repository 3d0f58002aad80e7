use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::behavior::Statements;
use crate::facts::{Danger, Part, Reading};

fn known(behavior: Option<&str>) -> KnownBehavior {
    let operator = behavior.map(|text| text.parse().unwrap());
    KnownBehavior::combine(Statements { operator, ..Statements::default() })
}

fn tool() -> CanonicalName {
    "db.query".parse().unwrap()
}

fn facts(effects: Vec<Effect>) -> Facts {
    Facts::new(vec![Part { pointer: "/query".into(), language: "sql", reading: Reading::Understood(effects) }])
}

fn cannot_tell() -> Facts {
    Facts::new(vec![Part {
        pointer: "/query".into(),
        language: "sql",
        reading: Reading::CannotTell { reason: "truncated".into() },
    }])
}

fn delete() -> Effect {
    Effect::mutating(Action::Delete, "DELETE FROM users WHERE id = 1").on(["users".to_owned()])
}

fn decide(behavior: Option<&str>, facts: &Facts, preset: Preset) -> Decision {
    let known = known(behavior);
    let call = Call {
        tool: &tool(),
        known: &known,
        arguments: &json!({}),
        facts,
        expectations: [None; 2],
        changed: false,
        preset,
    };
    judge(&call).decision()
}

/// The table of default verdicts, row by row.
#[test]
fn the_default_verdicts_are_those_of_the_table() {
    let none = Facts::default();
    let read = facts(vec![Effect::pure(Action::Read, "SELECT 1")]);
    let bounded = facts(vec![delete()]);
    let unbounded = facts(vec![delete().unbounded()]);
    let secret = facts(vec![Effect::pure(Action::Read, "SELECT password FROM users").with(Danger::Secret)]);
    let unclear = cannot_tell();
    let rows = [
        (
            Some("PURE|READ|DATA"),
            [Decision::Allow, Decision::Allow, Decision::Deny, Decision::Deny, Decision::Ask, Decision::Ask],
        ),
        (
            Some("MUTATES|OVERWRITE|DATA"),
            [Decision::Allow, Decision::Allow, Decision::Allow, Decision::Ask, Decision::Ask, Decision::Ask],
        ),
        (
            Some("MUTATES|CREATE|DATA"),
            [Decision::Allow, Decision::Allow, Decision::Ask, Decision::Ask, Decision::Ask, Decision::Ask],
        ),
        (
            Some("MUTATES|EXECUTE|RUN"),
            [Decision::Allow, Decision::Allow, Decision::Ask, Decision::Ask, Decision::Ask, Decision::Ask],
        ),
        (None, [Decision::Allow, Decision::Allow, Decision::Allow, Decision::Ask, Decision::Ask, Decision::Allow]),
    ];
    for (behavior, expected) in rows {
        for (facts, expected) in [&none, &read, &bounded, &unbounded, &secret, &unclear].into_iter().zip(expected) {
            assert_eq!(decide(behavior, facts, Preset::Balanced), expected, "{behavior:?} {facts:?}");
        }
    }
}

#[test]
fn a_changed_definition_asks_and_with_a_mutating_effect_is_denied() {
    let known = known(Some("PURE|READ|DATA"));
    let arguments = json!({});
    let judge = |facts: &Facts| {
        judge(&Call {
            tool: &tool(),
            known: &known,
            arguments: &arguments,
            facts,
            expectations: [None; 2],
            changed: true,
            preset: Preset::Balanced,
        })
        .decision()
    };
    assert_eq!(judge(&Facts::default()), Decision::Ask);
    assert_eq!(judge(&facts(vec![delete()])), Decision::Deny);
}

#[test]
fn careful_asks_for_what_cannot_be_taken_back() {
    let none = Facts::default();
    for (behavior, expected) in [
        ("MUTATES|DELETE|ACK", Decision::Ask),
        ("MUTATES|SEND|MESSAGE", Decision::Ask),
        ("MUTATES|EXECUTE|RUN", Decision::Ask),
        ("MUTATES|CREATE|ISSUE", Decision::Allow),
        ("PURE|READ|DATA", Decision::Allow),
    ] {
        assert_eq!(decide(Some(behavior), &none, Preset::Careful), expected, "{behavior}");
    }
}

#[test]
fn read_only_denies_everything_that_is_not_reading_beyond_doubt() {
    let none = Facts::default();
    assert_eq!(decide(Some("PURE|READ|DATA"), &none, Preset::ReadOnly), Decision::Allow);
    assert_eq!(decide(Some("MUTATES|CREATE|ISSUE"), &none, Preset::ReadOnly), Decision::Deny);
    assert_eq!(decide(None, &none, Preset::ReadOnly), Decision::Deny);
    assert_eq!(decide(Some("PURE|READ|DATA"), &cannot_tell(), Preset::ReadOnly), Decision::Deny);
}

#[test]
fn a_task_that_only_reads_stops_writers_and_asks_about_strangers() {
    let task = Expectation::new("read-only", vec!["PURE|*|*".parse().unwrap()], OnMismatch::Deny);
    let arguments = json!({});
    let none = Facts::default();
    let decide = |behavior: Option<&str>, facts: &Facts| {
        let known = known(behavior);
        judge(&Call {
            tool: &tool(),
            known: &known,
            arguments: &arguments,
            facts,
            expectations: [Some(&task), None],
            changed: false,
            preset: Preset::Balanced,
        })
        .decision()
    };
    assert_eq!(decide(Some("PURE|READ|DATA"), &none), Decision::Allow);
    assert_eq!(decide(Some("MUTATES|CREATE|ISSUE"), &none), Decision::Deny);
    assert_eq!(decide(None, &none), Decision::Ask);
    assert_eq!(decide(Some("MUTATES|EXECUTE|RUN"), &facts(vec![Effect::pure(Action::Read, "ls")])), Decision::Allow);
    assert_eq!(decide(Some("MUTATES|EXECUTE|RUN"), &facts(vec![delete()])), Decision::Deny);
}

fn any_effect() -> impl Strategy<Value = Effect> {
    (any::<bool>(), 0..Action::ALL.len(), any::<bool>(), any::<bool>()).prop_map(|(pure, action, bounded, danger)| {
        let action = Action::ALL[action];
        let effect = if pure { Effect::pure(action, "p") } else { Effect::mutating(action, "m") };
        let effect = if bounded { effect } else { effect.unbounded() };
        if danger { effect.with(Danger::Escape) } else { effect }
    })
}

proptest! {
    /// Invariant: adding a fact never weakens a verdict.
    #[test]
    fn adding_facts_never_weakens_a_verdict(
        effects in prop::collection::vec(any_effect(), 0..4),
        more in any_effect(),
        unclear: bool,
        behavior in prop::sample::select(vec![None, Some("PURE|READ|DATA"), Some("MUTATES|CREATE|DATA"), Some("MUTATES|UPDATE|DATA"), Some("MUTATES|EXECUTE|RUN")]),
        preset in 0..Preset::ALL.len(),
        task: bool,
        changed: bool,
    ) {
        let known = known(behavior);
        let arguments = json!({});
        let expectation = Expectation::new("t", vec!["PURE|*|*".parse().unwrap()], OnMismatch::Deny);
        let decide = |facts: &Facts| judge(&Call {
            tool: &tool(), known: &known, arguments: &arguments, facts, changed,
            expectations: [task.then_some(&expectation), None],
            preset: Preset::ALL[preset],
        }).decision();
        // A program that was understood is compared with one that does more, never with no program at all.
        prop_assume!(!effects.is_empty());
        let before = facts(effects.clone());
        let mut parts = before.parts().to_vec();
        let mut longer = effects;
        longer.push(more);
        parts[0].reading = Reading::Understood(longer);
        if unclear {
            parts.extend(cannot_tell().parts().to_vec());
        }
        prop_assert!(decide(&Facts::new(parts)) >= decide(&before));
    }
}
