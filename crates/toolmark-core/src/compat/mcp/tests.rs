use std::collections::HashSet;

use serde_json::{Value, json};

use super::*;

#[test]
fn an_address_loses_what_could_be_a_secret() {
    for (name, shown) in [
        ("https://u:p@H.Example:8080/a?k=v#f", "https://h.example:8080/a"),
        ("http://a@b@H/p", "http://h/p"),
        ("  http://H/", "http://h/"),
        ("ht\ntp://H/p\tq", "http://h/pq"),
        ("sse:  http://H/", "sse: http://h/"),
        ("http://h:080/p", "http://h:80/p"),
        ("http://h:", "http://h"),
        ("http://[FE80::A%eTh0]:1/", "http://[fe80::a%eTh0]:1/"),
        ("http://[::1]x:80/", "http://[::1]:80/"),
        ("http://[v1.Ab]/P", "http://v1.ab/P"),
        ("http://h?x:y@z", "http://h"),
    ] {
        assert_eq!(server_log_name(name), shown, "{name}");
    }
}

#[test]
fn an_address_that_cannot_be_read_is_not_shown() {
    for name in [
        "https:h.example/x",
        "http:///p",
        "http://u:p@/p",
        "http://h:65536/",
        "http://h:80:90/",
        "http://[1.2.3.4]/",
        "http://[::1/",
        "http://a\u{2100}b/",
        "http://a b/",
        "http://h\u{1f}/",
    ] {
        assert_eq!(server_log_name(name), "<invalid-url>", "{name}");
    }
    assert_eq!(server_log_name("sse: //[bad"), "sse: <invalid-url>");
}

#[test]
fn other_names_stay() {
    for name in ["", "github", "stdio: http://u:p@h/", "sse: sse: http://H", "sse: ftp://u@h", " http://[x", "//[bad"] {
        assert_eq!(server_log_name(name), name);
    }
}

#[test]
fn prefixed_names_do_not_depend_on_the_order_of_servers() {
    let names = |servers: &[Server]| prefixed_tool_names(servers, &HashSet::new());
    let (one, two) = (Server::new("git hub", ["run", "é"]), Server::new("git.hub", ["run"]));
    let forth = names(&[one.clone(), two.clone()]);
    let back = names(&[two, one]);
    assert_eq!((&forth[0], &forth[1]), (&back[1], &back[0]));
    assert_eq!(forth[0][1], "mcp_git_hub__tool");
    assert!(forth[0][0].starts_with("mcp_git_hub__run_"));
}

#[test]
fn no_prefixed_name_is_given_twice_or_longer_than_64() {
    let twins = Server::new("s", ["run"; 5]);
    let long = "x".repeat(300);
    let servers = [twins.clone(), twins, Server::new(&long, [long.as_str()])];
    let reserved = HashSet::from(["mcp_s__run".to_owned()]);
    let names: Vec<String> = prefixed_tool_names(&servers, &reserved).concat();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 11);
    assert!(names.iter().all(|name| name.len() <= 64 && !reserved.contains(name)));
}

#[test]
fn two_servers_may_not_share_a_bare_name_but_one_may_repeat_its_own() {
    let servers = [Server::new("a", ["x", "x", "y"]), Server::new("b", ["y", "x", "z"])];
    let error = all_function_tools(&servers, false, &HashSet::new()).expect_err("refused");
    assert_eq!(error.to_string(), "the server `b` has tool names that an earlier server has too: `x`, `y`");
    assert_eq!(all_function_tools(&servers[..1], false, &HashSet::new()).expect("unique").len(), 3);
    assert_eq!(all_function_tools(&servers, true, &HashSet::new()).expect("prefixed").len(), 6);
}

#[test]
fn an_approval_setting_is_read_in_one_way_only() {
    for (setting, needed) in [
        (Value::Null, Some(false)),
        (json!("always"), Some(true)),
        (json!({ "delete": "always", "read": false }), Some(true)),
        (json!({}), Some(false)),
        (json!({ "always": { "tool_names": ["delete"] }, "never": {} }), Some(true)),
        (json!({ "always": { "tool_names": [] } }), Some(false)),
        (json!("Always"), None),
        (json!({ "other": 1 }), None),
        (json!({ "always": {} }), None),
        (json!({ "always": { "tool_names": ["a"] }, "never": { "tool_names": ["a"] } }), None),
        (json!({ "always": { "tool_names": ["a"] }, "never": null }), None),
        (json!({ "always": { "tool_names": [1] } }), None),
        (json!({ "always": { "tool_names": [] }, "delete": true }), None),
    ] {
        assert_eq!(requires_approval(&setting, "delete").ok(), needed, "{setting}");
    }
}

#[test]
fn a_schema_becomes_strict_only_if_nothing_open_has_to_be_closed() {
    let prepared = |schema: Value| {
        let prepared = tool_schema(schema.as_object().expect("an object"), true).expect("shallow");
        (prepared.schema().clone(), prepared.is_strict())
    };
    let (schema, strict) = prepared(json!({}));
    assert!(strict);
    assert_eq!(schema, json!({ "properties": {}, "type": "object", "additionalProperties": false, "required": [] }));
    let (schema, strict) = prepared(json!({ "type": "object", "additionalProperties": true }));
    assert!(!strict);
    assert_eq!(schema, json!({ "type": "object", "additionalProperties": true, "properties": {} }));
}
