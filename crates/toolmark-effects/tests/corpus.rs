//! Examples from the field, as data: each case says what a text does, and a new mistake becomes a new line.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use serde_json::Value;
use toolmark_core::facts::{Effect, Reading};
use toolmark_effects::sql::{self, Dialect};
use toolmark_effects::{cypher, graphql, mongo, redis};

/// A reading in the words of the corpus: `PURE READ`, `MUTATES DELETE unbounded privilege`, `cannot tell`.
fn in_words(reading: &Reading) -> Value {
    let effect = |effect: &Effect| {
        let mut words = format!("{} {}", effect.mutability, effect.action);
        if !effect.bounded {
            words.push_str(" unbounded");
        }
        let mut dangers: Vec<_> = effect.dangers.iter().map(|danger| danger.as_str()).collect();
        dangers.sort_unstable();
        dangers.iter().for_each(|danger| words.extend([" ", danger]));
        Value::from(words)
    };
    match reading {
        Reading::Understood(effects) => effects.iter().map(effect).collect(),
        Reading::CannotTell { .. } => "cannot tell".into(),
    }
}

/// Compares every line with what `read` makes of it.
fn check(corpus: &str, at_least: usize, read: impl Fn(&Value) -> Reading) {
    let cases: Vec<Value> = corpus.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let reading = read(case);
            (in_words(&reading) != case["expect"])
                .then(|| format!("{case}\n    is {}\n    from {reading:?}", in_words(&reading)))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(cases.len() >= at_least);
}

fn dialect(case: &Value) -> Dialect {
    match case["dialect"].as_str() {
        Some("sqlite") => Dialect::Sqlite,
        Some("postgres") => Dialect::Postgres,
        Some("mysql") => Dialect::Mysql,
        Some("duckdb") => Dialect::Duckdb,
        Some("clickhouse") => Dialect::Clickhouse,
        Some("generic") => Dialect::Generic,
        other => panic!("no such dialect: {other:?}"),
    }
}

#[test]
fn sql_does_what_its_cases_say() {
    check(include_str!("../corpus/sql.jsonl"), 250, |case| sql::read(case["text"].as_str().unwrap(), dialect(case)));
}

#[test]
fn mongo_does_what_its_cases_say() {
    check(include_str!("../corpus/mongo.jsonl"), 40, |case| match (case.get("pipeline"), case.get("command")) {
        (Some(pipeline), _) => mongo::read_pipeline(pipeline),
        (None, Some(command)) => mongo::read_command(command),
        (None, None) => mongo::read_operation(case["operation"].as_str().unwrap(), &case["arguments"]),
    });
}

#[test]
fn redis_does_what_its_cases_say() {
    check(include_str!("../corpus/redis.jsonl"), 40, |case| match case["cli"].as_array() {
        Some(words) => redis::read_cli(&words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>()),
        None => redis::read(case["text"].as_str().unwrap()),
    });
}

#[test]
fn cypher_does_what_its_cases_say() {
    check(include_str!("../corpus/cypher.jsonl"), 30, |case| cypher::read(case["text"].as_str().unwrap()));
}

#[test]
fn graphql_does_what_its_cases_say() {
    check(include_str!("../corpus/graphql.jsonl"), 30, |case| {
        graphql::read(case["text"].as_str().unwrap(), case["operation"].as_str())
    });
}
