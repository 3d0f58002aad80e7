use serde_json::json;
use toolmark_core::severity::Severity;

use super::{check, of, one, pack};
use crate::RuleId;

fn tools(names: &[&str]) -> Vec<serde_json::Value> {
    names.iter().map(|name| json!({"name": name})).collect()
}

#[test]
fn a_name_in_several_packs_names_every_owner() {
    let lint =
        check([pack("c", tools(&["search"])), pack("a", tools(&["search", "x"])), pack("b", tools(&["search"]))]);
    let found = of(&lint, RuleId::SharedName);
    assert_eq!(found.len(), 1);
    let owners: Vec<_> = found[0].tools().iter().map(ToString::to_string).collect();
    assert_eq!(owners, ["c.search", "a.search", "b.search"]);
    assert_eq!(found[0].severity(), Severity::Low, "same schema, same behavior");
}

#[test]
fn a_shared_name_matters_more_when_the_owners_differ() {
    let graded = |one: serde_json::Value, other: serde_json::Value| {
        let lint = check([pack("a", [one]), pack("b", [other])]);
        of(&lint, RuleId::SharedName)[0].severity()
    };
    let schema = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}});
    assert_eq!(
        graded(
            json!({"name": "item", "annotations": {"readOnlyHint": true}}),
            json!({"name": "item", "annotations": {"readOnlyHint": false}})
        ),
        Severity::High
    );
    assert_eq!(
        graded(
            json!({"name": "run", "inputSchema": schema("q")}),
            json!({"name": "run", "inputSchema": schema("sql")})
        ),
        Severity::Medium
    );
    let declared = |behavior: &str| {
        let parts: Vec<&str> = behavior.split('|').collect();
        json!({"name": "item", "annotations": {}, "_meta": {"dev.toolmark/behavior":
            {"mutability": parts[0], "action": parts[1], "output_domain": parts[2]}}})
    };
    assert_eq!(graded(declared("PURE|READ|DATA"), declared("MUTATES|DELETE|ACK")), Severity::High);
    assert_eq!(graded(declared("MUTATES|CREATE|ACK"), declared("MUTATES|DELETE|ACK")), Severity::Medium);
    assert_eq!(graded(declared("MUTATES|DELETE|ACK"), declared("MUTATES|DELETE|ACK")), Severity::Low);
}

#[test]
fn names_that_sanitizing_makes_equal_are_found_within_and_across_packs() {
    let graded = |packs: &[(&str, &[&str])]| {
        let lint = check(packs.iter().map(|(name, names)| pack(name, tools(names))));
        of(&lint, RuleId::NameAfterSanitizing).iter().map(|finding| finding.severity()).collect::<Vec<_>>()
    };
    assert_eq!(graded(&[("a", &["read-file", "read_file"])]), [Severity::High]);
    assert_eq!(graded(&[("a", &["read.file", "read_file"])]), [Severity::High]);
    assert_eq!(graded(&[("a", &["查询", "删除"])]), [Severity::High], "both become `__`");
    assert_eq!(graded(&[("a", &["getFile", "getfile"])]), [Severity::Medium]);
    assert_eq!(graded(&[("a", &["read-file"]), ("b", &["read_file"])]), [Severity::Low]);
    assert_eq!(graded(&[("a", &["read/file"]), ("b", &["read_file"])]), [Severity::Medium]);
    assert_eq!(graded(&[("a", &["read_file"]), ("b", &["read_file"])]), [], "that is a shared name");
    assert_eq!(graded(&[("a", &["read_file", "readfile"])]), []);
}

#[test]
fn many_names_that_become_one_take_no_quadratic_time() {
    let names: Vec<String> = (0..20_000u32).map(|n| char::from_u32(0x4E00 + n).unwrap().to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let lint = check([pack("a", tools(&names))]);
    let found = of(&lint, RuleId::NameAfterSanitizing);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].tools().len(), 20_000);
    assert!(found[0].message().len() < 1_000);
}

#[test]
fn names_that_cutting_makes_equal_are_found_with_the_clients_that_cut_them() {
    let stem = "x".repeat(49);
    let lint = check([pack("a", tools(&[&format!("{stem}_one"), &format!("{stem}_two"), "other"]))]);
    let found = of(&lint, RuleId::NameAfterShortening);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].severity(), Severity::High);
    assert_eq!(found[0].data()["profiles"], json!(["claude-code"]));
    let lint = check([pack("a", tools(&[&"x".repeat(49), &"x".repeat(60)]))]);
    assert_eq!(of(&lint, RuleId::NameAfterShortening).len(), 1, "a name that fits and one that is cut to it");
    let lint = check([pack("a", tools(&[&format!("{}a", "x".repeat(48)), &format!("{}b", "x".repeat(48))]))]);
    assert_eq!(of(&lint, RuleId::NameAfterShortening).len(), 0, "they fit");
}

#[test]
fn a_refused_name_is_one_finding_that_lists_every_client() {
    let rule = RuleId::NameRefused;
    assert_eq!(one(rule, json!({"name": "x".repeat(49)})), None);
    let (severity, message) = one(rule, json!({"name": "x".repeat(50)})).unwrap();
    assert_eq!(severity, Severity::Medium);
    assert!(message.contains("50 characters long") && message.ends_with("which claude-code refuses"), "{message}");
    let (severity, message) = one(rule, json!({"name": "a.b"})).unwrap();
    assert_eq!(severity, Severity::Medium);
    assert!(message.contains("holds `.`") && !message.contains("generic"), "{message}");
    assert!(!message.contains("codex"), "it replaces what it does not take: {message}");
    let (severity, message) = one(rule, json!({"name": "a b\u{202e}"})).unwrap();
    assert_eq!(severity, Severity::High, "not even the protocol allows it");
    assert!(message.contains("\\u{202e}"), "{message}");
}

#[test]
fn more_tools_than_a_client_takes_is_one_finding() {
    let names: Vec<String> = (0..81).map(|n| format!("tool_{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let lint = check([pack("a", tools(&names))]);
    let found = of(&lint, RuleId::TooManyTools);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].data()["limits"], json!({"cursor": 80}));
    assert_eq!(of(&check([pack("a", tools(&names[..80]))]), RuleId::TooManyTools).len(), 0);
}

#[test]
fn names_that_look_alike_are_found_whatever_they_are_written_in() {
    let graded = |names: &[&str]| {
        let lint = check([pack("a", tools(names))]);
        of(&lint, RuleId::LookAlikeName).iter().map(|finding| finding.severity()).collect::<Vec<_>>()
    };
    // The second of each pair has a Cyrillic, Greek, full-width or hidden character.
    assert_eq!(graded(&["read_file", "rеad_file"]), [Severity::Critical]);
    assert_eq!(graded(&["copy", "сору"]), [Severity::Critical]);
    assert_eq!(graded(&["get", "ｇｅｔ"]), [Severity::Critical]);
    assert_eq!(graded(&["get", "ⓖⓔⓣ"]), [Severity::Critical]);
    assert_eq!(graded(&["get", "g\u{200b}et"]), [Severity::Critical]);
    assert_eq!(graded(&["item1", "iteml"]), [Severity::Medium]);
    assert_eq!(graded(&["rеad_file"]), [Severity::High], "mixed scripts, even alone");
    assert_eq!(graded(&["сору"]), [Severity::Medium], "looks like `copy`, even alone");
}

#[test]
fn names_in_other_languages_are_honest() {
    for name in ["查询_API", "API查询", "поиск", "検索ツール", "도구_찾기", "בדיקה", "café", "größe", "naïve_search"]
    {
        assert_eq!(one(RuleId::LookAlikeName, json!({"name": name})), None, "{name}");
    }
}
