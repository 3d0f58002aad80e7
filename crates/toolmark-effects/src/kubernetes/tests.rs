use serde_json::Value;
use toolmark_core::behavior::Mutability;
use toolmark_core::facts::Reading;

use super::*;

#[test]
fn the_corpus_is_read_as_it_says() {
    let mut wrong = Vec::new();
    for line in include_str!("../../corpus/kubernetes.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let found = if let Some(command) = case["command"].as_str() {
            command_line(command)
        } else if let Some(list) = case["words"].as_array() {
            words(&list.iter().filter_map(Value::as_str).collect::<Vec<_>>())
        } else {
            operation(case["tool"].as_str().unwrap(), &case["arguments"])
        };
        let readings = found.into_readings();
        let mut effects = Vec::new();
        let mut unclear = false;
        for reading in readings {
            match reading {
                Reading::Understood(list) => effects.extend(list),
                Reading::CannotTell { .. } => unclear = true,
            }
        }
        let mutates = effects.iter().any(|effect| effect.mutability == Mutability::Mutates);
        let bounded = effects.iter().all(|effect| effect.bounded);
        let acts = effects.iter().any(|effect| case["action"] == effect.action.as_str());
        let mut dangers: Vec<&str> =
            effects.iter().flat_map(|effect| &effect.dangers).map(|danger| danger.as_str()).collect();
        dangers.sort_unstable();
        dangers.dedup();
        let said: Vec<&str> = case["dangers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let right = if case["unclear"] == true {
            unclear
        } else {
            !unclear && case["mutates"] == mutates && acts && dangers == said && case["bounded"] == bounded
        };
        if !right {
            wrong.push(format!("{case}: unclear {unclear}, {effects:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
