//! A name or a sentence as a phrase: which word is the verb, which nouns it acts on, and what they belong to.

use std::ops::Range;

use super::lexicon::{self, Entry, Kind, Sense, Usage, Verb};
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

/// Verbs of two words, and the verb that means the same.
const PHRASAL: &[(&str, &str)] = &[
    ("check out", "checkout"),
    ("bring up", "start"),
    ("clean up", "cleanup"),
    ("compose down", "teardown"),
    ("compose up", "start"),
    ("find and replace", "replace"),
    ("log in", "login"),
    ("log out", "logout"),
    ("look up", "lookup"),
    ("make a call", "dial"),
    ("make call", "dial"),
    ("make outbound call", "dial"),
    ("opt in", "subscribe"),
    ("opt out", "unsubscribe"),
    ("power cycle", "reboot"),
    ("power off", "shutdown"),
    ("power on", "boot"),
    ("roll back", "rollback"),
    ("search and replace", "replace"),
    ("set up", "configure"),
    ("shut down", "shutdown"),
    ("sign in", "login"),
    ("sign out", "logout"),
    ("spin up", "start"),
    ("switch off", "disable"),
    ("switch on", "enable"),
    ("take screenshot", "screenshot"),
    ("tear down", "teardown"),
    ("turn off", "disable"),
    ("turn on", "enable"),
    ("work out", "calculate"),
];

/// Who does something, or the doing itself: counts as the verb of a name that has no other.
const NOMINAL: &[(&str, &str)] = &[
    ("analysis", "analyze"),
    ("analyzer", "analyze"),
    ("builder", "build"),
    ("checker", "check"),
    ("conversion", "convert"),
    ("converter", "convert"),
    ("creation", "create"),
    ("creator", "create"),
    ("deletion", "delete"),
    ("editor", "edit"),
    ("execution", "execute"),
    ("fetcher", "fetch"),
    ("finder", "find"),
    ("generation", "generate"),
    ("generator", "generate"),
    ("management", "manage"),
    ("manager", "manage"),
    ("reader", "read"),
    ("registration", "register"),
    ("removal", "remove"),
    ("research", "research"),
    ("retrieval", "retrieve"),
    ("retriever", "retrieve"),
    ("runner", "run"),
    ("scraper", "scrape"),
    ("sender", "send"),
    ("summarizer", "summarize"),
    ("updater", "update"),
    ("validation", "validate"),
    ("validator", "validate"),
    ("viewer", "view"),
    ("writer", "write"),
];

const PREPOSITIONS: &[&str] = &[
    "about", "across", "after", "against", "among", "as", "at", "before", "between", "by", "for", "from", "in", "into",
    "near", "of", "on", "onto", "over", "per", "through", "to", "under", "using", "via", "with", "within", "without",
];

impl Phrase {
    /// Parses a name.
    pub(crate) fn of_name(name: &str) -> Self {
        let words = Words::of_name(name).without_last("tool");
        let chosen = phrasal(&words).or_else(|| verb_of_name(&words)).or_else(|| nominal(&words)).or_else(|| switch(&words));
        Self::around(words, chosen)
    }

    /// Parses the beginning of a description.
    pub(crate) fn of_sentence(text: &str) -> Self {
        let words = Words::of_text(text, 28);
        let chosen = verb_of_sentence(&words);
        let sentence = words.sentence(chosen.map_or(0, |(at, _, _)| at));
        let mut phrase = Self::within(words, chosen, sentence, true);
        // Its first sentence says what a tool is about, when it says it without a verb.
        if chosen.is_none() {
            phrase.tail.clear();
        }
        phrase
    }

    fn around(words: Words, chosen: Option<(usize, usize, &'static Verb)>) -> Self {
        let all = 0..words.len();
        Self::within(words, chosen, all, false)
    }

    fn within(words: Words, chosen: Option<(usize, usize, &'static Verb)>, range: Range<usize>, prose: bool) -> Self {
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
    (1..=3).rev().find_map(|count| {
        let crosses = at < verb.start && at + count > verb.start;
        let run = words.run(at, count);
        if crosses || run.is_empty() { None } else { lexicon::noun(run).map(|entry| (count, entry)) }
    })
}

fn phrasal(words: &Words) -> Option<(usize, usize, &'static Verb)> {
    (0..words.len()).find_map(|at| {
        PHRASAL.iter().find_map(|(phrase, verb)| {
            let count = phrase.split(' ').count();
            (words.run(at, count) == *phrase).then(|| lexicon::verb(verb).map(|verb| (at, count, verb)))?
        })
    })
}

/// `services-reader`, `node_management`.
fn nominal(words: &Words) -> Option<(usize, usize, &'static Verb)> {
    let last = words.len().checked_sub(1)?;
    let (_, verb) = NOMINAL.iter().find(|(noun, _)| *noun == words.at(last))?;
    lexicon::verb(verb).map(|verb| (last, 1, verb))
}

/// `maintenance_on`, `light_off`.
fn switch(words: &Words) -> Option<(usize, usize, &'static Verb)> {
    let last = words.len().checked_sub(1).filter(|last| *last > 0)?;
    let verb = match words.at(last) {
        "on" => "enable",
        "off" => "disable",
        _ => return None,
    };
    lexicon::verb(verb).map(|verb| (last, 1, verb))
}

/// The verb of a name stands first, or after a product's prefix, or last; nouns that can be verbs give way.
fn verb_of_name(words: &Words) -> Option<(usize, usize, &'static Verb)> {
    let last = words.len().saturating_sub(1);
    let mut best: Option<(u32, usize, &'static Verb)> = None;
    for at in 0..words.len() {
        let Some(verb) = lexicon::verb(words.at(at)) else { continue };
        let prefixed = at == 1 && lexicon::noun(words.at(0)).is_none() && lexicon::verb(words.at(0)).is_none();
        let place = match at {
            0 => 10,
            _ if prefixed => 9,
            _ if at == last => 5,
            1 => 4,
            _ => 2,
        };
        let usage = match verb.usage {
            Usage::Verb => 20,
            Usage::Loose => 8,
            Usage::Nouny if place >= 9 && at < last => 2,
            Usage::Nouny => continue,
        };
        let light = if verb.sense == Sense::Light { 20 } else { 0 };
        let score = (place + usage as u32).saturating_sub(light);
        // `watch_list` watches a list.
        let listed = verb.word == "list" && at == last && lexicon::verb(words.at(0)).is_some_and(|first| at > 0 && first.usage == Usage::Loose);
        if listed {
            continue;
        }
        // The first of two sure verbs is the verb: `update_access_control_list`.
        let settled = best.is_some_and(|(_, _, other)| other.usage == Usage::Verb && other.sense != Sense::Light);
        if !(settled && verb.usage == Usage::Verb) && best.is_none_or(|(other, _, _)| score > other) {
            best = Some((score, at, verb));
        }
    }
    best.map(|(_, at, verb)| (at, 1, verb))
}

/// The first verb of a sentence that is not part of a phrase like "this tool allows you to".
fn verb_of_sentence(words: &Words) -> Option<(usize, usize, &'static Verb)> {
    const SKIPPED: &[&str] = &[
        "allow", "allows", "cat", "has", "head", "is", "ls", "perform", "performs", "provide", "provides", "use", "used", "using",
    ];
    let mut fallback = None;
    for at in 0..words.len().min(16) {
        let word = words.at(at);
        if SKIPPED.contains(&word) {
            continue;
        }
        let Some(verb) = lexicon::inflected_verb(word) else { continue };
        // "Progress updates" and "a long running operation" hold no verb.
        let opens = at == 0 || words.sentence(at).start == at;
        let previous = words.at(at.saturating_sub(1));
        let inflected = verb.word != word;
        let gerund = inflected && word.ends_with("ing");
        let governed = matches!(previous, "for" | "by" | "of" | "and" | "or" | "tool" | "that" | "which" | "it" | "operation" | "server" | "api");
        if inflected && !opens && !governed && (gerund || lexicon::noun(previous).is_some() || PREPOSITIONS.contains(&previous)) {
            continue;
        }
        let begins = at == 0 || matches!(words.at(at - 1), "to" | "tool" | "and" | "that" | "for" | "you" | "api");
        match verb.usage {
            _ if verb.sense == Sense::Light => {}
            Usage::Verb => return Some((at, 1, verb)),
            Usage::Loose | Usage::Nouny if begins => return Some((at, 1, verb)),
            Usage::Loose | Usage::Nouny => fallback = fallback.or(Some((at, 1, verb))),
        }
    }
    fallback.filter(|(_, _, verb)| verb.usage == Usage::Loose)
}

/// What "create or update" and "get or create" come to.
fn either(words: &Words) -> Option<Sense> {
    (1..words.len().saturating_sub(1).min(8)).find_map(|at| {
        if !matches!(words.at(at), "or" | "and") {
            return None;
        }
        let first = lexicon::inflected_verb(words.at(at - 1))?.sense;
        let second = lexicon::inflected_verb(words.at(at + 1))?.sense;
        let or = words.at(at) == "or";
        match (first, second) {
            (Sense::Create | Sense::Add, Sense::Update | Sense::Overwrite) if or => Some(Sense::Overwrite),
            (Sense::Update, Sense::Create | Sense::Add) if or => Some(Sense::Overwrite),
            (Sense::Read | Sense::Search, Sense::Create | Sense::Add) if or => Some(Sense::Create),
            (Sense::Read | Sense::Search, Sense::Update | Sense::Set) if or => Some(Sense::Update),
            _ => None,
        }
    })
}
