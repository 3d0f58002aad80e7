use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use super::*;
use crate::schema::check::InputSchema;
use crate::schema::samples::{any_document, any_keyword, any_schema, edited, universe};

fn overall(old: &Value, new: &Value) -> Direction {
    compare(old, new).overall()
}

/// A comparison both ways: what narrows one way widens the other.
fn narrows(old: &Value, new: &Value) {
    assert_eq!(overall(old, new), Direction::Narrower, "{old} to {new}: {:?}", compare(old, new));
    assert_eq!(overall(new, old), Direction::Wider, "{new} to {old}: {:?}", compare(new, old));
}

fn properties(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "a": schema } })
}

#[test]
fn a_schema_is_the_same_as_itself_in_any_order() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "enum": [1, 2] } } });
    let reordered = json!({ "properties": { "b": { "enum": [1, 2] }, "a": { "type": "string" } }, "type": "object" });
    assert_eq!(compare(&schema, &reordered).overall(), Direction::Same);
    assert!(compare(&schema, &schema).changes().is_empty());
}

#[test]
fn other_words_are_wording_with_the_place_of_each() {
    let old = json!({ "title": "A", "properties": { "a": { "type": "string", "description": "x" } }, "$defs": { "d": { "title": "t" } } });
    let new = json!({
        "title": "B", "properties": { "a": { "type": "string", "description": "y", "examples": ["z"] } }, "$defs": { "d": { "$comment": "c" } },
    });
    let change = compare(&old, &new);
    assert_eq!(change.overall(), Direction::Wording);
    let paths: Vec<&str> = change.changes().iter().map(Change::path).collect();
    assert_eq!(
        paths,
        ["/title", "/properties/a/description", "/properties/a/examples", "/$defs/d/$comment", "/$defs/d/title"]
    );
}

#[test]
fn a_parameter_called_title_is_no_wording() {
    let old = json!({ "properties": { "title": { "type": "string" }, "description": { "type": "string" } } });
    let new = json!({ "properties": { "title": { "type": "integer" }, "description": { "type": "string" } } });
    assert_eq!(overall(&old, &new), Direction::Other);
    let more =
        json!({ "properties": { "title": { "type": "string" }, "description": { "type": "string" }, "default": {} } });
    assert_eq!(compare(&old, &more).new_parameters().collect::<Vec<_>>(), ["default"]);
    assert_eq!(
        overall(&json!({ "enum": [{ "title": "a" }] }), &json!({ "enum": [{ "title": "b" }] })),
        Direction::Other
    );
}

#[test]
fn another_default_is_its_own_kind() {
    let old = properties(&json!({ "type": "boolean", "default": false }));
    let new = properties(&json!({ "type": "boolean", "default": true }));
    let change = compare(&old, &new);
    assert_eq!((change.overall(), change.changes()[0].kind()), (Direction::Default, &ChangeKind::Default));
    assert_eq!(change.changes()[0].path(), "/properties/a/default");
}

#[test]
fn a_new_parameter_is_named_and_wider_whether_the_object_was_open_or_closed() {
    for rest in [json!(null), json!(true), json!(false), json!({ "type": "string" })] {
        let mut old = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        if !rest.is_null() {
            old["additionalProperties"] = rest;
        }
        let mut new = old.clone();
        new["properties"]["sidenote"] = json!({ "type": "string" });
        let change = compare(&old, &new);
        assert_eq!(change.overall(), Direction::Wider);
        assert_eq!(change.changes()[0].kind(), &ChangeKind::NewParameter("sidenote".into()));
        assert_eq!(change.changes()[0].path(), "/properties/sidenote");
        assert_eq!(change.changes().len(), 1);
    }
}

#[test]
fn a_new_parameter_is_found_wherever_it_hides() {
    let side = json!({ "properties": { "sidenote": { "type": "string" } } });
    let old = json!({
        "properties": { "a": { "type": "object" }, "list": { "items": { "type": "object" } } },
        "$defs": { "d": { "type": "object" } }, "anyOf": [{ "$ref": "#/$defs/d" }],
    });
    for (place, value) in [
        ("/properties/a/properties", json!({ "sidenote": true })),
        ("/properties/list/items/properties", json!({ "sidenote": true })),
        ("/$defs/d/properties", json!({ "sidenote": true })),
        ("/properties/a/allOf", json!([side])),
        ("/properties/a/oneOf", json!([side, { "type": "string" }])),
        ("/allOf", json!([{ "then": side }])),
        ("/then", side.clone()),
        ("/if", side.clone()),
        ("/dependentSchemas", json!({ "x": side })),
        ("/anyOf/1", side.clone()),
        ("/$defs/d/$ref", json!("#/$defs/e")),
    ] {
        let mut new = old.clone();
        new["$defs"]["e"] = side.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        match new.pointer_mut(parent).unwrap() {
            Value::Array(items) => items.push(value),
            parent => parent[key] = value,
        }
        let change = compare(&old, &new);
        assert!(change.overall().may_accept_more(), "{place}: {change:?}");
        if place != "/$defs/d/$ref" {
            assert_eq!(change.new_parameters().next(), Some("sidenote"), "{place}: {change:?}");
        }
    }
}

#[test]
fn constraints_that_come_narrow_and_those_that_go_widen() {
    let base = json!({ "type": ["string", "array", "object", "number"] });
    for (keyword, value) in [
        ("minimum", json!(1)),
        ("maximum", json!(1)),
        ("exclusiveMinimum", json!(1)),
        ("exclusiveMaximum", json!(1)),
        ("multipleOf", json!(2)),
        ("minLength", json!(1)),
        ("maxLength", json!(1)),
        ("pattern", json!("a")),
        ("format", json!("date")),
        ("minItems", json!(1)),
        ("maxItems", json!(1)),
        ("uniqueItems", json!(true)),
        ("minProperties", json!(1)),
        ("maxProperties", json!(1)),
        ("required", json!(["a"])),
        ("enum", json!(["a"])),
        ("const", json!("a")),
        ("items", json!({ "type": "string" })),
        ("contains", json!({ "type": "string" })),
        ("additionalProperties", json!(false)),
        ("additionalProperties", json!({ "type": "string" })),
        ("propertyNames", json!({ "pattern": "a" })),
        ("patternProperties", json!({ "a": { "type": "string" } })),
        ("dependentRequired", json!({ "a": ["b"] })),
        ("dependentSchemas", json!({ "a": { "minProperties": 2 } })),
        ("dependencies", json!({ "a": ["b"] })),
        ("allOf", json!([{ "minimum": 1 }])),
        ("anyOf", json!([{ "minimum": 1 }])),
        ("oneOf", json!([{ "minimum": 1 }])),
        ("not", json!({ "minimum": 1 })),
        ("if", json!({ "minimum": 1 })),
        ("then", json!({ "minimum": 1 })),
    ] {
        let mut tight = base.clone();
        tight[keyword] = value;
        narrows(&properties(&base), &properties(&tight));
        let change = compare(&base, &tight);
        assert!(change.changes()[0].path().starts_with(&format!("/{keyword}")), "{change:?}");
    }
}

#[test]
fn tighter_values_narrow_and_looser_values_widen() {
    for (loose, tight) in [
        (json!({ "minimum": 1 }), json!({ "minimum": 2 })),
        (json!({ "maximum": 2.5 }), json!({ "maximum": 2 })),
        (json!({ "maxLength": 20 }), json!({ "maxLength": 10 })),
        (json!({ "minItems": 0 }), json!({ "minItems": 1 })),
        (json!({ "multipleOf": 2 }), json!({ "multipleOf": 6 })),
        (json!({ "type": ["string", "null"] }), json!({ "type": "string" })),
        (json!({ "type": "number" }), json!({ "type": "integer" })),
        (json!({ "type": ["number", "string"] }), json!({ "type": ["string", "integer"] })),
        (json!({ "enum": ["a", "b"] }), json!({ "enum": ["b"] })),
        (json!({ "enum": ["a", "b"] }), json!({ "const": "a" })),
        (json!({ "required": ["a"] }), json!({ "required": ["b", "a"] })),
        (json!({ "additionalProperties": true }), json!({ "additionalProperties": false })),
        (json!({}), json!({ "additionalProperties": false })),
        (json!({ "items": { "type": ["string", "null"] } }), json!({ "items": { "type": "string" } })),
        (json!({ "items": true }), json!({ "items": false })),
        (json!({ "prefixItems": [{}, {}] }), json!({ "prefixItems": [{}, { "type": "string" }] })),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), json!({ "anyOf": [{ "type": "null" }] })),
        (
            json!({ "anyOf": [{ "type": "string" }, { "minimum": 1 }] }),
            json!({ "anyOf": [{ "minimum": 2 }, { "type": "string" }] }),
        ),
        (json!({ "allOf": [{ "type": "string" }] }), json!({ "allOf": [{ "minLength": 2 }, { "type": "string" }] })),
        (json!({ "contains": { "type": "number" } }), json!({ "contains": { "type": "integer" } })),
        (json!({ "contains": {}, "minContains": 1 }), json!({ "contains": {}, "minContains": 2 })),
        (json!({ "contains": {}, "maxContains": 3 }), json!({ "contains": {}, "maxContains": 2 })),
        (
            json!({ "if": { "minimum": 1 }, "then": { "maximum": 9 } }),
            json!({ "if": { "minimum": 1 }, "then": { "maximum": 8 } }),
        ),
        (json!(true), json!(false)),
        (json!({}), json!(false)),
        (json!(true), json!({ "type": "string" })),
    ] {
        narrows(&properties(&loose), &properties(&tight));
    }
}

#[test]
fn what_both_narrows_and_widens_is_other() {
    for (old, new) in [
        (json!({ "type": "string" }), json!({ "type": "integer" })),
        (json!({ "enum": ["a", "b"] }), json!({ "enum": ["b", "c"] })),
        (json!({ "minimum": 1 }), json!({ "maximum": 9 })),
        (json!({ "pattern": "a" }), json!({ "pattern": "b" })),
        (json!({ "format": "uri" }), json!({ "format": "email" })),
        (json!({ "required": ["a"] }), json!({ "required": ["b"] })),
        (json!({ "multipleOf": 0.5 }), json!({ "multipleOf": 0.25 })),
        (json!({ "nullable": false }), json!({ "nullable": true })),
        (json!({}), json!({ "nullable": true })),
        (json!({ "prefixItems": [{}] }), json!({ "prefixItems": [{}, {}] })),
    ] {
        assert_eq!(overall(&old, &new), Direction::Other, "{old} to {new}");
    }
    let change = compare(&json!({ "enum": ["a", "b"] }), &json!({ "enum": ["b", "c"] }));
    assert_eq!(change.changes()[0].kind(), &ChangeKind::Values { added: vec![json!("c")], removed: vec![json!("a")] });
}

#[test]
fn a_part_that_narrows_under_a_keyword_that_turns_it_round_is_other() {
    for keyword in ["not", "if"] {
        let old = json!({ (keyword): { "type": "number" }, "then": { "minimum": 1 } });
        let new = json!({ (keyword): { "type": "integer" }, "then": { "minimum": 1 } });
        assert_eq!(overall(&old, &new), Direction::Other, "{keyword}");
    }
    let old = json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] });
    let new = json!({ "oneOf": [{ "type": "integer", "minimum": 5 }, { "type": "number" }] });
    assert_eq!(overall(&old, &new), Direction::Other);
    let old = json!({ "contains": { "type": "number" }, "maxContains": 1 });
    let new = json!({ "contains": { "type": "integer" }, "maxContains": 1 });
    assert_eq!(overall(&old, &new), Direction::Other);
}

#[test]
fn a_recursive_part_under_not_is_not_taken_for_unchanged() {
    // The new schema asks for more at the top, and so excludes less below.
    let schema = |required: Value| json!({ "properties": { "x": { "not": { "$ref": "#" } } }, "required": required });
    assert_eq!(overall(&schema(json!([])), &schema(json!(["y"]))), Direction::Other);
}

#[test]
fn a_removed_parameter_depends_on_whether_its_name_is_still_accepted() {
    let old = json!({ "properties": { "a": { "type": "string" }, "b": {} } });
    let open = json!({ "properties": { "b": {} } });
    assert_eq!(overall(&old, &open), Direction::Wider);
    let closed = |schema: &Value| {
        let mut schema = schema.clone();
        schema["additionalProperties"] = json!(false);
        schema
    };
    let change = compare(&closed(&old), &closed(&open));
    assert_eq!(change.overall(), Direction::Narrower);
    assert_eq!(change.changes()[0].kind(), &ChangeKind::RemovedParameter("a".into()));
}

#[test]
fn a_pattern_of_names_in_a_closed_object_lets_names_in() {
    let old = json!({ "additionalProperties": false });
    let new = json!({ "additionalProperties": false, "patternProperties": { "^x": { "type": "string" } } });
    assert_eq!(overall(&old, &new), Direction::Other);
}

#[test]
fn a_parameter_that_falls_to_a_pattern_of_names_is_other() {
    let old = json!({ "properties": { "ab": { "type": "string" } }, "patternProperties": { "^a": {} }, "additionalProperties": false });
    let new = json!({ "patternProperties": { "^a": {} }, "additionalProperties": false });
    assert_eq!(overall(&old, &new), Direction::Other);
}

#[test]
fn references_are_followed_on_both_sides() {
    let old = json!({ "properties": { "a": { "$ref": "#/$defs/d" } }, "$defs": { "d": { "type": "string" } } });
    let inline = json!({ "properties": { "a": { "type": "string" } } });
    let moved = json!({ "properties": { "a": { "$ref": "#/definitions/e", "description": "x" } }, "definitions": { "e": { "$ref": "#/definitions/f" }, "f": { "type": "string" } } });
    assert_eq!(overall(&old, &inline), Direction::Wording);
    assert_eq!(overall(&old, &moved), Direction::Wording);
    let tight = json!({ "properties": { "a": { "$ref": "#/$defs/d" } }, "$defs": { "d": { "type": "string", "maxLength": 5 } } });
    narrows(&old, &tight);
    assert_eq!(compare(&old, &tight).changes()[0].path(), "/$defs/d/maxLength");
}

#[test]
fn recursive_schemas_are_compared_once() {
    let tree = |extra: Value| json!({ "$ref": "#/$defs/node", "$defs": { "node": { "properties": { "children": { "items": { "$ref": "#/$defs/node" } }, "name": extra } } } });
    assert_eq!(
        overall(&tree(json!({ "type": "string" })), &tree(json!({ "type": "string", "title": "x" }))),
        Direction::Wording
    );
    narrows(&tree(json!({ "type": "string" })), &tree(json!({ "type": "string", "maxLength": 3 })));
}

#[test]
fn what_cannot_be_followed_is_other() {
    for reference in ["http://example.com/x", "#gone", "#/$defs/gone", "other.json"] {
        let old = json!({ "properties": { "a": { "$ref": reference }, "b": { "type": "string" } } });
        let mut new = old.clone();
        new["properties"]["b"]["maxLength"] = json!(1);
        assert_eq!(overall(&old, &new), Direction::Other, "{reference}");
        new = old.clone();
        new["properties"]["b"]["title"] = json!("only words");
        assert_eq!(overall(&old, &new), Direction::Wording, "{reference}");
    }
    let endless =
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
    assert_eq!(overall(&json!({ "type": "string" }), &endless), Direction::Other);
}

#[test]
fn a_reference_that_comes_beside_other_keywords_is_other() {
    // Draft 7 ignores what stands beside a reference: here the reference switches the limit off.
    let old =
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "minProperties": 3, "definitions": { "d": {} } });
    let new = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "minProperties": 3, "$ref": "#/definitions/d", "definitions": { "d": {} } });
    assert_eq!(overall(&old, &new), Direction::Other);
}

#[test]
fn a_change_next_to_unevaluated_is_other() {
    let old =
        json!({ "$ref": "#/$defs/d", "$defs": { "d": { "properties": { "a": {} } } }, "unevaluatedProperties": false });
    let new = json!({ "$ref": "#/$defs/d", "$defs": { "d": { "properties": { "a": {} }, "patternProperties": { "b": { "type": "string" } } } }, "unevaluatedProperties": false });
    assert_eq!(overall(&old, &new), Direction::Other);
}

#[test]
fn another_dialect_is_other_unless_both_read_the_schema_alike() {
    let with = |dialect: &str, schema: &Value| {
        let mut schema = schema.clone();
        schema["$schema"] = json!(dialect);
        schema
    };
    let (draft_4, draft_7) = ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#");
    let recent = "https://json-schema.org/draft/2020-12/schema";
    let plain = json!({ "type": "object", "properties": { "format": { "type": "string" }, "a": { "items": { "$ref": "#/$defs/d" } } }, "$defs": { "d": {} } });
    assert_eq!(overall(&plain, &with(recent, &plain)), Direction::Wording);
    let change = compare(&with(draft_7, &plain), &with(recent, &plain));
    assert_eq!((change.overall(), change.changes()[0].kind()), (Direction::Wording, &ChangeKind::Dialect));
    assert_eq!(overall(&with(draft_4, &plain), &with(draft_7, &plain)), Direction::Other);
    assert_eq!(overall(&with("https://example.com/mine", &plain), &plain), Direction::Other);
    for sensitive in [
        json!({ "items": [{ "type": "string" }] }),
        json!({ "properties": { "a": { "format": "ipv4" } } }),
        json!({ "$ref": "#/$defs/d", "minimum": 1, "$defs": { "d": {} } }),
        json!({ "dependentRequired": { "a": ["b"] } }),
    ] {
        assert_eq!(overall(&with(draft_7, &sensitive), &with(recent, &sensitive)), Direction::Other, "{sensitive}");
    }
}

#[test]
fn large_integers_that_share_a_double_are_not_taken_for_equal() {
    let old = json!({ "minimum": 9_007_199_254_740_993_u64 });
    let new = json!({ "minimum": 9_007_199_254_740_992_u64 });
    assert!(overall(&old, &new).may_accept_more());
    assert_eq!(overall(&json!({ "minimum": 1 }), &json!({ "minimum": 1.0 })), Direction::Wording);
}

#[test]
fn hostile_schemas_are_given_up_on() {
    let bomb = |last: &str| {
        let mut defs = Map::new();
        for level in 0..60 {
            let next = format!("#/$defs/a{}", level + 1);
            defs.insert(format!("a{level}"), json!({ "anyOf": [{ "allOf": [{ "$ref": next }] }, { "not": { "$ref": next } }, { "oneOf": [{ "$ref": next }, { "$ref": next }] }] }));
        }
        defs.insert("a60".into(), json!({ "type": last }));
        json!({ "$ref": "#/$defs/a0", "$defs": defs })
    };
    assert_eq!(overall(&bomb("string"), &bomb("integer")), Direction::Other);
    let wide = |bound: u32| json!({ "anyOf": (0..3_000).map(|n| json!({ "minimum": n, "maximum": bound })).collect::<Vec<_>>() });
    assert_eq!(overall(&wide(1), &wide(2)), Direction::Other);
    let deep = |last: &str| (0..1_000).fold(json!({ "type": last }), |inner, _| json!({ "items": inner }));
    assert_eq!(overall(&deep("string"), &deep("integer")), Direction::Other);
}

#[test]
fn a_change_reads_as_a_sentence() {
    let old = json!({ "properties": { "state": { "enum": ["open"] } } });
    let new = json!({ "properties": { "state": { "enum": ["open", "closed"] }, "sidenote": {} } });
    let said: Vec<String> = compare(&old, &new).changes().iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "accepts `\"closed\"` too at `/properties/state/enum` (wider)",
            "new parameter `sidenote` at `/properties/sidenote` (wider)"
        ]
    );
}

/// The law that reviews rest on. It is run by hand so that the cases that say something can be counted.
#[test]
fn what_is_called_wording_or_narrower_accepts_nothing_new() {
    let universe = universe();
    let edit = (any::<usize>(), prop::bool::weighted(0.3), any_keyword(&any_schema()));
    let cases = (any_document(), prop::collection::vec(edit, 1..3), prop::bool::weighted(0.2));
    let (kept, narrowed) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config { cases: 3_000, failure_persistence: None, ..Config::default() });
    runner
        .run(&cases, |(old, edits, other_dialect)| {
            let mut new = edits
                .iter()
                .fold(old.clone(), |document, (at, remove, keyword)| edited(&document, *at, *remove, keyword));
            if other_dialect {
                let dialect = old.get("$schema").map_or(
                    "http://json-schema.org/draft-07/schema#",
                    |_| "https://json-schema.org/draft/2020-12/schema",
                );
                new["$schema"] = dialect.into();
            }
            // Both orders: most edits narrow, and taking them back widens.
            for (old, new) in [(&old, &new), (&new, &old)] {
                let change = compare(old, new);
                let direction = change.overall();
                if direction.may_accept_more()
                    || InputSchema::compile(old).is_err()
                    || InputSchema::compile(new).is_err()
                {
                    continue;
                }
                let before = jsonschema::validator_for(old).unwrap();
                let now = jsonschema::validator_for(new).unwrap();
                for value in &universe {
                    prop_assert!(
                        !now.is_valid(value) || before.is_valid(value),
                        "{value} is new: {old} to {new}: {change:?}"
                    );
                    if direction < Direction::Narrower {
                        prop_assert_eq!(
                            now.is_valid(value),
                            before.is_valid(value),
                            "{}: {} to {}: {:?}",
                            value,
                            old,
                            new,
                            &change
                        );
                    }
                }
                let count = if direction == Direction::Narrower { &narrowed } else { &kept };
                count.set(count.get() + 1);
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(kept.get() > 150 && narrowed.get() > 150, "{kept:?} kept and {narrowed:?} narrowed");
}

proptest! {
    #[test]
    fn any_two_json_values_can_be_compared(old in any_schema(), new in any_schema()) {
        let change = compare(&old, &new);
        prop_assert_eq!(change.overall() == Direction::Same, old == new);
    }
}
