use super::*;
use crate::facts::{Effect, Part, Reading};

fn tool(name: &str) -> CanonicalName {
    name.parse().unwrap()
}

fn doing(effects: Vec<Effect>) -> Facts {
    Facts::new(vec![Part { pointer: "/sql".into(), language: "sql", reading: Reading::Understood(effects) }])
}

fn unclear() -> Facts {
    let reading = Reading::CannotTell { reason: "truncated".into() };
    Facts::new(vec![Part { pointer: "/sql".into(), language: "sql", reading }])
}

fn learned() -> Baseline {
    let mut baseline = Baseline::new("triage");
    let select = doing(vec![Effect::pure(Action::Read, "SELECT 1")]);
    assert!(baseline.learn(&tool("db.query"), Some("PURE|READ|DATA".parse().unwrap()), &select));
    assert!(baseline.learn(&tool("db.query"), Some("PURE|READ|DATA".parse().unwrap()), &select));
    assert!(baseline.learn(&tool("mail.send"), None, &Facts::default()));
    baseline
}

#[test]
fn what_was_learned_is_usual_and_anything_else_is_not() {
    let baseline = learned();
    let read = Some("PURE|READ|DATA".parse().unwrap());
    let select = doing(vec![Effect::pure(Action::Read, "SELECT 2")]);
    assert_eq!(baseline.unusual(&tool("db.query"), read, &select), None);
    assert_eq!(baseline.unusual(&tool("db.query"), read, &Facts::default()), None);
    let delete = doing(vec![Effect::pure(Action::Read, "SELECT 1"), Effect::mutating(Action::Delete, "DELETE FROM t")]);
    assert!(baseline.unusual(&tool("db.query"), read, &delete).unwrap().contains("DELETE FROM t"));
    assert!(baseline.unusual(&tool("db.query"), Some("MUTATES|UPDATE|DATA".parse().unwrap()), &select).is_some());
    assert!(baseline.unusual(&tool("db.other"), read, &select).unwrap().contains("never called"));
    assert!(baseline.unusual(&tool("db.query"), read, &unclear()).is_some());
    assert!(Baseline::new("triage").unusual(&tool("db.query"), read, &select).is_some());
}

#[test]
fn a_call_that_nobody_understands_teaches_nothing() {
    let mut baseline = Baseline::new("triage");
    assert!(!baseline.learn(&tool("db.query"), None, &unclear()));
    assert_eq!(baseline.tools().count(), 0);
}

#[test]
fn a_baseline_survives_writing_and_reading() {
    let baseline = learned();
    assert_eq!(Baseline::read(&baseline.to_text()), Ok(baseline));
}

#[test]
fn a_file_that_is_no_baseline_is_refused() {
    for text in [
        "",
        "[]",
        "{}",
        r#"{"baseline": 2, "task": "t", "tools": {}}"#,
        r#"{"baseline": 1, "task": "t"}"#,
        r#"{"baseline": 1, "task": "t", "tools": {}, "more": 1}"#,
        r#"{"baseline": 1, "task": "t", "tools": {"a.b": {"behaviors": ["PURE"], "effects": [], "calls": 1}}}"#,
        r#"{"baseline": 1, "task": "t", "tools": {"a.b": {"behaviors": [], "effects": ["PURE"], "calls": 1}}}"#,
        r#"{"baseline": 1, "task": "t", "tools": {"": {"behaviors": [], "effects": [], "calls": 1}}}"#,
    ] {
        assert_eq!(Baseline::read(text).unwrap_err().code().as_str(), "baseline-syntax", "{text}");
    }
}
