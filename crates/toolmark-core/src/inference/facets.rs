//! The facets of the third identity: what exactly is acted on, which way, and how far.

use super::action::Act;
use super::clues::Clues;
use super::domain::Domain;
use super::lexicon::{Entry, Kind};
use super::{Inference, Inferred};
use crate::behavior::{Action, ContentType, Polarity, Reach, Target};

/// Puts all fields together.
pub(crate) fn complete(clues: &Clues, act: Act, domain: Domain, content_type: Inferred<ContentType>) -> Inference {
    let polarity = match act.verb {
        Some(verb) => Inferred::new(verb.polarity, 80, format!("verb *{}*", verb.word)),
        None => Inferred::new(Polarity::Neutral, 40, "no verb that we know"),
    };
    let (reach, why) = reach(clues, &act);
    let field = |value: Option<_>| match value {
        Some(value) => Inferred::new(value, act.confidence, act.because.clone()),
        None => Inferred::unknown(act.because.clone()),
    };
    let mutability = field(act.mutability);
    let action = match act.action {
        Some(action) => Inferred::new(action, act.confidence, act.because.clone()),
        None => Inferred::unknown(act.because.clone()),
    };
    Inference {
        mutability,
        action,
        target: target(&act, &domain),
        output_domain: domain.field,
        content_type,
        polarity: if reads(&act) { Inferred::new(Polarity::Neutral, 90, "a reader changes nothing") } else { polarity },
        reach: Inferred::new(reach, 70, why),
        by_argument: None,
    }
}

fn reads(act: &Act) -> bool {
    matches!(act.action, Some(Action::Read | Action::Search))
}

/// The noun, and the part of it that the verb or the name points at.
fn target(act: &Act, domain: &Domain) -> Inferred<Target> {
    let scene = act.verb.filter(|verb| verb.fixed && !reads(act)).and_then(|verb| verb.scene);
    if let Some((noun, _)) = scene {
        return Inferred::new(Target::of(noun), 80, "implied by the verb");
    }
    let is_thing = |entry: &&Entry| entry.kind != Kind::Vague;
    let part = act.verb.filter(|_| !reads(act)).and_then(|verb| verb.part);
    let Some(head) = domain.head.filter(is_thing) else {
        return match act.verb.and_then(|verb| verb.scene) {
            Some((noun, _)) => Inferred::new(Target::of(noun), 60, "implied by the verb"),
            None => Inferred::unknown("no noun that we know"),
        };
    };
    let belongs = head.kind != Kind::Thing;
    let owner = domain.owner.filter(is_thing).filter(|owner| owner.noun != head.noun);
    let target = match (owner, part) {
        (Some(owner), _) if belongs => Target::of(owner.noun).part(head.noun),
        (_, Some(part)) => Target::of(head.noun).part(part),
        _ => Target::of(head.noun),
    };
    Inferred::new(target, 70, format!("noun *{}*", head.words))
}

fn reach(clues: &Clues, act: &Act) -> (Reach, &'static str) {
    let words = &clues.name.words;
    if words.has("sudo") || words.has("root") || words.has("privileged") {
        return (Reach::Root, "runs with more rights");
    }
    let everyone = act.verb.is_some_and(|verb| verb.word == "broadcast");
    if everyone || (!reads(act) && (words.has("all") || words.has("everyone") || words.has("everything"))) {
        return (Reach::All, "reaches all there are");
    }
    (Reach::Named, "reaches what the arguments name")
}
