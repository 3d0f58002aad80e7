//! `schema-invalid`, `schema-missing`, `remote-ref`: the structure of both schemas, keyword by keyword, in words; what
//! only a compiler can tell is left to the one that checks calls.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};
use toolmark_core::definition::Reading;
use toolmark_core::explain::Explain as _;
use toolmark_core::json::Json;
use toolmark_core::schema::check::InputSchema;
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

use crate::finding::Finding;
use crate::most::Most;
use crate::rule::RuleId;
use crate::subject::{Subject, quoted};
use crate::walk::Path;

const TYPES: &[&str] = &["null", "boolean", "object", "array", "number", "string", "integer"];
/// Keywords whose value is a schema.
const SCHEMA: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is an object of schemas by name.
const NAMED: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Keywords whose value is a list of schemas.
const LISTED: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a text.
const TEXT: &[&str] = &["$comment", "$id", "$schema", "description", "format", "pattern", "title"];
/// Keywords that count.
const COUNT: &[&str] = &["maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"];
/// Keywords that measure.
const NUMBER: &[&str] = &["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"];
/// Lower and upper bounds.
const BOUNDS: &[(&str, &str)] =
    &[("minimum", "maximum"), ("minItems", "maxItems"), ("minLength", "maxLength"), ("minProperties", "maxProperties")];

/// A definition of so many bytes may exceed a limit of the checker.
const LARGE: usize = 60_000;

/// What is wrong with the schemas of one tool.
#[derive(Default)]
struct Found {
    /// Where, and what.
    problems: Most<(String, String)>,
    /// Where, and what it refers to.
    remote: Most<(String, String)>,
}

/// One schema while it is looked at.
struct Check<'s, 'a, 'f> {
    root: &'s Json<'a>,
    found: &'f mut Found,
    /// The names that parts of the schema give themselves.
    own: HashSet<&'s str>,
    /// References that lead somewhere.
    sound: HashSet<String>,
}

pub(crate) fn look(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    let name = quoted(subject.tool.canonical().as_str());
    if reading.written_schema().is_none() {
        findings.push(
            Finding::new(RuleId::SchemaMissing, Severity::Medium, format!("{name} has no input schema"))
                .about([subject.tool]),
        );
    }
    let mut found = Found::default();
    for field in ["inputSchema", "outputSchema"] {
        let Some(schema) = reading.get(field) else { continue };
        let mut check = Check { root: schema, found: &mut found, own: HashSet::new(), sound: HashSet::new() };
        check.collect_own(schema);
        let path = Path::of(field);
        if field == "inputSchema" {
            check.root_type(schema, &path);
        }
        check.schema(schema, &path);
    }
    if found.problems.count() == 0 && found.remote.count() == 0 {
        unusable(subject, reading, findings);
    }
    if let Some((severity, (place, what))) = found.problems.worst() {
        let more = found.problems.and_more();
        let all = found.problems.iter();
        let all = all.map(|(severity, (at, what))| json!({"at": at, "severity": severity, "problem": what}));
        findings.push(
            Finding::new(RuleId::SchemaInvalid, *severity, format!("{} of {name} {what}{more}", quoted(place)))
                .about([subject.tool])
                .with("count", found.problems.count())
                .with("problems", all.collect::<Value>()),
        );
    }
    if let Some((severity, (place, reference))) = found.remote.worst() {
        let more = found.remote.and_more();
        let all = found.remote.iter().map(|(_, (at, reference))| json!({"at": at, "ref": reference}));
        findings.push(
            Finding::new(
                RuleId::RemoteRef,
                *severity,
                format!("{} of {name} refers to {}, outside of the schema{more}", quoted(place), quoted(reference)),
            )
            .about([subject.tool])
            .with("references", all.collect::<Value>()),
        );
    }
}

/// Compiles a schema that looks sound, where looking does not say enough: expressions, references and sheer size.
fn unusable(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    let raw = subject.tool.definition().raw_json();
    if raw.len() < LARGE && !raw.contains("\"pattern") && !raw.contains("\"$ref\"") && !raw.contains("\"$dynamicRef\"")
    {
        return;
    }
    let Err(error) = InputSchema::compile(&reading.input_schema().to_value()) else { return };
    let name = quoted(subject.tool.canonical().as_str());
    findings.push(
        Finding::new(
            RuleId::SchemaInvalid,
            Severity::High,
            format!("the input schema of {name} cannot be used: {error}"),
        )
        .about([subject.tool])
        .helped_by(error.fix())
        .key(error.code().as_str())
        .with("code", error.code().as_str())
        .with("why", error.why()),
    );
}

/// What a reference inside of `root` refers to.
pub(crate) fn local<'s, 'a>(root: &'s Json<'a>, reference: &str) -> Option<&'s Json<'a>> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(root, |at, step| {
        let step = unescape(step);
        match at {
            Json::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => at.get(&step),
        }
    })
}

fn unescape(step: &str) -> Cow<'_, str> {
    if step.contains(['~', '%']) {
        step.replace("%24", "$").replace("%20", " ").replace("~1", "/").replace("~0", "~").into()
    } else {
        step.into()
    }
}

impl<'s, 'a> Check<'s, 'a, '_> {
    fn note(&mut self, severity: Severity, path: &Path<'_>, what: impl Into<String>) {
        self.found.problems.push(severity, || (path.to_string(), what.into()));
    }

    fn collect_own(&mut self, schema: &'s Json<'a>) {
        match schema {
            Json::Object(entries) => {
                for (key, value) in entries {
                    if matches!(key.as_ref(), "$id" | "id" | "$anchor" | "$dynamicAnchor") {
                        self.own.extend(value.as_str());
                    }
                    self.collect_own(value);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.collect_own(item)),
            _ => {}
        }
    }

    fn root_type(&mut self, schema: &Json<'_>, path: &Path<'_>) {
        match schema.get("type") {
            Some(Json::String(name)) if name == "object" => {}
            Some(Json::String(name)) if TYPES.contains(&name.as_ref()) => {
                self.note(
                    Severity::High,
                    path,
                    format!("has the type {}; arguments are always an object", quoted(name)),
                );
            }
            None if schema.get("$ref").is_none() && schema.entries().is_some_and(|entries| !entries.is_empty()) => {
                self.note(Severity::Low, path, "has no `\"type\": \"object\"`, which the protocol asks for");
            }
            _ => {}
        }
    }

    fn schema(&mut self, schema: &Json<'a>, path: &Path<'_>) {
        let entries = match schema {
            Json::Object(entries) => entries,
            Json::Bool(_) => return,
            other => {
                return self.note(
                    Severity::Medium,
                    path,
                    format!("is {} where a schema belongs", article(other.type_name())),
                );
            }
        };
        for (key, value) in entries {
            let name = key.as_ref();
            let here = path.key(name);
            if SCHEMA.contains(&name) {
                self.schema(value, &here);
            } else if NAMED.contains(&name) {
                match value.entries() {
                    Some(all) => all.iter().for_each(|(key, schema)| self.schema(schema, &here.key(key))),
                    None => self.wrong(value, &here, "an object"),
                }
            } else if LISTED.contains(&name) {
                self.list(value, &here);
            } else if name == "items" {
                match value.items() {
                    Some(items) => items.iter().enumerate().for_each(|(at, item)| self.schema(item, &here.index(at))),
                    None => self.schema(value, &here),
                }
            } else if TEXT.contains(&name) && value.as_str().is_none() {
                self.wrong(value, &here, "a string");
            } else if (COUNT.contains(&name) && count(value).is_none())
                || (NUMBER.contains(&name) && !is_bound(name, value))
            {
                self.wrong(value, &here, if COUNT.contains(&name) { "a whole number from zero" } else { "a number" });
            } else {
                match name {
                    "type" => self.types(value, &here),
                    "required" => self.required(value, schema, &here),
                    "enum" => self.values(value, schema, &here),
                    "$ref" | "$dynamicRef" => self.reference(value, &here),
                    _ => {}
                }
            }
        }
        self.bounds(schema, path);
    }

    fn wrong(&mut self, value: &Json<'_>, path: &Path<'_>, expected: &str) {
        self.note(Severity::Medium, path, format!("must be {expected}, not {}", article(value.type_name())));
    }

    fn list(&mut self, value: &Json<'a>, path: &Path<'_>) {
        match value.items() {
            None => self.wrong(value, path, "an array of schemas"),
            Some([]) => self.note(Severity::Medium, path, "is empty, so that nothing can be valid"),
            Some(items) => items.iter().enumerate().for_each(|(at, item)| self.schema(item, &path.index(at))),
        }
    }

    fn types(&mut self, value: &Json<'_>, path: &Path<'_>) {
        let names = match value {
            Json::String(_) => std::slice::from_ref(value),
            Json::Array(names) if !names.is_empty() => names.as_slice(),
            _ => return self.wrong(value, path, "a type or a list of types"),
        };
        for name in names {
            match name.as_str() {
                Some(name) if TYPES.contains(&name) => {}
                Some(name) => {
                    let meant = meant(name).map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
                    self.note(Severity::Medium, path, format!("is {}, which is no type{meant}", quoted(name)));
                }
                None => self.wrong(name, path, "a string"),
            }
        }
    }

    fn required(&mut self, value: &Json<'_>, schema: &Json<'_>, path: &Path<'_>) {
        let Some(names) = value.items() else {
            return self.note(
                Severity::Medium,
                path,
                "must be a list of names on the object; on the parameter itself it says nothing",
            );
        };
        let Some(properties) = schema.get("properties").and_then(Json::entries) else { return };
        let open = ["patternProperties", "$ref", "allOf", "anyOf", "oneOf"].iter().any(|key| schema.get(key).is_some());
        let closed = schema.get("additionalProperties").and_then(Json::as_bool) == Some(false);
        let known: HashSet<&str> = properties.iter().map(|(key, _)| key.as_ref()).collect();
        for name in names {
            match name.as_str() {
                None => self.wrong(name, path, "a list of names"),
                Some(name) if !open && !known.contains(name) => {
                    let (severity, so) = if closed {
                        (Severity::Medium, ", and no other is allowed: no call can be valid")
                    } else {
                        (Severity::Low, "")
                    };
                    self.note(
                        severity,
                        path,
                        format!("asks for {}, which is not among the parameters{so}", quoted(name)),
                    );
                }
                Some(_) => {}
            }
        }
    }

    fn values(&mut self, value: &Json<'_>, schema: &Json<'_>, path: &Path<'_>) {
        match value.items() {
            None => self.wrong(value, path, "an array of values"),
            Some([]) => self.note(Severity::Medium, path, "is empty, so that nothing can be valid"),
            Some(values) => {
                let Some(name) = schema.get("type").and_then(Json::as_str).filter(|name| TYPES.contains(name)) else {
                    return;
                };
                let fits = |value: &Json<'_>| {
                    value.type_name() == name || (name == "integer" && value.type_name() == "number")
                };
                if !values.iter().any(fits) {
                    self.note(
                        Severity::Medium,
                        path,
                        format!("has no value of the type {}: nothing can be valid", quoted(name)),
                    );
                }
            }
        }
    }

    fn reference(&mut self, value: &Json<'_>, path: &Path<'_>) {
        let Some(reference) = value.as_str() else { return self.wrong(value, path, "a string") };
        if self.sound.contains(reference) {
            return;
        }
        if let Some(anchor) = reference.strip_prefix('#') {
            let leads =
                local(self.root, reference).is_some() || self.own.contains(anchor) || self.own.contains(reference);
            if leads {
                self.sound.insert(reference.to_owned());
            } else {
                self.note(Severity::Medium, path, format!("refers to {}, which is not there", quoted(reference)));
            }
        } else {
            let document = reference.split('#').next().unwrap_or_default();
            if !self.own.iter().any(|own| own.trim_end_matches('#') == document) {
                self.found.remote.push(Severity::High, || (path.to_string(), visible(reference, 200)));
            }
        }
    }

    fn bounds(&mut self, schema: &Json<'_>, path: &Path<'_>) {
        for (low, high) in BOUNDS {
            let number = |key: &str| schema.get(key).and_then(number);
            if let (Some(least), Some(most)) = (number(low), number(high))
                && least > most
            {
                self.note(Severity::Medium, path, format!("has a `{low}` above its `{high}`: nothing can be valid"));
            }
        }
    }
}

fn number(value: &Json<'_>) -> Option<f64> {
    match value {
        Json::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn count(value: &Json<'_>) -> Option<f64> {
    number(value).filter(|number| *number >= 0.0 && number.fract() == 0.0)
}

/// `exclusiveMinimum: true` is the old form, and still understood.
fn is_bound(name: &str, value: &Json<'_>) -> bool {
    number(value).is_some() || (name.starts_with("exclusive") && value.as_bool().is_some())
}

fn article(type_name: &str) -> String {
    match type_name {
        "null" => "null".into(),
        "array" | "object" => format!("an {type_name}"),
        _ => format!("a {type_name}"),
    }
}

/// The type that a common misspelling means.
fn meant(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "str" | "text" | "char" | "date" | "datetime" | "uuid" | "url" | "file" | "enum" => "string",
        "int" | "long" | "int32" | "int64" => "integer",
        "float" | "double" | "decimal" => "number",
        "bool" => "boolean",
        "list" | "tuple" | "set" => "array",
        "dict" | "map" | "record" => "object",
        "none" | "nil" | "undefined" => "null",
        other => TYPES.iter().copied().find(|known| *known == other)?,
    })
}
