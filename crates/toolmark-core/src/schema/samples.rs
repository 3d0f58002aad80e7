//! Random schemas, small edits to them, and values that tell them apart: for the laws that the modules beside this one keep.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keywords::{Holds, holds};

/// A keyword with a value for it, so that edits stay within the language.
pub(super) fn any_keyword(inner: &BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let name = || prop::sample::select(vec!["a", "b"]);
    let list = || prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from);
    let number = || (0..4i64).prop_map(Value::from);
    prop_oneof![
        prop::sample::select(vec![
            json!("string"),
            json!("integer"),
            json!("number"),
            json!("object"),
            json!("array"),
            json!(["null", "string"]),
            json!(["object", "integer"])
        ])
        .prop_map(|value| ("type", value)),
        prop::sample::subsequence(vec![json!("a"), json!(1), json!(2), json!(null), json!([]), json!({})], 1..4)
            .prop_map(|all| ("enum", all.into())),
        Just(("const", json!("a"))),
        (prop::sample::select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), number()),
        (
            prop::sample::select(vec![
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties"
            ]),
            number()
        ),
        (1..4i64).prop_map(|value| ("multipleOf", value.into())),
        prop::sample::select(vec!["^a", "b", "^$"]).prop_map(|value| ("pattern", value.into())),
        any::<bool>().prop_map(|value| ("uniqueItems", value.into())),
        prop::sample::subsequence(vec!["a", "b"], 0..3).prop_map(|names| ("required", names.into())),
        (name(), inner.clone()).prop_map(|(name, schema)| ("properties", json!({ (name): schema }))),
        (inner.clone(), inner.clone()).prop_map(|(a, b)| ("properties", json!({ "a": a, "b": b }))),
        prop_oneof![any::<bool>().prop_map(Value::from).boxed(), inner.clone()]
            .prop_map(|schema| ("additionalProperties", schema)),
        (prop::sample::select(vec!["^a", "b"]), inner.clone())
            .prop_map(|(name, schema)| ("patternProperties", json!({ (name): schema }))),
        inner.clone().prop_map(|schema| ("propertyNames", schema)),
        inner.clone().prop_map(|schema| ("items", schema)),
        inner.clone().prop_map(|schema| ("contains", schema)),
        (prop::sample::select(vec!["minContains", "maxContains"]), number()),
        list().prop_map(|schemas| ("prefixItems", schemas)),
        (prop::sample::select(vec!["allOf", "anyOf", "oneOf"]), list()),
        (prop::sample::select(vec!["not", "if", "then", "else"]), inner.clone()),
        (name(), name()).prop_map(|(one, other)| ("dependentRequired", json!({ (one): [other] }))),
        (name(), inner.clone()).prop_map(|(name, schema)| ("dependentSchemas", json!({ (name): schema }))),
        prop::sample::select(vec!["#/$defs/d", "#/$defs/e"]).prop_map(|target| ("$ref", target.into())),
        prop::sample::select(vec!["title", "description", "default", "$comment"])
            .prop_map(|keyword| (keyword, json!("words"))),
        any::<bool>().prop_map(|value| ("unevaluatedProperties", value.into())),
    ]
    .boxed()
}

pub(super) fn any_schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({})),
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "integer" })),
        Just(json!({ "$ref": "#/$defs/d" })),
        Just(json!({ "minimum": 2 })),
        Just(
            json!({ "properties": { "a": { "minimum": 1 }, "b": {} }, "patternProperties": { "^a": { "type": "integer" } }, "additionalProperties": false })
        ),
        Just(
            json!({ "properties": { "a": { "type": "string" } }, "patternProperties": { "b": { "type": "integer" } } })
        ),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::vec(any_keyword(&inner), 1..4).prop_map(|entries| {
            Value::Object(entries.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect())
        })
    })
    .boxed()
}

pub(super) fn any_document() -> impl Strategy<Value = Value> {
    (any_schema(), any_schema(), any_schema(), any::<bool>()).prop_map(|(root, d, e, draft_7)| {
        let mut root = match root {
            Value::Object(_) => root,
            _ => json!({ "type": "object" }),
        };
        root["$defs"] = json!({ "d": d, "e": e });
        if draft_7 {
            root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        }
        root
    })
}

/// The pointers to every schema in a document that is an object.
fn places(schema: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(entries) = schema else { return };
    found.push(path.to_owned());
    for (keyword, value) in entries {
        let here = format!("{path}/{keyword}");
        match (holds(keyword), value) {
            (Holds::Words | Holds::Data, _) => {}
            (Holds::Named | Holds::NamedOrNames, Value::Object(named)) => {
                named.iter().for_each(|(name, schema)| places(schema, &format!("{here}/{name}"), found));
            }
            (_, Value::Array(list)) => {
                list.iter().enumerate().for_each(|(index, schema)| places(schema, &format!("{here}/{index}"), found));
            }
            _ => places(value, &here, found),
        }
    }
}

/// Writes a keyword into one of the schemas of a document, or takes one out.
pub(super) fn edited(document: &Value, at: usize, remove: bool, (keyword, value): &(&'static str, Value)) -> Value {
    let mut document = document.clone();
    let mut found = Vec::new();
    places(&document, "", &mut found);
    let place = &found[at % found.len()];
    if let Some(Value::Object(entries)) = document.pointer_mut(place) {
        if remove && !entries.is_empty() {
            let key = entries.keys().nth(at % entries.len()).cloned().unwrap();
            if key != "$defs" {
                entries.shift_remove(&key);
            }
        } else {
            entries.insert((*keyword).to_owned(), value.clone());
        }
    }
    document
}

pub(super) fn universe() -> Vec<Value> {
    let scalars = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(0.5),
        json!(""),
        json!("a"),
        json!("ab"),
        json!("b"),
        json!("bbbb"),
    ];
    let mut all: Vec<Value> = scalars.to_vec();
    all.extend([
        json!([]),
        json!([1]),
        json!(["a"]),
        json!([1, 1]),
        json!([1, 2]),
        json!(["a", 1, null]),
        json!([[], {}]),
        json!([{ "a": 1 }]),
    ]);
    all.extend([
        json!({}),
        json!({ "a": {} }),
        json!({ "b": [] }),
        json!({ "a": { "a": 1 } }),
        json!({ "a": { "b": "a" }, "b": { "a": "b" } }),
    ]);
    let parts = all.clone();
    for one in &parts {
        all.push(json!({ "a": one }));
        all.push(json!({ "b": one }));
        all.push(json!({ "c": one }));
        all.push(json!({ "a": { "a": one } }));
        all.push(json!({ "a": [one, 1] }));
    }
    for (one, other) in parts.iter().zip(parts.iter().rev()) {
        all.push(json!({ "a": one, "b": other }));
        all.push(json!({ "a": other, "ab": one }));
        all.push(json!({ "a": one, "b": one, "c": other }));
    }
    all
}
