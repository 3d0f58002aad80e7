use serde_json::json;
use toolmark_core::explain::Explain as _;

use super::*;
use crate::testing::rule;

#[test]
fn a_rule_reads_as_it_is_written() {
    let written = r#"
        verdict = "deny"
        name = "no-force"
        tools = ["github.*", "mcp__gitlab__*"]
        behavior = "MUTATES|DELETE|*"
        effect = ["MUTATES|*", "unbounded"]
        task = "nightly-*"
        caller = ["alice", "agent:assistant"]
        reason = "history is sacred"
        [arguments]
        "options.force" = true
        "/branch" = { not = ["main", "release/*"] }
    "#;
    let built = rule(written).build().unwrap();
    assert_eq!(
        built.to_json(),
        json!({
            "id": "no-force",
            "verdict": "deny",
            "tools": ["github.*", "mcp__gitlab__*"],
            "behavior": ["MUTATES|DELETE|*"],
            "effect": ["MUTATES|*", "unbounded"],
            "arguments": {"options.force": true, "/branch": {"not": ["main", "release/*"]}},
            "task": ["nightly-*"],
            "caller": ["alice", "agent:assistant"],
            "reason": "history is sacred",
        })
    );
    assert_eq!(rule("verdict = \"ask\"\ntools = \"a\"").build().unwrap().tools(), ["a"]);
}

#[test]
fn a_misspelled_field_or_a_wrong_type_is_refused() {
    for written in [
        "verdict = \"deny\"\ntool = \"a\"",
        "tools = [\"a\"]",
        "verdict = \"deny\"\ntools = 1",
        "verdict = \"deny\"\ntools = [1]",
    ] {
        assert!(toml::from_str::<RuleConfig>(written).is_err(), "{written}");
    }
}

#[test]
fn everything_that_is_wrong_with_a_rule_is_said_at_once() {
    let written = r#"
        verdict = "block"
        behavior = "GONE|*|*"
        effect = ["delete", "PURE|DELETE"]
        tools = []
        caller = ""
        [arguments]
        "a..b" = ">=x"
    "#;
    let error = rule(written).build().unwrap_err();
    assert_eq!(error.reports().len(), 8, "{error}");
    assert_eq!(error.code().as_str(), "rule-syntax");
}

#[test]
fn rules_that_say_too_little_are_refused() {
    for written in ["verdict = \"deny\"", "verdict = \"allow\"\ntools = \"a\"\neffect = \"secret\""] {
        assert_eq!(rule(written).build().unwrap_err().code().as_str(), "rule-syntax", "{written}");
    }
    assert!(rule("verdict = \"allow\"\neffect = [\"PURE|*\", \"secret\"]").build().is_ok());
    assert!(rule("verdict = \"allow\"\neffect = \"unclear\"").build().is_ok());
    assert!(rule("verdict = \"deny\"\neffect = \"secret\"").build().is_ok());
}
