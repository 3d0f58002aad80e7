//! How a description begins: with a word that we know, or with an order that we do not understand.

use super::clues::Clues;
use super::lexicon;
use super::verb_finder::PREPOSITIONS;

/// Words after which somebody who gives an order names what it is about.
const DETERMINERS: &[&str] =
    &["a", "an", "the", "all", "any", "each", "every", "its", "one", "this", "that", "these", "those", "your"];

/// Words that open a sentence and give no order.
const OPENERS: &[&str] = &[
    "based", "both", "due", "except", "given", "here", "how", "if", "instead", "like", "note", "not", "once", "only",
    "same", "since", "so", "than", "then", "this", "unlike", "use", "used", "what", "when", "where", "whether",
    "which", "while", "who", "whose", "why",
];

/// True for "Liquidate a position and return its value" when we do not know what it is to liquidate.
///
/// Invariant: such a tool is not PURE because of another word that comes later.
pub(super) fn is_an_unknown_order(clues: &Clues) -> bool {
    let mut words =
        clues.text.split(|letter: char| !(letter.is_alphanumeric() || letter == '\'')).filter(|word| !word.is_empty());
    let (Some(first), Some(second)) = (words.next(), words.next()) else { return false };
    let spelled = first.len() > 2 && first.bytes().all(|letter| letter.is_ascii_lowercase());
    let known = lexicon::inflected_verb(first).is_some() || lexicon::noun(first).is_some();
    spelled && !known && DETERMINERS.contains(&second) && !PREPOSITIONS.contains(&first) && !OPENERS.contains(&first)
}

/// True for a description that is no order at all: "Summary of the month", "Details about a payee".
pub(super) fn names_a_result(clues: &Clues) -> bool {
    let mut words = clues.text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let result = |word: &str| {
        matches!(
            word,
            "breakdown" | "details" | "information" | "list" | "overview" | "statistics" | "summary" | "totals"
        )
    };
    words.next().is_some_and(result) && words.next().is_some_and(|next| matches!(next, "about" | "for" | "of" | "on"))
}
