//! What a tool is about: the noun that it acts on, and what that belongs to.

use super::action::Act;
use super::clues::Clues;
use super::lexicon::{Entry, Kind};
use crate::behavior::OutputDomain;

/// The noun that a tool is about and what it belongs to: from its name, else from its description, else from its parameters.
pub(super) fn nouns(clues: &Clues, act: &Act) -> (Option<&'static Entry>, Option<&'static Entry>, &'static str) {
    let (mut head, mut owner) = clues.name.head_and_owner();
    let mut from = "noun";
    let silent = |entry: Option<&Entry>| entry.is_none_or(|entry| entry.kind == Kind::Vague);
    let selected = clues.name.objects.is_empty() && clues.name.before.is_empty() && clues.name.words.has("by");
    let implied =
        clues.name.verb.is_some_and(|verb| verb.scene.is_some() && act.verb.is_some_and(|own| own.word == verb.word));
    if (silent(head) && !implied) || selected {
        let (told, of) = clues.lead.head_and_owner();
        let things = clues.lead.objects.iter().copied().find(|entry| entry.kind == Kind::Thing);
        let first = things.or(clues.lead.objects.first().copied()).filter(|entry| entry.kind != Kind::Vague);
        if !silent(told) || first.is_some() {
            (head, owner) = (first.or(told), of.or(owner));
            // "Fetches a URL and extracts its contents" is about the page.
            owner = owner.filter(|_| head.is_none_or(|head| head.noun.as_str() != "page"));
            from = "description says";
        }
    }
    if silent(head)
        && !implied
        && let Some(entry) = parameter(clues)
    {
        head = Some(entry);
        from = "parameter for";
    }
    // A part without an owner belongs to what the description or the parameters name.
    let other = |entry: &&'static Entry| {
        Some(entry.noun) != head.map(|head| head.noun)
            && entry.kind == Kind::Thing
            && !GENERIC.contains(&entry.noun.as_str())
    };
    if head.is_some_and(|head| head.kind != Kind::Thing) && owner.is_none() {
        let said = || clues.lead.tail.iter().copied().find(other);
        let page = head.is_some_and(|head| head.noun.as_str() == "page");
        owner = said().or_else(|| clues.parameters.owners.iter().copied().find(other)).filter(|_| !page);
    }
    // GitLab calls a comment a note.
    if head.is_some_and(|head| matches!(head.noun.as_str(), "note" | "thread" | "discussion")) && owner.is_none() {
        let discussed = |entry: &&'static Entry| matches!(entry.domain, OutputDomain::Issue | OutputDomain::Pr);
        owner = clues.lead.tail.iter().copied().filter(discussed).find(other);
    }
    (head.filter(|head| !implied || head.kind != Kind::Vague), owner, from)
}

/// The noun that the parameters name. Where they are all that there is, an issue says more than the repository that it is in.
fn parameter(clues: &Clues) -> Option<&'static Entry> {
    let owners = &clues.parameters.owners;
    let inner = |entry: &&&'static Entry| !CONTAINERS.contains(&entry.noun.as_str());
    let only = clues.name.words.len() == 0 && clues.text.is_empty();
    owners.iter().find(|entry| only && inner(entry)).or(owners.first()).copied()
}

/// Nouns that say where something is.
const CONTAINERS: &[&str] = &["account", "organization", "project", "repository", "workspace"];

/// Nouns too general to own anything.
const GENERIC: &[&str] = &[
    "account", "content", "error", "filter", "item", "language", "list", "location", "match", "metric", "number",
    "object", "option", "query", "record", "resource", "result", "style", "time", "user", "value",
];
