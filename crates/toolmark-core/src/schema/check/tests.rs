use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::explain::Explain;

fn compiled(schema: &Value) -> InputSchema {
    InputSchema::compile(schema).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(schema: &Value) -> CompileSchemaError {
    InputSchema::compile(schema).expect_err("refused")
}

fn code_of_schema(schema: &Value) -> &'static str {
    refusal(schema).code().as_str()
}

fn refused(schema: &Value, arguments: &Value) -> InvalidArguments {
    compiled(schema).check(arguments).expect_err("refused")
}

/// The only violation, as `path: problem`.
fn only(schema: &Value, arguments: &Value) -> String {
    let error = refused(schema, arguments);
    let [violation] = error.violations() else { panic!("{} violations: {error}", error.violations().len()) };
    format!("{}: {}", violation.path(), violation.problem())
}

fn object(properties: Value) -> Value {
    let mut schema = json!({ "type": "object" });
    schema["properties"] = properties;
    schema
}

mod what_fits {
    use super::*;

    #[test]
    fn a_schema_is_shared_between_threads_at_the_price_of_a_pointer() {
        fn shared<T: Send + Sync + Clone>() {}
        shared::<InputSchema>();
        assert_eq!(size_of::<InputSchema>(), size_of::<usize>());
    }

    #[test]
    fn arguments_that_fit_are_accepted() {
        let schema = compiled(&json!({
            "type": "object",
            "properties": { "owner": { "type": "string" }, "page": { "type": "integer", "minimum": 1 } },
            "required": ["owner"],
        }));
        assert_eq!(schema.check(&json!({ "owner": "a", "page": 3 })), Ok(()));
        assert_eq!(schema.check(&json!({ "owner": "a", "undeclared": null })), Ok(()));
    }

    #[test]
    fn arguments_are_an_object_even_where_the_schema_says_nothing() {
        for schema in [json!({}), json!(true), json!({ "type": "string" })] {
            for arguments in [json!(null), json!([]), json!("{}"), json!(1), json!(false)] {
                assert_eq!(refused(&schema, &arguments).code().as_str(), "arguments-not-an-object");
            }
        }
        assert_eq!(compiled(&json!({})).check(&json!({})), Ok(()));
        assert_eq!(compiled(&json!(true)).check(&json!({ "x": 1 })), Ok(()));
    }

    #[test]
    fn the_schema_false_accepts_nothing() {
        assert_eq!(only(&json!(false), &json!({})), ": is not allowed here");
    }

    #[test]
    fn a_dialect_that_is_named_is_used() {
        let tuple = |dialect: &str| json!({ "$schema": dialect, "properties": { "a": { "items": [{ "type": "string" }], "additionalItems": false } } });
        let two = json!({ "a": ["x", "y"] });
        assert!(compiled(&tuple("http://json-schema.org/draft-07/schema#")).check(&two).is_err());
        assert_eq!(code_of_schema(&tuple("https://json-schema.org/draft/2020-12/schema")), "schema-invalid");

        let exclusive = json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": { "n": { "minimum": 1, "exclusiveMinimum": true } },
        });
        assert!(compiled(&exclusive).check(&json!({ "n": 1 })).is_err());
        assert!(compiled(&exclusive).check(&json!({ "n": 2 })).is_ok());
    }

    #[test]
    fn a_dialect_that_nobody_knows_is_read_as_2020_12_and_never_fetched() {
        for dialect in [json!("https://example.com/my-dialect"), json!("x"), json!(7), json!("http://169.254.169.254/")]
        {
            let schema =
                json!({ "$schema": dialect, "properties": { "a": { "prefixItems": [{ "type": "string" }] } } });
            assert!(compiled(&schema).check(&json!({ "a": [1] })).is_err(), "{dialect}");
            assert!(compiled(&schema).check(&json!({ "a": ["x"] })).is_ok(), "{dialect}");
        }
    }

    #[test]
    fn a_recursive_schema_follows_the_arguments() {
        let schema = compiled(&json!({
            "type": "object",
            "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } },
            "required": ["name"],
        }));
        assert_eq!(schema.check(&json!({ "name": "a", "children": [{ "name": "b", "children": [] }] })), Ok(()));
        let error = schema.check(&json!({ "name": "a", "children": [{ "name": "b", "children": [{}] }] })).unwrap_err();
        assert_eq!(error.violations()[0].path(), "/children/0/children/0");
    }
}

mod what_is_said {
    use super::*;

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let schema = json!({
            "type": "object",
            "properties": {
                "owner": { "type": "string" },
                "state": { "enum": ["open", "closed"] },
                "page": { "type": "integer", "minimum": 1 },
            },
            "required": ["owner", "repo"],
            "additionalProperties": false,
        });
        let error = refused(&schema, &json!({ "state": "shut", "page": 0, "ower": "x" }));
        let keywords: Vec<&str> = error.violations().iter().map(Violation::keyword).collect();
        for keyword in ["required", "enum", "minimum", "additionalProperties"] {
            assert!(keywords.contains(&keyword), "{keyword} in {keywords:?}");
        }
        assert_eq!(error.violations().len(), 4);
        let facts = error.facts();
        assert_eq!(facts["violations"].as_array().map(Vec::len), Some(4));
        assert_eq!(error.code().as_str(), "arguments-invalid");
    }

    #[test]
    fn missing_properties_are_named_together() {
        let schema = json!({ "properties": {}, "required": ["owner", "repo", "number"] });
        assert_eq!(only(&schema, &json!({ "repo": 1 })), ": must have `owner` and `number`");
        let error = refused(&schema, &json!({}));
        assert_eq!(error.violations()[0].names(), ["owner", "repo", "number"]);
    }

    #[test]
    fn a_name_that_is_not_taken_is_named_with_the_one_that_was_meant() {
        let schema = json!({
            "properties": { "owner": {}, "repo_name": {}, "id": {} },
            "additionalProperties": false,
        });
        let said = only(&schema, &json!({ "ower": 1, "repoName": 1, "whatever": 1, "ib": 1 }));
        assert_eq!(
            said,
            ": does not take `ower` (did you mean `owner`?), `repoName` (did you mean `repo_name`?), `whatever` or `ib`; \
             it takes `owner`, `repo_name` and `id`"
        );
    }

    #[test]
    fn a_name_that_is_already_sent_is_not_suggested() {
        let schema = json!({ "properties": { "owner": {} }, "additionalProperties": false });
        assert!(!only(&schema, &json!({ "owner": 1, "owners": 1 })).contains("did you mean"));
    }

    #[test]
    fn a_suggestion_is_never_resolved() {
        let schema = compiled(&json!({
            "properties": { "owner": { "type": "string" } }, "required": ["owner"], "additionalProperties": false,
        }));
        assert!(schema.check(&json!({ "Owner": "x" })).is_err());
    }

    #[test]
    fn the_values_of_an_enum_are_listed_and_a_mistyped_one_is_recognised() {
        let schema = object(json!({ "state": { "enum": ["open", "closed", 3, null] } }));
        assert_eq!(
            only(&schema, &json!({ "state": "opne" })),
            "/state: is the string `\"opne\"`, expected one of `\"open\"`, `\"closed\"`, `3` or `null` (did you mean `\"open\"`?)"
        );
        let error = refused(&schema, &json!({ "state": "opne" }));
        assert_eq!(error.violations()[0].allowed(), [json!("open"), json!("closed"), json!(3), json!(null)]);
    }

    #[test]
    fn a_long_enum_says_how_many_values_are_not_listed() {
        let values: Vec<String> = (0..500).map(|n| format!("value-{n}")).collect();
        let said = only(&object(json!({ "v": { "enum": values } })), &json!({ "v": true }));
        assert!(said.contains("`\"value-29\"` or 470 more"), "{said}");
    }

    #[test]
    fn a_wrong_type_says_what_was_sent_and_what_to_send() {
        let schema = object(json!({
            "n": { "type": "integer" }, "list": { "type": "array" }, "flag": { "type": "boolean" },
            "name": { "type": ["string", "null"] }, "text": { "type": "string" },
        }));
        for (arguments, expected) in [
            (json!({ "n": "5" }), "/n: is the string `\"5\"`, expected an integer; send it without quotes"),
            (json!({ "n": 5.5 }), "/n: is `5.5`, expected an integer"),
            (json!({ "n": "x" }), "/n: is the string `\"x\"`, expected an integer"),
            (
                json!({ "list": "[1, 2]" }),
                "/list: is the string `\"[1, 2]\"`, expected an array; send the JSON itself, not text that holds it",
            ),
            (json!({ "flag": "true" }), "/flag: is the string `\"true\"`, expected a boolean; send it without quotes"),
            (json!({ "name": [1] }), "/name: is an array of 1 item, expected null or a string"),
            (json!({ "text": null }), "/text: is null, expected a string; leave it out if it is optional"),
            (json!({ "text": { "a": 1, "b": 2 } }), "/text: is an object with 2 properties, expected a string"),
        ] {
            assert_eq!(only(&schema, &arguments), expected);
        }
    }

    #[test]
    fn bounds_are_said_with_the_value() {
        let schema = object(json!({
            "a": { "minimum": 1 }, "b": { "exclusiveMaximum": 5 }, "c": { "maxLength": 3 }, "d": { "minItems": 2 },
            "e": { "pattern": "^[a-z]+$" }, "f": { "minLength": 1 }, "g": { "uniqueItems": true }, "h": { "multipleOf": 5 },
        }));
        for (arguments, expected) in [
            (json!({ "a": 0 }), "/a: is `0`, must be at least 1"),
            (json!({ "b": 5 }), "/b: is `5`, must be less than 5"),
            (json!({ "c": "abcd" }), "/c: must have at most 3 characters, has 4"),
            (json!({ "d": [1] }), "/d: is an array of 1 item, must have at least 2"),
            (json!({ "e": "A" }), "/e: is the string `\"A\"`, must match the pattern `^[a-z]+$`"),
            (json!({ "f": "" }), "/f: must not be empty"),
            (json!({ "g": [1, 1] }), "/g: has an item twice"),
            (json!({ "h": 7 }), "/h: is `7`, must be a multiple of 5"),
        ] {
            assert_eq!(only(&schema, &arguments), expected);
        }
    }

    #[test]
    fn property_names_are_said_by_name() {
        let schema = json!({ "propertyNames": { "maxLength": 3 } });
        assert_eq!(
            only(&schema, &json!({ "abcd": 1 })),
            ": has the name `abcd`, which must have at most 3 characters, has 4"
        );
    }

    #[test]
    fn a_union_of_simple_types_is_one_expectation() {
        let schema = object(json!({ "v": { "anyOf": [{ "type": "string" }, { "type": "null" }] } }));
        assert_eq!(only(&schema, &json!({ "v": 1 })), "/v: is `1`, expected a string or null");
        let literals = object(json!({ "v": { "anyOf": [{ "const": "a" }, { "enum": ["b"] }, { "type": "null" }] } }));
        assert_eq!(only(&literals, &json!({ "v": 1 })), "/v: is `1`, expected one of null, `\"a\"` or `\"b\"`");
    }

    #[test]
    fn of_a_union_of_objects_the_branch_that_was_meant_is_explained() {
        let shape = |kind: &str, name: &str| {
            json!({
                "type": "object",
                "properties": { "kind": { "const": kind }, (name): { "type": "integer" } },
                "required": ["kind", name],
                "additionalProperties": false,
            })
        };
        for keyword in ["anyOf", "oneOf"] {
            let schema = object(json!({
                "shape": { (keyword): [shape("circle", "radius"), shape("square", "side"), { "type": "string" }] },
            }));
            assert_eq!(
                only(&schema, &json!({ "shape": { "kind": "square", "side": "2" } })),
                "/shape/side: is the string `\"2\"`, expected an integer; send it without quotes \
                 (in the closest of 3 alternatives)"
            );
        }
    }

    #[test]
    fn a_value_that_fits_two_of_one_of_says_so() {
        let schema =
            object(json!({ "v": { "oneOf": [{ "type": "integer" }, { "minimum": 3 }, { "type": "string" }] } }));
        assert_eq!(only(&schema, &json!({ "v": 5 })), "/v: fits 2 of 3 alternatives, where exactly one has to fit");
    }

    #[test]
    fn many_violations_are_counted_after_twenty() {
        let schema = object(json!({ "v": { "items": { "type": "integer" } } }));
        let error = refused(&schema, &json!({ "v": vec!["x"; 50] }));
        assert_eq!((error.violations().len(), error.more()), (20, 30));
        assert!(error.to_string().ends_with("; and 47 more"), "{error}");
        assert!(error.fix().contains("and 30 more"));
    }

    #[test]
    fn a_message_is_one_line_however_hostile_the_value() {
        let schema = object(json!({ "v": { "type": "integer" } }));
        let error = refused(&schema, &json!({ "v": format!("line\nbreak\u{202e}{}", "x".repeat(10_000)) }));
        let said = error.to_string();
        assert!(!said.contains('\n') && !said.contains('\u{202e}'), "{said}");
        assert!(said.contains("\\u{a}") && said.contains("\\u{202e}") && said.len() < 300, "{said}");
    }

    #[test]
    fn at_most_sixty_characters_of_a_value_are_repeated() {
        let schema = object(json!({ "v": { "type": "integer" } }));
        let said = refused(&schema, &json!({ "v": "z".repeat(100) })).report().to_json().to_string();
        assert!(said.contains(&"z".repeat(60)) && !said.contains(&"z".repeat(61)), "{said}");
    }

    #[test]
    fn a_large_array_with_one_wrong_item_says_which() {
        let schema = object(json!({ "v": { "items": { "allOf": [{ "type": "integer" }, { "minimum": 0 }] } } }));
        let mut items = vec![json!(1); 90_000];
        items[77_777] = json!(-1);
        assert_eq!(only(&schema, &json!({ "v": items })), "/v/77777: is `-1`, must be at least 0");
    }
}

mod secrets {
    use super::*;

    const SECRET: &str = "hunter2hunter2";

    fn hidden(schema: &Value, arguments: &Value) {
        let error = refused(schema, arguments);
        let everything = format!("{error} {} {} {error:?}", error.report(), error.report().to_json());
        assert!(!everything.contains("hunter2"), "{everything}");
        assert!(!error.violations().is_empty());
    }

    #[test]
    fn a_value_with_the_name_of_a_secret_is_never_repeated() {
        for name in [
            "password",
            "dbPassword",
            "token",
            "accessToken",
            "access_token",
            "client-secret",
            "api_key",
            "apiKey",
            "API-KEY",
            "Authorization",
            "credentials",
            "private_key",
            "pwd",
        ] {
            for check in [
                json!({ "type": "integer" }),
                json!({ "enum": ["a"] }),
                json!({ "pattern": "^x" }),
                json!({ "format": "ipv4" }),
            ] {
                let schema = json!({
                    "$schema": "http://json-schema.org/draft-07/schema#", "properties": { (name): check },
                });
                hidden(&schema, &json!({ (name): SECRET }));
            }
        }
    }

    #[test]
    fn a_value_inside_something_with_the_name_of_a_secret_is_never_repeated() {
        let schema =
            object(json!({ "credentials": { "items": { "properties": { "value": { "type": "integer" } } } } }));
        hidden(&schema, &json!({ "credentials": [{ "value": SECRET }] }));
    }

    #[test]
    fn a_value_that_the_schema_declares_secret_is_never_repeated() {
        for secret in [json!({ "format": "password" }), json!({ "writeOnly": true })] {
            let mut direct = secret.clone();
            direct["maxLength"] = json!(3);
            direct["enum"] = json!(["a"]);
            hidden(&object(json!({ "v": direct })), &json!({ "v": SECRET }));

            let mut union = secret.clone();
            union["anyOf"] = json!([{ "type": "integer" }, { "type": "string", "pattern": "^x" }]);
            hidden(&object(json!({ "v": union })), &json!({ "v": SECRET }));

            let mut reference = secret.clone();
            reference["$ref"] = json!("#/$defs/short");
            let schema = json!({ "properties": { "v": reference }, "$defs": { "short": { "const": "x" } } });
            hidden(&schema, &json!({ "v": SECRET }));

            let mut target = secret.clone();
            target["type"] = json!("integer");
            let schema = json!({ "properties": { "v": { "$ref": "#/$defs/s" } }, "$defs": { "s": target } });
            hidden(&schema, &json!({ "v": SECRET }));

            let mut look_around = secret.clone();
            look_around["pattern"] = json!("^(?=x)");
            hidden(&object(json!({ "v": look_around })), &json!({ "v": SECRET }));
        }
    }

    #[test]
    fn numbers_can_be_secret_too() {
        let said = only(&object(json!({ "secret_number": { "maximum": 5 } })), &json!({ "secret_number": 4242 }));
        assert_eq!(said, "/secret_number: is a number, must be at most 5");
    }

    #[test]
    fn the_value_of_a_name_that_is_not_taken_is_not_repeated() {
        hidden(&json!({ "properties": {}, "additionalProperties": false }), &json!({ "x": SECRET }));
    }
}

mod references {
    use super::*;

    #[test]
    fn nothing_outside_the_schema_is_referred_to() {
        for reference in [
            "http://127.0.0.1:1/schema.json",
            "https://example.com/schema.json#/$defs/x",
            "file:///etc/passwd",
            "other.json",
            "../up.json#/a",
            "//example.com/x",
            "ftp://example.com/x",
            "urn:example:thing",
            "http://json-schema.org/draft-07/schema#",
            "json-schema:///other",
        ] {
            let schema = object(json!({ "v": { "$ref": reference } }));
            let error = refusal(&schema);
            assert_eq!(error.code().as_str(), "schema-remote-ref", "{reference}");
            assert!(error.to_string().contains(reference), "{error}");
            assert_eq!(error.facts()["references"], json!([reference]));
        }
    }

    #[test]
    fn a_remote_reference_is_refused_wherever_it_hides() {
        let remote = json!({ "$ref": "http://example.com/x" });
        for schema in [
            json!({ "$defs": { "unused": remote } }),
            json!({ "$id": "http://example.com/", "properties": { "v": { "$ref": "x" } } }),
            json!({ "if": remote, "then": true }),
            json!({ "dependentSchemas": { "a": remote } }),
            json!({ "allOf": [{ "not": { "items": { "contains": remote } } }] }),
            json!({ "$dynamicRef": "http://example.com/x#meta" }),
            json!({ "contentSchema": remote }),
            json!({ "properties": { "a": { "$ref": "#/elsewhere/b" } }, "elsewhere": { "b": remote } }),
        ] {
            assert_eq!(code_of_schema(&schema), "schema-remote-ref", "{schema}");
        }
    }

    #[test]
    fn all_remote_references_are_told_at_once() {
        let schema = json!({ "allOf": [{ "$ref": "http://a/" }, { "$ref": "http://b/" }] });
        let references = refusal(&schema).facts()["references"].as_array().map(Vec::len);
        assert_eq!(references, Some(2));
    }

    #[test]
    fn a_property_called_ref_is_a_property() {
        let schema = compiled(&json!({
            "properties": { "$ref": { "type": "string" } }, "default": { "$ref": "http://example.com" },
            "enum": [{ "$ref": "http://example.com/x" }],
        }));
        assert_eq!(schema.check(&json!({ "$ref": "http://example.com/x" })), Ok(()));
    }

    #[test]
    fn references_inside_the_schema_work_by_pointer_anchor_and_identifier() {
        for schema in [
            json!({ "properties": { "v": { "$ref": "#/$defs/a~1b" } }, "$defs": { "a/b": { "type": "string" } } }),
            json!({ "properties": { "v": { "$ref": "#/definitions/a" } }, "definitions": { "a": { "type": "string" } } }),
            json!({ "properties": { "v": { "$ref": "#s" } }, "$defs": { "a": { "$anchor": "s", "type": "string" } } }),
            json!({ "properties": { "v": { "$ref": "#/properties/w" }, "w": { "type": "string" } } }),
            json!({
                "$id": "https://example.com/root.json",
                "properties": { "v": { "$ref": "leaf.json#/$defs/s" } },
                "$defs": { "leaf": { "$id": "leaf.json", "$defs": { "s": { "type": "string" } } } },
            }),
            json!({
                "$id": "https://example.com/root.json",
                "properties": { "v": { "$ref": "https://example.com/root.json#/$defs/s" } },
                "$defs": { "s": { "type": "string" } },
            }),
        ] {
            assert_eq!(compiled(&schema).check(&json!({ "v": "x" })), Ok(()), "{schema}");
            assert!(compiled(&schema).check(&json!({ "v": 1 })).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_reference_to_nothing_is_an_error_that_names_it() {
        let error = refusal(&object(json!({ "v": { "$ref": "#/$defs/gone" } })));
        assert_eq!(error.code().as_str(), "schema-invalid");
        assert!(error.to_string().contains("`#/$defs/gone` points to nothing"), "{error}");
    }

    #[test]
    fn a_reference_that_leads_back_without_entering_the_value_is_refused() {
        for schema in [
            json!({ "$ref": "#" }),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "allOf": [{ "$ref": "#/$defs/b" }] }, "b": { "not": { "$ref": "#/$defs/a" } } } }),
            json!({ "anyOf": [{ "$ref": "#" }, { "type": "object" }] }),
        ] {
            assert_eq!(code_of_schema(&schema), "schema-invalid", "{schema}");
        }
    }
}

mod limits {
    use super::*;

    /// `levels` containers inside one another, around a value that fits nothing but `true`.
    fn nested_schema(levels: usize) -> Value {
        (1..levels).fold(json!({}), |inner, _| json!({ "not": inner }))
    }

    fn nested_arguments(levels: usize) -> Value {
        (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
    }

    #[test]
    fn a_schema_may_nest_sixty_four_levels() {
        assert!(InputSchema::compile(&nested_schema(64)).is_ok());
        assert_eq!(code_of_schema(&nested_schema(65)), "schema-too-deep");
        assert_eq!(code_of_schema(&nested_schema(500)), "schema-too-deep");
    }

    #[test]
    fn arguments_may_nest_sixty_four_levels() {
        let schema = compiled(&json!({ "additionalProperties": { "$ref": "#" } }));
        assert_eq!(schema.check(&nested_arguments(64)), Ok(()));
        assert_eq!(schema.check(&nested_arguments(65)).unwrap_err().code().as_str(), "arguments-too-deep");
        assert_eq!(schema.check(&nested_arguments(500)).unwrap_err().code().as_str(), "arguments-too-deep");
    }

    #[test]
    fn a_schema_may_not_be_endless() {
        let many: Vec<Value> = (0..20_001).map(|n| json!(n)).collect();
        assert_eq!(code_of_schema(&json!({ "enum": many })), "schema-too-large");
        assert_eq!(code_of_schema(&json!({ "description": "x".repeat((1 << 20) + 1) })), "schema-too-large");
        assert!(InputSchema::compile(&json!({ "description": "x".repeat(1 << 19) })).is_ok());
    }

    #[test]
    fn arguments_may_not_be_endless() {
        let schema = compiled(&json!({}));
        let many = vec![Value::Null; 100_001];
        assert_eq!(schema.check(&json!({ "v": many })).unwrap_err().code().as_str(), "arguments-too-large");
        let long = "x".repeat((16 << 20) + 1);
        assert_eq!(schema.check(&json!({ "v": long })).unwrap_err().code().as_str(), "arguments-too-large");
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for schema in [json!(null), json!([]), json!("object"), json!(1)] {
            assert_eq!(code_of_schema(&schema), "schema-invalid");
        }
        let error = refusal(&object(json!({ "v": { "type": "strnig" } })));
        assert_eq!(error.code().as_str(), "schema-invalid");
        assert!(error.to_string().contains("`/properties/v/type`"), "{error}");
        assert!(error.to_string().contains("did you mean `\"string\"`?"), "{error}");
        for schema in [
            json!({ "properties": [] }),
            json!({ "required": "a" }),
            json!({ "type": 1 }),
            json!({ "allOf": {} }),
            json!({ "minLength": -1 }),
            json!({ "properties": { "a": { "items": 3 } } }),
        ] {
            assert_eq!(code_of_schema(&schema), "schema-invalid", "{schema}");
        }
    }
}

/// Schemas that are small on the page and endless when they are followed.
mod bombs {
    use super::*;

    /// `a0` asks twice for `a1`, which asks twice for `a2`, and so on; `link` writes how.
    fn doubling(levels: usize, last: &Value, link: impl Fn(&str) -> Value) -> Value {
        let mut defs = serde_json::Map::new();
        for level in 0..levels {
            defs.insert(format!("a{level}"), link(&format!("#/$defs/a{}", level + 1)));
        }
        defs.insert(format!("a{levels}"), last.clone());
        json!({ "$ref": "#/$defs/a0", "$defs": defs })
    }

    #[test]
    fn references_that_double_in_place_are_refused_when_compiled() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let schema = doubling(
                40,
                &json!({ "type": "object" }),
                |next| json!({ (keyword): [{ "$ref": next }, { "$ref": next }] }),
            );
            assert_eq!(code_of_schema(&schema), "schema-too-large");
        }
    }

    #[test]
    fn references_that_double_below_unevaluated_are_refused_when_compiled() {
        let schema = doubling(
            40,
            &json!({ "properties": { "a": true } }),
            |next| json!({ "allOf": [{ "$ref": next }, { "$ref": next }], "unevaluatedProperties": false }),
        );
        assert_eq!(code_of_schema(&schema), "schema-too-large");
        let nested = (0..30).fold(json!({}), |inner, _| json!({ "allOf": [inner], "unevaluatedProperties": false }));
        assert_eq!(code_of_schema(&nested), "schema-too-large");
    }

    #[test]
    fn references_that_double_at_every_level_of_the_arguments_are_bounded() {
        let twice = |next: &str| json!({ "properties": { "x": { "allOf": [{ "$ref": next }, { "$ref": next }] } } });
        let schema = compiled(&doubling(50, &json!({ "type": "object" }), twice));
        for (levels, fits) in [(10, true), (51, false)] {
            let arguments = (0..levels).fold(json!({}), |inner, _| json!({ "x": inner }));
            let result = schema.check(&arguments);
            assert_eq!(result.is_ok(), fits, "{levels}");
            if let Err(error) = result {
                assert_eq!(error.code().as_str(), "arguments-too-costly");
            }
        }
    }

    #[test]
    fn a_recursive_schema_that_doubles_is_bounded() {
        let schema = compiled(&json!({
            "properties": { "x": { "anyOf": [{ "$ref": "#" }, { "$ref": "#" }, { "$ref": "#" }] }, "leaf": { "type": "integer" } },
            "additionalProperties": false,
        }));
        for levels in [3, 8, 30, 60] {
            let fitting = (0..levels).fold(json!({ "leaf": 1 }), |inner, _| json!({ "x": inner }));
            let failing = (0..levels).fold(json!({ "leaf": "1" }), |inner, _| json!({ "x": inner }));
            let result = schema.check(&fitting);
            assert!(levels > 8 || result.is_ok(), "{levels}: {result:?}");
            let error = schema.check(&failing).unwrap_err();
            assert!(levels > 8 || error.code().as_str() == "arguments-invalid", "{levels}: {error}");
            assert!(levels < 30 || error.code().as_str() == "arguments-too-costly", "{levels}: {error}");
        }
    }

    #[test]
    fn many_checks_on_many_values_are_bounded() {
        let schema = object(json!({ "v": { "items": { "allOf": vec![json!({ "type": "integer" }); 5_000] } } }));
        let schema = compiled(&schema);
        assert_eq!(schema.check(&json!({ "v": vec![1; 1_000] })), Ok(()));
        let error = schema.check(&json!({ "v": vec![1; 50_000] })).unwrap_err();
        assert_eq!(error.code().as_str(), "arguments-too-costly");
    }

    #[test]
    fn a_long_chain_of_references_is_refused_without_a_crash() {
        let schema = doubling(3_000, &json!({ "type": "object" }), |next| json!({ "$ref": next }));
        assert_eq!(code_of_schema(&schema), "schema-too-deep");
        let schema = doubling(3_000, &json!({}), |next| json!({ "properties": { "x": { "$ref": next } } }));
        assert_eq!(code_of_schema(&schema), "schema-too-deep");
    }

    #[test]
    fn deep_schemas_that_refer_to_one_another_do_not_exhaust_the_stack() {
        let deep = |inner: Value| (0..28).fold(inner, |inner, _| json!({ "properties": { "x": inner } }));
        let schema = doubling(8, &json!({ "type": "integer" }), |next| deep(json!({ "$ref": next })));
        let schema = compiled(&schema);
        assert_eq!(schema.check(&json!({ "x": { "x": {} } })), Ok(()));
    }

    #[test]
    fn the_deepest_arguments_on_the_most_nested_schema_do_not_exhaust_the_stack() {
        let chain = (0..2).fold(json!({ "$ref": "#" }), |inner, _| json!({ "allOf": [inner] }));
        let schema = compiled(&json!({ "properties": { "x": chain }, "required": ["y"] }));
        let arguments = (0..63).fold(json!({}), |inner, _| json!({ "x": inner }));
        let error = schema.check(&arguments).unwrap_err();
        assert_eq!(error.code().as_str(), "arguments-invalid");
        assert_eq!(error.violations().len() + error.more(), 64);
    }

    #[test]
    fn many_identified_schemas_inside_a_schema_are_refused() {
        let mut defs = serde_json::Map::new();
        for one in 0..30 {
            let others: Vec<Value> =
                (0..30).map(|other| json!({ "properties": { "x": { "$ref": format!("r{other}") } } })).collect();
            defs.insert(format!("d{one}"), json!({ "$id": format!("http://x/r{one}"), "anyOf": others }));
        }
        let schema = json!({ "$id": "http://x/", "$ref": "r0", "$defs": defs });
        assert_eq!(code_of_schema(&schema), "schema-too-large");
    }

    #[test]
    fn odd_identifiers_and_anchors_never_end_the_process() {
        let odd = [
            "",
            "#",
            "#a",
            "//",
            "%",
            "%zz",
            "a b",
            "json-schema:///",
            "urn:x",
            "http://[",
            "?",
            "http://x/#frag",
            "#/a",
            ":",
            "\u{0}",
        ];
        for name in odd {
            for keyword in ["$id", "id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$schema", "$vocabulary"] {
                for schema in [
                    json!({ (keyword): name, "properties": { "a": { "$ref": "#/$defs/x" } }, "$defs": { "x": {} } }),
                    json!({ "properties": { "a": { (keyword): name, "$defs": { "x": {} }, "items": { "$ref": "#/$defs/x" } } } }),
                    json!({ "$schema": "http://json-schema.org/draft-04/schema#", "definitions": { "a": { (keyword): name } } }),
                    json!({ "$schema": "https://json-schema.org/draft/2019-09/schema", (keyword): name, "$recursiveAnchor": true, "items": { "$recursiveRef": "#" } }),
                ] {
                    if let Ok(schema) = InputSchema::compile(&schema) {
                        let _ = schema.check(&json!({ "a": [1] }));
                    }
                }
            }
        }
    }
}

mod patterns {
    use super::*;

    const EMAIL: &str =
        r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";

    #[test]
    fn a_pattern_that_backtracks_elsewhere_is_matched_at_once_here() {
        for pattern in ["^(a+)+$", "^(a|aa)+$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
            let schema = compiled(&object(json!({ "v": { "pattern": pattern } })));
            let arguments = json!({ "v": format!("{}!", "a".repeat(50_000)) });
            assert!(schema.check(&arguments).is_err());
        }
    }

    #[test]
    fn look_around_is_matched_on_short_strings() {
        let schema = compiled(&object(json!({ "v": { "pattern": EMAIL }, "w": { "pattern": "^[a-z]+$" } })));
        assert_eq!(schema.check(&json!({ "v": "someone@example.com", "w": "x" })), Ok(()));
        for wrong in ["someone@@example.com", ".x@example.com", "a..b@example.com", ""] {
            let error = schema.check(&json!({ "v": wrong })).unwrap_err();
            assert!(error.to_string().contains("must match the pattern"), "{error}");
            assert_eq!(error.violations()[0].keyword(), "pattern");
        }
        assert!(schema.check(&json!({ "w": "X" })).is_err());
        let error = schema.check(&json!({ "v": format!("{}@example.com", "x".repeat(3_000)) })).unwrap_err();
        assert!(error.to_string().contains("longer than the 2000 bytes"), "{error}");
    }

    #[test]
    fn a_long_value_elsewhere_does_not_matter_to_look_around() {
        let schema = compiled(&object(json!({ "to": { "pattern": EMAIL }, "attachment": { "type": "string" } })));
        assert_eq!(schema.check(&json!({ "to": "a@b.co", "attachment": "x".repeat(8 << 20) })), Ok(()));
    }

    #[test]
    fn look_around_that_backtracks_is_given_up_and_counts_as_no_match() {
        for pattern in ["^(a|b|ab)*(?=c)$", "(?=(.*b))x", r"(a*)*\1$(?!x)", r"((?=[\s\S]*c)a|b|(?=[\s\S]*d)b)*x"] {
            let schema = compiled(&object(json!({ "v": { "items": { "pattern": pattern } } })));
            let arguments = json!({ "v": vec!["ab".repeat(500); 20] });
            assert!(schema.check(&arguments).is_err(), "{pattern}");
        }
    }

    #[test]
    fn the_text_that_patterns_may_read_is_bounded() {
        let schema = compiled(&object(json!({ "v": { "pattern": r"\S" } })));
        assert_eq!(schema.check(&json!({ "v": "x".repeat(1 << 20) })), Ok(()));
        let hostile = compiled(&object(json!({ "v": { "pattern": "[ab]*a[ab]{3000}c" } })));
        let error = hostile.check(&json!({ "v": "ab".repeat(100_000) })).unwrap_err();
        assert_eq!(error.code().as_str(), "arguments-too-costly");
        let lists = compiled(&object(json!({ "v": { "items": { "pattern": EMAIL } } })));
        let error = lists.check(&json!({ "v": vec!["x".repeat(1_900); 1_000] })).unwrap_err();
        assert_eq!(error.code().as_str(), "arguments-too-costly");
    }

    #[test]
    fn a_pattern_that_cannot_be_matched_in_bounded_time_is_refused_by_name() {
        for pattern in ["(", "[a", "(?<x", "a{1000}{1000}", "(?=a{1000}{1000})"] {
            let error = refusal(&object(json!({ "v": { "pattern": pattern } })));
            assert_eq!(error.code().as_str(), "schema-pattern-unsupported", "{pattern}");
            assert!(error.to_string().contains(&format!("`{pattern}`")), "{error}");
            assert_eq!(error.facts()["path"], json!("/properties/v/pattern"));
        }
        let names = json!({ "patternProperties": { "^(?!x-)": { "type": "string" } } });
        assert_eq!(code_of_schema(&names), "schema-pattern-unsupported");
    }

    #[test]
    fn patterns_of_names_work() {
        let schema =
            json!({ "patternProperties": { "^x-[0-9]+$": { "type": "string" } }, "additionalProperties": false });
        assert_eq!(compiled(&schema).check(&json!({ "x-1": "a" })), Ok(()));
        assert!(compiled(&schema).check(&json!({ "x-1": 1 })).is_err());
        assert!(compiled(&schema).check(&json!({ "y": "a" })).is_err());
    }

    #[test]
    fn thousands_of_patterns_are_refused_before_they_are_compiled() {
        let properties: serde_json::Map<String, Value> = (0..3_000)
            .map(|n| (format!("p{n}"), json!({ "pattern": format!("^[\\\\w]{{{n}}}[^x]{{50}}$") })))
            .collect();
        assert_eq!(code_of_schema(&json!({ "properties": properties })), "schema-too-large");
        assert_eq!(code_of_schema(&object(json!({ "v": { "pattern": "x".repeat(5_000) } }))), "schema-too-large");
    }
}

#[test]
fn every_code_has_a_page() {
    for code in [
        "schema-invalid",
        "schema-too-deep",
        "schema-too-large",
        "schema-remote-ref",
        "schema-pattern-unsupported",
        "arguments-invalid",
        "arguments-not-an-object",
        "arguments-too-deep",
        "arguments-too-large",
        "arguments-too-costly",
    ] {
        let page = format!("{}/../../docs/errors/{code}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|_| panic!("{page} exists"));
        assert!(text.contains(code) && (8..=20).contains(&text.lines().count()), "{page}");
    }
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!({ "type": "string" })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!({ "enum": ["a", 1, null] })),
        Just(json!({ "const": "a" })),
        Just(json!({ "minimum": 1 })),
        Just(json!({ "pattern": "^a" })),
        Just(json!({ "pattern": "^(?!b)" })),
        Just(json!({ "$ref": "#/$defs/shared" })),
        Just(json!({ "required": ["a", "b"] })),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({ "anyOf": all })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({ "oneOf": all })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({ "allOf": all })),
            inner.clone().prop_map(|one| json!({ "not": one })),
            inner.clone().prop_map(|one| json!({ "items": one })),
            inner.clone().prop_map(|one| json!({ "propertyNames": one })),
            (inner.clone(), any::<bool>())
                .prop_map(|(one, more)| json!({ "properties": { "a": one }, "additionalProperties": more })),
            inner.prop_map(|one| json!({ "properties": { "b": one }, "unevaluatedProperties": false })),
        ]
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!("a")),
        Just(json!("b")),
        Just(json!(1)),
        Just(json!(0.5)),
        Just(json!(true))
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|entries| json!(entries)),
        ]
    })
}

proptest! {
    #[test]
    fn a_check_decides_as_the_checker_does_and_always_says_why(
        schema in any_schema(),
        arguments in prop::collection::btree_map("[abc]", any_value(), 0..3),
    ) {
        let schema = json!({ "allOf": [schema], "$defs": { "shared": { "type": ["string", "object"] } } });
        let arguments = json!(arguments);
        let theirs = jsonschema::validator_for(&schema).unwrap().is_valid(&arguments);
        match compiled(&schema).check(&arguments) {
            Ok(()) => prop_assert!(theirs),
            Err(error) => {
                prop_assert!(!theirs);
                prop_assert!(!error.violations().is_empty());
                prop_assert!(error.violations().iter().all(|violation| !violation.problem().is_empty()));
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn any_json_as_a_schema_is_compiled_or_refused(schema in any_value()) {
        if let Ok(schema) = InputSchema::compile(&schema) {
            let _ = schema.check(&json!({}));
        }
    }
}
