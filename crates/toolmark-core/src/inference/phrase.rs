//! A name or a sentence as a phrase: which word is the verb, which nouns it acts on, and what they belong to.

use std::ops::Range;

use super::lexicon::{self, Entry, Kind, Sense, Verb};
use super::verb_finder::{Found, PREPOSITIONS, either, in_name, in_sentence};
use super::words::Words;

/// A parsed phrase. Everything is optional: a name need not have a verb, nor a noun that we know.
#[derive(Clone, Debug)]
pub(crate) struct Phrase {
    pub(crate) words: Words,
    pub(crate) verb: Option<&'static Verb>,
    /// What the verb acts on, in written order; the last one is the head.
    pub(crate) objects: Vec<&'static Entry>,
    /// What stands before the verb: `pods` in `pods_list`, `cluster` in `cluster_get_user`.
    pub(crate) before: Vec<&'static Entry>,
    /// What follows a preposition: `task` in `add_tag_to_task`.
    pub(crate) tail: Vec<&'static Entry>,
    /// Two verbs joined by "or": "create or update", "get or create".
    pub(crate) either: Option<Sense>,
}

impl Phrase {
    /// Parses a name.
    pub(crate) fn of_name(name: &str) -> Self {
        let words = Words::of_name(name).without_last("tool");
        let chosen = in_name(&words);
        Self::around(words, chosen)
    }

    /// Parses the beginning of a description.
    pub(crate) fn of_sentence(text: &str) -> Self {
        let words = Words::of_text(text, 28);
        let chosen = in_sentence(&words);
        let sentence = words.sentence(chosen.map_or(0, |(at, _, _)| at));
        let mut phrase = Self::within(words, chosen, sentence, true);
        // Its first sentence says what a tool is about, when it says it without a verb.
        if chosen.is_none() {
            phrase.tail.clear();
        }
        phrase
    }

    fn around(words: Words, chosen: Option<Found>) -> Self {
        let all = 0..words.len();
        Self::within(words, chosen, all, false)
    }

    fn within(words: Words, chosen: Option<Found>, range: Range<usize>, prose: bool) -> Self {
        let (verb_at, verb_end) = chosen.map_or((0, 0), |(at, count, _)| (at, at + count));
        let mut phrase = Self {
            verb: chosen.map(|(_, _, verb)| verb),
            either: either(&words),
            words: Words::default(),
            objects: Vec::new(),
            before: Vec::new(),
            tail: Vec::new(),
        };
        let mut at = range.start;
        let mut after_preposition = false;
        while at < range.end {
            if chosen.is_some() && at == verb_at {
                at = verb_end;
                continue;
            }
            if at >= verb_end && PREPOSITIONS.contains(&words.at(at)) {
                // "near" begins a new part of the phrase only when something stands before it.
                after_preposition |= !phrase.objects.is_empty() || chosen.is_some();
                at += 1;
                continue;
            }
            // In prose, "list" and "set" are verbs more often than not.
            if prose && matches!(words.at(at), "list" | "lists" | "set" | "sets") {
                at += 1;
                continue;
            }
            let Some((count, entry)) = noun_at(&words, at, verb_at..verb_end) else {
                at += 1;
                continue;
            };
            match (chosen.is_some() && at < verb_at, after_preposition) {
                (true, _) => phrase.before.push(entry),
                (false, true) => phrase.tail.push(entry),
                (false, false) => phrase.objects.push(entry),
            }
            at += count;
        }
        phrase.words = words;
        phrase
    }

    /// The noun that the phrase is about, and the one that it belongs to.
    pub(crate) fn head_and_owner(&self) -> (Option<&'static Entry>, Option<&'static Entry>) {
        let mut nouns = self.before.iter().chain(&self.objects).rev().copied().peekable();
        let mut head = nouns.next();
        // "Info" and "details" say nothing: what they are about is the head.
        if head.is_some_and(|head| head.kind == Kind::Vague) && nouns.peek().is_some() {
            head = nouns.next();
        }
        // A reaction to a comment on an issue belongs to the issue.
        let nearest = nouns.peek().copied();
        let owner = nouns.find(|noun| noun.kind == Kind::Thing).or(nearest);
        let tail = self.tail.iter().copied().find(|noun| noun.kind == Kind::Thing).or(self.tail.first().copied());
        // `text_to_speech` is about speech.
        if self.verb.is_none() && self.words.has("to") && tail.is_some() {
            return (tail, None);
        }
        match head {
            None => (tail, None),
            Some(_) => (head, tail.or(owner)),
        }
    }

    /// Every noun of the phrase.
    pub(crate) fn nouns(&self) -> impl Iterator<Item = &'static Entry> {
        self.before.iter().chain(&self.objects).chain(&self.tail).copied()
    }
}

/// The longest noun that begins here and does not run into the verb.
fn noun_at(words: &Words, at: usize, verb: Range<usize>) -> Option<(usize, &'static Entry)> {
    let longest = if lexicon::begins_noun(words.at(at)) { 3 } else { 1 };
    (1..=longest).rev().find_map(|count| {
        let crosses = at < verb.start && at + count > verb.start;
        let run = words.run(at, count);
        if crosses || run.is_empty() { None } else { lexicon::noun(run).map(|entry| (count, entry)) }
    })
}
