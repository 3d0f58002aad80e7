//! Keywords that cannot be compared where they stand: those that dialects read differently, and those that look at the whole.

use serde_json::{Map, Value};

use crate::schema::keywords::{Holds, holds};
use crate::schema::refs;

/// Levels that are looked through; what lies deeper counts as found.
const DEPTH: usize = 100;

/// The dialect that a schema names; `None` for 2020-12, which needs no name.
pub(super) fn of(schema: &Value) -> Option<&str> {
    let text = schema.get("$schema")?.as_str()?.trim_end_matches('#');
    let text = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    Some(text).filter(|&text| text != "json-schema.org/draft/2020-12/schema")
}

/// Whether both schemas mean the same in the dialects of both: generators move from draft 7 to 2020-12 without anything else.
pub(super) fn read_alike(old: &Value, new: &Value) -> bool {
    let is_recent = |schema| {
        matches!(of(schema), None | Some("json-schema.org/draft-07/schema" | "json-schema.org/draft/2019-09/schema"))
    };
    let differs = |keyword: &str, value: &Value, beside: &Map<String, Value>| match keyword {
        "items" => value.is_array(),
        // Draft 7 ignores what stands beside a reference.
        "$ref" => beside.keys().any(|key| key != "$ref" && holds(key) != Holds::Words),
        "additionalItems" | "prefixItems" | "minContains" | "maxContains" | "dependentRequired"
        | "dependentSchemas" | "dependencies" | "format" | "contentEncoding" | "contentMediaType" | "contentSchema"
        | "$anchor" | "$id" | "id" => true,
        _ => false,
    };
    [old, new].into_iter().all(|schema| is_recent(schema) && find(schema, &differs).is_none())
}

/// Where a schema uses a keyword whose meaning depends on the whole of it, so that no part can be compared alone.
pub(super) fn needs_the_whole(schema: &Value) -> Option<String> {
    find(schema, &|keyword, value, beside| match keyword {
        "unevaluatedProperties"
        | "unevaluatedItems"
        | "$dynamicRef"
        | "$dynamicAnchor"
        | "$recursiveRef"
        | "$recursiveAnchor" => true,
        // Below the root, these start a document of its own.
        "$id" | "id" | "$schema" => {
            value.is_string() && !schema.as_object().is_some_and(|root| std::ptr::eq(root, beside))
        }
        _ => false,
    })
}

/// The place of the first keyword that is looked for.
fn find(schema: &Value, wanted: &impl Fn(&str, &Value, &Map<String, Value>) -> bool) -> Option<String> {
    below(schema, "", 0, wanted)
}

fn below(
    schema: &Value,
    path: &str,
    depth: usize,
    wanted: &impl Fn(&str, &Value, &Map<String, Value>) -> bool,
) -> Option<String> {
    if depth > DEPTH {
        return Some(path.to_owned());
    }
    match schema {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| below(item, &format!("{path}/{index}"), depth + 1, wanted)),
        Value::Object(entries) => entries.iter().find_map(|(keyword, value)| {
            if wanted(keyword, value, entries) {
                return Some(refs::step(path, keyword));
            }
            match (holds(keyword), value) {
                (Holds::Words | Holds::Data, _) => None,
                (Holds::Named | Holds::NamedOrNames, Value::Object(named)) => {
                    let here = refs::step(path, keyword);
                    named.iter().find_map(|(name, schema)| below(schema, &refs::step(&here, name), depth + 1, wanted))
                }
                _ => below(value, &refs::step(path, keyword), depth + 1, wanted),
            }
        }),
        _ => None,
    }
}
