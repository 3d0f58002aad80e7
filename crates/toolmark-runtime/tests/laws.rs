//! What must hold for every call: more rules, more statements and stricter settings never weaken a verdict, and what is judged once is
//! judged the same again.
#![expect(clippy::unwrap_used, reason = "a test may stop")]

use proptest::prelude::*;
use serde_json::{Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::document::Document;
use toolmark_core::gate::Preset;
use toolmark_core::snapshot::SnapshotReader;
use toolmark_core::verdict::Decision;
use toolmark_policy::{Caller, PolicyConfig, Rule};
use toolmark_runtime::{Outcome, Request, Workspace, WorkspaceBuilder};

const STATEMENTS: &[&str] = &[
    "SELECT 1",
    "SELECT 'DELETE FROM users'",
    "INSERT INTO t VALUES (1)",
    "UPDATE t SET a = 1 WHERE id = 2",
    "DELETE FROM users",
    "DELETE FROM users WHERE id = 1",
    "DROP TABLE users",
    "not sql at all (",
];
const TOOLS: &[&str] = &["db.read_query", "db.write_query", "db.describe"];

fn catalog() -> Catalog {
    let query = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    let tools = json!([
        {"name": "read_query", "description": "Execute a SELECT query on the SQLite database", "inputSchema": query},
        {"name": "write_query", "description": "Execute an INSERT, UPDATE, or DELETE query on the SQLite database", "inputSchema": query},
        {"name": "describe", "description": "Does what the SQLite database does", "inputSchema": query},
    ]);
    let mut reader = SnapshotReader::default();
    reader.read(&Document::new("db.json", tools.to_string()), "db");
    reader.finish().into_builder().build().unwrap()
}

fn rule() -> impl Strategy<Value = Rule> {
    let verdict = prop::sample::select(vec![Decision::Allow, Decision::Ask, Decision::Deny]);
    let tool = prop::option::of(prop::sample::select(vec!["db.*", "db.read_query", "write_query"]));
    let effect = prop::option::of(prop::sample::select(vec!["PURE|*", "MUTATES|DELETE", "unbounded", "unclear", "*"]));
    let behavior = prop::option::of(prop::sample::select(vec!["PURE|*|*", "MUTATES|*|*"]));
    (verdict, tool, effect, behavior).prop_filter_map(
        "a rule needs a condition",
        |(verdict, tool, effect, behavior)| {
            let mut rule = Rule::builder(verdict);
            rule = tool.into_iter().fold(rule, toolmark_policy::RuleBuilder::tool);
            rule = effect.into_iter().fold(rule, toolmark_policy::RuleBuilder::effect);
            rule = behavior.into_iter().fold(rule, toolmark_policy::RuleBuilder::behavior);
            rule.build().ok()
        },
    )
}

fn workspace(rules: &[Rule], preset: Preset) -> Workspace {
    let policy = rules.iter().cloned().fold(PolicyConfig::new().preset(preset), PolicyConfig::rule);
    WorkspaceBuilder::new().policy(policy).build(catalog()).unwrap()
}

fn decide(workspace: &Workspace, tool: &str, arguments: &Value, task: bool) -> (Decision, Outcome) {
    let tool = workspace.catalog().find(tool, |_| true).unwrap();
    let task = task.then(|| &**workspace.tasks().find("read-only").unwrap());
    let found = workspace.examine(&Request { tool, arguments, task, caller: Caller::new("a") }).unwrap();
    (found.verdict().decision(), found.outcome())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Invariant: adding a rule, whatever it says, never weakens a verdict.
    #[test]
    fn adding_a_rule_never_weakens_a_verdict(
        rules in prop::collection::vec(rule(), 0..4),
        more in rule(),
        tool in prop::sample::select(TOOLS),
        statement in prop::sample::select(STATEMENTS),
        preset in prop::sample::select(Preset::ALL),
        task: bool,
    ) {
        let arguments = json!({"query": statement});
        let before = decide(&workspace(&rules, preset), tool, &arguments, task).0;
        let longer: Vec<Rule> = rules.iter().cloned().chain([more]).collect();
        prop_assert!(decide(&workspace(&longer, preset), tool, &arguments, task).0 >= before);
    }

    /// Invariant: another statement in the same text never weakens a verdict.
    #[test]
    fn adding_a_statement_never_weakens_a_verdict(
        tool in prop::sample::select(TOOLS),
        one in prop::sample::select(STATEMENTS),
        more in prop::sample::select(STATEMENTS),
        preset in prop::sample::select(Preset::ALL),
        task: bool,
    ) {
        let workspace = workspace(&[], preset);
        let before = decide(&workspace, tool, &json!({"query": one}), task).0;
        let after = decide(&workspace, tool, &json!({"query": format!("{one}; {more}")}), task).0;
        // What was understood and becomes unclear is asked for instead of denied: nobody knows any more what it is.
        prop_assert!(after >= before.min(Decision::Ask));
    }

    /// Invariant: a task only ever adds caution, and a call that is denied never runs, unless the operator only observes.
    #[test]
    fn a_task_adds_caution_and_what_is_denied_does_not_run(
        rules in prop::collection::vec(rule(), 0..4),
        tool in prop::sample::select(TOOLS),
        statement in prop::sample::select(STATEMENTS),
        preset in prop::sample::select(Preset::ALL),
    ) {
        let workspace = workspace(&rules, preset);
        let arguments = json!({"query": statement});
        let (without, outcome) = decide(&workspace, tool, &arguments, false);
        prop_assert!(decide(&workspace, tool, &arguments, true).0 >= without);
        match outcome {
            Outcome::Run => prop_assert_eq!(without, Decision::Allow),
            Outcome::Answered(_) => prop_assert_eq!(without, Decision::Ask),
            Outcome::Observed(decision) => prop_assert!(decision == without && preset == Preset::Observe && without > Decision::Allow),
            Outcome::Ask => prop_assert_eq!(without, Decision::Ask),
            Outcome::Refuse => prop_assert_eq!(without, Decision::Deny),
        }
        prop_assert_eq!(decide(&workspace, tool, &arguments, false).0, without);
    }
}
