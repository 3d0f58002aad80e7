//! What the parameters of a tool tell: where it would store something, what program it takes, what it identifies.

use super::lexicon::{self, Entry};
use super::words::Words;
use crate::behavior::OutputDomain;
use crate::json::Json;

/// The parameters, in groups that matter for behavior.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) count: usize,
    /// Says where to store something: `output_path`, `saveDir`.
    pub(crate) store: bool,
    /// Carries a program: `sql`, `command`, `script`.
    pub(crate) program: Option<Program>,
    /// Chooses by words: `query`, `pattern`.
    pub(crate) search: bool,
    /// Selects by a query or a filter of any kind.
    pub(crate) chooses: bool,
    /// Must be given words to choose by.
    pub(crate) asked: bool,
    /// Names a file of the machine: `path`, `filename`.
    pub(crate) file: bool,
    /// Identifies by number, as services do: `boardId`, `base_id`.
    pub(crate) ids: bool,
    /// Pages through results: `limit`, `cursor`.
    pub(crate) paging: bool,
    /// Carries something to write: `body`, `content`, `value`.
    pub(crate) payload: Option<Payload>,
    /// Things that are identified: `issue_number`, `pageId`. Required ones first.
    pub(crate) owners: Vec<&'static Entry>,
    /// Two numbers called `a` and `b`.
    pub(crate) operands: bool,
    /// A generic request: `command` with `parameters`, `method` with `path`.
    pub(crate) generic: bool,
    /// A list of things to do: `actions`.
    pub(crate) actions: bool,
    /// Verbs in the texts of the parameters, such as "the key to delete".
    pub(crate) purposes: Vec<&'static lexicon::Verb>,
    /// Recipients: `to`, `recipients`, `channel`.
    pub(crate) recipient: bool,
}

/// What kind of program a parameter carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// A query language.
    Query,
    /// A shell command.
    Command,
    /// Source code.
    Code,
}

/// What kind of payload a parameter carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Words.
    Text,
    /// Records.
    Structured,
}

const STORING: &[&str] = &["output", "save", "dest", "destination", "download", "local", "export", "out", "target"];
const PLACES: &[&str] = &["path", "dir", "directory", "file", "folder", "filename", "filepath", "location"];
const FILES: &[&str] = &["path", "filepath", "filename", "fileabsolutepath", "notepath"];
const PAGING: &[&str] = &[
    "page",
    "limit",
    "offset",
    "cursor",
    "perpage",
    "pagesize",
    "maxresults",
    "nexttoken",
    "pagetoken",
    "maxitems",
    "skip",
    "top",
    "after",
    "startcursor",
    "sort",
    "orderby",
    "sortby",
    "fields",
];
const SEARCHING: &[&str] = &["query", "q", "search", "pattern", "keyword", "keywords", "searchterm", "regex", "term"];
const TEXTS: &[&str] = &[
    "body",
    "content",
    "text",
    "message",
    "comment",
    "markdown",
    "html",
    "contents",
    "newcontent",
    "value",
    "data",
    "htmlbody",
    "notes",
    "title",
    "newname",
    "description",
];
const RECORDS: &[&str] = &[
    "documents",
    "records",
    "entities",
    "relations",
    "items",
    "rows",
    "values",
    "properties",
    "children",
    "fields",
    "config",
    "update",
    "updates",
    "labels",
    "assignees",
    "edits",
    "operations",
    "objects",
    "attributes",
    "settings",
];
const RECIPIENTS: &[&str] =
    &["to", "recipient", "recipients", "channel", "channelid", "chatid", "tonumber", "topicarn"];

impl Parameters {
    /// Reads the properties of an input schema; what is said about them only when nothing else may be looked at.
    pub(crate) fn of(schema: &Json<'_>, texts: bool) -> Self {
        let mut found = Self::default();
        let properties = schema.get("properties").and_then(Json::entries).unwrap_or_default();
        let required = schema.get("required").and_then(Json::items).unwrap_or_default();
        let is_required = |name: &str| required.iter().any(|item| item.as_str() == Some(name));
        found.count = properties.len();
        let mut optional_owners = Vec::new();
        let mut has = [false; 6];
        for (name, property) in properties.iter().take(64) {
            let words = Words::of_name(name);
            let joined: String = words.iter().collect();
            let joined = joined.as_str();
            found.store |= stores(&words);
            found.paging |= PAGING.contains(&joined);
            found.recipient |= RECIPIENTS.contains(&joined);
            found.search |= SEARCHING.contains(&joined);
            found.chooses |= [
                "query",
                "filter",
                "where",
                "expr",
                "search",
                "pattern",
                "prompt",
                "question",
                "text",
                "vector",
                "sql",
                "statement",
            ]
            .iter()
            .any(|word| joined.contains(word));
            found.asked |= is_required(name) && (SEARCHING.contains(&joined) || joined == "userquery");
            found.ids |= words.len() > 1
                && matches!(words.at(words.len() - 1), "id" | "gid" | "sid")
                && joined != "connectionid";
            found.actions |= matches!(joined, "actions" | "operations" | "steps");
            found.file |= FILES.contains(&joined);
            found.program = found.program.or(program(joined));
            found.payload = found.payload.or(payload(joined));
            if texts {
                found.purposes.extend(property.get("description").and_then(Json::as_str).and_then(purpose));
            }
            if let Some(owner) = owner(&words) {
                if is_required(name) { found.owners.push(owner) } else { optional_owners.push(owner) }
            }
            for (seen, name) in has.iter_mut().zip(["a", "b", "command", "parameters", "method", "path"]) {
                *seen |= joined == name;
            }
        }
        found.owners.extend(optional_owners);
        let [a, b, command, parameters, method, path] = has;
        found.operands = a && b && found.count <= 3;
        found.generic = (command && parameters) || (method && path);
        found
    }
}

fn stores(words: &Words) -> bool {
    let place = words.iter().any(|word| PLACES.contains(&word));
    let storing = words.iter().any(|word| STORING.contains(&word));
    place && storing || matches!(words.run(0, words.len()), "savepath" | "outputpath" | "outputdir" | "localpath")
}

fn program(joined: &str) -> Option<Program> {
    match joined {
        "sql" | "cypher" | "statement" | "gremlin" | "graphql" | "sqlquery" | "pipeline" => Some(Program::Query),
        "command" | "cmd" | "shellcommand" | "commands" => Some(Program::Command),
        "script" | "code" | "expression" | "function" | "javascript" | "python" => Some(Program::Code),
        _ => None,
    }
}

fn payload(joined: &str) -> Option<Payload> {
    if RECORDS.contains(&joined) { Some(Payload::Structured) } else { TEXTS.contains(&joined).then_some(Payload::Text) }
}

/// `issue_number`, `pageId`, `cluster_name`: a noun with a word that identifies.
fn owner(words: &Words) -> Option<&'static Entry> {
    const IDENTIFYING: &[&str] =
        &["id", "ids", "number", "key", "name", "slug", "uid", "uuid", "iid", "arn", "url", "sid", "gid", "path"];
    let last = words.len().checked_sub(1)?;
    if !IDENTIFYING.contains(&words.at(last)) {
        return (words.len() == 1).then(|| lexicon::noun(words.at(0)))?.filter(identified);
    }
    // GitHub numbers its pull requests as `pull_number`.
    if last == 1 && matches!(words.at(0), "pull" | "pr") {
        return lexicon::noun("pull request");
    }
    let noun = |from: usize| lexicon::noun(words.run(from, last - from));
    (0..last).find_map(noun).filter(identified)
}

/// Not what only says where to look: every call on GitHub has an owner, every call on AWS a region.
fn identified(entry: &&'static Entry) -> bool {
    const WHERE: &[&str] =
        &["owner", "region", "language", "time", "date", "type", "page", "format", "version", "size", "limit"];
    entry.domain != OutputDomain::Secret
        && entry.kind != lexicon::Kind::Part
        && entry.kind != lexicon::Kind::Measure
        && !WHERE.contains(&entry.words)
}

/// The verb in "the key to delete".
fn purpose(text: &str) -> Option<&'static lexicon::Verb> {
    let words = Words::of_text(text, 16);
    let to = (0..words.len()).find(|at| words.at(*at) == "to")?;
    lexicon::verb(words.at(to + 1)).filter(|verb| verb.usage == lexicon::Usage::Verb)
}
