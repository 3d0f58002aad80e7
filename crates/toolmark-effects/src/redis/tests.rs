use toolmark_core::facts::Reading;

use super::cli::words;
use super::{read, read_words, table};

#[test]
fn the_table_is_sorted() {
    assert!(table::TABLE.is_sorted_by(|one, two| one.0 < two.0));
}

#[test]
fn quotes_and_escapes_are_those_of_redis_cli() {
    let cut = |line: &str| words(line).unwrap();
    assert_eq!(cut("SET a \"b c\" 'd e'"), ["SET", "a", "b c", "d e"]);
    assert_eq!(cut("SET a \"b\\\"c\""), ["SET", "a", "b\"c"]);
    assert_eq!(words("GET \"a"), None);
}

#[test]
fn targets_are_the_keys() {
    let targets = |text: &str| match read(text) {
        Reading::Understood(effects) => effects[0].targets.clone(),
        Reading::CannotTell { reason } => panic!("{reason}"),
    };
    assert_eq!(targets("DEL a b"), ["a", "b"]);
    assert_eq!(targets("MSET a 1 b 2"), ["a", "b"]);
    assert!(targets("INFO memory").is_empty());
}

#[test]
fn a_long_text_is_refused() {
    assert!(matches!(read(&"GET a\n".repeat(100_000)), Reading::CannotTell { .. }));
    assert!(matches!(read(&"GET a\n".repeat(2_000)), Reading::CannotTell { .. }));
}

#[test]
fn words_are_not_cut_again() {
    let Reading::Understood(effects) = read_words(&["SET", "a", "x\nFLUSHALL"]) else { panic!() };
    assert_eq!(effects.len(), 1);
    assert!(effects[0].bounded);
}
