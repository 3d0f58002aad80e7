//! What kind of thing comes back: the noun that a tool is about, and what that noun belongs to.

use super::Inferred;
use super::action::Act;
use super::clues::Clues;
use super::lexicon::{Entry, Kind, Sense};
use super::parameters::Program;
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
    let (head, owner, from) = nouns(clues, act);
    let reads = matches!(act.action, Some(Action::Read | Action::Search) | None);
    let scene = act.verb.filter(|verb| verb.fixed || head.is_none()).and_then(|verb| verb.scene);
    let (domain, confidence) = match scene {
        Some((noun, domain)) => (scenic(noun.as_str(), domain, act), 80),
        None if act.action == Some(Action::Execute) => (executed(head, clues), 65),
        None if reads => read(head, owner, clues, act),
        None => written(head, owner, clues, act),
    };
    let word = head.map_or("", |head| head.words);
    let because = match (domain, act.mutability) {
        (OutputDomain::Ack, _) => format!("{from} *{word}*; a writer of such things only confirms"),
        _ if word.is_empty() || scene.is_some() => "implied by the verb".into(),
        (_, Some(Mutability::Mutates)) => format!("{from} *{word}*, acted on"),
        _ => format!("{from} *{word}*, returned"),
    };
    Domain { field: Inferred::new(domain, confidence, because), head, owner }
}

/// The noun that a tool is about and what it belongs to: from its name, else from its description, else from its parameters.
fn nouns(clues: &Clues, act: &Act) -> (Option<&'static Entry>, Option<&'static Entry>, &'static str) {
    let (mut head, mut owner) = clues.name.head_and_owner();
    let mut from = "noun";
    let silent = |entry: Option<&Entry>| entry.is_none_or(|entry| entry.kind == Kind::Vague);
    let selected = clues.name.objects.is_empty() && clues.name.before.is_empty() && clues.name.words.has("by");
    let implied = clues.name.verb.is_some_and(|verb| verb.scene.is_some() && act.verb.is_some_and(|own| own.word == verb.word));
    if (silent(head) && !implied) || selected {
        let (told, of) = clues.lead.head_and_owner();
        let first = clues.lead.objects.first().copied().filter(|entry| entry.kind != Kind::Vague);
        if !silent(told) || first.is_some() {
            (head, owner) = (first.or(told), of.or(owner));
            from = "description says";
        }
    }
    if silent(head) && !implied {
        if let Some(entry) = clues.parameters.owners.first() {
            head = Some(entry);
            from = "parameter for";
        }
    }
    // A part without an owner belongs to what the description or the parameters name.
    let other = |entry: &&'static Entry| {
        Some(entry.noun) != head.map(|head| head.noun) && entry.kind == Kind::Thing && !GENERIC.contains(&entry.noun.as_str())
    };
    if head.is_some_and(|head| head.kind != Kind::Thing) && owner.is_none() {
        let said = || clues.lead.tail.iter().copied().find(other);
        owner = said().or_else(|| clues.parameters.owners.iter().copied().find(other));
    }
    (head.filter(|head| !implied || head.kind != Kind::Vague), owner, from)
}

/// Nouns too general to own anything.
const GENERIC: &[&str] = &[
    "account", "content", "error", "filter", "item", "language", "list", "location", "match", "metric", "number", "object", "option",
    "query", "record", "resource", "result", "style", "time", "user", "value",
];

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
    let web = clues.named("api") || clues.named("http") || clues.named("request") || clues.says(&["http request", "api request"]);
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
fn read(head: Option<&Entry>, owner: Option<&Entry>, clues: &Clues, act: &Act) -> (OutputDomain, u8) {
    let gives = act.verb.and_then(|verb| verb.gives);
    let Some(head) = head else {
        let searched = if act.action == Some(Action::Search) { OutputDomain::Content } else { OutputDomain::Data };
        return (gives.unwrap_or(searched), 35);
    };
    let noun = head.noun.as_str();
    let verb = act.verb.map_or("", |verb| verb.word);
    let specific = owner.map(|owner| owner.domain).filter(|domain| *domain != OutputDomain::Data);
    let about = clues.name.nouns().any(|entry| entry.kind == Kind::Vague);
    let listed = matches!(verb, "list" | "ls" | "enumerate" | "discover") || (act.action == Some(Action::Search));
    let domain = match head.kind {
        _ if gives.is_some_and(|_| !distinct(head.domain)) => return (gives.unwrap_or(head.domain), 65),
        Kind::Thing if noun == "image" && is_machine_image(clues, verb) => OutputDomain::Resource,
        // Names of things are a listing, not the things.
        Kind::Thing if listed && matches!(noun, "file" | "template") || (listed && head.words == "key") => OutputDomain::Structure,
        Kind::Thing if verb == "list" && head.domain == OutputDomain::Content => OutputDomain::Structure,
        Kind::Thing if about && head.domain == OutputDomain::Content => OutputDomain::Structure,
        Kind::Thing if joins(head, owner) => owner.map_or(head.domain, |owner| owner.domain),
        Kind::Thing if noun == "project" && clues.says(&["gitlab"]) => OutputDomain::Repo,
        Kind::Thing if head.words == "key" && is_credential(clues) => OutputDomain::Secret,
        // A query over a container returns what is in it.
        Kind::Thing if head.domain == OutputDomain::Structure && queries(verb) && holds_data(noun) => OutputDomain::Data,
        Kind::Thing if noun == "node" && clues.says(&["knowledge graph"]) => OutputDomain::Data,
        Kind::Thing if noun == "document" && in_database(clues) => OutputDomain::Data,
        Kind::Thing => head.domain,
        Kind::Part if noun == "log" && talks(owner) => OutputDomain::Message,
        Kind::Part if noun == "page" || noun == "link" => if owner.is_none() { OutputDomain::Content } else { OutputDomain::Data },
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
        "tag" if in_git(clues) || clues.lead.nouns().any(|entry| entry.noun.as_str() == "repository") => OutputDomain::Ref,
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
        Some(Action::Delete) if domain == OutputDomain::Message && clues.says(&["permanently"]) => (OutputDomain::Ack, 60),
        // A service returns what it made; a database or a disk says that it is done.
        _ if holder.quiet && clues.parameters.ids && !clues.parameters.file && noun != "row" && noun != "cell" => (domain, 55),
        _ if holder.quiet && noun != "file" => (OutputDomain::Ack, 70),
        _ if holder.quiet && !in_git(clues) => (OutputDomain::Ack, 70),
        // Editors of local files report that they are done.
        _ if local => (OutputDomain::Ack, 65),
        _ => (domain, 65),
    }
}

/// A note or a thread on an issue or a pull request is part of it.
fn joins(head: &Entry, owner: Option<&Entry>) -> bool {
    let discussed = owner.is_some_and(|owner| matches!(owner.domain, OutputDomain::Pr | OutputDomain::Issue));
    discussed && matches!(head.noun.as_str(), "note" | "thread" | "discussion" | "message" | "conversation" | "link")
}

fn talks(owner: Option<&Entry>) -> bool {
    owner.is_some_and(|owner| matches!(owner.noun.as_str(), "channel" | "chat" | "conversation" | "thread"))
}

fn is_credential(clues: &Clues) -> bool {
    clues.says(&["api key", "access key", "secret key", "signing key", "private key"])
}

/// Domains that a verb of reckoning does not turn into data.
fn distinct(domain: OutputDomain) -> bool {
    !matches!(domain, OutputDomain::Data | OutputDomain::Structure | OutputDomain::Content | OutputDomain::Message)
}

fn queries(verb: &str) -> bool {
    matches!(verb, "query" | "search" | "find" | "read" | "sample" | "peek" | "aggregate" | "filter" | "scan" | "execute" | "run")
}

fn holds_data(noun: &str) -> bool {
    matches!(noun, "table" | "collection" | "database" | "index" | "datasource" | "dataset" | "sheet" | "spreadsheet" | "view")
}

fn is_machine_image(clues: &Clues, verb: &str) -> bool {
    matches!(verb, "pull" | "push" | "prune" | "build" | "tag") || clues.says(&["docker", "container", "registry", "droplet", "machine image"])
}

fn in_database(clues: &Clues) -> bool {
    let holds = |entry: &&Entry| matches!(entry.noun.as_str(), "collection" | "database" | "index" | "bucket");
    clues.parameters.owners.iter().any(|entry| holds(&entry)) || clues.lead.tail.iter().any(|entry| holds(&entry))
}

/// True when the tool works on a git repository.
fn in_git(clues: &Clues) -> bool {
    clues.named("git")
        || clues.parameters.owners.iter().any(|entry| entry.noun.as_str() == "repository")
        || clues.name.nouns().any(|entry| matches!(entry.noun.as_str(), "repository" | "branch" | "commit"))
        || clues.says(&["github repository", "gitlab project", "git repository"])
}
