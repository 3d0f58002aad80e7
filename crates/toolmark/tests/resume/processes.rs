//! One process hands over, does what nobody must agree to, and saves the rest; others decide and finish. What was done is not done again.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use toolmark::agents::{Session as _, StoredSession};
use toolmark::models::scripted::{ScriptedCall, Turn};
use toolmark::models::{Item, ScriptedModel};
use toolmark::prelude::*;
use toolmark::serde_json::json;

use super::store;

const FOLDER: &str = "TOOLMARK_TEST_FOLDER";

/// A tool whose effect outlives the process: it writes a line.
fn effect(name: &'static str, folder: &Path) -> toolmark::tools::ToolBuilder {
    let file = folder.join("effects");
    FunctionTool::builder(name)
        .description("Writes down that it ran.")
        .parameters(json!({"properties": {"order": {"type": "integer"}}, "required": ["order"]}))
        .run(move |_, arguments| {
            let line = format!("{name} {}\n", arguments.value()["order"]);
            let mut log = std::fs::OpenOptions::new().create(true).append(true).open(&file).expect("a file");
            log.write_all(line.as_bytes()).expect("a line");
            async move { Ok(format!("{name} is done")) }
        })
}

/// The agents, as every process builds them: nothing but text passes between processes.
fn front(folder: &Path) -> Agent {
    let model = |turns: Vec<Turn>| Arc::new(ScriptedModel::new(turns));
    let accountant = Agent::builder("Accountant")
        .tool(effect("pay", folder).needs_approval(true))
        .model(model(vec![
            Turn::call("pay", json!({"order": 7})).when_user("pay order 7"),
            Turn::text("Paid.").when_output("pay is done"),
            Turn::text("Not paid: {output}").when_output("not"),
        ]))
        .build()
        .expect("an agent");
    let call = |id: &str, name: &str, arguments| ScriptedCall {
        call_id: Some(id.into()),
        ..ScriptedCall::new(name, arguments)
    };
    let billing = Agent::builder("Billing")
        .tool(effect("log", folder))
        .tool(effect("refund", folder).needs_approval(true))
        .tool(accountant.as_tool())
        .model(model(vec![
            Turn::calls([
                call("log-1", "log", json!({"order": 7})),
                call("refund-1", "refund", json!({"order": 7})),
                call("pay-1", "accountant", json!({"input": "pay order 7"})),
            ])
            .when_output("Billing"),
            Turn::text("{output}").when_output("log is done"),
        ]))
        .build()
        .expect("an agent");
    Agent::builder("Front")
        .handoff(&billing)
        .model(model(vec![Turn::call("transfer_to_billing", json!({})).when_user("order 7")]))
        .build()
        .expect("an agent")
}

async fn runner(folder: &Path) -> Runner {
    Runner::new().session(Arc::new(StoredSession::new(Arc::new(store(folder).await), "customer-1")))
}

fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// No test: the first process.
#[tokio::test]
#[ignore = "a process of another test"]
async fn first_process() {
    let Some(folder) = folder() else { return };
    let outcome = runner(&folder).await.run(&front(&folder), "Settle order 7.", RunContext::new()).await;
    let state = outcome.expect("a run").interrupted().expect("two calls wait");
    std::fs::write(folder.join("state.json"), state.to_json()).expect("a file");
}

async fn second(decide: impl Fn(&mut RunState)) {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("state.json")).expect("a state");
    let mut state = RunState::from_json(&text).expect("a state");
    decide(&mut state);
    let outcome = runner(&folder).await.resume(&front(&folder), state, RunContext::new()).await.expect("a run");
    match outcome {
        RunOutcome::Finished(result) => {
            std::fs::write(folder.join("answer"), result.output()).expect("a file");
            std::fs::write(folder.join("state.json"), result.state().to_json()).expect("a file");
        }
        RunOutcome::Interrupted(state) => std::fs::write(folder.join("state.json"), state.to_json()).expect("a file"),
    }
}

/// No test: a process in which nobody decides anything.
#[tokio::test]
#[ignore = "a process of another test"]
async fn undecided_process() {
    second(|_| {}).await;
}

/// No test: the process in which one call is approved and the other rejected.
#[tokio::test]
#[ignore = "a process of another test"]
async fn deciding_process() {
    second(|state| {
        for pending in state.pending() {
            match pending.tool() {
                "pay" => state.approve(&pending).expect("it waits"),
                "refund" => state.reject(&pending, Some("The customer keeps it.")).expect("it waits"),
                other => panic!("nobody asked about {other}"),
            }
        }
    })
    .await;
}

/// Starts this program again as another process, and waits for it.
fn process(name: &str, folder: &Path) {
    let own = std::env::current_exe().expect("this program has a path");
    let output = Command::new(own)
        .args(["--ignored", "--exact", &format!("processes::{name}"), "--nocapture"])
        .env(FOLDER, folder)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{name}: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test]
async fn a_run_with_a_handoff_a_nested_agent_and_approvals_goes_on_in_other_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let effects = || std::fs::read_to_string(folder.join("effects")).unwrap_or_default();
    process("first_process", folder);
    assert_eq!(effects(), "log 7\n", "what nobody must agree to was done");
    let saved =
        RunState::from_json(&std::fs::read_to_string(folder.join("state.json")).expect("a state")).expect("a state");
    let mut pending: Vec<(String, String, usize)> =
        saved.pending().iter().map(|one| (one.agent().to_owned(), one.tool().to_owned(), one.depth())).collect();
    pending.sort();
    assert_eq!(pending, [("Accountant".into(), "pay".into(), 1), ("Billing".into(), "refund".into(), 0)]);
    assert_eq!(saved.agent(), "Billing", "the conversation was handed over");

    // Resumed without a decision it waits again, and nothing is done.
    process("undecided_process", folder);
    assert_eq!((effects().as_str(), folder.join("answer").exists()), ("log 7\n", false));

    process("deciding_process", folder);
    assert_eq!(effects(), "log 7\npay 7\n", "one was done, the other was not");
    let answer = std::fs::read_to_string(folder.join("answer")).expect("an answer");
    assert_eq!(answer, "log is done\nThe customer keeps it.\nPaid.");

    // A run that is over is over, whoever takes it up.
    process("undecided_process", folder);
    assert_eq!(effects(), "log 7\npay 7\n");

    // The conversation is in the store once, in order, and free for the next run.
    let session = StoredSession::new(Arc::new(store(folder).await), "customer-1");
    let items = session.items(None).await.expect("a history");
    let kinds: Vec<&str> = items
        .iter()
        .map(|item| match item {
            Item::Message(_) => "message",
            Item::FunctionCall(_) => "call",
            Item::FunctionOutput(_) => "output",
            _ => "other",
        })
        .collect();
    let expected = ["message", "call", "output", "call", "call", "call", "output", "output", "output", "message"];
    assert_eq!(kinds, expected);
}
