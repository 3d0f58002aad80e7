use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[test]
fn the_corpus_is_read_as_it_says() {
    let mut wrong = Vec::new();
    for line in include_str!("../../corpus/paths.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let path = case["path"].as_str().unwrap();
        let scope = if case["scope"] == "remote" { Scope::Remote } else { Scope::Local };
        let strings = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let Reading::Understood(effects) = read(path, scope, &strings(&case["roots"])) else { panic!("{path}") };
        let [effect] = effects.as_slice() else { panic!("{path}") };
        let mut dangers: Vec<String> = effect.dangers.iter().map(|danger| danger.as_str().to_owned()).collect();
        dangers.sort();
        if dangers != strings(&case["dangers"]) || effect.bounded != case["bounded"].as_bool().unwrap_or(true) {
            wrong.push(format!("{path:?}: {effect:?}, not {case}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_path_longer_than_any_file_system_takes_cannot_be_told() {
    assert!(matches!(read(&"a/".repeat(5000), Scope::Local, &[]), Reading::CannotTell { .. }));
}

proptest! {
    #[test]
    fn no_path_is_too_strange_to_be_read(path in "\\PC{0,80}", root in "[/a-z.]{0,12}") {
        let _ = read(&path, Scope::Local, &[root]);
        let _ = read(&path, Scope::Remote, &[]);
    }

    #[test]
    fn climbing_out_of_where_a_path_starts_is_always_noticed(inside in "[a-z]{1,6}", depth in 1_usize..5) {
        let path = format!("{inside}/{}x", "../".repeat(depth + 1));
        let Reading::Understood(effects) = read(&path, Scope::Local, &[]) else { panic!() };
        prop_assert!(effects[0].dangers.contains(&Danger::Escape));
    }
}
