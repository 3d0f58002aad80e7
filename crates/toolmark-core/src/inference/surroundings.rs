//! Where a tool works: in a git repository, in a database, with containers. The same noun means other things there.

use super::clues::Clues;
use super::lexicon::Entry;
use crate::behavior::OutputDomain;

/// A note or a thread on an issue or a pull request is part of it.
pub(super) fn joins(head: &Entry, owner: Option<&Entry>) -> bool {
    let discussed = owner.is_some_and(|owner| matches!(owner.domain, OutputDomain::Pr | OutputDomain::Issue));
    discussed && matches!(head.noun.as_str(), "note" | "thread" | "discussion" | "message" | "conversation" | "link")
}

pub(super) fn talks(owner: Option<&Entry>) -> bool {
    owner.is_some_and(|owner| matches!(owner.noun.as_str(), "channel" | "chat" | "conversation" | "thread"))
}

pub(super) fn is_credential(clues: &Clues) -> bool {
    clues.says(&["api key", "access key", "secret key", "signing key", "private key"])
}

/// Domains that a verb of reckoning does not turn into data.
pub(super) fn distinct(domain: OutputDomain) -> bool {
    !matches!(domain, OutputDomain::Data | OutputDomain::Structure | OutputDomain::Content | OutputDomain::Message)
}

pub(super) fn queries(verb: &str) -> bool {
    matches!(
        verb,
        "query" | "search" | "find" | "read" | "sample" | "peek" | "aggregate" | "filter" | "scan" | "execute" | "run"
    )
}

pub(super) fn holds_data(noun: &str) -> bool {
    matches!(
        noun,
        "table" | "collection" | "database" | "index" | "datasource" | "dataset" | "sheet" | "spreadsheet" | "view"
    )
}

pub(super) fn is_machine_image(clues: &Clues, verb: &str) -> bool {
    matches!(verb, "pull" | "push" | "prune" | "build" | "tag")
        || clues.says(&["docker", "container", "registry", "droplet", "machine image"])
}

pub(super) fn in_database(clues: &Clues) -> bool {
    let holds = |entry: &&'static Entry| matches!(entry.noun.as_str(), "collection" | "database" | "index" | "bucket");
    clues.parameters.owners.iter().any(holds) || clues.lead.tail.iter().any(holds)
}

/// True when the tool works on a git repository.
pub(super) fn in_git(clues: &Clues) -> bool {
    clues.named("git")
        || clues.parameters.owners.iter().any(|entry| entry.noun.as_str() == "repository")
        || clues.name.nouns().any(|entry| matches!(entry.noun.as_str(), "repository" | "branch" | "commit"))
        || clues.says(&["github repository", "gitlab project", "git repository"])
}
