//! What a tool does and whether that changes anything: the verb of its name, checked against everything else it says.

use super::claims::{CHANGES, READS_ONLY, STORES};
use super::clues::Clues;
use super::lexicon::{self, Kind, Sense, Usage, Verb};
use super::opening::{is_an_unknown_order, names_a_result};
use super::senses::{plain, resolve};
use crate::behavior::{Action, Mutability};

/// What was decided, and from which verb.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) action: Option<Action>,
    pub(crate) mutability: Option<Mutability>,
    pub(crate) confidence: u8,
    pub(crate) because: String,
    pub(crate) verb: Option<&'static Verb>,
}

/// Decides the action and the mutability.
pub(crate) fn infer(clues: &Clues) -> Act {
    let named = clues.name.verb.map(|verb| (verb, resolve(verb, &clues.name, clues)));
    let told = clues.lead.verb.map(|verb| (verb, resolve(verb, &clues.lead, clues)));
    let act = match (named, told) {
        (None, _) if clues.parameters.actions && clues.hints.read_only != Some(true) => {
            Act::new(Action::Execute, 60, "no verb in the name; takes a list of actions", None)
        }
        _ if clues.parameters.generic && clues.hints.read_only != Some(true) => {
            Act::new(Action::Execute, 60, "takes a command and its parameters", clues.name.verb)
        }
        (Some((verb, action)), None) => from_name(verb, action),
        (None, Some((verb, action))) if !informs(clues) || surely_writes(verb, action) => from_text(verb, action),
        (None, _) if informs(clues) => Act::new(Action::Read, 66, "named after what it returns", None),
        (None, Some((verb, action))) => from_text(verb, action),
        (Some((verb, action)), Some((second, opinion))) => both(clues, (verb, action), (second, opinion)),
        (None, None) if names_a_result(clues) => Act::new(Action::Read, 60, "described by what it returns", None),
        (None, None) => without_verb(clues),
    };
    believed(clues, against_the_rest(clues, act))
}

/// A reader whose description opens with an order that nobody here understands is not called PURE, unless its name reads.
fn believed(clues: &Clues, mut act: Act) -> Act {
    let reads = clues.name.verb.is_some_and(|verb| verb.usage == Usage::Verb && pure(plain(verb.sense)));
    if act.mutability == Some(Mutability::Pure) && !reads && !clues.says(READS_ONLY) && is_an_unknown_order(clues) {
        act.mutability = None;
        act.confidence = act.confidence.min(45);
        act.because.push_str("; but the description opens with a word that we do not know");
    }
    act
}

/// True for a name without a verb that says what comes back: `cluster_info`, `pods_log`, `providerDetails`.
fn informs(clues: &Clues) -> bool {
    let Some(last) = clues.name.before.iter().chain(&clues.name.objects).next_back() else { return false };
    matches!(last.kind, Kind::Vague | Kind::Measure)
        || matches!(
            last.noun.as_str(),
            "log" | "status" | "metric" | "schema" | "document" | "diff" | "tree" | "version" | "usage"
        )
}

fn surely_writes(verb: &Verb, action: Action) -> bool {
    verb.usage == Usage::Verb && !pure(action) && !matches!(verb.sense, Sense::Run)
}

/// True when a verb opens the description.
fn leads(clues: &Clues, verb: &Verb) -> bool {
    lexicon::inflected_verb(clues.lead.words.at(0)).is_some_and(|first| first.word == verb.word)
}

fn from_name(verb: &'static Verb, action: Action) -> Act {
    let confidence = if verb.usage == Usage::Verb { 88 } else { 66 };
    Act::new(action, confidence, format!("verb *{}*", verb.word), Some(verb))
}

fn from_text(verb: &'static Verb, action: Action) -> Act {
    let confidence = if verb.usage == Usage::Verb { 72 } else { 55 };
    Act::new(action, confidence, format!("no verb in the name; description says *{}*", verb.word), Some(verb))
}

/// The name and the first sentence: they agree, or the surer one wins.
fn both(clues: &Clues, (verb, action): (&'static Verb, Action), (second, opinion): (&'static Verb, Action)) -> Act {
    let agree = pure(action) == pure(opinion);
    let because = format!("verb *{}*; description says *{}*", verb.word, second.word);
    let needs_help = verb.usage != Usage::Verb || matches!(verb.sense, Sense::Light | Sense::Manage);
    if agree {
        let confidence = if needs_help { 85 } else { 96 };
        let http =
            matches!(verb.word, "post" | "patch" | "put") && !matches!(second.sense, Sense::Run | Sense::Execute);
        if http && second.usage == Usage::Verb {
            return Act::new(opinion, confidence, because, Some(second));
        }
        // A vague name and a precise description: the description knows better what is done.
        let precise = matches!(verb.sense, Sense::Light) && second.usage == Usage::Verb;
        return if precise {
            Act::new(opinion, confidence, because, Some(second))
        } else {
            Act::new(action, confidence, because, Some(verb))
        };
    }
    if needs_help && second.usage == Usage::Verb && !clues.says(READS_ONLY) {
        let mut act = Act::new(opinion, 62, because, Some(second));
        // A name that may mean a change is not outvoted by a reading verb somewhere in the sentence.
        if pure(opinion) && !leads(clues, second) && clues.hints.read_only != Some(true) {
            act.mutability = None;
        }
        return act;
    }
    let plainly = matches!(
        second.sense,
        Sense::Create
            | Sense::Update
            | Sense::Delete
            | Sense::Send
            | Sense::Overwrite
            | Sense::Append
            | Sense::Add
            | Sense::Merge
    );
    if !pure(action) || !plainly || second.usage != Usage::Verb || !leads(clues, second) || clues.says(READS_ONLY) {
        let confidence = if pure(action) { 60 } else { 80 };
        return Act::new(action, confidence, because, Some(verb));
    }
    // A reader by name whose description begins with a change is not believed.
    if verb.sense == Sense::Read && !matches!(second.sense, Sense::Send | Sense::Delete) {
        return Act { mutability: None, ..Act::new(action, 45, because, Some(verb)) };
    }
    Act::new(opinion, 60, because, Some(second))
}

fn without_verb(clues: &Clues) -> Act {
    if clues.parameters.generic {
        return Act::new(Action::Execute, 60, "no verb; takes a command and its parameters", None);
    }
    match clues.hints.read_only {
        Some(true) => {
            let because = "no verb; only the publisher's hint says that it reads";
            Act { mutability: None, ..Act::new(Action::Read, 30, because, None) }
        }
        Some(false) => Act::new(Action::Update, 50, "no verb; the publisher hints that it writes", None),
        None => {
            Act { action: None, mutability: None, confidence: 0, because: "no verb that we know".into(), verb: None }
        }
    }
}

/// What hints, side effects and declared harmlessness make of the first answer.
fn against_the_rest(clues: &Clues, mut act: Act) -> Act {
    let Some(action) = act.action else { return act };
    // A verb from somewhere in the text is a guess; one that is in the name or opens the text is not.
    let placed = |verb: &Verb| clues.name.verb.is_some_and(|own| own.word == verb.word) || leads(clues, verb);
    let strict =
        act.verb.is_some_and(|verb| (verb.usage == Usage::Verb || verb.fixed || verb.word == "open") && placed(verb));
    if pure(action) {
        if clues.says_plainly(CHANGES) {
            act.action = Some(Action::Create);
            act.mutability = Some(Mutability::Mutates);
            act.confidence = 70;
            act.because.push_str("; but the description says that it changes something");
            return act;
        }
        match clues.hints.read_only {
            Some(false) if !clues.says(READS_ONLY) => {
                act.mutability = Some(Mutability::Mutates);
                act.action = Some(match act.verb {
                    Some(verb) if matches!(verb.word, "scrape" | "crawl") => Action::Execute,
                    Some(verb) if verb.sense == Sense::Compute => Action::Update,
                    _ => action,
                });
                act.confidence = 55;
                act.because.push_str("; but the publisher hints that it writes");
            }
            // The name reads, and so does the hint: that is two.
            Some(true) if act.verb.is_some() => {
                act.mutability = Some(Mutability::Pure);
                act.confidence = act.confidence.saturating_add(8).min(99);
                act.because.push_str("; hint readOnly");
            }
            _ => {}
        }
        if act.confidence < 50 {
            act.mutability = None;
        }
        if clues.parameters.payload.is_none() {
            act.because.push_str("; no body parameters");
        }
        return act;
    }
    match clues.hints.read_only {
        // Invariant: a hint alone does not make a tool PURE; it takes a word of the tool's own beside it.
        Some(true) if !strict && action != Action::Delete => {
            let harmless = (clues.says(READS_ONLY) || informs(clues)) && !clues.says_plainly(STORES);
            act.action = Some(Action::Read);
            act.mutability = harmless.then_some(Mutability::Pure);
            act.confidence = if harmless { 58 } else { 30 };
            act.because.push_str("; the verb is no sure one, and the publisher hints that it only reads");
        }
        Some(true) => act.because.push_str("; although the publisher hints that it only reads"),
        Some(false) => act.confidence = act.confidence.saturating_add(6).min(99),
        None => {}
    }
    act
}

/// True for actions that change nothing. EXECUTE may, but nobody knows beforehand.
pub(super) fn pure(action: Action) -> bool {
    matches!(action, Action::Read | Action::Search)
}

impl Act {
    fn new(action: Action, confidence: u8, because: impl Into<String>, verb: Option<&'static Verb>) -> Self {
        let mutability = if pure(action) { Mutability::Pure } else { Mutability::Mutates };
        Self { action: Some(action), mutability: Some(mutability), confidence, because: because.into(), verb }
    }
}
