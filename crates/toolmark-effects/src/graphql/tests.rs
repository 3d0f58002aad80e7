use proptest::prelude::*;
use toolmark_core::facts::{Danger, Effect, Reading};

use super::read;

fn effects(text: &str) -> Vec<Effect> {
    match read(text, None) {
        Reading::Understood(effects) => effects,
        Reading::CannotTell { reason } => panic!("{text}: {reason}"),
    }
}

#[test]
fn targets_are_the_root_fields() {
    assert_eq!(effects("{ a: users { id } orders { id } }")[0].targets, ["users", "orders"]);
    assert_eq!(effects("mutation { x: deleteUser(id: 1) { id } }")[0].targets, ["deleteUser"]);
}

#[test]
fn fragments_that_multiply_end_and_are_marked() {
    let mut text = String::from("{ a { ...F0 } }");
    for at in 0..40 {
        text.push_str(&format!(" fragment F{at} on T {{ ...F{next} ...F{next} }}", next = at + 1));
    }
    text.push_str(" fragment F40 on T { x }");
    assert_eq!(effects(&text)[0].dangers, [Danger::Exhaustion]);
}

#[test]
fn very_many_changes_become_one_without_a_limit() {
    let all = effects(&format!("mutation {{ {} }}", "deleteUser(id: 1) { id } ".repeat(200)));
    assert_eq!(all.len(), 1);
    assert!(!all[0].bounded && all[0].dangers.contains(&Danger::Exhaustion));
}

#[test]
fn deep_and_long_documents_are_refused() {
    assert!(matches!(read(&"{a".repeat(50_000), None), Reading::CannotTell { .. }));
    assert!(matches!(read(&format!("{{ {} }}", "a ".repeat(130_000)), None), Reading::CannotTell { .. }));
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,60}") {
        let _ = read(&text, Some("A"));
    }

    #[test]
    fn any_heap_of_words_is_read_without_a_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..24)) {
        let _ = read(&words.join(" "), None);
    }
}

const WORDS: &[&str] = &[
    "query",
    "mutation",
    "subscription",
    "fragment",
    "F",
    "on",
    "T",
    "{",
    "}",
    "(",
    ")",
    "a",
    "a:",
    "id: 1",
    "where: {}",
    "...",
    "...F",
    "@skip(if: true)",
    "\"s\"",
    "\"\"\"b\"\"\"",
    "$v",
    ":",
    "[",
    "]",
    "#",
    "deleteUser",
    "1000000000",
    "first: 99999999",
    "type",
    "null",
    ",",
    "!",
    "=",
];
