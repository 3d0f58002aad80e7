//! The words that the classifier knows: two sorted tables and how to look into them.

mod noun;
mod nouns;
mod verb;
mod verbs;

pub(crate) use noun::{Entry, Kind};
pub(crate) use verb::{Sense, Usage, Verb};

use super::words::{base_forms, singular};

/// The verb that is spelled so, in its base form.
pub(crate) fn verb(word: &str) -> Option<&'static Verb> {
    let at = verbs::VERBS.binary_search_by(|verb| verb.word.cmp(word)).ok()?;
    verbs::VERBS.get(at)
}

/// The verb that a word of a sentence is a form of: "lists", "listing".
pub(crate) fn inflected_verb(word: &str) -> Option<&'static Verb> {
    verb(word).or_else(|| base_forms(word).find_map(|base| verb(&base)))
}

/// The noun that is spelled so, in singular or plural.
pub(crate) fn noun(words: &str) -> Option<&'static Entry> {
    exact_noun(words).or_else(|| singular(words).and_then(|one| exact_noun(&one)))
}

fn exact_noun(words: &str) -> Option<&'static Entry> {
    let at = nouns::ENTRIES.binary_search_by(|entry| entry.words.cmp(words)).ok()?;
    nouns::ENTRIES.get(at)
}

#[cfg(test)]
mod tests;
