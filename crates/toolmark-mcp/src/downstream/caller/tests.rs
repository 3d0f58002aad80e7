use super::*;

fn client(capabilities: &'static str) -> Client {
    Client::new(None, Bytes::from_static(capabilities.as_bytes()))
}

#[test]
fn a_client_is_asked_only_what_it_declared() {
    let all = client(r#"{"elicitation":{},"sampling":{},"roots":{"listChanged":true}}"#);
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        assert_eq!(all.lacks(method, b"{}"), None, "{method}");
        assert!(client("{}").lacks(method, b"{}").is_some(), "{method}");
    }
    assert_eq!(client("{}").lacks("sampling/createMessage", b"{}"), Some(r#"{"sampling":{}}"#));
    assert!(all.lacks("tools/call", b"{}").is_some());
}

#[test]
fn forms_and_pages_are_different_capabilities() {
    let (form, page) = (br#"{"message":"?","requestedSchema":{}}"#.as_slice(), br#"{"mode":"url"}"#.as_slice());
    let cases = [
        (r#"{"elicitation":{}}"#, true, false),
        (r#"{"elicitation":{"form":{}}}"#, true, false),
        (r#"{"elicitation":{"url":{}}}"#, false, true),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, true, true),
        (r#"{"elicitation":null}"#, false, false),
    ];
    for (capabilities, forms, pages) in cases {
        assert_eq!(client(capabilities).lacks("elicitation/create", form).is_none(), forms, "{capabilities}");
        assert_eq!(client(capabilities).lacks("elicitation/create", page).is_none(), pages, "{capabilities}");
    }
}

#[test]
fn a_long_question_or_declaration_is_read_like_a_short_one() {
    let long = "x".repeat(5 << 20);
    let page = format!(r#"{{"message":"{long}","mode":"url"}}"#);
    assert!(client(r#"{"elicitation":{}}"#).lacks("elicitation/create", page.as_bytes()).is_some());
    let declared = Bytes::from(format!(r#"{{"note":"{long}","roots":{{}}}}"#));
    assert_eq!(Client::new(None, declared).lacks("roots/list", b"{}"), None);
}
