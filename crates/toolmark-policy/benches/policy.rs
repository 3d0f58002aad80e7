//! The budgets of policy, each a ratio or a limit measured in the same run. Exits with 1 when one is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | 100 Cedar policies that all look at the arguments of this call, input included | at most 1.5 × `is_authorized` on input prepared beforehand |
//! | the same when they name other tools, or look at no arguments, from the second call on | at most 200 ns |
//! | 100 rules, of which some name the tool and look at its arguments | at most 1 µs |
//! | no rule and no policy | at most 20 ns |
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cedar_policy::{
    Authorizer, Context, Entities, Entity, EntityUid, PolicySet, Request as CedarRequest, RestrictedExpression, Schema,
};
use serde_json::{Value, json};
use toolmark_core::behavior::{KnownBehavior, Statements};
use toolmark_core::catalog::Catalog;
use toolmark_core::document::Document;
use toolmark_core::facts::Facts;
use toolmark_core::snapshot::SnapshotReader;
use toolmark_core::verdict::Decision;
use toolmark_policy::{Caller, Policy, PolicyConfig, Request, Rule, SCHEMA};

const POLICIES: usize = 100;

/// One measurement and its budget, in nanoseconds.
struct Measured {
    what: &'static str,
    ours: f64,
    budget: f64,
    against: String,
}

fn main() -> ExitCode {
    // `cargo test --benches` runs this file too, without a wish for figures.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let all = [live(), elsewhere(), kept(), rules(), nothing()];
    println!("{:<66} {:>10} {:>10}", "", "toolmark", "budget");
    for one in &all {
        let verdict = if one.ours <= one.budget { "ok" } else { "EXCEEDED" };
        println!("{:<66} {:>10} {:>10} {verdict}  {}", one.what, shown(one.ours), shown(one.budget), one.against);
    }
    if all.iter().all(|one| one.ours <= one.budget) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn shown(nanoseconds: f64) -> String {
    if nanoseconds < 1_000.0 { format!("{nanoseconds:.0} ns") } else { format!("{:.1} µs", nanoseconds / 1_000.0) }
}

/// The times of one call of each: the least of several runs, because that is what the work costs when nothing disturbs it, and in
/// turn, so that whatever disturbs one disturbs the other.
fn times(calls: u32, mut one: impl FnMut(), mut other: impl FnMut()) -> [f64; 2] {
    let mut least = [Duration::MAX; 2];
    for _ in 0..20 {
        let works: [&mut dyn FnMut(); 2] = [&mut one, &mut other];
        for (work, least) in works.into_iter().zip(&mut least) {
            let start = Instant::now();
            (0..calls).for_each(|_| work());
            *least = start.elapsed().min(*least);
        }
    }
    least.map(|least| least.as_secs_f64() * 1e9 / f64::from(calls))
}

fn catalog() -> Catalog {
    let mut reader = SnapshotReader::default();
    for pack in 0..20 {
        let tools: Vec<String> = (0..50).map(|tool| format!("{{\"name\":\"tool_{tool}\"}}")).collect();
        reader.read(&Document::new("bench", format!("[{}]", tools.join(","))), &format!("pack-{pack}"));
    }
    reader.finish().into_builder().build().expect("a catalog")
}

/// Judges one call again and again, in turn with something to compare with.
fn judged(policy: &Policy, catalog: &Catalog, calls: u32, other: impl FnMut()) -> [f64; 2] {
    let behavior = "MUTATES|UPDATE|ISSUE".parse().expect("a behavior");
    let behavior = KnownBehavior::combine(Statements { operator: Some(behavior), ..Statements::default() });
    let (facts, arguments) = (Facts::default(), arguments());
    let request = Request {
        tool: catalog.find("pack-3.tool_7", |_| true).expect("a tool"),
        behavior: &behavior,
        facts: &facts,
        arguments: &arguments,
        task: Some("triage"),
        caller: Caller::new("alice").through_agent("assistant").in_session("7f3a"),
    };
    assert!(policy.judge(&request).is_silent());
    let judge = || {
        let _ = black_box(policy.judge(black_box(&request)));
    };
    times(calls, judge, other)
}

/// The time that a policy takes for one call.
fn alone(config: &PolicyConfig, calls: u32) -> f64 {
    let catalog = catalog();
    let [ours, _] = judged(&load(config, &catalog), &catalog, calls, || {});
    ours
}

fn arguments() -> Value {
    json!({"repo": "acme/site", "number": 17, "title": "A title of some length", "labels": ["bug", "ui"], "draft": false})
}

fn load(config: &PolicyConfig, catalog: &Catalog) -> Policy {
    Policy::load(config, catalog).expect("a policy")
}

/// A policy that looks at two arguments and never applies.
fn looking(at: usize) -> String {
    format!(
        "forbid(principal, action in Action::\"write\", resource in Pack::\"pack-3\") when {{\n  \
         context.arguments.text.hasTag(\"repo\") && context.arguments.text.getTag(\"repo\") like \"acme/site-{at}*\" ||\n  \
         context.arguments.number.hasTag(\"number\") && context.arguments.number.getTag(\"number\") > {}\n}};\n",
        at + 1_000
    )
}

fn live() -> Measured {
    let catalog = catalog();
    let text: String = (0..POLICIES).map(looking).collect();
    let policy = load(&PolicyConfig::new().cedar("bench.cedar", &text), &catalog);
    let [ours, theirs] = judged(&policy, &catalog, 100, raw(&text));
    Measured {
        what: "100 Cedar policies over the arguments of this call",
        ours,
        budget: theirs * 1.5,
        against: format!("is_authorized alone: {}, ratio {:.2}", shown(theirs), ours / theirs),
    }
}

/// The same policies asked through Cedar itself, with everything prepared.
fn raw(text: &str) -> impl FnMut() {
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA).expect("the schema");
    let uid = |text: &str| text.parse::<EntityUid>().expect("an entity");
    let string = |text: &str| RestrictedExpression::new_string(text.into());
    let (texts, numbers) = (uid("TextArguments::\"these\""), uid("NumberArguments::\"these\""));
    let (tool, pack) = (uid("Tool::\"pack-3.tool_7\""), uid("Pack::\"pack-3\""));
    let entities = [
        Entity::with_uid(uid("Caller::\"alice\"")),
        Entity::with_uid(pack.clone()),
        Entity::new_no_attrs(tool.clone(), [pack].into()),
        Entity::new_with_tags(
            texts.clone(),
            [],
            [],
            [("repo".into(), string("acme/site")), ("title".into(), string("A title of some length"))],
        )
        .expect("an entity"),
        Entity::new_with_tags(numbers.clone(), [], [], [("number".into(), RestrictedExpression::new_long(17))])
            .expect("an entity"),
    ];
    let actions = schema.action_entities().expect("the actions");
    let entities: Entities = actions.add_entities(entities, None).expect("entities");
    let arguments = [
        ("text".to_owned(), RestrictedExpression::new_entity_uid(texts)),
        ("number".to_owned(), RestrictedExpression::new_entity_uid(numbers)),
    ];
    let arguments = RestrictedExpression::new_record(arguments).expect("a record");
    let context = Context::from_pairs([("arguments".to_owned(), arguments)]).expect("a context");
    let request = CedarRequest::new(uid("Caller::\"alice\""), uid("Action::\"UPDATE\""), tool, context, None);
    let request = request.expect("a request");
    let policies: PolicySet = text.parse().expect("policies");
    let authorizer = Authorizer::new();
    let response = authorizer.is_authorized(&request, &policies, &entities);
    assert_eq!(response.diagnostics().errors().count(), 0);
    assert_eq!(response.diagnostics().reason().count(), 0);
    move || {
        black_box(authorizer.is_authorized(black_box(&request), &policies, &entities));
    }
}

fn elsewhere() -> Measured {
    let text: String = (0..POLICIES).map(|at| looking(at).replace("pack-3", "pack-4")).collect();
    let ours = alone(&PolicyConfig::new().cedar("bench.cedar", text), 20_000);
    Measured { what: "100 Cedar policies about other tools", ours, budget: 200.0, against: String::new() }
}

fn kept() -> Measured {
    let policy =
        |at| format!("forbid(principal in Caller::\"mallory-{at}\", action in Action::\"write\", resource);\n");
    let text: String = (0..POLICIES).map(policy).collect();
    let ours = alone(&PolicyConfig::new().cedar("bench.cedar", text), 20_000);
    let what = "100 Cedar policies that look at no arguments, decision kept";
    Measured { what, ours, budget: 200.0, against: String::new() }
}

fn rules() -> Measured {
    let mut config = PolicyConfig::new();
    for at in 0..POLICIES {
        let tool = if at % 33 == 0 { "pack-3.*".to_owned() } else { format!("pack-{}.tool_{}", at % 20, at % 50) };
        let rule = Rule::builder(Decision::Deny).tool(&tool).argument("repo", format!("acme/site-{at}*"));
        config = config.rule(rule.build().expect("a rule"));
    }
    let ours = alone(&config, 20_000);
    Measured { what: "100 rules, some of which name this tool", ours, budget: 1_000.0, against: String::new() }
}

fn nothing() -> Measured {
    let ours = alone(&PolicyConfig::new(), 100_000);
    Measured { what: "no rule and no policy", ours, budget: 20.0, against: String::new() }
}
