use serde_json::json;

use super::*;
use crate::explain::Explain;

fn strict(schema: &Value) -> Value {
    to_strict(schema, OpenObjects::Close).unwrap_or_else(|error| panic!("{error}"))
}

fn category(schema: &Value, open: OpenObjects) -> &'static str {
    to_strict(schema, open).map_or_else(|error| error.category(), |_| "ok")
}

fn closed(schema: &Value) -> &'static str {
    category(schema, OpenObjects::Close)
}

fn rejected(schema: &Value) -> &'static str {
    category(schema, OpenObjects::Reject)
}

#[test]
fn every_object_is_closed_and_every_property_required_in_its_order() {
    let schema = strict(&json!({ "properties": { "z": { "type": "object" }, "a": {} }, "required": ["a"] }));
    assert_eq!(schema["required"], json!(["z", "a"]));
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["properties"]["z"], json!({ "type": "object", "additionalProperties": false }));
    assert_eq!(schema["properties"]["a"], json!({}));
}

#[test]
fn an_empty_schema_takes_no_arguments() {
    let expected = json!({ "type": "object", "additionalProperties": false, "properties": {}, "required": [] });
    assert_eq!(to_strict(&json!({}), OpenObjects::Reject), Ok(expected));
}

#[test]
fn an_object_that_says_it_is_open_is_refused() {
    for additional in [json!(true), json!({}), json!(null), json!(0)] {
        let schema = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": additional });
        assert_eq!(closed(&schema), "strict_additional_properties");
    }
    assert_eq!(rejected(&json!({ "type": "object" })), "strict_open_object");
    assert_eq!(rejected(&json!({ "type": "object", "additionalProperties": false })), "ok");
}

#[test]
fn a_choice_is_one_kind_of_choice() {
    let schema =
        strict(&json!({ "properties": { "a": { "anyOf": [{ "type": "string" }], "oneOf": [{ "type": "null" }] } } }));
    assert_eq!(schema["properties"]["a"], json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }));
    assert_eq!(closed(&json!({ "oneOf": [] })), "strict_root_any_of");
    assert_eq!(closed(&json!({ "type": ["object", "null"] })), "strict_root_nullable");
    assert_eq!(strict(&json!({ "type": ["object"] }))["type"], "object");
}

#[test]
fn a_reference_stays_alone_and_is_inlined_in_company() {
    let definitions = json!({ "D": { "type": "string", "title": "d" } });
    let schema = strict(&json!({
        "$defs": definitions,
        "properties": {
            "alone": { "$ref": "#/$defs/D" },
            "null": { "$ref": "#/$defs/D", "default": null },
            "both": { "$ref": "#/$defs/D", "title": "mine" },
        },
    }));
    assert_eq!(schema["properties"]["alone"], json!({ "$ref": "#/$defs/D" }));
    assert_eq!(schema["properties"]["null"], json!({ "$ref": "#/$defs/D" }));
    assert_eq!(schema["properties"]["both"], json!({ "type": "string", "title": "mine" }));
}

#[test]
fn a_reference_to_itself_leaves_what_stands_beside_it() {
    let schema = strict(&json!({ "properties": { "a": { "$ref": "#/properties/a", "title": "x" } } }));
    assert_eq!(schema["properties"]["a"], json!({ "title": "x" }));
}

#[test]
fn a_schema_that_comes_to_contain_itself_is_refused() {
    assert_eq!(closed(&json!({ "properties": { "a": { "$ref": "#/properties", "title": "x" } } })), "strict_too_deep");
}

#[test]
fn references_are_decoded_before_they_are_followed() {
    let with = |reference: &str| json!({ "$defs": { "a/b": { "~": { "type": "string" } } }, "properties": { "p": { "$ref": reference, "title": "t" } } });
    for good in ["#/$defs/a~1b/~0", "#/%24defs/a~1b/~", "#/$defs%2Fa%7E1b/%7e"] {
        assert_eq!(strict(&with(good))["properties"]["p"], json!({ "type": "string", "title": "t" }), "{good}");
    }
    for (bad, category) in [
        ("#", "strict_ref_format"),
        ("http://x/y", "strict_ref_format"),
        ("#/$defs/none", "strict_ref_missing_key"),
        ("#/type", "strict_ref_not_an_object"),
        ("#/%ff", "strict_ref_percent_encoding"),
        ("#/%zz", "strict_ref_missing_key"),
    ] {
        assert_eq!(closed(&with(bad)), category, "{bad}");
    }
}

#[test]
fn what_stands_beside_a_reference_may_only_annotate_it() {
    let schema = json!({ "properties": { "a": { "$ref": "#/$defs/D", "minLength": 1 } } });
    let error = to_strict(&schema, OpenObjects::Close).expect_err("refused");
    assert_eq!(error.category(), "strict_ref_siblings");
    assert_eq!(error.to_string(), "the `$ref` stands beside `minLength` at `#/properties/a`");
    assert_eq!(error.code().as_str(), "strict-schema-ref-siblings");
}

#[test]
fn a_reference_across_a_nested_id_is_refused() {
    let inside = json!({ "properties": { "a": { "$id": "x", "items": { "$ref": "#/$defs/D" } } } });
    assert_eq!(closed(&inside), "strict_nested_resource_ref");
    let into = json!({ "$id": "root", "properties": { "a": { "$ref": "#/properties/b", "title": "t" }, "b": { "$id": "x" } } });
    assert_eq!(closed(&into), "strict_nested_resource_ref");
}

#[test]
fn a_single_all_of_entry_becomes_one_with_its_parent() {
    let schema = strict(&json!({
        "$defs": { "A": { "$ref": "#/$defs/B", "title": "a" }, "B": { "type": "string", "title": "b", "maxLength": 1.0 } },
        "properties": { "p": { "maxLength": 1, "allOf": [{ "$ref": "#/$defs/A" }] } },
    }));
    assert_eq!(schema["properties"]["p"], json!({ "type": "string", "title": "a", "maxLength": 1.0 }));
}

#[test]
fn an_all_of_entry_that_contradicts_its_parent_is_refused() {
    for parent in [
        json!({ "const": 1, "allOf": [{ "const": true }] }),
        json!({ "const": 9_007_199_254_740_993_u64, "allOf": [{ "const": 9_007_199_254_740_992.0 }] }),
        json!({ "properties": { "x": {} }, "allOf": [{ "properties": { "y": {} } }] }),
        json!({ "additionalProperties": false, "allOf": [{ "properties": { "y": {} } }] }),
    ] {
        assert_eq!(closed(&json!({ "properties": { "p": parent } })), "strict_all_of_overlap");
    }
    let circle = json!({ "$defs": { "A": { "$ref": "#/$defs/A" } }, "properties": { "p": { "allOf": [{ "$ref": "#/$defs/A" }] } } });
    assert_eq!(closed(&circle), "strict_circular_ref_chain");
}

#[test]
fn numbers_stay_as_they_are_written() {
    let text = r#"{"properties":{"a":{"const":100000000000000000000000.0,"maximum":1E2,"minimum":123456789012345678901234567890}}}"#;
    let schema = to_strict_exact(&crate::json::read(text).expect("JSON"), OpenObjects::Close).expect("strict");
    let property = schema.get("properties").and_then(|properties| properties.get("a")).expect("there");
    assert_eq!(property.get("minimum"), Some(&Json::Number("123456789012345678901234567890".into())));
    assert_eq!(property.get("maximum"), Some(&Json::Number("1E2".into())));
}

#[test]
fn deep_and_large_schemas_are_refused_without_a_crash() {
    let mut deep = json!({});
    for _ in 0..3_000 {
        deep = Value::Array(vec![deep]);
    }
    assert_eq!(closed(&deep), "strict_too_deep");

    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }));
    assert_eq!(closed(&nested(99)), "ok");
    assert_eq!(closed(&nested(100)), "strict_too_deep");

    let definitions: Map<String, Value> = (0..16)
        .map(|level| {
            let next = json!({ "$ref": format!("#/$defs/D{}", level + 1), "title": "t" });
            (format!("D{level}"), json!({ "properties": { "a": next, "b": next } }))
        })
        .chain([("D16".to_owned(), json!({ "type": "string" }))])
        .collect();
    assert_eq!(closed(&json!({ "$defs": definitions })), "strict_too_large");
}

#[test]
fn copies_of_a_wide_target_are_bounded_too() {
    let wide: Map<String, Value> = (0..5_000).map(|n| (format!("x-{n}"), json!(n))).collect();
    let uses: Map<String, Value> =
        (0..2_000).map(|n| (n.to_string(), json!({ "$ref": "#/$defs/W", "title": "t" }))).collect();
    assert_eq!(closed(&json!({ "$defs": { "W": wide }, "properties": uses })), "strict_too_large");
}
