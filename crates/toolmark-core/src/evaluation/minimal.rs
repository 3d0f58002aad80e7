//! The least call that a schema asks for: every required property with a value of its type, and nothing else.

use serde_json::{Map, Value};

/// How deep required properties may nest before a value is given up.
const MAX_DEPTH: usize = 8;

/// Arguments for a call that give what is required and no more. What cannot be worked out becomes a string.
#[must_use]
pub fn minimal_call(schema: &Value) -> Value {
    match sample(schema, schema, 0) {
        Value::Object(arguments) => Value::Object(arguments),
        _ => Value::Object(Map::new()),
    }
}

fn sample(root: &Value, schema: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|reference| local(root, reference)) {
        return sample(root, target, depth + 1);
    }
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|all| all.first());
    if let Some(value) = schema.get("const").or_else(|| first("enum")).or_else(|| schema.get("default")) {
        return value.clone();
    }
    if let Some(value) = first("examples") {
        return value.clone();
    }
    let typed = schema.get("type").or_else(|| schema.get("properties").map(|_| &Value::Null));
    match (typed, first("anyOf").or_else(|| first("oneOf")).or_else(|| first("allOf"))) {
        (None, Some(alternative)) => sample(root, alternative, depth + 1),
        (Some(Value::Array(types)), _) => {
            let kind = types.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null");
            of_type(root, schema, kind, depth)
        }
        (Some(Value::String(kind)), _) => of_type(root, schema, kind, depth),
        (Some(_), _) => of_type(root, schema, "object", depth),
        (None, None) => Value::String(text(schema)),
    }
}

fn of_type(root: &Value, schema: &Value, kind: &str, depth: usize) -> Value {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    match kind {
        "object" => {
            let required =
                schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let property = |name: &str| schema.get("properties").and_then(|all| all.get(name));
            let value =
                |name: &str| property(name).map_or(Value::String("x".into()), |own| sample(root, own, depth + 1));
            Value::Object(required.map(|name| (name.to_owned(), value(name))).collect())
        }
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(4);
            let items = schema.get("items");
            (0..least).map(|_| items.map_or(Value::Null, |item| sample(root, item, depth + 1))).collect()
        }
        "integer" | "number" => {
            let above = number("exclusiveMinimum").map(|bound| bound + 1.0);
            let least =
                number("minimum").or(above).or_else(|| number("maximum").map(|bound| bound.min(1.0))).unwrap_or(1.0);
            if kind == "integer" { Value::from(least.ceil() as i64) } else { Value::from(least) }
        }
        "boolean" => Value::Bool(false),
        "null" => Value::Null,
        _ => Value::String(text(schema)),
    }
}

/// A string of the asked length and format.
fn text(schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let known = match format {
        "uri" | "url" => "https://example.com/x",
        "email" => "x@example.com",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "date" => "2026-01-01",
        "date-time" => "2026-01-01T00:00:00Z",
        "time" => "00:00:00Z",
        "ipv4" => "192.0.2.1",
        _ => "x",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(4096);
    let missing = usize::try_from(least).unwrap_or(0).saturating_sub(known.len());
    format!("{known}{}", "x".repeat(missing))
}

fn local<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}
