//! Which word of a name or a sentence is its verb.

use super::lexicon::{self, Sense, Usage, Verb};
use super::words::Words;

/// A verb with its place and the number of its words.
pub(super) type Found = (usize, usize, &'static Verb);

/// Verbs of two words, and the verb that means the same.
const PHRASAL: &[(&str, &str)] = &[
    ("check in", "checkin"),
    ("check out", "checkout"),
    ("bring up", "start"),
    ("clean up", "cleanup"),
    ("clock in", "clockin"),
    ("clock out", "clockout"),
    ("compose down", "teardown"),
    ("compose up", "start"),
    ("find and replace", "replace"),
    ("git fetch", "pull"),
    ("hang up", "stop"),
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
    ("top up", "topup"),
    ("work out", "calculate"),
    ("zoom in", "zoomin"),
    ("zoom out", "zoomout"),
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

pub(super) const PREPOSITIONS: &[&str] = &[
    "about", "across", "after", "against", "among", "as", "at", "before", "between", "by", "for", "from", "in", "into",
    "near", "of", "on", "onto", "over", "per", "through", "to", "under", "using", "via", "with", "within", "without",
];

/// The verb of a name: two words that belong together, else the best single word, else somebody who does it, else a switch.
pub(super) fn in_name(words: &Words) -> Option<Found> {
    phrasal(words).or_else(|| verb_of_name(words)).or_else(|| nominal(words)).or_else(|| switch(words))
}

fn phrasal(words: &Words) -> Option<Found> {
    (0..words.len()).find_map(|at| {
        let first = words.at(at);
        PHRASAL.iter().filter(|(phrase, _)| phrase.starts_with(first)).find_map(|(phrase, verb)| {
            let count = phrase.split(' ').count();
            (words.run(at, count) == *phrase).then(|| lexicon::verb(verb).map(|verb| (at, count, verb)))?
        })
    })
}

/// `services-reader`, `node_management`.
fn nominal(words: &Words) -> Option<Found> {
    let last = words.len().checked_sub(1)?;
    let (_, verb) = NOMINAL.iter().find(|(noun, _)| *noun == words.at(last))?;
    lexicon::verb(verb).map(|verb| (last, 1, verb))
}

/// `maintenance_on`, `light_off`.
fn switch(words: &Words) -> Option<Found> {
    let last = words.len().checked_sub(1).filter(|last| *last > 0)?;
    let verb = match words.at(last) {
        "on" => "enable",
        "off" => "disable",
        _ => return None,
    };
    lexicon::verb(verb).map(|verb| (last, 1, verb))
}

/// The verb of a name stands first, or after a product's prefix, or last; nouns that can be verbs give way.
fn verb_of_name(words: &Words) -> Option<Found> {
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
        let listed = verb.word == "list"
            && at == last
            && lexicon::verb(words.at(0)).is_some_and(|first| at > 0 && first.usage == Usage::Loose);
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
pub(super) fn in_sentence(words: &Words) -> Option<Found> {
    const SKIPPED: &[&str] = &[
        "allow", "allows", "cat", "has", "head", "is", "ls", "perform", "performs", "provide", "provides", "use",
        "used", "using",
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
        let governed = matches!(
            previous,
            "for" | "by" | "of" | "and" | "or" | "tool" | "that" | "which" | "it" | "operation" | "server" | "api"
        );
        if inflected
            && !opens
            && !governed
            && (gerund || lexicon::noun(previous).is_some() || PREPOSITIONS.contains(&previous))
        {
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
pub(super) fn either(words: &Words) -> Option<Sense> {
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
