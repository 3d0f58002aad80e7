//! `schema-unbounded`: places where validation says nothing, and strings that carry a whole program.

use serde_json::{Value, json};
use toolmark_core::definition::Reading;
use toolmark_core::json::Json;
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::most::Most;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};
use crate::walk::Path;

/// Parameters that carry a program by their name alone.
const PROGRAMS: &[&str] = &[
    "sql",
    "cypher",
    "command",
    "cmd",
    "script",
    "code",
    "javascript",
    "python",
    "shell",
    "bash",
    "graphql",
    "promql",
    "kql",
    "expression",
    "jq",
    "pipeline",
];
/// What a query is written in when it is a program.
const LANGUAGES: &[&str] =
    &["sql", "graphql", "cypher", "promql", "kql", "sparql", "gremlin", "xpath", "jsonpath", "soql", "esql"];
/// Keywords that say something about a value.
const SAYING: &[&str] =
    &["type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "properties", "items"];

/// A place where validation says nothing.
struct Open {
    at: String,
    kind: &'static str,
}

pub(crate) fn look(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    let Some(schema) = reading.get("inputSchema") else { return };
    let mut open = Most::default();
    let path = Path::of("inputSchema");
    if accepts_anything(schema) {
        open.push(Severity::Low, || Open { at: path.to_string(), kind: "accepts any arguments" });
    }
    inside(schema, &path, &mut open);
    let Some((severity, _)) = open.worst() else { return };
    let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
    for (_, one) in open.iter() {
        match kinds.iter_mut().find(|(kind, _)| *kind == one.kind) {
            Some((_, places)) => places.push(&one.at),
            None => kinds.push((one.kind, vec![&one.at])),
        }
    }
    let parts: Vec<String> = kinds.into_iter().map(|(kind, places)| format!("{} {kind}", listed(places, 3))).collect();
    findings.push(
        Finding::new(
            RuleId::SchemaUnbounded,
            *severity,
            format!("{}: {}", quoted(subject.tool.canonical().as_str()), parts.join("; ")),
        )
        .about([subject.tool])
        .with("count", open.count())
        .with("places", open.iter().map(|(_, one)| json!({"at": one.at, "kind": one.kind})).collect::<Value>()),
    );
}

/// True when the root says explicitly, or by saying nothing at all, that any object is welcome.
fn accepts_anything(schema: &Json<'_>) -> bool {
    let Some(entries) = schema.entries() else { return schema.as_bool() == Some(true) };
    let empty = schema.get("properties").and_then(Json::entries).is_none_or(<[_]>::is_empty);
    let says = SAYING.iter().any(|key| !matches!(*key, "type" | "properties") && schema.get(key).is_some());
    let open = schema.get("additionalProperties").and_then(Json::as_bool) == Some(true);
    let closed =
        entries.iter().any(|(key, _)| matches!(key.as_ref(), "additionalProperties" | "patternProperties")) && !open;
    empty && !says && !closed && (open || schema.get("type").is_none())
}

fn inside(schema: &Json<'_>, path: &Path<'_>, open: &mut Most<Open>) {
    for key in ["properties", "$defs", "definitions"] {
        let here = path.key(key);
        for (name, property) in schema.get(key).and_then(Json::entries).unwrap_or_default() {
            value(name, property, &here.key(name), open);
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        let here = path.key(key);
        for (at, part) in schema.get(key).and_then(Json::items).unwrap_or_default().iter().enumerate() {
            inside(part, &here.index(at), open);
        }
    }
    if let Some(items) = schema.get("items").filter(|items| items.entries().is_some()) {
        value("", items, &path.key("items"), open);
    }
}

fn value(name: &str, schema: &Json<'_>, path: &Path<'_>, open: &mut Most<Open>) {
    let mut note = |kind| open.push(Severity::Info, || Open { at: path.to_string(), kind });
    let is = |wanted: &str| schema.get("type").and_then(Json::as_str) == Some(wanted);
    let has = |key: &str| schema.get(key).is_some();
    if !SAYING.iter().any(|key| has(key)) {
        note("accepts anything");
    } else if is("object")
        && schema.get("properties").and_then(Json::entries).is_none_or(<[_]>::is_empty)
        && !["patternProperties", "anyOf", "oneOf", "allOf", "$ref", "propertyNames"].iter().any(|key| has(key))
        && schema
            .get("additionalProperties")
            .is_none_or(|more| more.as_bool() == Some(true) || more.entries().is_some_and(<[_]>::is_empty))
    {
        note("accepts any object");
    } else if is("string")
        && !["enum", "maxLength", "pattern", "format", "const"].iter().any(|key| has(key))
        && is_program(name, schema)
    {
        note("takes a program of any length");
    }
    inside(schema, path, open);
}

fn is_program(name: &str, schema: &Json<'_>) -> bool {
    let words = crate::verbs::words(name);
    let Some(last) = words.last().map(String::as_str) else { return false };
    let described = schema.get("description").and_then(Json::as_str).unwrap_or_default();
    let mentions = || {
        let languages = crate::verbs::words(described);
        languages.iter().any(|word| LANGUAGES.contains(&word.as_str()))
    };
    match last {
        // A code is as often a number as a program.
        "code" | "command" | "script" | "expression" | "pipeline" => words.len() == 1,
        "query" | "statement" | "filter" => mentions(),
        other => PROGRAMS.contains(&other),
    }
}
