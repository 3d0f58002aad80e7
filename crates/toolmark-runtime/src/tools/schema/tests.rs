use serde_json::json;

use super::*;

fn strict(schema: Value) -> Option<Value> {
    prepare(schema, Strict::WherePossible).unwrap_or_else(|_| panic!("the schema can be used")).strict
}

#[test]
fn a_schema_says_that_it_is_an_object_and_which_properties_it_has() {
    for schema in [json!({}), json!({"type": "object"}), json!({"properties": {}})] {
        let Ok(prepared) = prepare(schema, Strict::Never) else { panic!("it can be used") };
        assert_eq!(prepared.plain["type"], "object");
        assert_eq!(prepared.plain["properties"], json!({}));
        assert_eq!(prepared.strict, None);
    }
}

#[test]
fn what_is_no_schema_of_an_object_is_refused() {
    for schema in
        [json!(true), json!([]), json!("object"), json!({"type": "string"}), json!({"type": ["object", "null"]})]
    {
        assert!(matches!(prepare(schema.clone(), Strict::Never), Err(Unusable::NotAnObject)), "{schema}");
    }
    let nonsense = json!({"type": "object", "properties": {"a": {"type": "nonsense"}}});
    assert!(matches!(prepare(nonsense, Strict::Never), Err(Unusable::Compile(_))));
}

#[test]
fn the_strict_form_is_all_or_nothing() {
    let fine = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}}, "required": ["a"]});
    assert_eq!(strict(fine).unwrap()["required"], json!(["a", "b"]));
    let open = |inner: Value| json!({"type": "object", "properties": {"a": inner}});
    for inner in [
        json!({"type": "object"}),
        json!({"type": ["object", "null"]}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!(true),
    ] {
        assert_eq!(strict(open(inner.clone())), None, "{inner}");
    }
}

#[test]
fn who_insists_on_strict_is_told_why_not() {
    let map = json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": true}}});
    assert!(matches!(prepare(map, Strict::Always), Err(Unusable::Strict(_))));
}
