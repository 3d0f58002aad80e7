//! What a tool does and whether that changes anything: the verb of its name, checked against everything else it says.

use super::clues::Clues;
use super::lexicon::{self, Entry, Kind, Sense, Usage, Verb};
use super::parameters::Program;
use super::phrase::Phrase;
use crate::behavior::{Action, Mutability, OutputDomain};

/// What was decided, and from which verb.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) action: Option<Action>,
    pub(crate) mutability: Option<Mutability>,
    pub(crate) confidence: u8,
    pub(crate) because: String,
    pub(crate) verb: Option<&'static Verb>,
}

/// Texts that say that something is stored where others can find it.
const STORES: &[&str] = &[
    "saves output", "saves the", "saves a", "save the", "saved to", "save to", "saving", "writes the", "writes a", "writes output",
    "write to a", "to disk", "to a file", "to file", "to a local", "local file", "output file", "specified location",
    "specified path", "be saved", "stores the", "are saved", "write authenticated", "creates a file",
];

/// Texts by which a reader admits that it does more than read.
const CHANGES: &[&str] = &[
    "saves output", "will be saved", "are saved to", "is saved to", "saved to the", "writes the result", "marks them as", "mark as read",
    "marks as read", "this tool modifies", "will modify", "modifies the", "switches the", "cannot be undone", "irreversible",
    "saves it to", "to local disk", "starts a job", "starts a crawl job", "will delete", "will be deleted", "will overwrite", "overwrites the", "bytes to a local", "to a local file on the server",
];

/// Texts by which a tool says that it only reads.
const READS_ONLY: &[&str] = &[
    "read-only", "read only", "readonly", "select query", "select queries", "select statement", "only select",
    "does not modify", "does not change", "without modifying", "no side effects",
];

/// Decides the action and the mutability.
pub(crate) fn infer(clues: &Clues) -> Act {
    let named = clues.name.verb.map(|verb| (verb, resolve(verb, &clues.name, clues)));
    let told = clues.lead.verb.map(|verb| (verb, resolve(verb, &clues.lead, clues)));
    let act = match (named, told) {
        (None, _) if clues.parameters.actions && clues.hints.read_only != Some(true) => {
            Act::new(Action::Execute, 60, "no verb in the name; takes a list of actions", None)
        }
        _ if clues.parameters.generic && clues.hints.read_only != Some(true) => {
            Act::new(Action::Execute, 60, "takes a command and its parameters", clues.name.verb)
        }
        (Some((verb, action)), None) => from_name(verb, action),
        (None, Some((verb, action))) if !informs(clues) || surely_writes(verb, action) => from_text(verb, action),
        (None, _) if informs(clues) => Act::new(Action::Read, 66, "named after what it returns", None),
        (None, Some((verb, action))) => from_text(verb, action),
        (Some((verb, action)), Some((second, opinion))) => both(clues, (verb, action), (second, opinion)),
        (None, None) => without_verb(clues),
    };
    against_the_rest(clues, act)
}

/// True for a name without a verb that says what comes back: `cluster_info`, `pods_log`, `providerDetails`.
fn informs(clues: &Clues) -> bool {
    let Some(last) = clues.name.before.iter().chain(&clues.name.objects).next_back() else { return false };
    matches!(last.kind, Kind::Vague | Kind::Measure)
        || matches!(last.noun.as_str(), "log" | "status" | "metric" | "schema" | "document" | "diff" | "tree" | "version" | "usage")
}

fn surely_writes(verb: &Verb, action: Action) -> bool {
    verb.usage == Usage::Verb && !pure(action) && !matches!(verb.sense, Sense::Run)
}

/// True when a verb opens the description.
fn leads(clues: &Clues, verb: &Verb) -> bool {
    lexicon::inflected_verb(clues.lead.words.at(0)).is_some_and(|first| first.word == verb.word)
}

fn from_name(verb: &'static Verb, action: Action) -> Act {
    let confidence = if verb.usage == Usage::Verb { 88 } else { 66 };
    Act::new(action, confidence, format!("verb *{}*", verb.word), Some(verb))
}

fn from_text(verb: &'static Verb, action: Action) -> Act {
    let confidence = if verb.usage == Usage::Verb { 72 } else { 55 };
    Act::new(action, confidence, format!("no verb in the name; description says *{}*", verb.word), Some(verb))
}

/// The name and the first sentence: they agree, or the surer one wins.
fn both(clues: &Clues, (verb, action): (&'static Verb, Action), (second, opinion): (&'static Verb, Action)) -> Act {
    let agree = pure(action) == pure(opinion);
    let because = format!("verb *{}*; description says *{}*", verb.word, second.word);
    let needs_help = verb.usage != Usage::Verb || matches!(verb.sense, Sense::Light | Sense::Manage);
    if agree {
        let confidence = if needs_help { 85 } else { 96 };
        let http = matches!(verb.word, "post" | "patch" | "put") && !matches!(second.sense, Sense::Run | Sense::Execute);
        if http && second.usage == Usage::Verb {
            return Act::new(opinion, confidence, because, Some(second));
        }
        // A vague name and a precise description: the description knows better what is done.
        let precise = matches!(verb.sense, Sense::Light) && second.usage == Usage::Verb;
        return if precise {
            Act::new(opinion, confidence, because, Some(second))
        } else {
            Act::new(action, confidence, because, Some(verb))
        };
    }
    if needs_help && second.usage == Usage::Verb && !clues.says(READS_ONLY) {
        let mut act = Act::new(opinion, 62, because, Some(second));
        // A name that may mean a change is not outvoted by a reading verb somewhere in the sentence.
        if pure(opinion) && !leads(clues, second) && clues.hints.read_only != Some(true) {
            act.mutability = None;
        }
        return act;
    }
    let plainly = matches!(
        second.sense,
        Sense::Create | Sense::Update | Sense::Delete | Sense::Send | Sense::Overwrite | Sense::Append | Sense::Add | Sense::Merge
    );
    if !pure(action) || !plainly || second.usage != Usage::Verb || !leads(clues, second) || clues.says(READS_ONLY) {
        let confidence = if pure(action) { 60 } else { 80 };
        return Act::new(action, confidence, because, Some(verb));
    }
    // A reader by name whose description begins with a change is not believed.
    if verb.sense == Sense::Read && !matches!(second.sense, Sense::Send | Sense::Delete) {
        return Act { mutability: None, ..Act::new(action, 45, because, Some(verb)) };
    }
    Act::new(opinion, 60, because, Some(second))
}

fn without_verb(clues: &Clues) -> Act {
    if clues.parameters.generic {
        return Act::new(Action::Execute, 60, "no verb; takes a command and its parameters", None);
    }
    match clues.hints.read_only {
        Some(true) => Act::new(Action::Read, 60, "no verb; the publisher hints that it only reads", None),
        Some(false) => Act::new(Action::Update, 50, "no verb; the publisher hints that it writes", None),
        None => Act { action: None, mutability: None, confidence: 0, because: "no verb that we know".into(), verb: None },
    }
}

/// What hints, side effects and declared harmlessness make of the first answer.
fn against_the_rest(clues: &Clues, mut act: Act) -> Act {
    let Some(action) = act.action else { return act };
    // A verb from somewhere in the text is a guess; one that is in the name or opens the text is not.
    let placed = |verb: &Verb| clues.name.verb.is_some_and(|own| own.word == verb.word) || leads(clues, verb);
    let strict = act.verb.is_some_and(|verb| (verb.usage == Usage::Verb || verb.fixed || verb.word == "open") && placed(verb));
    if pure(action) {
        if clues.says_plainly(CHANGES) {
            act.action = Some(Action::Create);
            act.mutability = Some(Mutability::Mutates);
            act.confidence = 70;
            act.because.push_str("; but the description says that it changes something");
            return act;
        }
        match clues.hints.read_only {
            Some(false) if !clues.says(READS_ONLY) => {
                act.mutability = Some(Mutability::Mutates);
                act.action = Some(match act.verb {
                    Some(verb) if matches!(verb.word, "scrape" | "crawl") => Action::Execute,
                    Some(verb) if verb.sense == Sense::Compute => Action::Update,
                    _ => action,
                });
                act.confidence = 55;
                act.because.push_str("; but the publisher hints that it writes");
            }
            Some(true) => {
                act.mutability = Some(Mutability::Pure);
                act.confidence = act.confidence.saturating_add(8).min(99);
                act.because.push_str("; hint readOnly");
            }
            _ => {}
        }
        if act.confidence < 50 {
            act.mutability = None;
        }
        return act;
    }
    match clues.hints.read_only {
        Some(true) if !strict && action != Action::Delete => {
            act.action = Some(Action::Read);
            act.mutability = Some(Mutability::Pure);
            act.confidence = 58;
            act.because.push_str("; the verb is no sure one, and the publisher hints that it only reads");
        }
        Some(true) => act.because.push_str("; although the publisher hints that it only reads"),
        Some(false) => act.confidence = act.confidence.saturating_add(6).min(99),
        None => {}
    }
    act
}

/// What a verb comes to with these objects.
fn resolve(verb: &'static Verb, phrase: &Phrase, clues: &Clues) -> Action {
    if let Some(sense) = phrase.either {
        return plain(sense);
    }
    let (head, owner) = phrase.head_and_owner();
    let is = |words: &[&str]| head.is_some_and(|head| words.contains(&head.noun.as_str()));
    let of_domain = |domain: OutputDomain| head.is_some_and(|head| head.domain == domain);
    match verb.sense {
        Sense::Search if runs_a_program(clues) => program(clues),
        Sense::Read if asks(verb, clues) => Action::Search,
        Sense::Create if verb.word == "snapshot" && clues.says(&["accessibility", "of the page", "current page", "a11y"]) => Action::Read,
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
            None => Action::Overwrite,
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
        Sense::Resolve if is(&["library", "page", "location", "ref", "symbol", "dns_record"]) || identifies(phrase) => Action::Read,
        Sense::Resolve => Action::Update,
        Sense::Open if verb.word == "open" && clues.hints.read_only != Some(false) && is(&["node", "entity", "record"]) => Action::Read,
        Sense::Open => open(verb, head),
        Sense::Execute if verb.word == "build" && head.is_some_and(|head| head.kind == Kind::Vague || head.noun.as_str() == "query") => {
            Action::Read
        }
        Sense::Light if verb.word == "take" => Action::Read,
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
            if is(&["manifest", "config", "resource", "file"]) || head.is_none() { Action::Overwrite } else { Action::Update }
        }
        Sense::Send if verb.word == "post" || verb.word == "reply" => {
            let talk = head.is_none() || of_domain(OutputDomain::Message);
            if talk && !is(&["comment"]) { Action::Send } else { Action::Create }
        }
        Sense::Create if clues.lead.either == Some(Sense::Overwrite) && verb.word != "add" => Action::Overwrite,
        Sense::Update if verb.word == "request" && (clues.named("api") || clues.named("http") || clues.parameters.generic) => {
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
        "user", "member", "tag", "label", "instance", "dependency", "assignee", "role", "permission", "policy", "project",
        "group", "list", "task", "volume", "team", "parent", "link", "firewall", "rule",
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
    if tied || matches!(head.words, "sub issue" | "subissue") || phrase.words.has("issues") {
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
    let passing = head.is_some_and(|head| matches!(head.domain, OutputDomain::Data | OutputDomain::Secret | OutputDomain::Diff))
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
    let writes = clues.says(&["insert", "update", "delete", "ddl", "dml", "write", "mutation", "any sql", "transaction"]);
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

fn pure(action: Action) -> bool {
    matches!(action, Action::Read | Action::Search)
}

impl Act {
    fn new(action: Action, confidence: u8, because: impl Into<String>, verb: Option<&'static Verb>) -> Self {
        let mutability = if pure(action) { Mutability::Pure } else { Mutability::Mutates };
        Self { action: Some(action), mutability: Some(mutability), confidence, because: because.into(), verb }
    }
}
