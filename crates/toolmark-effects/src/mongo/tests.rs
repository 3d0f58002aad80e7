use proptest::prelude::*;
use serde_json::{Value, json};
use toolmark_core::facts::Reading;

use super::{command, pipeline, read_command, read_operation, read_pipeline};

#[test]
fn the_tables_are_sorted() {
    assert!(pipeline::READS.is_sorted() && command::READS.is_sorted());
    assert!(command::CHANGES.is_sorted_by(|one, two| one.0 < two.0));
}

#[test]
fn targets_are_collections() {
    let Reading::Understood(effects) = read_pipeline(&json!([{"$out": {"db": "a", "coll": "b"}}])) else { panic!() };
    assert_eq!(effects[0].targets, ["b"]);
    let Reading::Understood(effects) =
        read_operation("delete-many", &json!({"collection": "orders", "filter": {"_id": 1}}))
    else {
        panic!()
    };
    assert_eq!(effects[0].targets, ["orders"]);
}

#[test]
fn pipelines_that_stand_too_deep_or_are_too_large_are_refused() {
    let mut deep = json!([]);
    for _ in 0..40 {
        deep = json!([{"$facet": {"a": deep}}]);
    }
    assert!(matches!(read_pipeline(&deep), Reading::CannotTell { .. }));
    let large: Value = (0..60_000).map(|_| json!({"$match": {}})).collect();
    assert!(matches!(read_pipeline(&large), Reading::CannotTell { .. }));
}

fn any_value() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "$out",
        "$merge",
        "$match",
        "$facet",
        "$lookup",
        "pipeline",
        "filter",
        "delete",
        "deletes",
        "q",
        "find",
        "into",
        "a",
        "$where",
        "$or",
        "bulkWrite",
        "operations",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z$]{0,4}".prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let fields = prop::collection::vec((key.clone(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_without_a_panic(value in any_value()) {
        let _ = read_pipeline(&value);
        let _ = read_command(&value);
        for name in ["find", "bulk-write", "deleteMany", "aggregate", "runCommand"] {
            let _ = read_operation(name, &value);
        }
    }
}
