//! The kind of payload: what a reader returns, what a writer writes.

use super::Inferred;
use super::action::Act;
use super::clues::Clues;
use super::domain::Domain;
use crate::behavior::{Action, ContentType, OutputDomain};

/// Decides the content type from the verb and the noun, so that one operation gets one answer on every server.
pub(crate) fn infer(clues: &Clues, act: &Act, domain: &Domain) -> Inferred<ContentType> {
    let Some(action) = act.action else { return Inferred::unknown("no action") };
    let scene = act.verb.and_then(|verb| verb.scene).map(|(noun, _)| noun.as_str());
    let noun = domain.head.map(|head| head.noun.as_str()).or(scene).unwrap_or_default();
    let kept_as_record = noun == "document" && domain.field.value() != Some(OutputDomain::Content);
    let own = domain.head.and_then(|head| head.content).filter(|_| !kept_as_record);
    let verb = act.verb.map_or("", |verb| verb.word);
    let (content, because) = match action {
        Action::Read | Action::Search => read(clues, act, domain, (noun, own)),
        Action::Delete | Action::Merge => (ContentType::None, "names what to remove or join"),
        Action::Send => (own.unwrap_or(ContentType::Text), "what is sent"),
        Action::Execute => execute(clues, domain),
        Action::Create if BARE.contains(&noun) || verb == "fork" => (ContentType::None, "made from its name alone"),
        Action::Update if matches!(verb, "fill" | "type" | "select") => (ContentType::Text, "what is typed"),
        Action::Update if bare_change(verb) => (ContentType::None, "a change of state carries no payload"),
        Action::Create | Action::Update | Action::Overwrite | Action::Append => {
            (own.unwrap_or(written(noun)), "what is written")
        }
    };
    Inferred::new(content, 60, because)
}

/// Things that are made from a name, without a body.
const BARE: &[&str] =
    &["branch", "directory", "folder", "collection", "reaction", "star", "database", "session", "subscription"];

fn read(
    clues: &Clues,
    act: &Act,
    domain: &Domain,
    (noun, own): (&str, Option<ContentType>),
) -> (ContentType, &'static str) {
    let pictured = act.verb.is_some_and(|verb| verb.word == "screenshot");
    match (domain.field.value(), own) {
        _ if pictured && domain.field.value() == Some(OutputDomain::Content) => {
            (ContentType::Image, "pictures are returned")
        }
        (_, Some(media @ (ContentType::Image | ContentType::Audio | ContentType::Video | ContentType::Binary))) => {
            (media, "media are returned")
        }
        _ if noun == "image" && domain.field.value() == Some(OutputDomain::Content) => {
            (ContentType::Image, "pictures are returned")
        }
        _ if act.action == Some(Action::Search) => (ContentType::Structured, "results of a search are records"),
        (Some(OutputDomain::Content | OutputDomain::Diff), None | Some(ContentType::Text)) => {
            (ContentType::Text, "text is returned")
        }
        (Some(OutputDomain::Run), Some(ContentType::Text)) => (ContentType::Text, "text is returned"),
        (Some(OutputDomain::Data), _)
            if matches!(noun, "entry" | "cache") && !several(clues) || clues.named("value") =>
        {
            (ContentType::Text, "a value is returned")
        }
        _ => (ContentType::Structured, "records are returned"),
    }
}

fn execute(clues: &Clues, domain: &Domain) -> (ContentType, &'static str) {
    match (clues.parameters.program, domain.field.value()) {
        (_, Some(OutputDomain::Data)) => (ContentType::Structured, "a query"),
        (Some(_), _) => (ContentType::Text, "a program"),
        (None, Some(OutputDomain::Run)) if clues.named("command") => (ContentType::Text, "a program"),
        _ => (ContentType::None, "names what to run"),
    }
}

/// True for verbs that change a state and take nothing to write.
fn bare_change(verb: &str) -> bool {
    !matches!(verb, "" | "update" | "edit" | "modify" | "set" | "patch" | "change" | "replace" | "configure" | "put")
}

/// True when many values come back at once.
fn several(clues: &Clues) -> bool {
    ["many", "multi", "multiple", "all", "list", "hgetall", "mget", "lrange", "smembers"]
        .iter()
        .any(|word| clues.named(word))
}

fn written(noun: &str) -> ContentType {
    match noun {
        "entry" | "cache" | "commit" | "content" | "message" | "comment" | "title" | "body" | "description"
        | "name" => ContentType::Text,
        "state" | "" => ContentType::None,
        _ => ContentType::Structured,
    }
}
