use serde_json::json;
use toolmark_core::gate::{Expectation, OnMismatch, Preset};
use toolmark_policy::{PolicyConfig, Rule};

use super::*;
use crate::task::Tasks;
use crate::testing::{catalog, workspace};
use crate::workspace::WorkspaceBuilder;

fn look(
    workspace: &Workspace,
    tool: &str,
    arguments: &Value,
    task: Option<&str>,
) -> (Decision, Outcome, Vec<&'static str>) {
    let tool = workspace.catalog().find(tool, |_| true).unwrap();
    let task = task.map(|name| &**workspace.tasks().find(name).unwrap());
    let request = Request { tool, arguments, task, caller: Caller::new("alice") };
    let found = workspace.examine(&request).unwrap();
    let codes = found.verdict().reasons().iter().map(|reason| reason.code).collect();
    (found.verdict().decision(), found.outcome(), codes)
}

#[test]
fn a_delete_through_a_reading_tool_is_refused() {
    let workspace = workspace(Vec::new());
    let (decision, outcome, codes) = look(&workspace, "db.read_query", &json!({"query": "DELETE FROM users"}), None);
    assert_eq!((decision, outcome), (Decision::Deny, Outcome::Refuse));
    assert!(codes.contains(&"effect-exceeds-behavior"), "{codes:?}");
}

#[test]
fn arguments_that_do_not_fit_are_refused_even_while_observing() {
    let policy = PolicyConfig::new().preset(Preset::Observe);
    let workspace = WorkspaceBuilder::new().policy(policy).build(catalog()).unwrap();
    let (decision, outcome, codes) = look(&workspace, "db.read_query", &json!({"query": 7}), None);
    assert_eq!((decision, outcome), (Decision::Deny, Outcome::Refuse));
    assert!(codes.contains(&"arguments-invalid"));
}

#[test]
fn an_observed_call_runs_and_is_never_called_allowed() {
    let policy = PolicyConfig::new().preset(Preset::Observe);
    let workspace = WorkspaceBuilder::new().policy(policy).build(catalog()).unwrap();
    let (decision, outcome, _) = look(&workspace, "db.read_query", &json!({"query": "DELETE FROM users"}), None);
    assert_eq!((decision, &outcome), (Decision::Deny, &Outcome::Observed(Decision::Deny)));
    assert!(outcome.runs());
    assert_eq!(outcome.as_str(), "observed");
    let (decision, outcome, _) = look(&workspace, "db.read_query", &json!({"query": "SELECT 1"}), None);
    assert_eq!((decision, outcome), (Decision::Allow, Outcome::Run));
}

#[test]
fn a_task_stops_what_it_does_not_expect() {
    let workspace = workspace(Vec::new());
    let (decision, ..) = look(&workspace, "tracker.delete_issue", &json!({"id": 1}), Some("read-only"));
    assert_eq!(decision, Decision::Deny);
    let (decision, ..) = look(&workspace, "tracker.list_issues", &json!({}), Some("read-only"));
    assert_eq!(decision, Decision::Allow);
}

/// Invariant: what is kept about a tool never answers for a rule that looks at the call, nor for a task of somebody else.
#[test]
fn what_is_kept_about_a_tool_holds_only_for_what_it_was_found_for() {
    let by_caller =
        Rule::builder(Decision::Deny).id("not-mallory").tool("tracker.list_issues").caller("mallory").build();
    let found = workspace(vec![by_caller.unwrap()]);
    let tool = found.catalog().find("tracker.list_issues", |_| true).unwrap();
    let arguments = json!({});
    let by = |caller: &'static str, task: Option<&Task>| {
        let request = Request { tool, arguments: &arguments, task, caller: Caller::new(caller) };
        found.examine(&request).unwrap().verdict().decision()
    };
    assert_eq!(by("alice", None), Decision::Allow);
    assert_eq!(by("mallory", None), Decision::Deny);

    let plain = workspace(Vec::new());
    let tool = plain.catalog().find("tracker.list_issues", |_| true).unwrap();
    let writes_only = Expectation::new("write", vec!["MUTATES|*|*".parse().unwrap()], OnMismatch::Deny);
    let foreign = Task::new("write".parse().unwrap(), writes_only);
    let of = |task: Option<&Task>| {
        let request = Request { tool, arguments: &arguments, task, caller: Caller::new("alice") };
        plain.examine(&request).unwrap().verdict().decision()
    };
    assert_eq!(of(None), Decision::Allow);
    assert_eq!(of(Some(plain.tasks().find("read-only").unwrap())), Decision::Allow);
    assert_eq!(of(Some(&foreign)), Decision::Deny);
}

/// Invariant: of two tasks the stricter word counts, whichever comes first, and a rule answers only where it does for both.
#[test]
fn a_call_under_two_tasks_has_to_fit_both() {
    let task = |name: &str, pattern: &str, otherwise| {
        let expectation = Expectation::new(name, vec![pattern.parse().unwrap()], otherwise);
        Arc::new(Task::new(name.parse().unwrap(), expectation))
    };
    let (reads, writes) = (task("reads", "PURE|*|*", OnMismatch::Deny), task("writes", "MUTATES|*|*", OnMismatch::Ask));
    let anything = task("anything", "*|*|*", OnMismatch::Deny);
    let both = |one: &Arc<Task>, other: &Arc<Task>| Arc::new(one.and(other));
    let barred = Rule::builder(Decision::Deny).id("barred").tool("tracker.list_issues").task("anything").build();
    let found = workspace(vec![barred.unwrap()]);
    let plain = workspace(Vec::new());
    let decide = |workspace: &Workspace, task: &Arc<Task>| {
        let tool = workspace.catalog().find("tracker.list_issues", |_| true).unwrap();
        let arguments = json!({});
        let request = Request { tool, arguments: &arguments, task: Some(task), caller: Caller::new("alice") };
        workspace.examine(&request).unwrap().verdict().decision()
    };
    for (one, other) in [(&reads, &writes), (&writes, &reads)] {
        assert_eq!(decide(&plain, &both(one, other)), Decision::Ask);
    }
    for (one, other) in [(&reads, &anything), (&anything, &reads)] {
        assert_eq!(decide(&plain, &both(one, other)), Decision::Allow);
        assert_eq!(decide(&found, &both(one, other)), Decision::Deny, "rules for either task hold");
    }
    assert_eq!(decide(&plain, &both(&both(&reads, &anything), &writes)), Decision::Ask);

    let allowed = Rule::builder(Decision::Allow).id("sweeps").tool("db.write_query").task("anything");
    let allowed = allowed.effect("MUTATES|DELETE").effect("unbounded").build().unwrap();
    let answering = workspace(vec![allowed]);
    let sweep = json!({"query": "DELETE FROM users"});
    let outcome = |task: &Arc<Task>| {
        let tool = answering.catalog().find("db.write_query", |_| true).unwrap();
        let request = Request { tool, arguments: &sweep, task: Some(task), caller: Caller::new("alice") };
        answering.examine(&request).unwrap().outcome()
    };
    assert!(matches!(outcome(&anything), Outcome::Answered(_)));
    let other = task("other", "*|*|*", OnMismatch::Deny);
    assert_eq!((outcome(&both(&anything, &other)), outcome(&both(&other, &anything))), (Outcome::Ask, Outcome::Ask));
}

#[test]
fn tasks_that_hold_together_are_recorded_under_all_their_names() {
    let mut tasks = Tasks::default();
    for name in ["one", "two"] {
        let expectation = Expectation::new(name, vec!["*|*|*".parse().unwrap()], OnMismatch::Deny);
        tasks.insert(Task::new(name.parse().unwrap(), expectation));
    }
    let of = |name: &str| Arc::clone(tasks.find(name).unwrap());
    let all = of("one").and(&of("two")).and(&of("read-only")).and(&of("two"));
    assert_eq!(all.full_name(), "one+two+read-only");
    assert_eq!(*tasks.recorded("one+two+read-only").unwrap(), all);
    assert_eq!(of("one").and(&of("one")), *of("one"));
    assert!(tasks.recorded("one+three").is_err() && tasks.recorded("one+").is_err());
}

/// Invariant: a rule that allows answers a default that asks, and nothing else; the verdict stays what it is.
#[test]
fn an_allowing_rule_answers_a_default_that_it_names_and_leaves_the_verdict() {
    let unbounded = json!({"query": "DELETE FROM users"});
    let (decision, outcome, codes) = look(&workspace(Vec::new()), "db.write_query", &unbounded, None);
    assert_eq!((decision, outcome), (Decision::Ask, Outcome::Ask), "{codes:?}");

    let by_name = Rule::builder(Decision::Allow).id("by-name").tool("db.write_query").build().unwrap();
    let (_, outcome, _) = look(&workspace(vec![by_name]), "db.write_query", &unbounded, None);
    assert_eq!(outcome, Outcome::Ask, "a rule that does not name the effect does not answer for it");

    let by_effect = || {
        let rule = Rule::builder(Decision::Allow).id("sweeps").tool("db.write_query");
        rule.effect("MUTATES|DELETE").effect("unbounded").build().unwrap()
    };
    let (decision, outcome, _) = look(&workspace(vec![by_effect()]), "db.write_query", &unbounded, None);
    assert_eq!(decision, Decision::Ask, "an allowing rule weakens no verdict");
    assert!(matches!(&outcome, Outcome::Answered(answered) if answered.by().id() == "sweeps"), "{outcome:?}");

    let ask = Rule::builder(Decision::Ask).id("always").tool("db.write_query").build().unwrap();
    let (_, outcome, _) = look(&workspace(vec![by_effect(), ask]), "db.write_query", &unbounded, None);
    assert_eq!(outcome, Outcome::Ask, "what the operator asks for is answered by no rule");
}
