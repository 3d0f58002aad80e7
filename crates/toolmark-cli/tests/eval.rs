//! `toolmark eval` on the data of the repository: the keys that others read, the targets, and the paper that is built in.

#![expect(clippy::expect_used, reason = "a test may stop")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn figures(data: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    let output = command.current_dir(root()).args(["eval", data, "--json"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn count(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn the_corpus_meets_the_targets_under_the_keys_that_were_asked_for() {
    let all = figures("corpus");
    for part in ["classifier", "classifier_schema_only"] {
        for field in ["mutability", "action", "output_domain", "content_type"] {
            for key in ["labelled", "answered", "agree", "agree_unambiguous", "unambiguous"] {
                assert!(all[part][field][key].is_u64(), "{part} {field} {key}");
            }
        }
        assert_eq!(all[part]["false_pure"], 0, "{part}");
        assert!(all[part]["mutating"].is_u64());
    }
    let field = |name: &str| &all["classifier"][name];
    let mutability = field("mutability");
    assert!(count(&mutability["agree"]) >= 0.97 * count(&mutability["answered"]));
    assert!(count(&mutability["answered"]) >= 0.95 * count(&mutability["labelled"]));
    let clear = |name: &str| count(&field(name)["agree_unambiguous"]) / count(&field(name)["unambiguous"]);
    assert!(clear("action") >= 0.88 && clear("output_domain") >= 0.8);

    let pairs = &all["pairs"];
    for form in ["v1", "v2", "v3"] {
        for severity in ["CRITICAL", "HIGH", "MEDIUM", "LOW"] {
            assert!(pairs[form][severity]["separated"].is_u64() && pairs[form][severity]["total"].is_u64());
        }
        assert!(pairs[form]["same"]["together"].is_u64());
    }
    assert_eq!(pairs["v3"]["CRITICAL"]["separated"], pairs["v3"]["CRITICAL"]["total"]);
    assert!(count(&pairs["v3"]["HIGH"]["separated"]) >= 0.97 * count(&pairs["v3"]["HIGH"]["total"]));
    assert!(count(&pairs["v3"]["same"]["together"]) >= 0.9 * count(&pairs["v3"]["same"]["total"]));
    for severity in ["CRITICAL", "HIGH", "MEDIUM", "LOW"] {
        let catch = &pairs["catch"][severity];
        let sum: f64 = ["schema_only", "behavior_only", "both", "neither"].map(|key| count(&catch[key])).iter().sum();
        assert_eq!(sum, count(&pairs["v3"][severity]["total"]), "every pair is caught by somebody or by nobody");
    }

    let calls = &all["calls"];
    for kind in ["dangerous", "harmless"] {
        let kind = &calls[kind];
        let sum: f64 = ["denied", "asked", "allowed"].map(|key| count(&kind[key])).iter().sum();
        assert_eq!(sum, count(&kind["total"]));
    }
    assert!(count(&calls["dangerous"]["allowed"]) <= 0.05 * count(&calls["dangerous"]["total"]));
    assert!(count(&calls["harmless"]["allowed"]) >= 0.9 * count(&calls["harmless"]["total"]));
    let misses = calls["misses"].as_array().expect("a list");
    assert_eq!(misses.len() as f64, count(&calls["dangerous"]["allowed"]));
}

#[test]
fn the_paper_says_of_each_figure_whether_it_can_be_had_again() {
    let all = figures("paper");
    let figures = all["paper"]["figures"].as_array().expect("a list");
    let outcome = |start: &str| {
        let figure = figures.iter().find(|own| own["figure"].as_str().is_some_and(|name| name.starts_with(start)));
        figure.expect(start)["outcome"].as_str().expect("a word").to_owned()
    };
    assert_eq!(outcome("Table 4: CRITICAL"), "reproduced");
    assert_eq!(outcome("Table 4: HIGH"), "reproduced");
    assert_eq!(outcome("Table 1: {query}"), "reproduced");
    assert_eq!(outcome("Table 1: {path}"), "differs");
    assert_eq!(outcome("Table 3"), "cannot be reproduced");
    assert_eq!(outcome("Table 6"), "cannot be reproduced");
    for figure in figures.iter().filter(|own| own["outcome"] == "cannot be reproduced") {
        assert!(figure["note"].is_string(), "{figure} says why");
    }
    assert_eq!(all["decisions"]["catch_v1"]["neither"], 1, "three fields do not tell a text from a picture");
    assert_eq!(all["decisions"]["catch"]["neither"], 0);
}

#[test]
fn the_paper_is_built_in_from_rows_of_the_corpus() {
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("a file of the repository");
    for file in ["tools.jsonl", "labels.jsonl", "pairs.jsonl"] {
        let corpus = read(root().join("corpus").join(file));
        let corpus: BTreeSet<&str> = corpus.lines().collect();
        let own = read(root().join("crates/toolmark-cli/paper").join(file));
        assert!(own.lines().count() > 10);
        for line in own.lines() {
            assert!(corpus.contains(line), "{file}: {line}");
        }
    }
}
