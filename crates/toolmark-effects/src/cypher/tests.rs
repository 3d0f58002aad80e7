use proptest::prelude::*;
use toolmark_core::facts::{Effect, Reading};

use super::read;

fn effects(text: &str) -> Vec<Effect> {
    match read(text) {
        Reading::Understood(effects) => effects,
        Reading::CannotTell { reason } => panic!("{text}: {reason}"),
    }
}

#[test]
fn what_the_grammar_rejects_is_read_by_its_words() {
    assert!(effects("MATCH (n) RETURN n FROBNICATE").iter().all(Effect::is_harmless));
    assert!(!effects("MATCH (n) FROBNICATE DELETE n")[0].bounded);
    assert!(!effects("FOREACH (x IN [1] | DELETE x)")[0].bounded);
}

#[test]
fn queries_in_strings_are_followed_only_so_far() {
    let inner = "CALL apoc.cypher.doIt(\"CALL apoc.cypher.doIt('RETURN 1', {})\", {})";
    assert!(effects(inner).iter().all(Effect::is_harmless));
    let deep =
        "CALL apoc.cypher.doIt(\"CALL apoc.cypher.doIt('CALL apoc.cypher.doIt(\\\"RETURN 1\\\", {})', {})\", {})";
    assert!(!effects(deep)[0].bounded);
}

#[test]
fn deep_and_long_queries_are_refused_or_scanned() {
    assert!(matches!(read(&format!("RETURN {}", "(".repeat(5_000))), Reading::CannotTell { .. }));
    assert!(effects(&format!("RETURN {}1", "1+".repeat(20_000))).iter().all(Effect::is_harmless));
    assert!(matches!(read(&"RETURN 1;".repeat(40_000)), Reading::CannotTell { .. }));
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,60}") {
        let _ = read(&text);
    }

    #[test]
    fn any_heap_of_words_is_read_without_a_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..20)) {
        let _ = read(&words.join(" "));
    }
}

const WORDS: &[&str] = &[
    "MATCH",
    "(n)",
    "(a:A {x: 1})",
    "-[:R]->",
    "RETURN",
    "n",
    "DELETE",
    "DETACH",
    "SET",
    "n.x = 1",
    "CREATE",
    "MERGE",
    "CALL",
    "db.labels()",
    "{",
    "}",
    "FOREACH",
    "(x IN xs |",
    ")",
    ";",
    "UNWIND",
    "AS",
    "x",
    "WHERE",
    "'s'",
    "//",
    "/*",
    "*/",
    "`q`",
    "$p",
    "LOAD",
    "CSV",
    "FROM",
    "WITH",
    "LIMIT",
    "1",
    "UNION",
    "EXPLAIN",
    "PROFILE",
    "REMOVE",
    ":",
    "|",
    ".",
];
