//! What kind of thing comes back: the noun that a tool is about, and what that noun belongs to.

use super::Inferred;
use super::action::Act;
use super::clues::Clues;
use super::lexicon::{Entry, Kind};
use crate::behavior::{Action, Mutability, OutputDomain};

/// The domain, with the nouns that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) field: Inferred<OutputDomain>,
    /// What the tool is about.
    pub(crate) head: Option<&'static Entry>,
    /// What the head belongs to.
    pub(crate) owner: Option<&'static Entry>,
}

/// Decides the domain.
pub(crate) fn infer(clues: &Clues, act: &Act) -> Domain {
    let (mut head, mut owner) = clues.name.head_and_owner();
    let mut from = "noun";
    let silent = |entry: Option<&Entry>| entry.is_none_or(|entry| entry.kind == Kind::Vague);
    if silent(head) {
        let (told, of) = clues.lead.head_and_owner();
        let first = clues.lead.objects.first().copied().filter(|entry| entry.kind != Kind::Vague);
        if !silent(told) || first.is_some() {
            (head, owner) = (first.or(told), owner.or(of));
            from = "description says";
        }
    }
    if silent(head) {
        if let Some(entry) = clues.parameters.owners.first() {
            head = Some(entry);
            from = "parameter for";
        }
    }
    // A part without an owner belongs to what the parameters identify.
    if head.is_some_and(|head| head.kind != Kind::Thing) && owner.is_none() {
        owner = clues.parameters.owners.iter().copied().find(|entry| Some(entry.noun) != head.map(|head| head.noun));
    }
    let reads = matches!(act.action, Some(Action::Read | Action::Search)) || act.action.is_none();
    let (domain, confidence) = match act.verb.filter(|verb| verb.fixed || silent(head)).and_then(|verb| verb.scene) {
        Some((_, domain)) if !reads || silent(head) => (Some(domain), 80),
        _ if reads => read(head, owner, clues, act),
        _ => written(head, owner, clues, act),
    };
    let word = head.map_or("", |head| head.words);
    let because = match (domain, act.mutability) {
        (Some(OutputDomain::Ack), _) => format!("{from} *{word}*; a writer of such things only confirms"),
        (Some(_), _) if word.is_empty() => "implied by the verb".into(),
        (Some(_), Some(Mutability::Mutates)) => format!("{from} *{word}*, acted on"),
        (Some(_), _) => format!("{from} *{word}*, returned"),
        (None, _) => "no noun that we know".to_owned(),
    };
    let field = domain.map_or_else(|| Inferred::unknown("no noun that we know"), |domain| Inferred::new(domain, confidence, because));
    Domain { field, head, owner }
}

/// What a reader returns.
fn read(head: Option<&Entry>, owner: Option<&Entry>, clues: &Clues, act: &Act) -> (Option<OutputDomain>, u8) {
    let Some(head) = head else {
        let searched = act.action == Some(Action::Search);
        return (Some(if searched { OutputDomain::Content } else { OutputDomain::Data }), 35);
    };
    let specific = owner.map(|owner| owner.domain).filter(|domain| *domain != OutputDomain::Data);
    match head.kind {
        Kind::Thing if head.noun.as_str() == "tag" => (Some(OutputDomain::Ref), 80),
        Kind::Thing => (Some(head.domain), 80),
        Kind::Part => (Some(specific.unwrap_or(head.domain)), 70),
        Kind::Taxon if head.noun.as_str() == "tag" && in_git(clues) => (Some(OutputDomain::Ref), 75),
        Kind::Taxon => (Some(head.domain), 75),
        Kind::Measure => (Some(head.domain), 70),
        Kind::Vague => (Some(specific.unwrap_or(OutputDomain::Data)), 45),
    }
}

/// What a writer returns: the thing that it acted on, or no more than an acknowledgement.
fn written(head: Option<&Entry>, owner: Option<&Entry>, clues: &Clues, act: &Act) -> (Option<OutputDomain>, u8) {
    let Some(head) = head else { return (Some(OutputDomain::Ack), 50) };
    let belongs = head.kind != Kind::Thing;
    let holder = owner.filter(|owner| belongs && owner.kind == Kind::Thing).unwrap_or(head);
    if clues.says(&["success message", "confirmation message", "returns: success", "confirmation or"]) {
        return (Some(OutputDomain::Ack), 80);
    }
    let domain = if holder.noun.as_str() == "tag" && in_git(clues) { OutputDomain::Ref } else { holder.domain };
    let quiet = holder.quiet && !in_git(clues);
    match act.action {
        Some(Action::Delete) if matches!(domain, OutputDomain::Data | OutputDomain::Structure) => (Some(OutputDomain::Ack), 70),
        _ if quiet => (Some(OutputDomain::Ack), 70),
        _ => (Some(domain), 65),
    }
}

/// True when the tool works on a git repository.
fn in_git(clues: &Clues) -> bool {
    clues.named("git") || clues.parameters.owners.iter().any(|entry| entry.noun.as_str() == "repository")
        || clues.name.nouns().any(|entry| matches!(entry.noun.as_str(), "repository" | "branch" | "commit"))
}
