use cedar_policy::{Request as CedarRequest, Schema};
use serde_json::json;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::verdict::Decision;

use super::arguments::Flat;
use super::cache::Key;
use super::context::{action, context};
use super::*;
use crate::testing::*;
use crate::{Caller, Policy, PolicyAnswer, PolicyConfig, Request};

const SILENT: (Decision, Vec<&str>) = (Decision::Allow, Vec::new());

fn judge(text: &str, call: &Call, tool: &str) -> PolicyAnswer {
    let catalog = small();
    let policy = load_cedar(&catalog, text).unwrap_or_else(|error| panic!("{:?}", error.problems()));
    let first = call.on(&policy, &catalog, tool);
    assert_eq!(call.on(&policy, &catalog, tool), first, "a kept decision is the same");
    first
}

fn decide(text: &str, call: &Call, tool: &str) -> (Decision, Vec<&'static str>) {
    said(&judge(text, call, tool))
}

fn refused(text: &str) -> Vec<&'static str> {
    codes(load_cedar(&small(), text))
}

#[test]
fn a_forbid_denies_and_with_an_annotation_asks() {
    let text = r#"
        @id("no-deletes") @reason("restore takes days")
        forbid(principal, action == Action::"DELETE", resource);
        @id("careful") @verdict("ask")
        forbid(principal, action in Action::"write", resource in Pack::"github");
    "#;
    let deletes = Call::known(operator("MUTATES|DELETE|REPO"));
    let answer = judge(text, &deletes, "github.delete_repo");
    let messages: Vec<&str> = answer.reasons.iter().map(|reason| reason.message.as_str()).collect();
    assert_eq!(answer.decision(), Decision::Deny);
    assert!(messages.contains(&"policy `no-deletes` forbids `github.delete_repo`: restore takes days"), "{messages:?}");
    assert!(messages.contains(&"policy `careful` asks before `github.delete_repo`"), "{messages:?}");
    assert_eq!(decide(text, &deletes, "db.query"), (Decision::Deny, vec!["policy-forbids"]));
    let creates = Call::known(operator("MUTATES|CREATE|ISSUE"));
    assert_eq!(decide(text, &creates, "github.create_issue"), (Decision::Ask, vec!["policy-asks"]));
    assert_eq!(decide(text, &Call::known(operator("PURE|READ|DATA")), "github.merge"), SILENT);
    // What nobody knows is not known to only read.
    assert_eq!(decide(text, &Call::default(), "github.merge").0, Decision::Ask);
}

#[test]
fn tools_may_be_written_in_any_spelling() {
    for name in ["github.merge", "mcp__github__merge", "github/merge", "github:merge", "merge", "GitHub.merge"] {
        let text = format!("forbid(principal, action, resource == Tool::\"{name}\");");
        assert_eq!(decide(&text, &Call::default(), "github.merge").0, Decision::Deny, "{name}");
        assert_eq!(decide(&text, &Call::default(), "github.create_issue"), SILENT, "{name}");
        let condition = format!("resource in [Tool::\"{name}\"] || resource in Pack::\"DB\"");
        let text = format!("forbid(principal, action, resource) when {{ {condition} }};");
        assert_eq!(decide(&text, &Call::default(), "github.merge").0, Decision::Deny, "{name}");
        assert_eq!(decide(&text, &Call::default(), "db.query").0, Decision::Deny, "{name}");
        assert_eq!(decide(&text, &Call::default(), "gitlab.create_issue"), SILENT, "{name}");
    }
}

#[test]
fn names_that_mean_nothing_or_two_things_are_refused() {
    assert_eq!(refused("forbid(principal, action, resource == Tool::\"github.mrege\");"), ["rule-matches-nothing"]);
    assert_eq!(refused("forbid(principal, action, resource == Tool::\"create_issue\");"), ["rule-ambiguous-tool"]);
    assert_eq!(refused("forbid(principal, action, resource == Tool::\"github.*\");"), ["rule-ambiguous-tool"]);
    assert_eq!(refused("forbid(principal, action, resource in Pack::\"githib\");"), ["rule-matches-nothing"]);
    assert_eq!(
        refused("forbid(principal, action, resource) unless { resource == Tool::\"gone\" };"),
        ["rule-matches-nothing"]
    );
}

#[test]
fn a_forbid_follows_a_rename_and_an_exception_does_not() {
    let catalog = small();
    let load = |text: &str| {
        let (old, new) = ("github.land".parse().unwrap(), "github.merge".parse().unwrap());
        Policy::load(&PolicyConfig::new().former_name(old, new).cedar("a.cedar", text), &catalog)
    };
    let policy = load("forbid(principal, action, resource == Tool::\"mcp__github__land\");").unwrap();
    assert_eq!(Call::default().on(&policy, &catalog, "github.merge").decision(), Decision::Deny);
    for exception in [
        "forbid(principal, action, resource) unless { resource == Tool::\"github.land\" };",
        "@verdict(\"allow\") permit(principal, action, resource == Tool::\"github.land\");",
    ] {
        assert_eq!(codes(load(exception)), ["rule-matches-nothing"]);
    }
}

#[test]
fn arguments_can_be_looked_at_as_text_number_flag_and_list() {
    let text = r#"
        forbid(principal, action, resource == Tool::"github.merge") when {
            context.arguments.text.hasTag("base") && context.arguments.text.getTag("base") like "release/*"
        };
        @verdict("ask")
        forbid(principal, action, resource) when {
            context.arguments.number.hasTag("limit") && context.arguments.number.getTag("limit") > 1000
        };
        forbid(principal, action, resource) when {
            context.arguments.flag.hasTag("options.force") && context.arguments.flag.getTag("options.force")
        };
        forbid(principal, action, resource) when {
            context.arguments.list.hasTag("labels") && context.arguments.list.getTag("labels").contains("secret")
        };
        forbid(principal, action, resource) when { context.arguments.json like "*\"x\":[]*" };
    "#;
    let on = |arguments| decide(text, &Call::with(arguments), "github.merge").0;
    assert_eq!(
        on(json!({"base": "main", "limit": 1000, "options": {"force": false}, "labels": ["bug"]})),
        Decision::Allow
    );
    assert_eq!(on(json!({"base": "release/1"})), Decision::Deny);
    for limit in [json!(1001), json!("1001"), json!(1000.5), json!(1e300)] {
        assert_eq!(on(json!({ "limit": limit })), Decision::Ask);
    }
    assert_eq!(on(json!({"options": {"force": true}})), Decision::Deny);
    assert_eq!(on(json!({"labels": ["bug", "secret"]})), Decision::Deny);
    assert_eq!(on(json!({"labels": "secret"})), Decision::Deny);
    assert_eq!(on(json!({"x": []})), Decision::Deny);
}

#[test]
fn facts_and_behavior_can_be_looked_at() {
    let text = r#"
        forbid(principal, action, resource) when {
            context.facts.effects.contains({ mutability: "MUTATES", action: "DELETE", bounded: false })
        };
        @verdict("ask") forbid(principal, action, resource) when {
            context.facts.unclear || context.facts.dangers.containsAny(["secret", "escape"])
        };
        @verdict("ask") forbid(principal, action, resource) when {
            context.behavior.agreement == "declared" && context.behavior.source == "publisher"
        };
    "#;
    let on = |call: Call| decide(text, &call, "db.query").0;
    let drop = Effect::mutating(Action::Delete, "drops").unbounded();
    assert_eq!(on(Call::doing(vec![understood("/sql", vec![drop])])), Decision::Deny);
    assert_eq!(
        on(Call::doing(vec![understood("/sql", vec![Effect::mutating(Action::Delete, "deletes one")])])),
        Decision::Allow
    );
    assert_eq!(on(Call::doing(vec![unclear("/sql")])), Decision::Ask);
    let peek = Effect::pure(Action::Read, "reads").with(Danger::Secret);
    assert_eq!(on(Call::doing(vec![understood("/sql", vec![peek])])), Decision::Ask);
    assert_eq!(on(Call::known(publisher("PURE|READ|DATA"))), Decision::Ask);
    assert_eq!(on(Call::default()), Decision::Allow);
}

#[test]
fn a_policy_that_fails_denies_although_cedar_would_skip_it() {
    let text = r#"
        @id("fails") forbid(principal, action, resource) when {
            context.arguments.number.hasTag("n") && context.arguments.number.getTag("n") + 9223372036854775807 < 0
        };
    "#;
    let answer = judge(text, &Call::with(json!({"n": 1})), "db.query");
    assert_eq!(said(&answer), (Decision::Deny, vec!["policy-unevaluable"]));
    assert_eq!(answer.reasons[0].facts["policy"], "fails");
    assert_eq!(decide(text, &Call::with(json!({"n": 0})), "db.query"), SILENT);
    let permit = r#"@verdict("allow") permit(principal, action, resource) when {
        context.arguments.number.hasTag("n") && context.arguments.number.getTag("n") * 9223372036854775807 > 0
    };"#;
    assert_eq!(decide(permit, &Call::with(json!({"n": 2})), "db.query").0, Decision::Deny);
}

#[test]
fn arguments_that_cannot_be_shown_to_a_policy_deny() {
    let looks = "forbid(principal, action, resource) when { context.arguments.text.hasTag(\"a\") };";
    let many = Call::with(json!({ "a": vec![0; 20_000] }));
    assert_eq!(decide(looks, &many, "db.query"), (Decision::Deny, vec!["policy-unevaluable"]));
    let blind = "forbid(principal, action, resource) when { context.caller == \"bob\" };";
    assert_eq!(decide(blind, &many, "db.query"), SILENT);
}

#[test]
fn a_plain_permit_lowers_nothing_and_is_noted() {
    let catalog = small();
    let policy = load_cedar(&catalog, "permit(principal, action, resource);").unwrap();
    assert!(Call::default().on(&policy, &catalog, "db.query").is_silent());
    assert_eq!(policy.notes()[0].code().as_str(), "policy-permit-idle");
    let marked =
        r#"@id("reads") @verdict("allow") permit(principal, action in Action::"read", resource in Pack::"db");"#;
    let policy = load_cedar(&catalog, marked).unwrap();
    assert!(policy.notes().is_empty());
    let answer = Call::known(operator("PURE|READ|DATA")).on(&policy, &catalog, "db.query");
    assert_eq!(answer.allows[0].by.to_string(), "policy `reads`");
    assert!(answer.allows[0].names.tools && !answer.allows[0].names.effect);
    assert!(Call::known(operator("MUTATES|DELETE|ACK")).on(&policy, &catalog, "db.query").is_silent());
}

#[test]
fn with_the_default_deny_what_no_policy_permits_is_denied() {
    let catalog = small();
    let load = |text: &str| {
        let config = PolicyConfig::new().cedar("a.cedar", text).cedar_default(CedarDefault::Deny);
        Policy::load(&config, &catalog).unwrap()
    };
    let policy = load(
        r#"permit(principal, action, resource in Pack::"github");
           permit(principal, action, resource == Tool::"db.query") when { !context.facts.mutates };
           @verdict("ask") forbid(principal, action, resource == Tool::"github.merge");"#,
    );
    let on = |call: &Call, tool: &str| said(&call.on(&policy, &catalog, tool));
    assert_eq!(on(&Call::default(), "github.create_issue"), SILENT);
    assert_eq!(on(&Call::default(), "github.merge"), (Decision::Ask, vec!["policy-asks"]));
    assert_eq!(on(&Call::default(), "gitlab.create_issue"), (Decision::Deny, vec!["policy-not-permitted"]));
    assert_eq!(on(&Call::default(), "db.query"), SILENT);
    let deletes = Call::doing(vec![understood("/sql", vec![Effect::mutating(Action::Delete, "deletes")])]);
    assert_eq!(on(&deletes, "db.query"), (Decision::Deny, vec!["policy-not-permitted"]));
    let only_forbids = load("forbid(principal in Caller::\"bob\", action, resource);");
    assert_eq!(Call::default().on(&only_forbids, &catalog, "db.query").decision(), Decision::Deny);
}

#[test]
fn a_default_of_deny_without_a_policy_is_refused() {
    let deny = || PolicyConfig::new().cedar_default(CedarDefault::Deny);
    for config in
        [deny(), deny().cedar("a.cedar", "// nothing yet"), deny().written_rule(&rule("verdict='ask'\ntask='x'"))]
    {
        assert_eq!(codes(Policy::load(&config, &small())), ["policy-permits-nothing"]);
    }
}

#[test]
fn the_principal_is_the_caller_through_agent_and_session() {
    let text = r#"
        forbid(principal in Caller::"bob", action, resource);
        @verdict("ask") forbid(principal in Agent::"intern", action, resource);
        forbid(principal, action, resource) when { context has session && context.session == "bad" };
    "#;
    let by = |caller| decide(text, &Call { caller, ..Call::default() }, "db.query").0;
    let alice = Caller::new("alice");
    assert_eq!(by(alice), Decision::Allow);
    assert_eq!(by(Caller::new("bob").through_agent("intern").in_session("s")), Decision::Deny);
    assert_eq!(by(Caller::new("bob").in_session("s")), Decision::Deny);
    assert_eq!(by(alice.through_agent("intern")), Decision::Ask);
    assert_eq!(by(alice.through_agent("intern").in_session("s")), Decision::Ask);
    assert_eq!(by(alice.in_session("bad")), Decision::Deny);
    assert_eq!(by(Caller::new("intern")), Decision::Allow);
    assert_eq!(refused("forbid(principal == Caller::\"bob\", action, resource);"), ["policy-cedar-principal"]);
}

#[test]
fn every_kind_of_mistake_is_found_at_load_with_its_line() {
    let text = "forbid(principal, action, resource)\n  when { context.argument.x };\n\nforbid(principal, action == Action::\"DESTROY\", resource);\nforbid(principal, action, resource) when { false };\nforbid(principal, action, resource) when { resource.canonical like 1 };\n@verdict(\"maybe\") forbid(principal, action, resource);\n@id(\"a\") forbid(principal, action, resource);\n@id(\"a\") forbid(principal, action, resource);\nforbid(principal == ?principal, action, resource);";
    let error = load_cedar(&small(), text).unwrap_err();
    let mut found: Vec<(usize, &str)> =
        error.problems().iter().map(|one| (one.place().unwrap().line, one.code().as_str())).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            (2, "policy-cedar-type"),
            (4, "policy-cedar-type"),
            (5, "policy-cedar-impossible"),
            (6, "policy-cedar-syntax"),
            (7, "policy-cedar-annotation"),
            (9, "policy-duplicate-id"),
            (10, "policy-cedar-syntax"),
        ]
    );
    assert_eq!(error.problems()[0].place().unwrap().file, "test.cedar");
}

#[test]
fn a_tag_that_may_be_missing_is_a_mistake_too() {
    assert_eq!(
        refused("forbid(principal, action, resource) when { context.arguments.text.getTag(\"a\") == \"x\" };"),
        ["policy-cedar-type"]
    );
    assert_eq!(refused("forbid(principal, action, resource) when { context.task == \"x\" };"), ["policy-cedar-type"]);
}

#[test]
fn another_version_of_a_tool_is_not_judged_by_policies_of_the_old_one() {
    let before = small();
    let policy = load_cedar(&before, "forbid(principal in Caller::\"bob\", action, resource);").unwrap();
    let builder =
        toolmark_core::pack::Pack::builder("db".parse().unwrap(), toolmark_core::tool::Source::new("test:db"));
    let changed = builder.tool(toolmark_core::tool::ToolKind::Mcp, definition("query", &["sql"])).build();
    let after = before.with_pack(changed).unwrap();
    assert_eq!(said(&Call::default().on(&policy, &after, "db.query")), (Decision::Deny, vec!["policy-unevaluable"]));
    assert_eq!(said(&Call::default().on(&policy, &before, "db.query")), SILENT);
}

#[test]
fn decisions_that_look_at_no_arguments_are_kept() {
    let catalog = small();
    let policy =
        load_cedar(&catalog, "forbid(principal in Caller::\"bob\", action, resource in Pack::\"db\");").unwrap();
    let kept = |policy: &Policy| policy.cedar().cache.len();
    for session in ["1", "2", "3"] {
        let call = Call { caller: Caller::new("alice").in_session(session), task: Some("t"), ..Call::default() };
        let _ = call.on(&policy, &catalog, "db.query");
        // No policy can apply here.
        let _ = call.on(&policy, &catalog, "github.merge");
    }
    assert_eq!(kept(&policy), 1, "sessions and tasks that no policy looks at make no difference");
    let looks =
        "forbid(principal in Session::\"1\", action, resource) when { context has task && context.task == \"t\" };";
    let policy = load_cedar(&catalog, looks).unwrap();
    for session in ["1", "2"] {
        let call = Call { caller: Caller::new("alice").in_session(session), task: Some("t"), ..Call::default() };
        assert_eq!(call.on(&policy, &catalog, "db.query").decision() == Decision::Deny, session == "1");
        assert_eq!(call.on(&policy, &catalog, "db.query").decision() == Decision::Deny, session == "1");
    }
    assert_eq!(kept(&policy), 2);
}

/// Invariant: what is built at run time without looking at the schema fits the schema.
#[test]
fn what_cedar_is_shown_fits_the_schema() {
    let schema: Schema = check::schema().unwrap();
    let uids = Uids::new().unwrap();
    let catalog = small();
    let tool = catalog.find("db.query", |_| true).unwrap();
    let effect = Effect::mutating(Action::Delete, "x").unbounded().with(Danger::Secret).on(["users".into()]);
    let facts = toolmark_core::facts::Facts::new(vec![understood("/a", vec![effect]), unclear("/b")]);
    let arguments = json!({"a": "x", "n": 1.5, "f": true, "l": ["a", {"b": 2}], "o": {"p": null}});
    for known in [unknown(), operator("PURE|READ|DATA"), operator("MUTATES|SEND|MESSAGE|TEXT")] {
        for caller in [Caller::new("a"), Caller::new("a").through_agent("b"), Caller::new("a").in_session("c")] {
            for task in [None, Some("t")] {
                let request = Request { tool, behavior: &known, facts: &facts, arguments: &arguments, task, caller };
                let key = Key::of(&request, crate::tools::ToolAt(0), true, true, true);
                let everything = Mentions { arguments: true, json: true, facts: true, ..Mentions::default() };
                let context = context(&key, everything, &facts, &arguments, &uids).unwrap();
                let (principal, mut entities) = uids.of_caller(caller);
                entities.extend(uids.of_tool(tool).unwrap());
                entities.extend(Flat::of(&arguments).unwrap().into_entities(&uids).unwrap());
                Entities::from_entities(entities, Some(&schema)).unwrap();
                let action = uids.action(action(&key));
                CedarRequest::new(principal, action, uids.tool(tool), context, Some(&schema)).unwrap();
            }
        }
    }
}
