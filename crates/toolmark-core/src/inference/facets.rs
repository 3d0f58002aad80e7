//! The facets of the third identity: what exactly is acted on, which way, and how far.

use super::action::Act;
use super::clues::Clues;
use super::domain::Domain;
use super::lexicon::{Entry, Kind};
use super::{Inference, Inferred};
use crate::behavior::{Action, ContentType, Noun, OutputDomain, Polarity, Reach, Target};

/// Puts all fields together.
pub(crate) fn complete(clues: &Clues, act: &Act, domain: Domain, content_type: Inferred<ContentType>) -> Inference {
    let polarity = polarity(clues, act);
    let (reach, why) = reach(clues, act);
    let field = |value: Option<_>| match value {
        Some(value) => Inferred::new(value, act.confidence, act.because.clone()),
        None => Inferred::unknown(act.because.clone()),
    };
    let mutability = field(act.mutability);
    let action = match act.action {
        Some(action) => Inferred::new(action, act.confidence, act.because.as_str()),
        None => Inferred::unknown(act.because.as_str()),
    };
    Inference {
        mutability,
        action,
        target: target(clues, act, &domain),
        output_domain: domain.field,
        content_type,
        polarity,
        reach: Inferred::new(reach, 70, why),
        by_argument: None,
    }
}

fn reads(act: &Act) -> bool {
    matches!(act.action, Some(Action::Read | Action::Search))
}

/// The noun, and the part of it that the verb or the name points at.
fn target(clues: &Clues, act: &Act, domain: &Domain) -> Inferred<Target> {
    let scene = act.verb.filter(|verb| verb.fixed && !reads(act)).and_then(|verb| verb.scene);
    if let Some((noun, _)) = scene {
        let part = act.verb.and_then(|verb| verb.part);
        let target = part.map_or(Target::of(noun), |part| Target::of(noun).part(part));
        return Inferred::new(target, 80, "implied by the verb");
    }
    if act.action == Some(Action::Execute) && domain.field.value() == Some(OutputDomain::Session) {
        return Inferred::new(Target::of(Noun::known("page")), 60, "runs in a page");
    }
    // What a description happens to mention varies from server to server; it decides only what is changed.
    if reads(act) && !domain.named {
        return Inferred::unknown("no noun in the name");
    }
    let is_thing = |entry: &&Entry| entry.kind != Kind::Vague;
    let part = act.verb.filter(|_| !reads(act)).and_then(|verb| verb.part);
    let Some(head) = domain.head.filter(is_thing) else {
        return match act.verb.and_then(|verb| verb.scene) {
            Some((noun, _)) if !(reads(act) && SAID_BY_DOMAIN.contains(&noun.as_str())) => {
                Inferred::new(Target::of(noun), 60, "implied by the verb")
            }
            _ => Inferred::unknown("no noun that we know"),
        };
    };
    let belongs = head.kind != Kind::Thing;
    let owner = domain.owner.filter(is_thing).filter(|owner| owner.noun != head.noun);
    let tied = matches!(act.action, Some(Action::Update | Action::Delete)) && unties(act);
    let holder = clues.name.tail.first().copied().filter(is_thing).filter(|holder| tied && holder.noun != head.noun);
    let switched = part.is_some_and(|part| part.as_str() == "state");
    let target = match (owner, part) {
        (Some(owner), _) if belongs => Target::of(owner.noun).part(head.noun),
        // Taken out of something is not the same as ended.
        _ if let Some(holder) = holder => Target::of(holder.noun).part(head.noun),
        // "Enable backups of a droplet" switches the backups.
        (Some(feature), Some(_)) if switched => Target::of(head.noun).part(feature.noun),
        (_, Some(part)) => Target::of(head.noun).part(part),
        _ => Target::of(head.noun),
    };
    if reads(act) && target == Target::of(head.noun) && SAID_BY_DOMAIN.contains(&head.noun.as_str()) {
        return Inferred::unknown("the domain says it already");
    }
    Inferred::new(target, 70, format!("noun *{}*", head.words))
}

/// Nouns that tell of a reader no more than its domain does.
const SAID_BY_DOMAIN: &[&str] = &[
    "content",
    "document",
    "issue",
    "item",
    "message",
    "object",
    "page",
    "pull_request",
    "query",
    "record",
    "repository",
    "resource",
    "run",
    "user",
];

fn unties(act: &Act) -> bool {
    act.verb
        .is_some_and(|verb| matches!(verb.word, "add" | "remove" | "attach" | "detach" | "link" | "unlink" | "kick"))
}

/// Which way: the verb says it, or a word of direction beside a verb that has none.
fn polarity(clues: &Clues, act: &Act) -> Inferred<Polarity> {
    if reads(act) {
        return Inferred::new(Polarity::Neutral, 90, "a reader changes nothing");
    }
    let Some(verb) = act.verb else { return Inferred::new(Polarity::Neutral, 40, "no verb that we know") };
    if verb.polarity != Polarity::Neutral {
        return Inferred::new(verb.polarity, 80, format!("verb *{}*", verb.word));
    }
    let words = &clues.name.words;
    let says = |directions: &[&str]| directions.iter().any(|word| *word != verb.word && words.has(word));
    // What is marked unread, incomplete or inactive is not marked.
    let undone =
        |word: &&str| matches!(*word, "unread" | "incomplete" | "inactive" | "undone" | "unresolved" | "unpaid");
    if matches!(verb.word, "mark" | "set" | "update")
        && (0..words.len()).map(|at| words.at(at)).any(|word| undone(&word))
    {
        return Inferred::new(Polarity::Negative, 70, "marked as not done");
    }
    if says(&["back", "backward", "backwards", "previous", "prev", "left", "down", "before", "above"]) {
        Inferred::new(Polarity::Negative, 60, "a direction in the name")
    } else if says(&["forward", "forwards", "next", "right", "up", "after", "below"]) {
        Inferred::new(Polarity::Positive, 60, "a direction in the name")
    } else {
        Inferred::new(end(clues, act), 70, format!("verb *{}*", verb.word))
    }
}

/// Which end of a list is pushed to or taken from, where the first sentence says it.
fn end(clues: &Clues, act: &Act) -> Polarity {
    let ends = matches!(act.action, Some(Action::Append | Action::Delete));
    let says = |words: &[&str]| ends && words.iter().any(|word| clues.lead.words.has(word));
    match (says(&["left", "first"]), says(&["right", "last"])) {
        (true, false) => Polarity::Negative,
        (false, true) => Polarity::Positive,
        _ => Polarity::Neutral,
    }
}

fn reach(clues: &Clues, act: &Act) -> (Reach, &'static str) {
    let words = &clues.name.words;
    if words.has("sudo") || words.has("root") || words.has("privileged") {
        return (Reach::Root, "runs with more rights");
    }
    let told = act.action == Some(Action::Send)
        && ["to all", "to everyone", "to every", "all users", "all subscribers", "all followers", "all members"]
            .iter()
            .any(|everybody| clues.lead.words.has_run(everybody));
    let everyone = act.verb.is_some_and(|verb| verb.word == "broadcast") || told;
    let named = ["all", "everyone", "everything", "live", "public"].iter().any(|word| words.has(word));
    if everyone || (!reads(act) && named) {
        return (Reach::All, "reaches all there are");
    }
    (Reach::Named, "reaches what the arguments name")
}
