//! The words that the classifier knows: two sorted tables and how to look into them.

mod noun;
mod nouns;
mod verb;
mod verbs;

pub(crate) use noun::{Entry, Kind};
pub(crate) use verb::{Sense, Usage, Verb};

use super::words::{base_forms, singular};

/// What is undone: the opposite of some verb that the table has, under a word that it has not.
static UNDONE: Verb = Verb::new("undo", Sense::Update).down();

/// The verb that is spelled so, in its base form. "Unexpose" need not be in the table as long as "expose" is.
pub(crate) fn verb(word: &str) -> Option<&'static Verb> {
    if let Some(verb) = listed(word) {
        return Some(verb);
    }
    let undone = ["un", "dis"].iter().filter_map(|prefix| word.strip_prefix(prefix)).find_map(listed)?;
    let reads = matches!(undone.sense, Sense::Read | Sense::Search | Sense::Compute);
    (undone.usage != Usage::Nouny && !reads).then_some(&UNDONE)
}

fn listed(word: &str) -> Option<&'static Verb> {
    let at = verbs::VERBS.binary_search_by(|verb| verb.word.cmp(word)).ok()?;
    verbs::VERBS.get(at)
}

/// The verb that a word of a sentence is a form of: "lists", "listing".
pub(crate) fn inflected_verb(word: &str) -> Option<&'static Verb> {
    verb(word).or_else(|| base_forms(word).find_map(|base| verb(&base)))
}

/// The noun that is spelled so, in singular or plural.
pub(crate) fn noun(words: &str) -> Option<&'static Entry> {
    let unchanged = || words.strip_suffix('s').filter(|stem| !stem.ends_with('s')).and_then(exact_noun);
    exact_noun(words).or_else(unchanged).or_else(|| singular(words).and_then(|one| exact_noun(&one)))
}

/// True when a noun of several words begins with this one.
pub(crate) fn begins_noun(word: &str) -> bool {
    let from = nouns::ENTRIES.partition_point(|entry| entry.words <= word);
    let next = nouns::ENTRIES.get(from).and_then(|entry| entry.words.strip_prefix(word));
    next.is_some_and(|rest| rest.starts_with(' '))
}

fn exact_noun(words: &str) -> Option<&'static Entry> {
    let at = nouns::ENTRIES.binary_search_by(|entry| entry.words.cmp(words)).ok()?;
    nouns::ENTRIES.get(at)
}

#[cfg(test)]
mod tests;
