use serde_json::json;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::*;
use crate::testing::*;
use crate::{Caller, RuleConfig};

fn decide(rules: &[&str], call: &Call, tool: &str) -> (Decision, Vec<&'static str>) {
    let catalog = small();
    said(&call.on(&load(&catalog, rules).unwrap(), &catalog, tool))
}

fn allowed_by(rules: &[&str], call: &Call, tool: &str) -> Vec<String> {
    let catalog = small();
    let answer = call.on(&load(&catalog, rules).unwrap(), &catalog, tool);
    answer.allows.iter().map(|permission| permission.by.to_string()).collect()
}

const SILENT: (Decision, Vec<&str>) = (Decision::Allow, Vec::new());

#[test]
fn deny_is_over_ask_is_over_allow_whatever_the_order() {
    let allow = "verdict = \"allow\"\ntools = \"github.*\"";
    let ask = "verdict = \"ask\"\ntools = \"github.merge\"";
    let deny = "verdict = \"deny\"\ntools = \"*.merge\"";
    for order in [[allow, ask, deny], [deny, ask, allow], [ask, deny, allow]] {
        assert_eq!(decide(&order, &Call::default(), "github.merge").0, Decision::Deny);
        assert_eq!(decide(&order, &Call::default(), "github.delete_repo"), SILENT);
        assert_eq!(allowed_by(&order, &Call::default(), "github.merge").len(), 1);
    }
}

#[test]
fn a_verdict_names_the_rules_that_decided_it() {
    let catalog = small();
    let rules = [
        "verdict = \"deny\"\ntools = \"github.merge\"\nid = \"no-merge\"\nreason = \"ask Bo\"",
        "verdict = \"ask\"\ntools = \"*\"",
    ];
    let answer = Call::default().on(&load(&catalog, &rules).unwrap(), &catalog, "github.merge");
    let said: Vec<_> = answer.reasons.iter().map(|reason| (reason.message.as_str(), &reason.facts["rule"])).collect();
    assert_eq!(
        said,
        [
            ("rule `#2` asks before `github.merge`", &json!("#2")),
            ("rule `no-merge` denies `github.merge`: ask Bo", &json!("no-merge")),
        ]
    );
}

#[test]
fn a_restrictive_rule_matches_any_effect_and_a_permissive_one_all_of_them() {
    let both = Call::doing(vec![understood(
        "/sql",
        vec![Effect::pure(Action::Read, "reads users"), Effect::mutating(Action::Delete, "deletes users")],
    )]);
    let reads = Call::doing(vec![understood("/sql", vec![Effect::pure(Action::Read, "reads users")])]);
    let deny = "verdict = \"deny\"\neffect = \"MUTATES|DELETE\"";
    let allow = "verdict = \"allow\"\neffect = \"PURE|*\"";
    assert_eq!(decide(&[deny], &both, "db.query"), (Decision::Deny, vec!["rule-denies"]));
    assert_eq!(decide(&[deny], &reads, "db.query"), SILENT);
    assert!(allowed_by(&[allow], &both, "db.query").is_empty());
    assert_eq!(allowed_by(&[allow], &reads, "db.query"), ["rule `#1`"]);
    // Without a program there is no effect to match.
    assert_eq!(decide(&[deny], &Call::default(), "db.query"), SILENT);
    assert!(allowed_by(&[allow], &Call::default(), "db.query").is_empty());
}

#[test]
fn what_was_not_understood_asks_where_it_might_be_denied_and_is_never_allowed() {
    let call = Call::doing(vec![understood("/a", vec![Effect::pure(Action::Read, "reads")]), unclear("/sql")]);
    assert_eq!(
        decide(&["verdict = \"deny\"\neffect = \"MUTATES|*\""], &call, "db.query"),
        (Decision::Ask, vec!["rule-cannot-tell"])
    );
    assert_eq!(decide(&["verdict = \"deny\"\neffect = \"unclear\""], &call, "db.query").0, Decision::Deny);
    assert_eq!(decide(&["verdict = \"deny\"\neffect = \"PURE|*\""], &call, "db.query").0, Decision::Deny);
    // Another condition that does not hold settles it.
    let elsewhere = "verdict = \"deny\"\neffect = \"MUTATES|*\"\ncaller = \"bob\"";
    assert_eq!(decide(&[elsewhere], &call, "db.query"), SILENT);
    assert!(allowed_by(&["verdict = \"allow\"\neffect = \"*\""], &call, "db.query").is_empty());
    assert_eq!(allowed_by(&["verdict = \"allow\"\neffect = [\"PURE|*\", \"unclear\"]"], &call, "db.query").len(), 1);
}

#[test]
fn a_danger_must_be_named_to_be_allowed() {
    let peek = Effect::pure(Action::Read, "reads tokens").with(Danger::Secret);
    let call = Call::doing(vec![understood("/sql", vec![peek])]);
    assert!(allowed_by(&["verdict = \"allow\"\neffect = \"PURE|*\""], &call, "db.query").is_empty());
    assert_eq!(allowed_by(&["verdict = \"allow\"\neffect = [\"PURE|*\", \"secret\"]"], &call, "db.query").len(), 1);
    assert_eq!(decide(&["verdict = \"ask\"\neffect = \"secret\""], &call, "db.query").0, Decision::Ask);
}

#[test]
fn a_behavior_that_nobody_knows_asks_where_it_might_be_denied() {
    let deny = "verdict = \"deny\"\nbehavior = \"MUTATES|DELETE|*\"";
    let on = |known| decide(&[deny], &Call::known(known), "db.query");
    assert_eq!(on(operator("MUTATES|DELETE|ACK")).0, Decision::Deny);
    assert_eq!(on(publisher("MUTATES|DELETE|ACK")).0, Decision::Deny);
    assert_eq!(on(operator("PURE|READ|DATA")), SILENT);
    assert_eq!(on(unknown()), (Decision::Ask, vec!["rule-cannot-tell"]));
}

#[test]
fn a_publishers_claim_alone_allows_nothing() {
    let allow = "verdict = \"allow\"\nbehavior = \"PURE|*|*\"";
    assert!(allowed_by(&[allow], &Call::known(publisher("PURE|READ|DATA")), "db.query").is_empty());
    assert_eq!(allowed_by(&[allow], &Call::known(operator("PURE|READ|DATA")), "db.query").len(), 1);
    assert!(allowed_by(&[allow], &Call::known(unknown()), "db.query").is_empty());
}

#[test]
fn arguments_match_in_any_element_for_a_restrictive_rule_and_in_all_for_a_permissive_one() {
    let call = Call::with(json!({"paths": ["/srv/a", "/etc/passwd"]}));
    let deny = "verdict = \"deny\"\narguments = { paths = \"/etc/*\" }";
    let outside = "verdict = \"deny\"\narguments = { paths = { not = \"/srv/*\" } }";
    let allow = "verdict = \"allow\"\narguments = { paths = \"/srv/*\" }";
    assert_eq!(decide(&[deny], &call, "db.query").0, Decision::Deny);
    assert_eq!(decide(&[outside], &call, "db.query").0, Decision::Deny);
    assert!(allowed_by(&[allow], &call, "db.query").is_empty());
    let inside = Call::with(json!({"paths": ["/srv/a", "/srv/b"]}));
    assert_eq!(decide(&[deny], &inside, "db.query"), SILENT);
    assert_eq!(decide(&[outside], &inside, "db.query"), SILENT);
    assert_eq!(allowed_by(&[allow], &inside, "db.query").len(), 1);
    // An empty list says nothing: what a server makes of it is its own affair.
    let empty = Call::with(json!({"paths": []}));
    assert_eq!(decide(&[outside], &empty, "db.query").0, Decision::Deny);
    assert!(allowed_by(&[allow], &empty, "db.query").is_empty());
}

#[test]
fn all_conditions_on_arguments_must_hold() {
    let deny = "verdict = \"deny\"\narguments = { branch = \"main\", \"options.force\" = true }";
    let on = |arguments| decide(&[deny], &Call::with(arguments), "github.merge").0;
    assert_eq!(on(json!({"branch": "main", "options": {"force": true}})), Decision::Deny);
    assert_eq!(on(json!({"branch": "main", "options": {"force": "true"}})), Decision::Deny);
    assert_eq!(on(json!({"branch": "next", "options": {"force": true}})), Decision::Allow);
    assert_eq!(on(json!({"branch": "main"})), Decision::Allow);
    assert_eq!(on(json!("branch")), Decision::Allow);
}

#[test]
fn a_star_does_not_allow_several_statements() {
    let allow = "verdict = \"allow\"\ntools = \"db.query\"\narguments = { sql = \"SELECT *\" }";
    let read = || Effect::pure(Action::Read, "reads");
    let call = |parts| Call { arguments: json!({"sql": "SELECT 1; DROP TABLE users"}), ..Call::doing(parts) };
    assert_eq!(allowed_by(&[allow], &call(vec![understood("/sql", vec![read()])]), "db.query").len(), 1);
    let two = vec![understood("/sql", vec![read(), Effect::mutating(Action::Delete, "drops")])];
    assert!(allowed_by(&[allow], &call(two), "db.query").is_empty());
    assert!(allowed_by(&[allow], &call(vec![unclear("/sql")]), "db.query").is_empty());
    assert_eq!(allowed_by(&[allow], &call(vec![unclear("/other")]), "db.query").len(), 1);
    for open in ["\"*\"", "{ not = \"x\" }"] {
        let allow = format!("verdict = \"allow\"\narguments = {{ sql = {open} }}");
        assert!(allowed_by(&[&allow], &call(vec![unclear("/sql")]), "db.query").is_empty(), "{open}");
    }
    let written_out = "verdict = \"allow\"\narguments = { sql = [\"EXPLAIN *\", \"SELECT 1; DROP TABLE users\"] }";
    assert_eq!(allowed_by(&[written_out], &call(vec![unclear("/sql")]), "db.query").len(), 1);
}

#[test]
fn rules_can_be_for_a_caller_or_a_task() {
    let deny = "verdict = \"deny\"\ncaller = [\"bob\", \"agent:intern\"]\ntools = \"*\"";
    let by = |caller| decide(&[deny], &Call { caller, ..Call::default() }, "db.query").0;
    assert_eq!(by(Caller::new("alice")), Decision::Allow);
    assert_eq!(by(Caller::new("bob")), Decision::Deny);
    assert_eq!(by(Caller::new("alice").through_agent("intern")), Decision::Deny);
    let ask = "verdict = \"ask\"\ntask = \"release-*\"";
    let during = |task| decide(&[ask], &Call { task, ..Call::default() }, "db.query").0;
    assert_eq!(
        (during(None), during(Some("triage")), during(Some("release-7"))),
        (Decision::Allow, Decision::Allow, Decision::Ask)
    );
}

#[test]
fn all_problems_are_reported_together() {
    let rules = [
        "verdict = \"maybe\"\ntools = \"github.*\"",
        "verdict = \"deny\"\ntools = [\"githb.*\", \"create_issue\"]",
        "verdict = \"deny\"\ntools = \"db.query\"\nid = \"x\"",
        "verdict = \"ask\"\ntools = \"db.query\"\nid = \"x\"",
    ];
    let config = rules.iter().fold(PolicyConfig::new(), |config, written| config.written_rule(&rule(written)));
    let config = config.cedar("a.cedar", "forbid(principal, action, resource) when { context.nothing };");
    let found = codes(Policy::load(&config, &small()));
    assert_eq!(
        found,
        ["rule-syntax", "rule-matches-nothing", "rule-ambiguous-tool", "rule-duplicate-id", "policy-cedar-type"]
    );
}

#[test]
fn an_argument_that_no_tool_takes_is_refused() {
    let builder = toolmark_core::pack::Pack::builder("s".parse().unwrap(), toolmark_core::tool::Source::new("test:s"));
    let builder = builder.tool(toolmark_core::tool::ToolKind::Mcp, definition("push", &["branch", "force"]));
    let catalog = Catalog::builder().pack(builder.build()).build().unwrap();
    let wrong = load(&catalog, &["verdict = \"deny\"\ntools = \"s.push\"\narguments = { forse = true }"]);
    let error = wrong.unwrap_err();
    assert_eq!(error.problems()[0].code().as_str(), "rule-unknown-argument");
    assert_eq!(error.problems()[0].report().fix(), "did you mean `force`?");
    assert!(load(&catalog, &["verdict = \"deny\"\narguments = { \"/force\" = true, \"*\" = \"x\" }"]).is_ok());
    // A tool whose schema lists no properties may take any argument.
    assert!(load(&small(), &["verdict = \"deny\"\ntools = \"db.query\"\narguments = { anything = 1 }"]).is_ok());
}

#[test]
fn a_tool_that_came_after_the_policy_is_denied_unless_there_is_no_policy() {
    let before = small();
    let after = before.with_pack(pack("new", &["tool"])).unwrap();
    let policy = load(&before, &["verdict = \"ask\"\ntools = \"db.query\""]).unwrap();
    assert_eq!(said(&Call::default().on(&policy, &after, "new.tool")), (Decision::Deny, vec!["policy-unevaluable"]));
    assert_eq!(said(&Call::default().on(&load(&before, &[]).unwrap(), &after, "new.tool")), SILENT);
    // The same name from another source is another tool.
    let other =
        toolmark_core::pack::Pack::builder("db".parse().unwrap(), toolmark_core::tool::Source::new("test:other"));
    let other = other.tool(toolmark_core::tool::ToolKind::Mcp, definition("query", &[])).build();
    let swapped = before.with_pack(other).unwrap();
    assert_eq!(Call::default().on(&policy, &swapped, "db.query").decision(), Decision::Deny);
}

#[test]
fn a_rule_for_every_tool_needs_no_tool() {
    let empty = Catalog::builder().build().unwrap();
    assert!(load(&empty, &["verdict = \"deny\"\ntools = \"*\""]).is_ok());
    assert_eq!(codes(load(&empty, &["verdict = \"deny\"\ntools = \"github.*\""])), ["rule-matches-nothing"]);
}

#[test]
fn what_can_apply_to_a_tool_is_known_at_load() {
    let catalog = small();
    let config = PolicyConfig::new()
        .written_rule(&rule("verdict = \"deny\"\ntools = \"github.*\"\nid = \"a\""))
        .written_rule(&rule("verdict = \"ask\"\ntask = \"x\"\nid = \"b\""))
        .cedar("c", "@id(\"p\") forbid(principal, action, resource == Tool::\"merge\") when { context.facts.unclear };")
        .cedar("d", "@id(\"q\") forbid(principal in Caller::\"bob\", action, resource);");
    let policy = Policy::load(&config, &catalog).unwrap();
    let on = |tool| {
        let applying = policy.applying_to(catalog.find(tool, |_| true).unwrap());
        applying.iter().map(|author| author.id().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(on("github.merge"), ["b", "a", "p", "q"]);
    assert_eq!(on("db.query"), ["b", "q"]);
    assert_eq!(policy.rules().map(|(id, _)| id).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_policy_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Policy>();
}

#[test]
fn the_version_is_a_digest_of_what_was_written() {
    let catalog = small();
    let one = |rules: &[&str]| load(&catalog, rules).unwrap().version();
    let deny = "verdict = \"deny\"\ntools = \"db.query\"";
    assert_eq!(one(&[deny]), one(&[deny]));
    assert_ne!(one(&[deny]), one(&[]));
    assert_ne!(one(&[deny]), one(&["verdict = \"deny\"\ntools = \"db:query\""]));
    let with = |config: &PolicyConfig| Policy::load(config, &catalog).unwrap().version();
    assert_ne!(with(&PolicyConfig::new()), with(&PolicyConfig::new().preset(Preset::Careful)));
    let text = "forbid(principal, action, resource);";
    assert_ne!(with(&PolicyConfig::new().cedar("a", text)), with(&PolicyConfig::new().cedar("a", format!("{text}\n"))));
    assert!(one(&[]).to_string().starts_with("policy1:"));
    assert_eq!(one(&[]).to_string().len(), "policy1:".len() + 64);
}

#[test]
fn a_rule_says_how_explicit_it_is() {
    let catalog = small();
    let rules = ["verdict = \"allow\"\ntools = \"db.*\"\neffect = \"PURE|*\""];
    let call = Call::doing(vec![understood("/sql", vec![Effect::pure(Action::Read, "reads")])]);
    let answer = call.on(&load(&catalog, &rules).unwrap(), &catalog, "db.query");
    let names = answer.allows[0].names;
    assert!(names.tools && names.effect && !names.behavior && !names.arguments);
    assert!(!answer.is_silent() && answer.decision() == Decision::Allow);
    let default = RuleConfig::default();
    assert!(default.build().is_err());
}
