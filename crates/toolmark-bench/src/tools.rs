//! The tools of the server: two that do something, and as many ordinary ones as are wanted.

use serde_json::{Value, json};

const VERBS: [&str; 8] = ["list", "get", "create", "update", "search", "export", "assign", "delete"];
const NOUNS: [&str; 8] = ["issues", "documents", "invoices", "tickets", "events", "contacts", "releases", "messages"];

/// `count` tools as the text of a JSON array, their names after `prefix`.
pub(crate) fn list(prefix: &str, count: usize) -> String {
    let echo = json!({
        "name": format!("{prefix}echo"),
        "description": "Return the text unchanged.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": true},
    });
    let blob = json!({
        "name": format!("{prefix}blob"),
        "description": "Return a text of `bytes` bytes.",
        "inputSchema": {
            "type": "object",
            "properties": {"bytes": {"type": "integer", "minimum": 0, "maximum": 10_000_000}},
            "required": ["bytes"],
        },
        "annotations": {"readOnlyHint": true},
    });
    let ordinary = (0..).map(|number| ordinary(prefix, number));
    let all: Vec<Value> = [echo, blob].into_iter().chain(ordinary).take(count).collect();
    Value::Array(all).to_string()
}

/// A tool of the usual size: about 700 bytes.
fn ordinary(prefix: &str, number: usize) -> Value {
    let pick = |words: &[&'static str; 8], at: usize| words.get(at % words.len()).copied().unwrap_or_default();
    let (verb, noun) = (pick(&VERBS, number), pick(&NOUNS, number / VERBS.len()));
    let round = number / (VERBS.len() * NOUNS.len());
    json!({
        "name": format!("{prefix}{verb}_{noun}_{round}"),
        "title": format!("{verb} {noun}"),
        "description": format!(
            "Works on {noun} of a project: {verb}. At most `limit` of them, the newest first, with a cursor where there are more."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "project": {"type": "string", "description": "The key of the project, such as OPS"},
                "filter": {"type": "string", "description": "Which ones"},
                "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                "labels": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["project"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": matches!(verb, "list" | "get" | "search" | "export"), "openWorldHint": false},
    })
}
