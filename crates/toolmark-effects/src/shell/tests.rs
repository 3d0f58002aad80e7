use proptest::prelude::*;
use serde_json::Value;
use toolmark_core::behavior::Mutability;
use toolmark_core::facts::{Effect, Reading};

use super::*;

/// What the readings of one program amount to.
struct Summary {
    effects: Vec<Effect>,
    unclear: Option<String>,
}

fn summary(readings: Vec<Reading>) -> Summary {
    let mut summary = Summary { effects: Vec::new(), unclear: None };
    for reading in readings {
        match reading {
            Reading::Understood(effects) => summary.effects.extend(effects),
            Reading::CannotTell { reason } => summary.unclear = Some(reason),
        }
    }
    summary
}

#[test]
fn the_corpus_is_read_as_it_says() {
    let mut wrong = Vec::new();
    for line in include_str!("../../corpus/shell.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        if let Err(found) = check(&case, &summary(read(text))) {
            wrong.push(format!("{text:?}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn check(case: &Value, found: &Summary) -> Result<(), String> {
    let effects = &found.effects;
    let mutates = effects.iter().any(|effect| effect.mutability == Mutability::Mutates);
    let mut dangers: Vec<&str> =
        effects.iter().flat_map(|effect| &effect.dangers).map(|danger| danger.as_str()).collect();
    dangers.sort_unstable();
    dangers.dedup();
    let said: Vec<&str> =
        case["dangers"].as_array().map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default();
    let action = case["action"].as_str();
    let with_action = |mutability: Mutability| {
        effects.iter().filter(move |effect| {
            effect.mutability == mutability && action.is_none_or(|action| effect.action.as_str() == action)
        })
    };
    let all = format!("{:?} {effects:?}", found.unclear);
    match case["is"].as_str().unwrap() {
        "pure" if mutates || found.unclear.is_some() => Err(format!("not pure: {all}")),
        "pure" if dangers != said => Err(format!("dangers are {dangers:?}: {all}")),
        "pure" if action.is_some() && with_action(Mutability::Pure).next().is_none() => {
            Err(format!("another action: {all}"))
        }
        "mutates" if with_action(Mutability::Mutates).next().is_none() => Err(format!("another action: {all}")),
        "mutates" if !said.iter().all(|danger| dangers.contains(danger)) => {
            Err(format!("dangers are {dangers:?}: {all}"))
        }
        "mutates" => match case["bounded"].as_bool() {
            Some(bounded) if !with_action(Mutability::Mutates).any(|effect| effect.bounded == bounded) => {
                Err(format!("bounds: {all}"))
            }
            _ => Ok(()),
        },
        "unclear" if found.unclear.is_none() => Err(format!("understood: {all}")),
        _ => Ok(()),
    }
}

#[test]
fn a_word_that_is_not_literal_names_no_command() {
    for text in ["$x", "${x}y", "r$x", "$(a)", "`a`", "*", "r?", "~x y z", "$((1))"] {
        assert!(summary(read(text)).unclear.is_some(), "{text}");
    }
}

#[test]
fn a_program_without_a_shell_has_no_operators() {
    assert!(summary(read_argv(&["echo", "; rm x", "$(rm y)"])).effects.iter().all(Effect::is_harmless));
    assert!(
        summary(read_argv(&["sh", "-c", "rm x"])).effects.iter().any(|effect| effect.mutability == Mutability::Mutates)
    );
}

#[test]
fn what_is_too_long_to_be_reviewed_is_not_read() {
    assert!(summary(read(&"a".repeat(10_001))).unclear.is_some_and(|reason| reason.contains("10,000")));
    assert!(summary(read(&format!("echo {}", "a".repeat(9_000)))).unclear.is_none());
}

proptest! {
    #[test]
    fn no_text_is_too_strange_to_be_read(text in "\\PC{0,120}") {
        let _ = read(&text);
    }

    #[test]
    fn no_program_is_too_strange_to_be_read(text in "[a-z =$(){}\\[\\]|;&<>'\"`\\\\\n*?~!#,-]{0,80}") {
        let _ = read(&text);
    }

    #[test]
    fn adding_a_command_never_takes_an_effect_away(first in "[a-z]{1,4}( -[a-z])?( [a-z./]{1,5})?", second in "(rm x|ls|foo|cat y > z)") {
        let alone = summary(read(&second));
        let both = summary(read(&format!("{first}; {second}")));
        let kept = alone.effects.iter().filter(|effect| !effect.is_harmless()).all(|effect| both.effects.contains(effect));
        // A first word such as `fi` makes the whole unreadable, and that is said.
        prop_assert!(kept || both.unclear.is_some(), "{}; {}", first, second);
        prop_assert!(alone.unclear.is_none() || both.unclear.is_some());
    }
}
