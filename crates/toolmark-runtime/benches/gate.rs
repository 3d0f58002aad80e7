//! The budgets of the pure part of the pipeline, each a ratio or a limit measured in the same run. Exits with 1 when one is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | identify, validate and judge an allowed call without a program in its arguments | at most 2 × the check of its arguments alone |
//! | the same with a look at its flags and choices | at most 1 µs |
//! | the gate alone on such a call | at most 200 ns |
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use toolmark_core::document::Document;
use toolmark_core::facts::Facts;
use toolmark_core::gate::{self, Preset};
use toolmark_core::snapshot::Snapshot;
use toolmark_core::verdict::Decision;
use toolmark_policy::{Caller, PolicyConfig, Rule};
use toolmark_runtime::{Outcome, Request, Workspace, WorkspaceBuilder};

/// What the gate itself may take.
const GATE: f64 = 200.0;

fn main() -> ExitCode {
    // `cargo test --benches` runs this file too, without a wish for figures.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let workspace = workspace();
    let arguments = json!({"owner": "octocat", "repo": "hello-world", "state": "open", "labels": ["bug", "help wanted"], "limit": 30});
    let tool = workspace.catalog().find("tracker.list_issues_500", |_| true).expect("it is there");
    let task = workspace.tasks().find("read-only").expect("it is built in");
    let known = workspace.known(tool);
    let none = Facts::default();

    let validate = || {
        black_box(tool.check_arguments(black_box(&arguments)).is_ok());
    };
    let whole = || {
        let tool = workspace.catalog().find(black_box("tracker.list_issues_500"), |_| true).expect("it is there");
        let request =
            Request { tool, arguments: black_box(&arguments), task: Some(task), caller: Caller::new("alice") };
        let found = workspace.examine(&request).expect("it belongs to the workspace");
        assert!(matches!(black_box(found.outcome()), Outcome::Run));
    };
    let three = || {
        let tool = workspace.catalog().find(black_box("tracker.list_issues_500"), |_| true).expect("it is there");
        let request =
            Request { tool, arguments: black_box(&arguments), task: Some(task), caller: Caller::new("alice") };
        assert!(tool.check_arguments(request.arguments).is_ok());
        let (verdict, _) = workspace.judge(&request, &none).expect("it belongs to the workspace");
        assert_eq!(black_box(verdict).decision(), Decision::Allow);
    };
    let gate = || {
        let call = gate::Call {
            tool: tool.canonical(),
            known: black_box(&known),
            arguments: &arguments,
            facts: &none,
            expectations: [Some(task.expectation()), None],
            changed: false,
            preset: Preset::Balanced,
        };
        assert_eq!(black_box(gate::judge(&call)).decision(), Decision::Allow);
    };
    let [validation, pipeline, pure, judging] = times([&validate, &three, &whole, &gate]);
    let rows = [
        ("identify + validate + judge, allowed", pipeline, 2.0 * validation, "2 × validation"),
        ("identify + validate + analyze + judge, allowed", pure, 1000.0, ""),
        ("the gate alone", judging, GATE, ""),
    ];
    println!("{:<52} {:>10} {:>10}", "", "toolmark", "budget");
    println!("{:<52} {:>10}", "validation alone", format!("{validation:.0} ns"));
    for (what, ours, budget, against) in &rows {
        let verdict = if ours <= budget { "ok" } else { "EXCEEDED" };
        let ratio = ours / validation;
        println!(
            "{what:<52} {:>10} {:>10} {verdict}  {ratio:.2} × validation  {against}",
            format!("{ours:.0} ns"),
            format!("{budget:.0} ns")
        );
    }
    if rows.iter().all(|(_, ours, budget, _)| ours <= budget) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn workspace() -> Workspace {
    let tool = |n: usize| {
        format!(
            r#"{{"name": "list_issues_{n}", "description": "List issues of a repository", "inputSchema": {{"type": "object", "properties": {{
            "owner": {{"type": "string"}}, "repo": {{"type": "string"}}, "state": {{"type": "string", "enum": ["open", "closed", "all"]}},
            "labels": {{"type": "array", "items": {{"type": "string"}}}}, "limit": {{"type": "integer", "minimum": 1, "maximum": 100}}}},
            "required": ["owner", "repo"], "additionalProperties": false}}}}"#
        )
    };
    let tools: Vec<String> = (0..1000).map(tool).collect();
    let document = Document::new("tracker.json", format!("[{}]", tools.join(",")));
    let catalog = Snapshot::of(&document, "tracker").into_builder().build().expect("no problems");
    let rule = Rule::builder(Decision::Ask).tool("tracker.*").behavior("MUTATES|*|*").build().expect("a rule");
    WorkspaceBuilder::new().policy(PolicyConfig::new().rule(rule)).build(catalog).expect("a workspace")
}

/// The times of one call of each, in nanoseconds: the least of several runs, in turn, so that whatever disturbs one disturbs the other.
fn times<const N: usize>(all: [&dyn Fn(); N]) -> [f64; N] {
    const CALLS: u32 = 20_000;
    let mut least = [Duration::MAX; N];
    for _ in 0..20 {
        for (run, least) in all.iter().zip(&mut least) {
            let start = Instant::now();
            for _ in 0..CALLS {
                run();
            }
            *least = start.elapsed().min(*least);
        }
    }
    least.map(|time| time.as_secs_f64() * 1e9 / f64::from(CALLS))
}
