//! The kind of payload: what a reader returns, what a writer writes.

use super::Inferred;
use super::action::Act;
use super::clues::Clues;
use super::domain::Domain;
use crate::behavior::{Action, ContentType, OutputDomain};

/// Decides the content type from the verb and the noun, so that one operation gets one answer on every server.
pub(crate) fn infer(clues: &Clues, act: &Act, domain: &Domain) -> Inferred<ContentType> {
    let Some(action) = act.action else { return Inferred::unknown("no action") };
    let own = domain.head.and_then(|head| head.content);
    let noun = domain.head.map_or("", |head| head.noun.as_str());
    let (content, because) = match action {
        Action::Read | Action::Search => read(clues, action, domain, own),
        Action::Delete | Action::Merge => (ContentType::None, "names what to remove or join"),
        Action::Send => (own.unwrap_or(ContentType::Text), "what is sent"),
        Action::Execute => execute(clues, domain),
        Action::Create if BARE.contains(&noun) => (ContentType::None, "made from its name alone"),
        Action::Update if bare_change(act) => (ContentType::None, "a change of state carries no payload"),
        Action::Create | Action::Update | Action::Overwrite | Action::Append => {
            (own.unwrap_or(written(noun)), "what is written")
        }
    };
    Inferred::new(content, 60, because)
}

/// Things that are made from a name, without a body.
const BARE: &[&str] =
    &["branch", "directory", "folder", "repository", "collection", "reaction", "star", "database", "session", "subscription"];

fn read(clues: &Clues, action: Action, domain: &Domain, own: Option<ContentType>) -> (ContentType, &'static str) {
    let noun = domain.head.map_or("", |head| head.noun.as_str());
    match (domain.field.value(), own) {
        (_, Some(media @ (ContentType::Image | ContentType::Audio | ContentType::Video | ContentType::Binary))) => {
            (media, "media are returned")
        }
        _ if noun == "image" && domain.field.value() == Some(OutputDomain::Content) => (ContentType::Image, "pictures are returned"),
        _ if action == Action::Search => (ContentType::Structured, "results of a search are records"),
        (Some(OutputDomain::Content | OutputDomain::Diff), None | Some(ContentType::Text)) => (ContentType::Text, "text is returned"),
        (Some(OutputDomain::Run), Some(ContentType::Text)) => (ContentType::Text, "text is returned"),
        (Some(OutputDomain::Data), _) if noun == "entry" || clues.named("value") => (ContentType::Text, "a value is returned"),
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
fn bare_change(act: &Act) -> bool {
    act.verb.is_some_and(|verb| {
        let plain = matches!(verb.word, "update" | "edit" | "modify" | "set" | "patch" | "change" | "replace" | "configure");
        !plain && verb.word != "fill" && verb.word != "type" && verb.word != "select"
    })
}

fn written(noun: &str) -> ContentType {
    match noun {
        "entry" | "cache" | "content" | "message" | "comment" | "title" | "body" | "description" | "name" => ContentType::Text,
        "state" | "" => ContentType::None,
        _ => ContentType::Structured,
    }
}
