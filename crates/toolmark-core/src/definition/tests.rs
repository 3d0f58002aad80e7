use super::*;

fn read(text: &str) -> Result<Definition, ReadDefinitionError> {
    Definition::read(&Slice::of("test", text.to_owned()), Form::Tool)
}

fn digest(text: &str) -> DefinitionDigest {
    read(text).unwrap().digest()
}

#[test]
fn the_digest_does_not_depend_on_spelling() {
    assert_eq!(
        digest(r#"{"name":"a","description":"é","inputSchema":{"type":"object","maxProperties":1}}"#),
        digest(
            "{ \"inputSchema\": {\"maxProperties\": 1.0, \"type\": \"object\"},\n \"description\": \"\\u00e9\", \"name\": \"a\", \"title\": null }"
        ),
    );
}

#[test]
fn the_digest_changes_with_everything_the_publisher_says() {
    let base = digest(r#"{"name":"a","inputSchema":{}}"#);
    for changed in [
        r#"{"name":"b","inputSchema":{}}"#,
        r#"{"name":"a","inputSchema":{"type":"object"}}"#,
        r#"{"name":"a","inputSchema":{},"description":"x"}"#,
        r#"{"name":"a","inputSchema":{},"title":"x"}"#,
        r#"{"name":"a","inputSchema":{},"outputSchema":{}}"#,
        r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true}}"#,
        r#"{"name":"a","inputSchema":{},"icons":[]}"#,
        r#"{"name":"a","inputSchema":{},"_meta":{"x/y":1}}"#,
        r#"{"name":"a","inputSchema":{},"futureField":0}"#,
    ] {
        assert_ne!(digest(changed), base, "{changed}");
    }
}

/// Others must be able to compute it: SHA-256 over the domain, a NUL and the canonical JSON.
#[test]
fn the_digest_is_the_documented_one() {
    use sha2::{Digest as _, Sha256};
    let expected = Sha256::digest(b"toolmark/definition/v1\0{\"inputSchema\":{},\"name\":\"a\"}");
    assert_eq!(digest(r#"{"name":"a","inputSchema":{}}"#).as_bytes().as_slice(), expected.as_slice());
}

#[test]
fn a_collected_row_has_the_digest_of_the_tool_alone() {
    let row = r#"{"server":"s","package":"npm:x","version":"1","name":"a","title":null,"inputSchema":{}}"#;
    let row = Definition::read(&Slice::of("test", row.to_owned()), Form::Row).unwrap();
    assert_eq!(row.digest(), digest(r#"{"name":"a","inputSchema":{}}"#));
}

#[test]
fn the_raw_text_is_kept_byte_for_byte() {
    let text = "{ \"name\" : \"a\",\n\"x\": 1.00 }";
    assert_eq!(read(text).unwrap().raw_json(), text);
}

#[test]
fn what_is_no_definition_is_refused_with_a_code() {
    let code = |text: &str| read(text).unwrap_err().code().as_str();
    assert_eq!(code("[]"), "definition-not-an-object");
    assert_eq!(code("{}"), "definition-without-name");
    assert_eq!(code(r#"{"name":5}"#), "definition-without-name");
    assert_eq!(code(r#"{"name":""}"#), "tool-name-empty");
    assert_eq!(code(r#"{"name":"a\u0000b"}"#), "tool-name-control-character");
    assert_eq!(code(r#"{"name":"a","description":5}"#), "definition-field-type");
    assert_eq!(code(r#"{"name":"a","inputSchema":[]}"#), "definition-field-type");
    assert_eq!(code(r#"{"name":"a","name":"b"}"#), "json-duplicate-key");
    assert_eq!(code(&format!(r#"{{"name":"a","description":"{}"}}"#, "x".repeat(10 << 20))), "definition-too-large");
}

#[test]
fn the_papers_form_declares_a_behavior_and_a_short_schema() {
    let tool = read(r#"{"name":"read_query","schema":{"query":"string"},"mutability":"PURE","action":"READ","output_domain":"DATA"}"#).unwrap();
    assert_eq!(tool.declared().unwrap().to_string(), "PURE|READ|DATA");
    let schema = tool.reading().input_schema().to_value();
    assert_eq!(
        schema,
        serde_json::json!({"type":"object","properties":{"query":{"type":"string"}},"required":["query"]})
    );
}

#[test]
fn a_half_declared_or_impossible_behavior_is_refused() {
    let code = |text: &str| read(text).unwrap_err().code().as_str();
    assert_eq!(code(r#"{"name":"a","mutability":"PURE"}"#), "behavior-syntax");
    assert_eq!(
        code(
            r#"{"name":"a","_meta":{"dev.toolmark/behavior":{"mutability":"PURE","action":"EAT","output_domain":"DATA"}}}"#
        ),
        "behavior-value"
    );
    assert_eq!(
        code(r#"{"name":"a","mutability":"PURE","action":"DELETE","output_domain":"ACK"}"#),
        "behavior-contradiction"
    );
}

#[test]
fn an_unrelated_field_named_action_declares_nothing() {
    assert_eq!(read(r#"{"name":"a","action":"click"}"#).unwrap().declared(), None);
}

#[test]
fn a_blank_title_falls_through_to_the_annotation() {
    let tool = read(r#"{"name":"a","title":" ","annotations":{"title":"Shown"}}"#).unwrap();
    assert_eq!(tool.reading().title(), Some("Shown"));
}

#[test]
fn two_tools_that_differ_in_name_only_share_their_body() {
    let one = read(r#"{"name":"a","description":"d"}"#).unwrap();
    let other = read(r#"{"name":"b","description":"d"}"#).unwrap();
    assert_ne!(one.digest(), other.digest());
    assert_eq!(one.reading().body_digest(), other.reading().body_digest());
}
