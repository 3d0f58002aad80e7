use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::json::read;
use crate::schema::check::InputSchema;
use crate::schema::samples::{any_document, any_keyword, any_schema, edited, universe};

fn shape(schema: &Value) -> String {
    let mut out = Vec::new();
    write(&Json::from(schema), &mut out);
    String::from_utf8(out).unwrap()
}

fn same(one: &Value, other: &Value) {
    assert_eq!(shape(one), shape(other));
    assert_eq!(SchemaDigest::of_value(one), SchemaDigest::of_value(other));
}

fn different(one: &Value, other: &Value) {
    assert_ne!(SchemaDigest::of_value(one), SchemaDigest::of_value(other), "{one} and {other}");
}

#[test]
fn the_text_is_canonical_json_without_words() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Create an issue",
        "type": "object",
        "required": ["title", "owner"],
        "properties": {
            "title": { "type": "string", "title": "Title", "description": "…", "default": "x", "examples": ["y"] },
            "owner": { "type": ["string"], "deprecated": true, "readOnly": false, "$comment": "z", "x-order": 1 },
            "labels": { "items": { "enum": ["b", "a", "b"], "description": "one" }, "type": ["null", "array"] },
        },
        "additionalProperties": true,
    });
    assert_eq!(
        shape(&schema),
        r#"{"properties":{"labels":{"items":{"enum":["a","b"]},"type":["array","null"]},"owner":{"type":"string"},"title":{"type":"string"}},"required":["owner","title"],"type":"object"}"#
    );
}

#[test]
fn the_digest_of_a_known_schema_never_changes() {
    let schema = read(r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#).unwrap();
    assert_eq!(
        SchemaDigest::of_schema(&schema).to_string(),
        "schema1:0e01954f5c74b8c49ba8d73086382a4c35fd34a1d7d14b8249871e2e9cb01855"
    );
}

#[test]
fn words_do_not_count_wherever_they_are_keywords() {
    let bare = json!({
        "properties": { "a": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/d" }] } },
        "$defs": { "d": { "not": { "items": { "type": "null" } } } },
        "patternProperties": { "^x": { "minimum": 1 } },
        "dependentSchemas": { "a": { "required": ["b"] } },
        "if": { "minProperties": 1 },
    });
    let mut places =
        vec!["", "/properties/a", "/properties/a/anyOf/0", "/properties/a/anyOf/1", "/$defs/d", "/$defs/d/not"];
    places.extend(["/$defs/d/not/items", "/patternProperties/^x", "/dependentSchemas/a", "/if"]);
    for place in places {
        for word in [
            "title",
            "description",
            "default",
            "examples",
            "$comment",
            "$schema",
            "deprecated",
            "readOnly",
            "writeOnly",
        ] {
            let mut worded = bare.clone();
            worded.pointer_mut(place).unwrap()[word] = json!("words");
            same(&bare, &worded);
        }
    }
}

#[test]
fn what_only_looks_like_words_counts() {
    different(&json!({ "properties": { "title": {} } }), &json!({ "properties": {} }));
    different(
        &json!({ "properties": { "default": { "type": "string" } } }),
        &json!({ "properties": { "default": {} } }),
    );
    different(&json!({ "enum": [{ "title": "a" }] }), &json!({ "enum": [{ "title": "b" }] }));
    different(&json!({ "const": { "description": "a" } }), &json!({ "const": {} }));
    different(
        &json!({ "$defs": { "examples": { "type": "string" } } }),
        &json!({ "$defs": { "examples": { "type": "null" } } }),
    );
    different(&json!({ "required": ["description"] }), &json!({ "required": [] }));
    different(&json!({ "patternProperties": { "title": {} } }), &json!({}));
    different(&json!({ "dependentRequired": { "title": ["a"] } }), &json!({ "dependentRequired": { "title": ["b"] } }));
}

#[test]
fn order_and_repetition_do_not_count_where_they_say_nothing() {
    same(&json!({ "required": ["a", "b"] }), &json!({ "required": ["b", "a", "b"] }));
    same(&json!({ "type": ["string", "null"] }), &json!({ "type": ["null", "string"] }));
    same(&json!({ "enum": [1, "a", null] }), &json!({ "enum": [null, 1.0, "a"] }));
    same(&json!({ "dependentRequired": { "x": ["a", "b"] } }), &json!({ "dependentRequired": { "x": ["b", "a"] } }));
    same(&json!({ "properties": { "a": {}, "b": {} } }), &json!({ "properties": { "b": {}, "a": {} } }));
    different(
        &json!({ "prefixItems": [{ "type": "string" }, {}] }),
        &json!({ "prefixItems": [{}, { "type": "string" }] }),
    );
    different(&json!({ "const": [1, 2] }), &json!({ "const": [2, 1] }));
    different(&json!({ "enum": [[1, 2]] }), &json!({ "enum": [[2, 1]] }));
}

#[test]
fn what_is_absent_is_what_it_stands_for() {
    for other in [
        json!({}),
        json!(true),
        json!({ "type": "object" }),
        json!({ "type": ["object"] }),
        json!({ "properties": {} }),
        json!({ "additionalProperties": true }),
        json!({ "additionalProperties": {} }),
        json!({ "additionalProperties": { "description": "anything", "additionalProperties": true } }),
        json!({ "required": [], "$defs": {}, "patternProperties": {} }),
    ] {
        same(&json!({ "type": "object", "properties": {} }), &other);
    }
    same(&json!({ "properties": { "a": {} } }), &json!({ "type": "object", "properties": { "a": true } }));
    different(&json!({}), &json!({ "additionalProperties": false }));
    different(&json!({}), &json!({ "type": "string" }));
    different(&json!({ "properties": { "a": {} } }), &json!({ "properties": { "a": { "type": "object" } } }));
}

#[test]
fn beside_unevaluated_what_is_absent_is_not_what_it_stands_for() {
    let closed = json!({ "unevaluatedProperties": false });
    let open = json!({ "unevaluatedProperties": false, "additionalProperties": true });
    different(&closed, &open);
    let arguments = json!({ "a": 1 });
    assert!(InputSchema::compile(&closed).unwrap().check(&arguments).is_err());
    assert!(InputSchema::compile(&open).unwrap().check(&arguments).is_ok());
}

#[test]
fn what_is_no_schema_has_a_digest_too() {
    let odd =
        [json!(false), json!(null), json!(1), json!("x"), json!([]), json!({ "properties": 5 }), json!({ "type": {} })];
    for (index, one) in odd.iter().enumerate() {
        for other in &odd[index + 1..] {
            different(one, other);
        }
    }
}

#[test]
fn nested_parts_that_accept_everything_are_nothing() {
    let deep = (0..120).fold(json!({}), |inner, _| json!({ "additionalProperties": inner, "title": "x" }));
    same(&deep, &json!({}));
}

/// Writes words beside every keyword and turns every object round.
fn reworded(schema: &Value) -> Value {
    match schema {
        Value::Object(entries) => {
            let mut turned: serde_json::Map<String, Value> = serde_json::Map::new();
            for (keyword, value) in entries.iter().rev() {
                let value = match (holds(keyword), value) {
                    (Holds::Named | Holds::NamedOrNames, Value::Object(named)) => named
                        .iter()
                        .rev()
                        .map(|(name, schema)| (name.clone(), reworded(schema)))
                        .collect::<serde_json::Map<_, _>>()
                        .into(),
                    (Holds::Schema | Holds::SchemaOrList, _) => reworded(value),
                    (Holds::List, Value::Array(list)) => list.iter().map(reworded).collect(),
                    _ => value.clone(),
                };
                turned.insert(keyword.clone(), value);
            }
            turned.insert("description".into(), json!("other words"));
            turned.into()
        }
        other => other.clone(),
    }
}

/// An edit that often leaves the shape as it is.
fn any_edit() -> impl Strategy<Value = (&'static str, Value)> {
    let neutral = vec![
        ("additionalProperties", json!(true)),
        ("additionalProperties", json!({ "title": "anything" })),
        ("properties", json!({})),
        ("required", json!([])),
        ("type", json!(["object"])),
        ("default", json!(1)),
        ("$comment", json!("words")),
    ];
    prop_oneof![any_keyword(&any_schema()), prop::sample::select(neutral)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn other_words_and_another_order_give_the_same_digest(schema in any_document()) {
        prop_assert_eq!(shape(&schema), shape(&reworded(&schema)));
    }

    #[test]
    fn schemas_with_one_digest_accept_the_same_arguments(
        one in any_document(),
        edits in prop::collection::vec((any::<usize>(), any::<bool>(), any_edit()), 1..3),
    ) {
        let other = edits.iter().fold(one.clone(), |document, (at, remove, keyword)| edited(&document, *at, *remove, keyword));
        if one.get("$schema") != other.get("$schema") || shape(&one) != shape(&other) {
            return Ok(());
        }
        if let (Ok(one), Ok(other)) = (InputSchema::compile(&one), InputSchema::compile(&other)) {
            for arguments in universe().iter().filter(|value| value.is_object()) {
                prop_assert_eq!(one.check(arguments).is_ok(), other.check(arguments).is_ok(), "{}", arguments);
            }
        }
    }

    #[test]
    fn a_shape_is_json_and_its_own_shape(schema in any_document()) {
        let once = shape(&schema);
        let again = shape(&serde_json::from_str(&once).unwrap());
        prop_assert_eq!(once, again);
    }
}
