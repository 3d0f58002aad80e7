use serde_json::{Value, json};
use toolmark_core::severity::Severity;

use super::one;
use crate::RuleId;

fn tool(schema: Value) -> Value {
    let mut tool = json!({"name": "x"});
    tool["inputSchema"] = schema;
    tool
}

fn object(name: &str, property: Value) -> Value {
    let mut schema = json!({"type": "object", "properties": {}});
    schema["properties"][name] = property;
    schema
}

fn invalid(schema: Value) -> Option<(Severity, String)> {
    one(RuleId::SchemaInvalid, tool(schema))
}

fn property(schema: Value) -> Option<(Severity, String)> {
    invalid(object("a", schema))
}

#[test]
fn a_wrong_type_is_named_with_what_was_meant() {
    let (severity, message) = property(json!({"type": "str"})).unwrap();
    assert_eq!(severity, Severity::Medium);
    assert_eq!(message, "`/inputSchema/properties/a/type` of `p.x` is `str`, which is no type; did you mean `string`?");
    for wrong in [json!("any"), json!(["string", "nul"]), json!([]), json!(7), json!([1])] {
        assert!(property(json!({"type": wrong})).is_some(), "{wrong}");
    }
}

#[test]
fn keywords_with_values_of_the_wrong_kind_are_found() {
    for schema in [
        json!({"properties": []}),
        json!({"properties": {"b": "string"}}),
        json!({"required": true}),
        json!({"required": [1], "properties": {}}),
        json!({"enum": []}),
        json!({"enum": "a"}),
        json!({"type": "integer", "enum": ["a"]}),
        json!({"anyOf": []}),
        json!({"anyOf": {}}),
        json!({"items": "string"}),
        json!({"additionalProperties": "no"}),
        json!({"minLength": -1}),
        json!({"maxItems": 1.5}),
        json!({"minimum": "0"}),
        json!({"minimum": 2, "maximum": 1}),
        json!({"pattern": 1}),
        json!({"description": ["x"]}),
        json!({"$ref": "#/$defs/nowhere"}),
        json!({"$ref": 1}),
    ] {
        assert_eq!(property(schema.clone()).map(|(severity, _)| severity), Some(Severity::Medium), "{schema}");
    }
}

#[test]
fn a_required_parameter_that_is_not_declared_is_found() {
    let schema = |closed: bool| json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"], "additionalProperties": !closed});
    assert_eq!(invalid(schema(false)).unwrap().0, Severity::Low);
    let (severity, message) = invalid(schema(true)).unwrap();
    assert_eq!(severity, Severity::Medium);
    assert!(message.contains("asks for `b`") && message.contains("no call can be valid"), "{message}");
}

#[test]
fn arguments_are_an_object() {
    assert_eq!(invalid(json!({"type": "array"})).unwrap().0, Severity::High);
    assert_eq!(invalid(json!({"properties": {}})).unwrap().0, Severity::Low);
}

#[test]
fn what_stands_in_values_is_no_schema() {
    for schema in [
        json!({"default": {"type": "str", "required": true}}),
        json!({"examples": [{"type": "str"}]}),
        json!({"const": {"$ref": "https://example.com"}}),
        json!({"enum": [{"type": "str"}]}),
        json!({"x-note": {"type": "str"}}),
    ] {
        assert_eq!(property(schema.clone()), None, "{schema}");
    }
    assert_eq!(
        property(
            json!({"type": "object", "properties": {"type": {"type": "string"}, "required": {"type": "boolean"}}})
        ),
        None
    );
}

#[test]
fn valid_schemas_of_several_drafts_pass() {
    for schema in [
        json!({"type": ["string", "null"], "minLength": 0, "format": "date"}),
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}]}),
        json!({"items": [{"type": "string"}, true], "additionalItems": false}),
        json!({"minimum": 0, "exclusiveMinimum": true}),
        json!({"exclusiveMinimum": 0.5, "multipleOf": 1e-3}),
        json!({"$ref": "#/properties/a/$defs/b", "$defs": {"b": {"type": "string"}}}),
        json!({"$ref": "#here", "$defs": {"b": {"$anchor": "here"}}}),
        json!({"type": "integer", "enum": [1, 2]}),
        json!({"const": null}),
        json!(true),
        json!({}),
    ] {
        assert_eq!(property(schema.clone()), None, "{schema}");
    }
}

#[test]
fn a_schema_that_no_call_can_be_checked_with_is_high() {
    let (severity, message) = property(json!({"type": "string", "pattern": "(unclosed"})).unwrap();
    assert_eq!(severity, Severity::High);
    assert!(message.starts_with("the input schema of `p.x` cannot be used: "), "{message}");
    assert_eq!(property(json!({"type": "string", "pattern": "^[a-z]+$"})), None);
    let endless = json!({"type": "object", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "properties": {"a": {"$ref": "#/$defs/a"}}});
    assert_eq!(invalid(endless).map(|(severity, _)| severity), Some(Severity::High));
}

#[test]
fn a_reference_outside_of_the_schema_is_high() {
    let remote = |reference: &str| {
        one(
            RuleId::RemoteRef,
            json!({"name": "x", "inputSchema": {"type": "object", "properties": {"a": {"$ref": reference}},
            "$defs": {"own": {"$id": "https://example.com/own", "type": "string"}}}}),
        )
    };
    for reference in
        ["https://evil.example/schema.json", "http://a/b#/c", "//a/b", "other.json#/a", "file:///etc/passwd"]
    {
        assert_eq!(remote(reference).unwrap().0, Severity::High, "{reference}");
    }
    assert_eq!(remote("#/$defs/own"), None);
    assert_eq!(remote("https://example.com/own"), None, "it is in the schema");
}

#[test]
fn a_missing_schema_is_found_and_the_short_form_is_none() {
    let rule = RuleId::SchemaMissing;
    assert_eq!(one(rule, json!({"name": "x", "inputSchema": null})).unwrap().0, Severity::Medium);
    assert_eq!(one(rule, json!({"name": "x", "inputSchema": null, "schema": {"query": "string"}})), None);
    assert_eq!(one(rule, json!({"name": "x", "inputSchema": {}})), None);
}

#[test]
fn places_where_anything_goes_are_mild_findings() {
    let unbounded = |schema: Value| one(RuleId::SchemaUnbounded, tool(schema));
    let property = |schema: Value| unbounded(object("a", schema));
    assert_eq!(unbounded(json!({"type": "object", "additionalProperties": true})).unwrap().0, Severity::Low);
    assert_eq!(unbounded(json!({})).unwrap().0, Severity::Low);
    assert_eq!(unbounded(json!({"type": "object"})), None, "no parameters");
    assert_eq!(property(json!({})).unwrap().0, Severity::Info);
    assert_eq!(property(json!({"type": "object"})).unwrap().0, Severity::Info);
    assert_eq!(property(json!({"type": "object", "additionalProperties": {"type": "string"}})), None);
    assert_eq!(property(json!({"type": "array", "items": {"type": "string"}})), None);
    assert_eq!(property(json!({"type": "string"})), None);
}

#[test]
fn a_string_that_carries_a_program_is_a_mild_finding() {
    let program = |name: &str, schema: Value| one(RuleId::SchemaUnbounded, tool(object(name, schema)));
    let (severity, message) = program("sql", json!({"type": "string"})).unwrap();
    assert_eq!(severity, Severity::Info);
    assert!(message.contains("takes a program of any length"), "{message}");
    assert!(program("query", json!({"type": "string", "description": "A SQL query"})).is_some());
    assert_eq!(program("query", json!({"type": "string", "description": "What to search for"})), None);
    assert_eq!(program("sql", json!({"type": "string", "maxLength": 1000})), None);
    assert_eq!(program("country_code", json!({"type": "string"})), None);
}
