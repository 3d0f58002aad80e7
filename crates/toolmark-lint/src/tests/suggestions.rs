//! Invariant: what is suggested can be pasted, and settles what it was suggested for.

use serde_json::{Value, json};
use toolmark_core::behavior::Behavior;
use toolmark_core::catalog::Catalog;
use toolmark_core::names::CanonicalName;
use toolmark_core::severity::Severity;

use super::{of, pack};
use crate::{Lint, Options, RuleId, lint, render_toml};

/// Reads a part of `toolmark.toml` the way the operator's configuration is read: `[packs.P.tools.T] behavior = "…"`.
fn operator(text: &str) -> Vec<(CanonicalName, Behavior)> {
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut declared = Vec::new();
    let Some(packs) = table.get("packs") else { return declared };
    for (pack, settings) in packs.as_table().unwrap() {
        for (tool, settings) in settings["tools"].as_table().unwrap() {
            let behavior = settings["behavior"].as_str().unwrap().parse().unwrap();
            declared.push((format!("{pack}.{tool}").parse().unwrap(), behavior));
        }
    }
    declared
}

fn check(tools: &[Value], declared: Vec<(CanonicalName, Behavior)>) -> Lint {
    let catalog = Catalog::builder().pack(pack("p", tools.to_vec())).build_partly();
    let options =
        declared.into_iter().fold(Options::default(), |options, (tool, behavior)| options.declared(tool, behavior));
    lint(&catalog, &options)
}

/// Puts what was suggested into the definitions, as their publisher would.
fn published(tools: &[Value], lint: &Lint) -> Vec<Value> {
    let mut tools = tools.to_vec();
    for (suggestion, _) in lint.suggestions() {
        let own = |tool: &&mut Value| format!("p.{}", tool["name"].as_str().unwrap()) == suggestion.tool().as_str();
        let tool = tools.iter_mut().find(own).unwrap();
        for (field, parts) in suggestion.definition().as_object().unwrap() {
            for (key, value) in parts.as_object().unwrap() {
                tool[field][key] = value.clone();
            }
        }
    }
    tools
}

fn tool(name: &str, description: &str, annotations: Value, properties: Value) -> Value {
    let mut tool = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    tool["annotations"] = annotations;
    tool["inputSchema"]["properties"] = properties;
    tool
}

fn settles_by_both(rule: RuleId, tools: &[Value]) {
    let before = check(tools, Vec::new());
    let found = of(&before, rule);
    assert!(!found.is_empty() && found.iter().all(|finding| !finding.suggestions().is_empty()), "{rule}: {found:#?}");
    let after = check(tools, operator(&render_toml(&before)));
    assert_eq!(of(&after, rule), Vec::<&crate::Finding>::new(), "{rule}, by the operator");
    let after = check(&published(tools, &before), Vec::new());
    assert_eq!(of(&after, rule), Vec::<&crate::Finding>::new(), "{rule}, by the publisher");
}

#[test]
fn a_dispute_is_settled_by_what_is_suggested() {
    let id = || json!({"id": {"type": "string"}});
    for (name, description, hints) in [
        ("delete_issue", "Delete an issue for good.", json!({"readOnlyHint": true})),
        ("create_issue", "Create an issue.", json!({"readOnlyHint": true, "destructiveHint": true})),
        ("get_issue", "Get an issue.", json!({"readOnlyHint": false})),
        ("delete_issue", "Delete an issue.", json!({"readOnlyHint": false, "destructiveHint": false})),
    ] {
        settles_by_both(RuleId::BehaviorDisputed, &[tool(name, description, hints, id())]);
    }
}

#[test]
fn a_contradiction_is_settled_by_what_is_suggested() {
    let id = || json!({"id": {"type": "string"}});
    for (name, hints) in [
        ("delete_issue", json!({"readOnlyHint": true})),
        ("get_issue", json!({"readOnlyHint": true, "destructiveHint": true})),
        ("drop_table", json!({"readOnlyHint": false, "destructiveHint": false})),
    ] {
        settles_by_both(RuleId::AnnotationsContradict, &[tool(name, &name.replace('_', " the "), hints, id())]);
    }
}

#[test]
fn silence_is_ended_by_what_is_suggested() {
    let tools = [
        tool("delete_issue", "Delete an issue.", json!({}), json!({"number": {"type": "integer"}})),
        tool("send_message", "Send a message to a channel.", json!({}), json!({"text": {"type": "string"}})),
        tool("get_issue", "Get an issue.", json!({}), json!({"id": {"type": "string"}})),
    ];
    settles_by_both(RuleId::BehaviorUndeclared, &tools);
}

#[test]
fn a_selecting_argument_is_settled_by_what_is_suggested() {
    let method = json!({"method": {"type": "string", "enum": ["create", "update", "delete", "list"]}});
    let tools = [tool("label_write", "Perform write operations on repository labels.", json!({}), method)];
    settles_by_both(RuleId::BehaviorByArgument, &tools);
}

#[test]
fn declarations_that_say_too_little_are_completed() {
    let meta =
        json!({"dev.toolmark/behavior": {"mutability": "MUTATES", "action": "DELETE", "output_domain": "ISSUE"}});
    let tools = ["delete_issue", "delete_milestone"].map(|name| {
        let description = name.replace('_', " the ");
        let mut tool = tool(name, &description, json!({}), json!({"id": {"type": "string"}}));
        tool["_meta"] = meta.clone();
        tool
    });
    let before = check(&tools, Vec::new());
    assert_eq!(of(&before, RuleId::BehaviorNotSeparated)[0].severity(), Severity::Medium);
    let told = |lint: &Lint| {
        let found = of(lint, RuleId::BehaviorNotSeparated);
        found.iter().all(|finding| finding.severity() == Severity::Info && finding.data()["separated"] == "v3")
    };
    assert!(told(&check(&tools, operator(&render_toml(&before)))), "{}", render_toml(&before));
    assert!(told(&check(&published(&tools, &before), Vec::new())));
}

#[test]
fn a_group_that_shares_its_arguments_is_graded_lower_once_the_operator_declares_all_of_it() {
    let id = || json!({"id": {"type": "string"}});
    let tools = [
        tool("get_issue", "Get an issue.", json!({}), id()),
        tool("delete_issue", "Delete an issue.", json!({}), id()),
    ];
    let grade = |lint: &Lint| of(lint, RuleId::SameSchema)[0].severity();
    let before = check(&tools, Vec::new());
    assert_eq!(grade(&before), Severity::Critical);
    let after = check(&tools, operator(&render_toml(&before)));
    assert_eq!(grade(&after), Severity::High);
    assert!(of(&after, RuleId::SameSchema)[0].suggestions().is_empty());
    let after = check(&published(&tools, &before), Vec::new());
    assert_eq!(grade(&after), Severity::Critical, "a publisher's claim lowers nothing");
    assert!(of(&after, RuleId::SameSchema)[0].suggestions().is_empty());
}

#[test]
fn any_name_survives_being_pasted() {
    for name in ["a.b", "ein \"Wort\"", "back\\slash", "löschen", "x\u{202e}y\u{200b}", "a-b_c", "日本", "[x]", "#"]
    {
        let text = format!("delete_{name}");
        let tools = [tool(&text, "Delete an issue.", json!({}), json!({"id": {"type": "string"}}))];
        let before = check(&tools, Vec::new());
        let toml = render_toml(&before);
        assert!(
            toml.chars().all(|character| character == '\n' || !toolmark_core::text::is_hidden(character)),
            "{toml}"
        );
        let declared = operator(&toml);
        assert_eq!(declared.len(), 1, "{toml}");
        assert_eq!(declared[0].0.as_str(), format!("p.{text}"));
    }
}

#[test]
fn where_nobody_knows_enough_nothing_is_suggested() {
    let tools = [tool("frobnicate", "Frobnicates.", json!({"readOnlyHint": true, "destructiveHint": true}), json!({}))];
    let lint = check(&tools, Vec::new());
    assert_eq!(of(&lint, RuleId::AnnotationsContradict).len(), 1);
    assert!(lint.suggestions().is_empty(), "{:#?}", lint.suggestions());
    assert_eq!(render_toml(&lint), "# nothing to declare\n");
}
