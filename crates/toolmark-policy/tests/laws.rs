//! What must hold for every policy: rules only ever add caution, and a spelling never leads to another tool.
#![expect(clippy::unwrap_used, reason = "a test may stop")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolmark_core::behavior::{Action, KnownBehavior, Statements};
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Definition;
use toolmark_core::facts::{Danger, Effect, Facts, Part, Reading};
use toolmark_core::pack::Pack;
use toolmark_core::tool::{Source, ToolKind};
use toolmark_core::verdict::Decision;
use toolmark_policy::pattern::Glob;
use toolmark_policy::{Caller, Policy, PolicyAnswer, PolicyConfig, Request, Rule};

fn catalog(packs: &[(&str, Vec<&str>)]) -> Catalog {
    let pack = |name: &str, tools: &[&str]| {
        let builder = Pack::builder(name.parse().unwrap(), Source::new(&format!("test:{name}")));
        let open = |name: &str| Definition::of_value("test", &json!({"name": name})).unwrap();
        tools.iter().fold(builder, |builder, tool| builder.tool(ToolKind::Mcp, open(tool))).build()
    };
    Catalog::builder().packs(packs.iter().map(|(name, tools)| pack(name, tools))).build().unwrap()
}

fn small() -> Catalog {
    catalog(&[("github", vec!["create_issue", "merge"]), ("gitlab", vec!["create_issue"]), ("db", vec!["query"])])
}

/// One call, owned.
#[derive(Clone, Debug)]
struct Call {
    tool: &'static str,
    behavior: Option<&'static str>,
    by_operator: bool,
    parts: Vec<Part>,
    arguments: Value,
    task: Option<&'static str>,
    caller: &'static str,
}

impl Call {
    fn on(&self, policy: &Policy, catalog: &Catalog) -> PolicyAnswer {
        let behavior = self.behavior.map(|text| text.parse().unwrap());
        let said = match self.by_operator {
            true => Statements { operator: behavior, ..Statements::default() },
            false => Statements { publisher: behavior, ..Statements::default() },
        };
        policy.judge(&Request {
            tool: catalog.find(self.tool, |_| true).unwrap(),
            behavior: &KnownBehavior::combine(said),
            facts: &Facts::new(self.parts.clone()),
            arguments: &self.arguments,
            task: self.task,
            caller: Caller::new(self.caller),
        })
    }
}

fn part() -> impl Strategy<Value = Part> {
    let effect = (
        prop::sample::select(vec![Action::Read, Action::Delete, Action::Update]),
        any::<bool>(),
        prop::option::of(prop::sample::select(vec![Danger::Secret, Danger::Escape])),
    )
        .prop_map(|(action, bounded, danger)| {
            let effect = match action {
                Action::Read => Effect::pure(action, "reads"),
                _ => Effect::mutating(action, "writes"),
            };
            let effect = if bounded { effect } else { effect.unbounded() };
            danger.into_iter().fold(effect, Effect::with)
        });
    let reading = prop_oneof![
        4 => prop::collection::vec(effect, 0..3).prop_map(Reading::Understood),
        1 => Just(Reading::CannotTell { reason: "truncated".into() }),
    ];
    (prop::sample::select(vec!["/sql", "/command"]), reading).prop_map(|(pointer, reading)| Part {
        pointer: pointer.into(),
        language: "sql",
        reading,
    })
}

fn call() -> impl Strategy<Value = Call> {
    let arguments = prop_oneof![
        Just(json!({})),
        Just(json!({"branch": "main"})),
        Just(json!({"branch": "next", "limit": 5, "sql": "SELECT 1"})),
        Just(json!({"branch": ["main", "next"], "limit": "500"})),
        Just(json!({"options": {"force": true}})),
    ];
    (
        prop::sample::select(vec!["github.create_issue", "github.merge", "gitlab.create_issue", "db.query"]),
        prop::option::of(prop::sample::select(vec!["PURE|READ|DATA", "MUTATES|DELETE|ACK", "MUTATES|CREATE|ISSUE"])),
        any::<bool>(),
        prop::collection::vec(part(), 0..3),
        arguments,
        prop::option::of(prop::sample::select(vec!["triage", "release"])),
        prop::sample::select(vec!["alice", "bob"]),
    )
        .prop_map(|(tool, behavior, by_operator, parts, arguments, task, caller)| Call {
            tool,
            behavior,
            by_operator,
            parts,
            arguments,
            task,
            caller,
        })
}

fn rule() -> impl Strategy<Value = Rule> {
    let optional = |values: &[&'static str]| prop::option::of(prop::sample::select(values.to_vec()));
    let argument = prop::option::of(prop::sample::select(vec![
        ("branch", json!("main")),
        ("branch", json!({"not": "main"})),
        ("limit", json!(">=100")),
        ("options.force", json!(true)),
        ("sql", json!("SELECT *")),
    ]));
    (
        prop::sample::select(vec![Decision::Allow, Decision::Ask, Decision::Deny]),
        optional(&["*", "github.*", "mcp__github__merge", "*.create_issue", "db/query"]),
        optional(&["MUTATES|*|*", "PURE|*|*", "*|DELETE|*"]),
        optional(&["MUTATES|*", "PURE|*", "*", "unbounded", "secret", "unclear"]),
        argument,
        optional(&["triage", "rel*"]),
        optional(&["alice", "b*"]),
    )
        .prop_filter_map("says too little", |(verdict, tool, behavior, effect, argument, task, caller)| {
            let mut rule = Rule::builder(verdict);
            rule = tool.into_iter().fold(rule, toolmark_policy::RuleBuilder::tool);
            rule = behavior.into_iter().fold(rule, toolmark_policy::RuleBuilder::behavior);
            rule = effect.into_iter().fold(rule, toolmark_policy::RuleBuilder::effect);
            rule = argument.into_iter().fold(rule, |rule, (path, pattern)| rule.argument(path, pattern));
            rule = task.into_iter().fold(rule, toolmark_policy::RuleBuilder::task);
            caller.into_iter().fold(rule, toolmark_policy::RuleBuilder::caller).build().ok()
        })
}

const CEDAR: &[&str] = &[
    "forbid(principal in Caller::\"bob\", action, resource);",
    "@verdict(\"ask\") forbid(principal, action in Action::\"write\", resource in Pack::\"github\");",
    "forbid(principal, action, resource) when { context.facts.mutates && context.facts.unbounded };",
    "forbid(principal, action, resource) when { context.arguments.text.hasTag(\"branch\") && context.arguments.text.getTag(\"branch\") == \"main\" };",
    "@verdict(\"allow\") permit(principal, action in Action::\"read\", resource);",
    "permit(principal, action, resource == Tool::\"merge\");",
    "@verdict(\"ask\") forbid(principal, action, resource) when { context has task && context.task == \"release\" };",
    "forbid(principal, action, resource) when { context.arguments.number.hasTag(\"limit\") && context.arguments.number.getTag(\"limit\") + 9223372036854775000 > 0 };",
];

fn load(rules: &[Rule], cedar: &[&str], catalog: &Catalog) -> Policy {
    let config = rules.iter().cloned().fold(PolicyConfig::new(), PolicyConfig::rule);
    let config = cedar.iter().zip(0..).fold(config, |config, (text, at)| config.cedar(format!("{at}.cedar"), *text));
    Policy::load(&config, catalog).unwrap()
}

proptest! {
    #[test]
    fn adding_a_rule_never_weakens_a_decision(
        rules in prop::collection::vec(rule(), 0..6),
        more in rule(),
        at in any::<prop::sample::Index>(),
        call in call(),
    ) {
        let catalog = small();
        let before = call.on(&load(&rules, &[], &catalog), &catalog);
        let mut longer = rules.clone();
        longer.insert(at.index(rules.len() + 1), more);
        let after = call.on(&load(&longer, &[], &catalog), &catalog);
        prop_assert!(after.decision() >= before.decision());
        prop_assert!(after.reasons.len() >= before.reasons.len());
    }

    #[test]
    fn the_strictest_rule_decides_whatever_the_order(rules in prop::collection::vec(rule(), 0..6), call in call()) {
        let catalog = small();
        let together = call.on(&load(&rules, &[], &catalog), &catalog);
        let alone = rules.iter().map(|rule| call.on(&load(std::slice::from_ref(rule), &[], &catalog), &catalog));
        prop_assert_eq!(together.decision(), alone.map(|answer| answer.decision()).max().unwrap_or(Decision::Allow));
        let reversed: Vec<Rule> = rules.iter().rev().cloned().collect();
        let turned = call.on(&load(&reversed, &[], &catalog), &catalog);
        prop_assert_eq!(together.decision(), turned.decision());
        prop_assert_eq!(together.allows.len(), turned.allows.len());
        for reason in &together.reasons {
            prop_assert!(reason.decision > Decision::Allow, "reasons never allow");
        }
    }

    #[test]
    fn adding_facts_never_weakens_what_rules_decide(
        rules in prop::collection::vec(rule(), 0..4),
        more in part(),
        call in call(),
    ) {
        let catalog = small();
        let policy = load(&rules, &[], &catalog);
        let before = call.on(&policy, &catalog).decision();
        let mut longer = call.clone();
        longer.parts.push(more);
        prop_assert!(longer.on(&policy, &catalog).decision() >= before);
    }

    #[test]
    fn any_text_is_a_glob_and_matches_as_a_simple_matcher_does(glob in "[a-c*]{0,8}", text in "[a-c]{0,10}") {
        fn simple(glob: &[u8], text: &[u8]) -> bool {
            match (glob.split_first(), text.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), _) => simple(rest, text) || (!text.is_empty() && simple(glob, &text[1..])),
                (Some((one, glob)), Some((other, text))) => one == other && simple(glob, text),
                _ => false,
            }
        }
        prop_assert_eq!(Glob::new(&glob).matches(&text), simple(glob.as_bytes(), text.as_bytes()));
    }

    #[test]
    fn a_spelling_means_its_tool_or_is_refused_but_never_means_another(
        names in prop::collection::btree_set(("[a-c]{1,2}(_{1,2}[a-c]){0,1}", "[a-c]{1,2}([_.-]{1,2}[a-c]){0,1}"), 1..6),
        which in any::<prop::sample::Index>(),
    ) {
        let names: Vec<(String, String)> = names.into_iter().collect();
        let mut packs: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
        for (pack, tool) in &names {
            packs.entry(pack).or_default().push(tool);
        }
        let packs: Vec<(&str, Vec<&str>)> = packs.into_iter().collect();
        let catalog = catalog(&packs);
        let (pack, tool) = &names[which.index(names.len())];
        let bound = |spelling: &str| {
            let rule = Rule::builder(Decision::Deny).tool(spelling).build().unwrap();
            let policy = Policy::load(&PolicyConfig::new().rule(rule), &catalog).ok()?;
            let call = |tool: &toolmark_core::tool::Tool| policy.judge(&Request {
                tool,
                behavior: &KnownBehavior::combine(Statements::default()),
                facts: &Facts::default(),
                arguments: &json!({}),
                task: None,
                caller: Caller::new("alice"),
            });
            let denied = catalog.tools().filter(|tool| call(tool).decision() == Decision::Deny);
            Some(denied.map(|tool| tool.canonical().to_string()).collect::<Vec<_>>())
        };
        let canonical = format!("{pack}.{tool}");
        prop_assert_eq!(bound(&canonical), Some(vec![canonical.clone()]));
        for spelling in [
            format!("{pack}:{tool}"),
            format!("{pack}/{tool}"),
            format!("{pack}__{tool}"),
            format!("mcp__{pack}__{tool}"),
            format!("mcp__toolmark__{pack}__{tool}"),
        ] {
            // A canonical name means its tool, also where it spells another one.
            let canonical_of_another = names.iter().any(|(pack, tool)| format!("{pack}.{tool}") == spelling);
            if let Some(meant) = bound(&spelling).filter(|_| !canonical_of_another) {
                prop_assert_eq!(meant, vec![canonical.clone()], "{}", spelling);
            }
        }
        let all = format!("{pack}.*");
        let own: Vec<String> = names.iter().filter(|(own, _)| own == pack).map(|(pack, tool)| format!("{pack}.{tool}")).collect();
        prop_assert_eq!(bound(&all), Some(own));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn adding_a_cedar_policy_never_weakens_a_decision(
        rules in prop::collection::vec(rule(), 0..3),
        cedar in prop::sample::subsequence(CEDAR, 0..CEDAR.len()),
        more in prop::sample::select(CEDAR),
        call in call(),
    ) {
        let catalog = small();
        let policy = load(&rules, &cedar, &catalog);
        let before = call.on(&policy, &catalog);
        prop_assert_eq!(&before, &call.on(&policy, &catalog), "a kept decision is the same");
        let mut longer = cedar.clone();
        longer.push(more);
        let after = call.on(&load(&rules, &longer, &catalog), &catalog);
        prop_assert!(after.decision() >= before.decision());
    }
}
