//! What a verb comes to with its objects: "add" makes a comment but ties a user to a group, "run" runs a query or a job.

use super::claims::{READS_ONLY, STORES};
use super::clues::Clues;
use super::lexicon::{Entry, Kind, Sense, Verb};
use super::parameters::Program;
use super::phrase::Phrase;
use crate::behavior::{Action, OutputDomain};

/// What changes hands.
const GOODS: &[&str] = &["invoice", "item", "order", "payment", "product", "transaction"];

/// What a verb comes to with these objects.
pub(super) fn resolve(verb: &'static Verb, phrase: &Phrase, clues: &Clues) -> Action {
    if let Some(sense) = phrase.either {
        return plain(sense);
    }
    let (head, owner) = phrase.head_and_owner();
    let is = |words: &[&str]| head.is_some_and(|head| words.contains(&head.noun.as_str()));
    let of_domain = |domain: OutputDomain| head.is_some_and(|head| head.domain == domain);
    match verb.sense {
        Sense::Search if runs_a_program(clues) => program(clues),
        // What is asked for without words to choose by is merely read.
        Sense::Search if verb.word == "query" && clues.parameters.count > 0 && !clues.parameters.chooses => {
            Action::Read
        }
        // Goods and money are moved, not looked at.
        Sense::Read | Sense::Compute
            if matches!(verb.word, "capture" | "collect" | "process" | "return" | "recall") && is(GOODS) =>
        {
            Action::Update
        }
        Sense::Read if verb.word == "recall" && of_domain(OutputDomain::Message) => Action::Delete,
        Sense::Read if verb.word == "ping" && of_domain(OutputDomain::User) => Action::Send,
        Sense::Read if verb.word == "sleep" && of_domain(OutputDomain::Resource) => Action::Update,
        Sense::Compute
            if matches!(verb.word, "expand" | "encrypt" | "decrypt") && of_domain(OutputDomain::Resource) =>
        {
            Action::Update
        }
        // What is stored is changed where it is.
        Sense::Compute
            if matches!(verb.word, "normalize" | "sanitize" | "transform")
                && (of_domain(OutputDomain::Resource) || of_domain(OutputDomain::Structure)) =>
        {
            Action::Update
        }
        Sense::Produce if verb.word == "convert" && is(&["record", "contact"]) => Action::Update,
        Sense::Run if is(&["audit"]) && !clues.parameters.generic && clues.parameters.program.is_none() => Action::Read,
        Sense::Compute if verb.word == "extract" && (clues.named("archive") || clues.named("zip")) => Action::Create,
        Sense::Read if verb.word == "print" && of_domain(OutputDomain::Content) => Action::Execute,
        Sense::Execute
            if verb.word == "evaluate" && is(&["expression", "calculation"]) && clues.parameters.count < 3 =>
        {
            Action::Read
        }
        Sense::Read if asks(verb, clues) => Action::Search,
        Sense::Create
            if verb.word == "snapshot" && clues.says(&["accessibility", "of the page", "current page", "a11y"]) =>
        {
            Action::Read
        }
        Sense::Run if verb.word == "test" && is(&["connection", "session"]) => Action::Read,
        Sense::Run => {
            if is_query(phrase, clues) {
                program(clues)
            } else {
                Action::Execute
            }
        }
        Sense::Execute if verb.word == "eval" && clues.says(READS_ONLY) => Action::Read,
        Sense::Compute => Action::Read,
        Sense::Produce | Sense::CopyOut => produce(verb, head, clues),
        Sense::Manage => Action::Update,
        Sense::Add => add(verb, head, owner, phrase, clues),
        Sense::Set if clues.lead.either == Some(Sense::Overwrite) => Action::Overwrite,
        Sense::Set => match head {
            // Just "set": a value under a key. "Set" with words that we do not know: some property.
            None if phrase.words.at(phrase.words.len().saturating_sub(1)) == "set" || phrase.words.len() > 12 => {
                Action::Overwrite
            }
            None => Action::Update,
            Some(_) if is(&["entry", "content", "file", "vector", "cache"]) && owner.is_none() => Action::Overwrite,
            Some(_) => Action::Update,
        },
        Sense::Publish => match head {
            None => Action::Send,
            Some(_) if of_domain(OutputDomain::Message) || is(&["package", "topic"]) => Action::Send,
            Some(_) => Action::Update,
        },
        Sense::Close if head.is_none() || of_domain(OutputDomain::Session) || is(&["page"]) => Action::Delete,
        Sense::Close => Action::Update,
        Sense::Resolve if is(&["library", "page", "location", "ref", "symbol", "dns_record"]) || identifies(phrase) => {
            Action::Read
        }
        Sense::Resolve => Action::Update,
        Sense::Open
            if verb.word == "open" && clues.hints.read_only != Some(false) && is(&["node", "entity", "record"]) =>
        {
            Action::Read
        }
        Sense::Open => open(verb, head),
        Sense::Execute
            if verb.word == "build"
                && head.is_some_and(|head| head.kind == Kind::Vague || head.noun.as_str() == "query") =>
        {
            Action::Read
        }
        Sense::Light
            if verb.word == "take"
                && (head.is_none() && phrase.words.len() < 2 || of_domain(OutputDomain::Content)) =>
        {
            Action::Read
        }
        Sense::Light if verb.word == "take" => Action::Update,
        Sense::Light => Action::Create,
        Sense::Merge if is(&["pull_request", "branch"]) || head.is_none() => Action::Merge,
        Sense::Merge => Action::Update,
        Sense::Overwrite if verb.word == "push" => match head {
            Some(_) if of_domain(OutputDomain::Message) || is(&["container_image", "package", "image", "content"]) => {
                Action::Send
            }
            Some(_) if is(&["entry"]) => Action::Append,
            None => Action::Send,
            Some(_) => Action::Overwrite,
        },
        Sense::Overwrite if verb.word == "apply" => {
            if is(&["manifest", "config", "resource", "file"]) || head.is_none() {
                Action::Overwrite
            } else {
                Action::Update
            }
        }
        Sense::Send if verb.word == "post" || verb.word == "reply" => {
            let talk = head.is_none() || of_domain(OutputDomain::Message);
            if talk && !is(&["comment"]) { Action::Send } else { Action::Create }
        }
        Sense::Create if clues.lead.either == Some(Sense::Overwrite) && verb.word != "add" => Action::Overwrite,
        Sense::Update
            if verb.word == "request" && (clues.named("api") || clues.named("http") || clues.parameters.generic) =>
        {
            Action::Execute
        }
        sense => plain(sense),
    }
}

/// True when the caller must give a query: what comes back is chosen by it.
fn asks(verb: &Verb, clues: &Clues) -> bool {
    let chooses = matches!(verb.word, "retrieve" | "get" | "fetch" | "return" | "lookup" | "discover");
    chooses && clues.parameters.asked && !clues.name.nouns().any(|entry| entry.noun.as_str() == "query")
}

/// What a sense comes to without a second look.
pub(crate) fn plain(sense: Sense) -> Action {
    match sense {
        Sense::Read | Sense::Compute | Sense::CopyOut | Sense::Produce | Sense::Resolve => Action::Read,
        Sense::Search => Action::Search,
        Sense::Create | Sense::Add | Sense::Light => Action::Create,
        Sense::Update | Sense::Manage | Sense::Set | Sense::Close | Sense::Open => Action::Update,
        Sense::Delete => Action::Delete,
        Sense::Merge => Action::Merge,
        Sense::Overwrite => Action::Overwrite,
        Sense::Append => Action::Append,
        Sense::Execute | Sense::Run => Action::Execute,
        Sense::Send | Sense::Publish => Action::Send,
    }
}

/// A new thing, or a tie between things that exist.
fn add(verb: &Verb, head: Option<&Entry>, owner: Option<&Entry>, phrase: &Phrase, clues: &Clues) -> Action {
    const TIED: &[&str] = &[
        "user",
        "member",
        "tag",
        "label",
        "instance",
        "dependency",
        "assignee",
        "role",
        "permission",
        "policy",
        "project",
        "group",
        "task",
        "volume",
        "team",
        "parent",
        "link",
        "firewall",
        "rule",
    ];
    const POURED: &[&str] = &["row", "record", "document", "observation", "point", "event_log", "vector"];
    if clues.parameters.operands {
        return Action::Read;
    }
    if clues.says(&["staging area", "to the index"]) {
        return Action::Update;
    }
    let Some(head) = head else { return if verb.word == "attach" { Action::Update } else { Action::Create } };
    let noun = head.noun.as_str();
    let content = matches!(head.domain, OutputDomain::Content) || noun == "record";
    if verb.word == "attach" {
        return if content { Action::Create } else { Action::Update };
    }
    let tied = TIED.contains(&noun) && (owner.is_some() || matches!(noun, "tag" | "label" | "dependency"));
    if head.words == "message" {
        Action::Send
    } else if tied || matches!(head.words, "sub issue" | "subissue") || phrase.words.has("issues") {
        Action::Update
    } else if POURED.contains(&noun) {
        Action::Append
    } else {
        Action::Create
    }
}

fn open(verb: &Verb, head: Option<&Entry>) -> Action {
    let Some(head) = head else { return Action::Update };
    match (verb.word, head.domain) {
        ("open", OutputDomain::Issue | OutputDomain::Pr) => Action::Create,
        ("start", OutputDomain::Session | OutputDomain::Content | OutputDomain::Message) => Action::Create,
        ("start" | "launch", OutputDomain::Run) => Action::Execute,
        _ => Action::Update,
    }
}

/// Handed over or stored?
fn produce(verb: &Verb, head: Option<&Entry>, clues: &Clues) -> Action {
    let stored = clues.parameters.store || clues.says_plainly(STORES);
    let hinted = clues.hints.read_only;
    let link = ["url", "link", "deeplink"].iter().any(|word| clues.named(word));
    let head = head.or_else(|| clues.lead.head_and_owner().0);
    let noun = head.map(|head| head.noun.as_str());
    let passing = head
        .is_some_and(|head| matches!(head.domain, OutputDomain::Data | OutputDomain::Secret | OutputDomain::Diff))
        || matches!(noun, Some("chart" | "code" | "content" | "link" | "query" | "prompt" | "summary" | "style"));
    match verb.word {
        "save" => Action::Create,
        "produce" if head.is_some_and(|head| head.domain == OutputDomain::Message) => Action::Send,
        _ if stored => Action::Create,
        _ if hinted == Some(false) => Action::Create,
        _ if link => Action::Read,
        "export" if hinted == Some(true) && clues.says(&["returns", "return "]) => Action::Read,
        "export" => Action::Create,
        "download" | "dump" if hinted == Some(true) || clues.says(&["returns", "return "]) => Action::Read,
        "download" | "dump" => Action::Create,
        _ if hinted == Some(true) || passing || clues.named("map") => Action::Read,
        // What is generated usually stays somewhere; only what is handed over does not.
        _ => Action::Create,
    }
}

/// True for a tool that takes a query in a language that can also write.
fn runs_a_program(clues: &Clues) -> bool {
    let language = ["sql", "graphql", "cypher", "gremlin"].iter().any(|language| clues.named(language));
    clues.parameters.program == Some(Program::Query) && clues.name.words.len() <= 3 || language
}

fn is_query(phrase: &Phrase, clues: &Clues) -> bool {
    let queried = phrase.nouns().any(|entry| entry.noun.as_str() == "query") || phrase.words.has("queries");
    queried || clues.parameters.program == Some(Program::Query)
}

/// A query: what it does depends on the language, and on what the tool says that it lets through.
fn program(clues: &Clues) -> Action {
    const CANNOT_WRITE: &[&str] =
        &["promql", "logql", "traceql", "loki", "prometheus", "tempo", "insights", "insight", "kql", "elasticsearch"];
    let writes =
        clues.says(&["insert", "update", "delete", "ddl", "dml", "write", "mutation", "any sql", "transaction"]);
    let declared = clues.says(READS_ONLY) && !clues.says(&["unless", "insert", "write operations"]);
    if CANNOT_WRITE.iter().any(|language| clues.named(language)) {
        Action::Search
    } else if declared || (clues.hints.read_only == Some(true) && !writes) {
        Action::Read
    } else {
        Action::Execute
    }
}

/// `resolve_library_id`: asks what a name stands for.
fn identifies(phrase: &Phrase) -> bool {
    ["id", "ids", "name", "names", "handle", "username"].iter().any(|word| phrase.words.has(word))
}
