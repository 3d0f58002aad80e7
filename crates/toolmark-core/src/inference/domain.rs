//! What kind of thing comes back: the noun that a tool is about, and what that noun belongs to.

use super::Inferred;
use super::action::Act;
use super::clues::Clues;
use super::lexicon::{Entry, Kind, Sense};
use super::parameters::Program;
use super::subject::nouns;
use super::surroundings::{
    distinct, holds_data, in_database, in_git, is_credential, is_machine_image, joins, queries, talks,
};
use crate::behavior::{Action, Mutability, OutputDomain};

/// The domain, with the nouns that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) field: Inferred<OutputDomain>,
    /// What the tool is about.
    pub(crate) head: Option<&'static Entry>,
    /// What the head belongs to.
    pub(crate) owner: Option<&'static Entry>,
    /// Whether the head stands in the name.
    pub(crate) named: bool,
}

/// Decides the domain.
pub(crate) fn infer(clues: &Clues, act: &Act) -> Domain {
    let (head, owner, from) = nouns(clues, act);
    let reads = matches!(act.action, Some(Action::Read | Action::Search) | None);
    let scene = act.verb.filter(|verb| verb.fixed || head.is_none()).and_then(|verb| verb.scene);
    let (domain, confidence) = match scene {
        _ if act.action == Some(Action::Execute) && !act.verb.is_some_and(|verb| verb.fixed) => {
            (executed(head, clues), 65)
        }
        Some((noun, domain)) => (scenic(noun.as_str(), domain, act), 80),
        None if reads => read(head, owner, (clues, from == "noun"), act),
        None => written(head, owner, clues, act),
    };
    let word = head.map_or("", |head| head.words);
    let because = match (domain, act.mutability) {
        (OutputDomain::Ack, _) => format!("{from} *{word}*; a writer of such things only confirms"),
        _ if word.is_empty() || scene.is_some() => "implied by the verb".into(),
        (_, Some(Mutability::Mutates)) => format!("{from} *{word}*, acted on"),
        _ => format!("{from} *{word}*, returned"),
    };
    Domain { field: Inferred::new(domain, confidence, because), head, owner, named: from == "noun" }
}

/// What comes back where the verb alone says what is acted on.
fn scenic(noun: &str, domain: OutputDomain, act: &Act) -> OutputDomain {
    let pops = act.verb.is_some_and(|verb| verb.word.ends_with("pop"));
    let counts = act.verb.is_some_and(|verb| verb.part.is_some());
    match act.action {
        Some(Action::Read | Action::Search) => domain,
        _ if noun == "entry" && !pops && !counts => OutputDomain::Ack,
        _ => domain,
    }
}

/// What a program returns.
fn executed(head: Option<&Entry>, clues: &Clues) -> OutputDomain {
    let query = clues.parameters.program == Some(Program::Query)
        || clues.name.nouns().chain(clues.lead.nouns().take(2)).any(|entry| entry.noun.as_str() == "query");
    let web = clues.named("api")
        || clues.named("http")
        || clues.named("request")
        || clues.says(&["http request", "api request"]);
    let paged = clues.says(&["on the page", "on page", "in the page", "in browser", "in the browser", "javascript"]);
    match head.map(|head| head.domain) {
        _ if query || web => OutputDomain::Data,
        Some(OutputDomain::Session) => OutputDomain::Session,
        _ if paged => OutputDomain::Session,
        Some(OutputDomain::Resource) if clues.parameters.generic => OutputDomain::Resource,
        _ => OutputDomain::Run,
    }
}

/// What a reader returns.
fn read(head: Option<&Entry>, owner: Option<&Entry>, (clues, named): (&Clues, bool), act: &Act) -> (OutputDomain, u8) {
    let gives = act.verb.and_then(|verb| verb.gives);
    let web = |word: &str| clues.named(word) || clues.lead.words.has(word);
    if act.action == Some(Action::Search) && !named && (web("web") || web("internet")) {
        return (OutputDomain::Content, 65);
    }
    let Some(head) = head else {
        // A path and nothing else: somebody reads a file.
        let file = clues.parameters.file && clues.name.words.len() == 0 && clues.text.is_empty();
        let searched =
            if act.action == Some(Action::Search) || file { OutputDomain::Content } else { OutputDomain::Data };
        return (gives.unwrap_or(searched), 35);
    };
    let noun = head.noun.as_str();
    let verb = act.verb.map_or("", |verb| verb.word);
    let specific = owner.map(|owner| owner.domain).filter(|domain| *domain != OutputDomain::Data);
    let about = clues.name.nouns().any(|entry| entry.kind == Kind::Vague);
    let listed = matches!(verb, "list" | "ls" | "enumerate" | "discover") || (act.action == Some(Action::Search));
    let domain = match head.kind {
        _ if gives.is_some_and(|_| !named || !distinct(head.domain)) => return (gives.unwrap_or(head.domain), 65),
        Kind::Thing if noun == "image" && is_machine_image(clues, verb) => OutputDomain::Resource,
        // Names of things are a listing, not the things.
        Kind::Thing if listed && (matches!(noun, "file" | "template") || head.words == "key") => {
            OutputDomain::Structure
        }
        Kind::Thing if verb == "list" && head.domain == OutputDomain::Content => OutputDomain::Structure,
        Kind::Thing if about && head.domain == OutputDomain::Content => OutputDomain::Structure,
        Kind::Thing if joins(head, owner) => owner.map_or(head.domain, |owner| owner.domain),
        Kind::Thing if noun == "project" && clues.says(&["gitlab"]) => OutputDomain::Repo,
        Kind::Thing if head.words == "key" && is_credential(clues) => OutputDomain::Secret,
        // A query over a container returns what is in it.
        Kind::Thing if head.domain == OutputDomain::Structure && queries(verb) && holds_data(noun) => {
            OutputDomain::Data
        }
        Kind::Thing if noun == "node" && clues.says(&["knowledge graph"]) => OutputDomain::Data,
        Kind::Thing if noun == "document" && in_database(clues) => OutputDomain::Data,
        Kind::Thing => head.domain,
        Kind::Part if noun == "log" && talks(owner) => OutputDomain::Message,
        Kind::Part if noun == "page" || noun == "link" => {
            if owner.is_none() {
                OutputDomain::Content
            } else {
                OutputDomain::Data
            }
        }
        Kind::Part => specific.unwrap_or(head.domain),
        Kind::Taxon if noun == "tag" && in_git(clues) => OutputDomain::Ref,
        Kind::Taxon | Kind::Measure => head.domain,
        Kind::Vague => specific.unwrap_or(OutputDomain::Data),
    };
    let confidence = if head.kind == Kind::Thing { 80 } else { 65 };
    (if noun == "config" && clues.says(&["kubeconfig"]) { OutputDomain::Secret } else { domain }, confidence)
}

/// What a writer returns: the thing that it acted on, or no more than an acknowledgement.
fn written(head: Option<&Entry>, owner: Option<&Entry>, clues: &Clues, act: &Act) -> (OutputDomain, u8) {
    let Some(head) = head else { return (OutputDomain::Ack, 50) };
    if clues.says(&["success message", "confirmation message", "returns: success", "confirmation or"]) {
        return (OutputDomain::Ack, 80);
    }
    let verb = act.verb.map_or("", |verb| verb.word);
    let made = act.verb.is_some_and(|verb| verb.sense == Sense::Create) && head.kind == Kind::Taxon;
    let belongs = (head.kind != Kind::Thing && !made) || joins(head, owner);
    let holder = owner.filter(|owner| belongs && owner.kind == Kind::Thing).unwrap_or(head);
    let noun = holder.noun.as_str();
    let domain = match noun {
        "queue" | "topic" if matches!(verb, "purge" | "empty" | "clear" | "flush") => OutputDomain::Message,
        "tag" if in_git(clues) || clues.lead.nouns().any(|entry| entry.noun.as_str() == "repository") => {
            OutputDomain::Ref
        }
        "project" if clues.says(&["gitlab"]) => OutputDomain::Repo,
        "entry" if head.words == "key" && is_credential(clues) => OutputDomain::Secret,
        "image" if is_machine_image(clues, verb) => OutputDomain::Resource,
        "file" if in_git(clues) => OutputDomain::Repo,
        "page" if clues.says(&["browser", "viewport", "tab"]) => OutputDomain::Session,
        "document" if in_database(clues) => return (OutputDomain::Ack, 70),
        _ => holder.domain,
    };
    let loose = matches!(domain, OutputDomain::Data | OutputDomain::Structure);
    let local = clues.parameters.file && !in_git(clues) && (loose || domain == OutputDomain::Content);
    match act.action {
        Some(Action::Delete) if loose => (OutputDomain::Ack, 70),
        Some(Action::Delete) if domain == OutputDomain::Message && clues.says(&["permanently"]) => {
            (OutputDomain::Ack, 60)
        }
        // A service returns what it made; a database or a disk says that it is done.
        _ if holder.quiet && clues.parameters.ids && !clues.parameters.file && noun != "row" && noun != "cell" => {
            (domain, 55)
        }
        _ if holder.quiet && noun != "file" => (OutputDomain::Ack, 70),
        _ if holder.quiet && !in_git(clues) => (OutputDomain::Ack, 70),
        // Editors of local files report that they are done.
        _ if local => (OutputDomain::Ack, 65),
        _ => (domain, 65),
    }
}
