//! A call about which no rule and no policy says anything costs no memory.

use serde_json::json;
use toolmark_core::behavior::{KnownBehavior, Statements};
use toolmark_core::document::Document;
use toolmark_core::facts::Facts;
use toolmark_core::snapshot::Snapshot;
use toolmark_core::verdict::Decision;
use toolmark_policy::{Caller, Policy, PolicyConfig, Request, Rule};

#[test]
fn judging_a_call_that_nothing_speaks_against_allocates_nothing() {
    let document = Document::new("test", r#"[{"name": "read"}, {"name": "write"}]"#.to_owned());
    let catalog = Snapshot::of(&document, "pack").into_builder().build().unwrap();
    let rule = Rule::builder(Decision::Deny)
        .tool("pack.*")
        .behavior("MUTATES|DELETE|*")
        .effect("MUTATES|*")
        .argument("options.path", "/etc/*")
        .build();
    let config = PolicyConfig::new()
        .rule(rule.unwrap())
        .rule(Rule::builder(Decision::Ask).caller("agent:intern").build().unwrap())
        .rule(Rule::builder(Decision::Ask).tool("pack.*").argument("options.path", "/etc/*").build().unwrap())
        .cedar("a.cedar", "forbid(principal in Caller::\"bob\", action, resource);")
        .cedar("b.cedar", "forbid(principal, action, resource == Tool::\"write\") when { context.facts.unclear };");
    let policy = Policy::load(&config, &catalog).unwrap();
    let behavior = Some("PURE|READ|DATA".parse().unwrap());
    let behavior = KnownBehavior::combine(Statements { operator: behavior, ..Statements::default() });
    let (facts, arguments) = (Facts::default(), json!({"options": {"path": "/srv/a"}}));
    let request = Request {
        tool: catalog.find("pack.read", |_| true).unwrap(),
        behavior: &behavior,
        facts: &facts,
        arguments: &arguments,
        task: Some("triage"),
        caller: Caller::new("alice").through_agent("assistant").in_session("7f3a"),
    };
    assert!(policy.judge(&request).is_silent());
    let counted = allocation_counter::measure(|| {
        assert!(policy.judge(&request).is_silent());
    });
    assert_eq!(counted.count_total, 0);
}
