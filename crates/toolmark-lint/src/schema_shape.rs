//! What a schema accepts, without the words around it. To be replaced by `toolmark_core::schema::shape`.
//!
//! Left out are the keywords that accept or refuse nothing (titles, descriptions, defaults, examples, anything unknown) and what
//! says nothing (`"required": []`, `"additionalProperties": true`). The order of names, types and values does not count.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};
use toolmark_core::canonical;
use toolmark_core::json::Json;

/// Two schemas that share it accept the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Shape([u8; 32]);

/// Keywords whose value is a schema.
const SCHEMA: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
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
/// Other keywords that decide what is accepted.
const DECIDING: &[&str] = &[
    "$dynamicRef",
    "$ref",
    "const",
    "dependencies",
    "dependentRequired",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "required",
    "type",
    "uniqueItems",
];

impl Shape {
    pub(crate) fn of(schema: &Json<'_>) -> Self {
        let mut text = Vec::new();
        canonical::write(&bare(schema), &mut text);
        Self(Sha256::digest(&text).into())
    }

    /// Enough to recognise it.
    pub(crate) fn short(&self) -> String {
        self.0.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The schema without its words.
fn bare<'a>(schema: &Json<'a>) -> Json<'a> {
    let Json::Object(entries) = schema else { return schema.clone() };
    let mut kept = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let name = key.as_ref();
        let value = if NAMED.contains(&name) {
            by_name(value)
        } else if SCHEMA.contains(&name) {
            Some(bare(value)).filter(|bare| !accepts_all(bare) || matches!(name, "not" | "if" | "contains"))
        } else if LISTED.contains(&name) {
            Some(list(value))
        } else if name == "items" {
            Some(if value.items().is_some() { list(value) } else { bare(value) }).filter(|bare| !accepts_all(bare))
        } else if matches!(name, "required" | "enum" | "type") {
            as_set(value)
        } else if DECIDING.contains(&name) {
            Some(value.clone())
        } else {
            None
        };
        if let Some(value) = value {
            kept.push((key.clone(), value));
        }
    }
    Json::Object(kept)
}

fn accepts_all(schema: &Json<'_>) -> bool {
    schema.as_bool() == Some(true) || schema.entries().is_some_and(<[_]>::is_empty)
}

fn by_name<'a>(value: &Json<'a>) -> Option<Json<'a>> {
    let entries = value.entries()?;
    let kept: Vec<(Cow<'a, str>, Json<'a>)> =
        entries.iter().map(|(name, schema)| (name.clone(), bare(schema))).collect();
    (!kept.is_empty()).then_some(Json::Object(kept))
}

fn list<'a>(value: &Json<'a>) -> Json<'a> {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}

/// A list whose order does not count. One type alone is written as that type; an empty list says nothing.
fn as_set<'a>(value: &Json<'a>) -> Option<Json<'a>> {
    let Json::Array(items) = value else { return Some(value.clone()) };
    let mut sorted: Vec<(String, &Json<'a>)> = items.iter().map(|item| (canonical::to_canonical(item), item)).collect();
    sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
    sorted.dedup_by(|(one, _), (other, _)| one == other);
    match sorted.as_slice() {
        [] => None,
        [(_, only @ Json::String(_))] => Some((*only).clone()),
        _ => Some(Json::Array(sorted.into_iter().map(|(_, item)| item.clone()).collect())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn same(one: serde_json::Value, other: serde_json::Value) -> bool {
        let [one, other] = [one, other].map(|schema| Shape::of(&Json::from(&schema)));
        one == other
    }

    #[test]
    fn words_and_order_make_no_difference() {
        assert!(same(
            json!({"type": "object", "title": "A", "properties": {"id": {"type": "string", "description": "x", "default": "1"}, "n": {"type": ["null", "integer"]}}, "required": ["id", "n"], "$schema": "s"}),
            json!({"properties": {"n": {"type": ["integer", "null"]}, "id": {"type": "string"}}, "required": ["n", "id"], "type": "object", "additionalProperties": true}),
        ));
        assert!(same(json!({"type": "object", "properties": {}, "required": []}), json!({"type": "object"})));
    }

    #[test]
    fn a_parameter_called_description_is_a_parameter() {
        assert!(!same(
            json!({"type": "object", "properties": {"description": {"type": "string"}}}),
            json!({"type": "object", "properties": {}}),
        ));
    }

    #[test]
    fn what_is_accepted_makes_a_difference() {
        let base = json!({"type": "object", "properties": {"id": {"type": "string"}}});
        for other in [
            json!({"type": "object", "properties": {"id": {"type": "integer"}}}),
            json!({"type": "object", "properties": {"ID": {"type": "string"}}}),
            json!({"type": "object", "properties": {"id": {"type": "string", "enum": ["a"]}}}),
            json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}),
            json!({"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"id": {"type": "string", "not": {}}}}),
        ] {
            assert!(!same(base.clone(), other.clone()), "{other}");
        }
    }
}
