//! Finds phrases in a sequence of words. A phrase is a few words with gaps of bounded length, so that matching takes a bounded
//! number of steps from every word and the whole text takes linear time.
//!
//! How a phrase is written:
//!
//! | part | matches |
//! |---|---|
//! | `read\|open` | one of these words; `id_rsa` is the two words in a row |
//! | `{tool}` | one of the words of that class |
//! | `the?` | the word or nothing |
//! | `..4` | up to four words of any kind, before the next part |
//! | `!in\|from` | nothing, if the next word is none of these |
//! | `^` | nothing, at the beginning of a sentence |
//! | `~` | nothing, if the sentence so far denies nothing: "do not … without consent" asks for consent |
//! | `$` | nothing, at the end of a sentence |
//!
//! No part reaches over the end of a sentence.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::fold::Token;
use super::wording::{CLASSES, PHRASES};
use super::{Kind, Match};
use crate::severity::Severity;

/// A word of the vocabulary, or none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u16);

/// Every word that a phrase uses.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// By first byte and length: a handful each.
    buckets: Vec<Vec<(Box<[u8]>, Word)>>,
    size: u16,
}

/// Every phrase, ready to be found.
#[derive(Debug)]
pub(super) struct Table {
    vocabulary: Vocabulary,
    phrases: Vec<Phrase>,
    /// The phrases that begin with a word, by word.
    beginning: Vec<Vec<usize>>,
    denials: Vec<Word>,
}

#[derive(Debug)]
struct Phrase {
    kind: Kind,
    severity: Severity,
    /// Not after a "not".
    affirmed: bool,
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Words { any_of: Alternatives, gap: usize, optional: bool },
    Not(Alternatives),
    SentenceBegins,
    SentenceEnds,
}

/// The words, or sequences of words, that may stand at one place.
#[derive(Debug, Default)]
struct Alternatives {
    /// Single words, one bit each.
    words: Vec<u64>,
    sequences: Vec<Vec<Word>>,
    first: Vec<Word>,
}

/// Words that turn what follows into its opposite.
const DENIALS: &[&str] = &["not", "never", "dont", "cannot", "mustnt", "shouldnt", "avoid"];

/// A denial further back belongs to something else.
const DENIED: usize = 16;

/// A phrase reaches no further than this many words from where it begins.
const REACH: usize = 64;

impl Word {
    pub(super) const UNKNOWN: Self = Self(0);
}

impl Vocabulary {
    fn new() -> Self {
        Self { buckets: vec![Vec::new(); 128 * LENGTHS], size: 0 }
    }

    /// The word that these bytes spell.
    pub(super) fn word(&self, spelled: &[u8]) -> Word {
        let bucket = bucket(spelled).and_then(|at| self.buckets.get(at)).map(Vec::as_slice).unwrap_or_default();
        bucket.iter().find(|(known, _)| known.as_ref() == spelled).map_or(Word::UNKNOWN, |&(_, word)| word)
    }

    /// Enters a word, unless it is no ASCII word of a usual length.
    fn enter(&mut self, spelled: &str) -> Option<Word> {
        let known = self.word(spelled.as_bytes());
        if known != Word::UNKNOWN {
            return Some(known);
        }
        let bucket = self.buckets.get_mut(bucket(spelled.as_bytes())?)?;
        self.size += 1;
        bucket.push((spelled.as_bytes().into(), Word(self.size)));
        Some(Word(self.size))
    }
}

/// Words of so many lengths are told apart by their bucket.
const LENGTHS: usize = 25;

fn bucket(spelled: &[u8]) -> Option<usize> {
    let first = usize::from(*spelled.first().filter(|first| first.is_ascii())?);
    (spelled.len() < LENGTHS).then_some(first * LENGTHS + spelled.len())
}

impl Table {
    fn compile() -> Self {
        let classes: HashMap<&str, &str> = CLASSES.iter().copied().collect();
        let mut table =
            Self { vocabulary: Vocabulary::new(), phrases: Vec::new(), beginning: Vec::new(), denials: Vec::new() };
        for &(kind, severity, texts) in PHRASES {
            for text in texts {
                // A phrase that cannot be read is left out; a test compiles them all.
                let (text, affirmed) = text.strip_prefix("~ ").map_or((*text, false), |text| (text, true));
                if let Some(steps) = compile(text, &classes, &mut table.vocabulary) {
                    table.phrases.push(Phrase { kind, severity, affirmed, steps });
                }
            }
        }
        table.denials = DENIALS.iter().map(|word| table.vocabulary.word(word.as_bytes())).collect();
        table.beginning.resize(usize::from(table.vocabulary.size) + 1, Vec::new());
        for (at, phrase) in table.phrases.iter().enumerate() {
            for first in phrase.first_words() {
                if let Some(list) = table.beginning.get_mut(usize::from(first.0))
                    && list.last() != Some(&at)
                {
                    list.push(at);
                }
            }
        }
        table
    }

    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.phrases.len()
    }

    /// True when a word in front of `at`, in the same sentence, turns it into its opposite.
    fn is_denied(&self, tokens: &[Token], at: usize) -> bool {
        if tokens.get(at).is_none_or(|token| token.begins) {
            return false;
        }
        let before = tokens.get(at.saturating_sub(DENIED)..at).unwrap_or_default();
        for token in before.iter().rev() {
            if self.denials.contains(&token.word) {
                return true;
            }
            if token.begins {
                break;
            }
        }
        false
    }

    /// Where the "do" of a "do not" begins, so that the excerpt reads well.
    fn helper_before(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let denial = tokens.get(at).filter(|token| !token.begins && self.denials.contains(&token.word))?;
        let helper = tokens.get(at.checked_sub(1)?).filter(|helper| denial.start - helper.end <= 4)?;
        (helper.end - helper.start <= 6).then_some(helper.start)
    }

    /// Adds every phrase that stands in `tokens`.
    pub(super) fn find(&self, tokens: &[Token], found: &mut Vec<Match>) {
        for at in 0..tokens.len() {
            let Some(token) = tokens.get(at).filter(|token| token.word != Word::UNKNOWN) else { continue };
            for &phrase in self.beginning.get(usize::from(token.word.0)).map(Vec::as_slice).unwrap_or_default() {
                let Some(phrase) = self.phrases.get(phrase) else { continue };
                let Some(end) = phrase.ends_at(tokens.get(at..).unwrap_or_default()) else { continue };
                if phrase.affirmed && self.is_denied(tokens, at) {
                    continue;
                }
                let start = self.helper_before(tokens, at).unwrap_or(token.start);
                found.push(Match::new(phrase.kind, phrase.severity, start..end));
            }
        }
    }
}

/// The table, compiled when it is first needed.
pub(super) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(Table::compile);
    &TABLE
}

impl Phrase {
    fn first_words(&self) -> impl Iterator<Item = Word> {
        let first = self.steps.iter().find_map(|step| match step {
            Step::Words { any_of, .. } => Some(any_of),
            _ => None,
        });
        first.into_iter().flat_map(|any_of| any_of.first.iter().copied())
    }

    /// Where the phrase ends if it begins with the first of `tokens`.
    ///
    /// Keeps the set of positions that the steps so far can reach, as bits: no backtracking, whatever the text.
    fn ends_at(&self, tokens: &[Token]) -> Option<usize> {
        let mut reached: u64 = 1;
        for step in &self.steps {
            let mut next: u64 = 0;
            while reached != 0 {
                let at = usize::try_from(reached.trailing_zeros()).unwrap_or(REACH);
                reached &= reached - 1;
                match step {
                    Step::Words { any_of, gap, optional } => {
                        if *optional {
                            next |= 1 << at;
                        }
                        next |= after_words(any_of, *gap, tokens, at);
                    }
                    Step::Not(none_of) => {
                        next |= u64::from(none_of.ends_after(tokens, at) == 0) << at;
                    }
                    Step::SentenceBegins => {
                        next |= u64::from(tokens.get(at).is_some_and(|token| token.begins)) << at;
                    }
                    Step::SentenceEnds => next |= u64::from(ends_before(tokens, at)) << at,
                }
            }
            reached = next;
            if reached == 0 {
                return None;
            }
        }
        let last = usize::try_from(reached.trailing_zeros()).ok()?.checked_sub(1)?;
        tokens.get(last).map(|token| token.end)
    }
}

impl Alternatives {
    fn add(&mut self, sequence: Vec<Word>) {
        self.first.extend(sequence.first());
        match sequence.as_slice() {
            [word] => {
                let (at, bit) = (usize::from(word.0) / 64, word.0 % 64);
                if self.words.len() <= at {
                    self.words.resize(at + 1, 0);
                }
                if let Some(bits) = self.words.get_mut(at) {
                    *bits |= 1 << bit;
                }
            }
            _ => self.sequences.push(sequence),
        }
    }

    /// The positions after each alternative that stands at `at`, as bits.
    fn ends_after(&self, tokens: &[Token], at: usize) -> u64 {
        let Some(token) = tokens.get(at).filter(|_| at + 1 < REACH) else { return 0 };
        let bits = self.words.get(usize::from(token.word.0) / 64).copied().unwrap_or_default();
        let mut ends = ((bits >> (token.word.0 % 64)) & 1) << (at + 1);
        for sequence in &self.sequences {
            let end = at + sequence.len();
            if end < REACH && sequence.first() == Some(&token.word) && stands_at(sequence, tokens, at) {
                ends |= 1 << end;
            }
        }
        ends
    }
}

fn after_words(any_of: &Alternatives, gap: usize, tokens: &[Token], at: usize) -> u64 {
    let mut after = 0;
    for here in at..=at + gap {
        if here > 0 && ends_before(tokens, here) {
            break;
        }
        after |= any_of.ends_after(tokens, here);
    }
    after
}

fn stands_at(words: &[Word], tokens: &[Token], at: usize) -> bool {
    words.iter().enumerate().all(|(index, &word)| {
        tokens.get(at + index).is_some_and(|token| token.word == word && (index == 0 || !token.begins))
    })
}

/// True when the sentence ends in front of the word `at`.
fn ends_before(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_none_or(|token| token.begins)
}

fn compile(text: &str, classes: &HashMap<&str, &str>, vocabulary: &mut Vocabulary) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut gap = 0;
    for part in text.split(' ') {
        if let Some(count) = part.strip_prefix("..") {
            gap = count.parse().ok()?;
        } else if let Some(words) = part.strip_prefix('!') {
            steps.push(Step::Not(alternatives(words, classes, vocabulary)?));
        } else if part == "^" {
            steps.push(Step::SentenceBegins);
        } else if part == "$" {
            steps.push(Step::SentenceEnds);
        } else {
            let (words, optional) = part.strip_suffix('?').map_or((part, false), |words| (words, true));
            let any_of = alternatives(words, classes, vocabulary)?;
            steps.push(Step::Words { any_of, gap: std::mem::take(&mut gap), optional });
        }
    }
    let begins_with_a_word = matches!(
        steps.iter().find(|step| !matches!(step, Step::SentenceBegins)),
        Some(Step::Words { optional: false, gap: 0, .. })
    );
    (gap == 0 && begins_with_a_word).then_some(steps)
}

fn alternatives(words: &str, classes: &HashMap<&str, &str>, vocabulary: &mut Vocabulary) -> Option<Alternatives> {
    let mut all = Alternatives::default();
    for alternative in words.split('|') {
        let class = alternative.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        for sequence in class.map_or(Some(alternative), |class| classes.get(class).copied())?.split('|') {
            if sequence.is_empty() {
                return None;
            }
            all.add(sequence.split('_').map(|word| vocabulary.enter(word)).collect::<Option<_>>()?);
        }
    }
    Some(all)
}
