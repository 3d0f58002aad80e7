use serde_json::json;

use super::*;

/// What the package itself answered, as it was recorded.
#[test]
fn plain_values_are_parts_exactly_where_they_are_in_the_recorded_answers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/identity-dev.json");
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = recorded["vectors"].as_array();
    let mut seen = 0;
    for case in cases.unwrap().iter().filter(|case| case["fn"] == "tool_output_structured") {
        let parts = ToolOutput::parts_of(&case["input"]["output"]);
        let wire = parts.map_or(Value::Null, |parts| ToolOutput::Parts(parts).to_wire());
        assert_eq!(wire, case["output"], "{}", case["id"]);
        seen += 1;
    }
    assert!(seen >= 40, "{seen}");
}

#[test]
fn an_output_can_be_kept_and_read_again() {
    let image = Part::Image(ImagePart { file_id: Some("f".into()), detail: Some(Detail::Low), ..ImagePart::default() });
    for output in [
        ToolOutput::text(""),
        ToolOutput::Json(json!({"text": "x"})),
        ToolOutput::Json(Value::Null),
        ToolOutput::Parts(vec![Part::Text("a".into()), image, Part::file_url("https://example.com/a")]),
        ToolOutput::Parts(Vec::new()),
    ] {
        assert_eq!(ToolOutput::from_json(&output.to_json()), Some(output));
    }
    for other in [json!({}), json!({"text": 5}), json!({"text": "a", "json": 1}), json!([]), json!({"parts": [{}]})] {
        assert_eq!(ToolOutput::from_json(&other), None, "{other}");
    }
}

#[test]
fn text_stays_and_everything_else_is_compact_json() {
    assert_eq!(ToolOutput::json(&"a\nb").unwrap().to_wire(), json!("a\nb"));
    assert_eq!(
        ToolOutput::json(&json!({"b": 1, "a": [true, null]})).unwrap().to_wire(),
        json!(r#"{"b":1,"a":[true,null]}"#)
    );
    assert_eq!(ToolOutput::json(&()).unwrap().to_text(), "null");
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert!(ToolOutput::json(&keys).is_err());
}

#[test]
fn the_bytes_of_an_image_are_not_written_where_only_text_fits() {
    let parts = vec![Part::image_url("data:image/png;base64,AAAA"), Part::file_data("a.txt", "YQ==")];
    assert_eq!(ToolOutput::Parts(parts).to_text(), "[image]\n[file: a.txt]");
}
