//! What a request does to the resource it names: by method, by the last words of its path, by what its body grants.

use serde_json::Value;
use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::facts::{Danger, Effect};

use super::Request;
use super::address::Address;

/// Last words of paths to which a POST only asks something.
const QUERIES: &[&str] = &[
    "query",
    "queries",
    "search",
    "_search",
    "_msearch",
    "_count",
    "_mget",
    "_field_caps",
    "_analyze",
    "_explain",
    "_validate",
    "_sql",
    "query_range",
    "series",
    "labels",
    "lookup",
    "batchget",
    "validate",
    "preview",
    "_termvectors",
    "_mtermvectors",
    "_rank_eval",
    "estimate",
    "_pit",
    "graphql",
    "select",
    "count",
    "suggest",
    "autocomplete",
    "introspect",
    "eval-preview",
    "template",
    "_simulate",
    "explain",
];

/// Words in paths that say what a POST does.
const WORDS: &[(&str, Action)] = &[
    ("delete", Action::Delete),
    ("remove", Action::Delete),
    ("destroy", Action::Delete),
    ("purge", Action::Delete),
    ("drop", Action::Delete),
    ("wipe", Action::Delete),
    ("truncate", Action::Delete),
    ("clear", Action::Delete),
    ("flush", Action::Delete),
    ("revoke", Action::Delete),
    ("cancel", Action::Update),
    ("update", Action::Update),
    ("rename", Action::Update),
    ("move", Action::Update),
    ("enable", Action::Update),
    ("disable", Action::Update),
    ("close", Action::Update),
    ("reopen", Action::Update),
    ("restart", Action::Update),
    ("start", Action::Update),
    ("stop", Action::Update),
    ("pause", Action::Update),
    ("resume", Action::Update),
    ("rotate", Action::Update),
    ("reindex", Action::Update),
    ("merge", Action::Merge),
    ("import", Action::Overwrite),
    ("restore", Action::Overwrite),
    ("replace", Action::Overwrite),
    ("bulk", Action::Overwrite),
    ("run", Action::Execute),
    ("execute", Action::Execute),
    ("exec", Action::Execute),
    ("invoke", Action::Execute),
    ("trigger", Action::Execute),
    ("dispatch", Action::Execute),
    ("rpc", Action::Execute),
    ("eval", Action::Execute),
    ("shutdown", Action::Execute),
    ("deploy", Action::Execute),
    ("send", Action::Send),
    ("publish", Action::Send),
    ("notify", Action::Send),
    ("email", Action::Send),
    ("invite", Action::Send),
];

/// Parts of paths that name rights.
const RIGHTS: &[&str] = &[
    "role",
    "roles",
    "permission",
    "permissions",
    "admin",
    "admins",
    "acl",
    "policies",
    "tokens",
    "api-keys",
    "apikeys",
    "keys",
    "grants",
    "members",
    "serviceaccounts",
    "service-accounts",
    "password",
    "collaborators",
];

/// The effect of a request; nothing when its method is not known.
pub(super) fn effect(
    method: &str,
    address: &Address,
    request: &Request<'_>,
    body: Option<&Value>,
    line: String,
) -> Option<Effect> {
    let parts: Vec<String> =
        address.path.split('/').filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect();
    let mut effect = match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" | "REPORT" => reads(&parts, line),
        "SEARCH" | "QUERY" => Effect::pure(Action::Search, line),
        "POST" => posts(&parts, request, line),
        "PUT" => Effect::mutating(if grants(&parts, body) { Action::Update } else { Action::Overwrite }, line),
        "PATCH" | "MOVE" | "COPY" | "LOCK" | "UNLOCK" | "PROPPATCH" => Effect::mutating(Action::Update, line),
        "MKCOL" => Effect::mutating(Action::Create, line),
        "DELETE" | "PURGE" => Effect::mutating(Action::Delete, line),
        "CONNECT" => Effect::mutating(Action::Execute, line).with(Danger::Outward),
        _ => return None,
    };
    if effect.mutability == Mutability::Mutates {
        if grants(&parts, body) {
            effect = effect.with(Danger::Privilege);
        }
        if matches!(method, "PUT" | "PATCH" | "DELETE" | "PURGE") && has_no_limit(&parts, address, request) {
            effect = effect.unbounded();
        }
        if parts.iter().any(|part| part.contains('*') || part == "_all" || part.contains("by_query")) {
            effect = effect.unbounded();
        }
    }
    if request.rows && selects_secrets(&address.query) {
        effect = effect.with(Danger::Secret);
    }
    Some(effect)
}

fn reads(parts: &[String], line: String) -> Effect {
    match parts.last().map(String::as_str) {
        // Servers that act on a GET are few and known.
        Some("_shutdown" | "shutdown") => Effect::mutating(Action::Execute, line).unbounded(),
        _ => Effect::pure(Action::Read, line),
    }
}

/// True when the columns of a query hold credentials.
fn selects_secrets(query: &str) -> bool {
    let columns = query.split('&').find_map(|pair| pair.strip_prefix("select=")).unwrap_or_default();
    columns.split([',', '(', ')', ':']).any(|column| {
        let column = column.trim().to_ascii_lowercase();
        ["password", "passwd", "secret", "token", "api_key", "apikey", "private_key"]
            .iter()
            .any(|mark| column.contains(mark))
    })
}

fn posts(parts: &[String], request: &Request<'_>, line: String) -> Effect {
    let last = parts.last().map(String::as_str).unwrap_or_default();
    let verb = last.rsplit(':').next().unwrap_or(last);
    if parts.iter().any(|part| part == "rpc") {
        return Effect::mutating(Action::Execute, line).with(Danger::Code).unbounded();
    }
    // In a table of rows the last word is the name of a table.
    if !request.rows && QUERIES.contains(&verb) {
        return Effect::pure(Action::Read, line);
    }
    let word = |part: &str| {
        let mut words = part.split(|c: char| !c.is_ascii_alphanumeric());
        words.find_map(|word| WORDS.iter().find(|(name, _)| *name == word).map(|(_, action)| *action))
    };
    let action = if request.rows { upserts(request) } else { word(verb) };
    let effect = Effect::mutating(action.unwrap_or(Action::Create), line);
    match action {
        Some(Action::Execute) => effect.with(Danger::Code),
        Some(Action::Send) => effect.with(Danger::Outward),
        Some(Action::Delete) if last.starts_with('_') => effect.unbounded(),
        _ => effect,
    }
}

/// PostgREST replaces rows when a header says so.
fn upserts(request: &Request<'_>) -> Option<Action> {
    let merges = |value: &Value| value.as_str().is_some_and(|text| text.contains("merge-duplicates"));
    let headers = request.headers.and_then(Value::as_object);
    let header = headers.is_some_and(|headers| headers.values().take(64).any(merges));
    (header || request.address.contains("on_conflict")).then_some(Action::Overwrite)
}

/// True when a path names a whole collection and nothing narrows it.
fn has_no_limit(parts: &[String], address: &Address, request: &Request<'_>) -> bool {
    let narrows = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let formal = matches!(
            name,
            "select" | "columns" | "order" | "pretty" | "format" | "apikey" | "on_conflict" | "force" | "cascade" | ""
        );
        !formal && !matches_everything(value)
    };
    if address.query.split('&').any(narrows) {
        return false;
    }
    let prefix = |part: &&String| {
        matches!(part.as_str(), "api" | "rest" | "public")
            || (part.starts_with('v') && part.len() <= 3 && part.chars().skip(1).all(|c| c.is_ascii_digit()))
    };
    let named = parts.iter().skip_while(prefix).count();
    named <= 1 || (request.rows && named <= 2)
}

/// Filters of PostgREST that let everything through.
fn matches_everything(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    value.starts_with("neq.")
        || value.starts_with("not.")
        || matches!(value.as_str(), "gt.0" | "gte.0" | "gt.-1" | "gte.1" | "like.*" | "ilike.*" | "like.%" | "ilike.%")
}

/// True when the path or the body is about rights.
fn grants(parts: &[String], body: Option<&Value>) -> bool {
    let path = parts.iter().any(|part| RIGHTS.contains(&part.as_str()));
    path || body.is_some_and(|body| raises(body, 4))
}

/// True when a body makes somebody an administrator.
fn raises(body: &Value, depth: u8) -> bool {
    let mighty = |text: &str| {
        matches!(
            text.to_ascii_lowercase().as_str(),
            "admin" | "administrator" | "owner" | "root" | "superuser" | "superadmin" | "editor"
        )
    };
    match body {
        Value::Object(fields) => fields.iter().take(256).any(|(name, value)| {
            let name = name.to_ascii_lowercase();
            let about = name.contains("role")
                || name.contains("permission")
                || name.contains("admin")
                || name == "scope"
                || name == "scopes";
            let raised = match value {
                Value::String(text) => mighty(text),
                Value::Bool(flag) => *flag && name.contains("admin"),
                Value::Array(items) => items.iter().take(64).filter_map(Value::as_str).any(mighty),
                _ => false,
            };
            (about && raised) || (depth > 0 && (value.is_object() || value.is_array()) && raises(value, depth - 1))
        }),
        Value::Array(items) => depth > 0 && items.iter().take(64).any(|item| raises(item, depth - 1)),
        _ => false,
    }
}
