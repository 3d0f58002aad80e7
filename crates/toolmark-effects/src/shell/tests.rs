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
