//! Approvals that are answered at the desk of a store: by whoever sits there, in whatever process, and each approved call runs once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolmark::approval::{AskId, Given, Ruling, Way};
use toolmark::approve::{Desk, DeskSettings};
use toolmark::models::scripted::Turn;
use toolmark::models::{Item, ScriptedModel};
use toolmark::prelude::*;
use toolmark::serde_json::json;
use toolmark::store::approvals::{AskFilter, StoreLedger};

use super::{now, store};

/// The desk of one node.
async fn desk(folder: &Path, node: &str) -> Desk {
    let ledger = StoreLedger::open(store(folder).await, node).await.expect("a ledger");
    let desk = Desk::new(Arc::new(ledger), DeskSettings::default(), Vec::new());
    desk.open().await.expect("grants");
    desk
}

/// An agent whose tool counts how often it ran, and whose approvals are those of a desk.
fn agent(desk: Desk, ran: &Arc<AtomicUsize>) -> Agent {
    let ran = Arc::clone(ran);
    let tool = FunctionTool::builder("erase").needs_approval(true).run(move |_, _| {
        ran.fetch_add(1, Ordering::SeqCst);
        async { Ok("erased") }
    });
    let turns = [Turn::call("erase", json!({})).when_user("erase"), Turn::text("It says: {output}").when_output("")];
    Agent::builder("Cleaner")
        .tool(tool)
        .approvals(Arc::new(desk))
        .model(Arc::new(ScriptedModel::new(turns)))
        .build()
        .expect("an agent")
}

/// The only question that is open.
async fn question(folder: &Path) -> AskId {
    let open = store(folder).await.asks(&AskFilter::default(), None, 10).await.expect("questions");
    assert_eq!(open.len(), 1, "one call, one question");
    open.first().expect("a question").id
}

fn ruling(allows: bool) -> Ruling {
    Ruling::once(allows, Given { by: "bob".into(), way: Way::Console, at: now(), from: None })
}

async fn go_on(agent: &Agent, state: &RunState) -> RunOutcome {
    let state = RunState::from_json(&state.to_json()).expect("a state");
    Runner::new().resume(agent, state, RunContext::new()).await.expect("a run")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_sits_at_the_desk_answers_for_the_run_and_it_runs_once() {
    let (folder, ran) = (tempfile::tempdir().expect("a folder"), Arc::new(AtomicUsize::new(0)));
    let folder = folder.path();
    let first = agent(desk(folder, "n1").await, &ran);
    let outcome = Runner::new().run(&first, "erase it", RunContext::new()).await.expect("a run");
    let state = outcome.interrupted().expect("it waits for the desk");
    assert_eq!(state.pending().len(), 1);
    drop(first);

    // Somebody answers elsewhere; the run learns of it when it is resumed, in another process with another desk.
    desk(folder, "console").await.decide(question(folder).await, &ruling(true)).await.expect("decided");
    let second = agent(desk(folder, "n2").await, &ran);
    let outcome = go_on(&second, &state).await;
    assert_eq!(outcome.finished().expect("an answer").output(), "It says: erased");
    assert_eq!(ran.load(Ordering::SeqCst), 1);

    // The same saved run once more: the call has begun, and does not begin again.
    let outcome = go_on(&agent(desk(folder, "n3").await, &ran), &state).await;
    assert_eq!(ran.load(Ordering::SeqCst), 1, "an approved call runs at most once: {outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_no_at_the_desk_is_told_to_the_model() {
    let (folder, ran) = (tempfile::tempdir().expect("a folder"), Arc::new(AtomicUsize::new(0)));
    let folder = folder.path();
    let cleaner = agent(desk(folder, "n1").await, &ran);
    let outcome = Runner::new().run(&cleaner, "erase it", RunContext::new()).await.expect("a run");
    let state = outcome.interrupted().expect("it waits for the desk");
    let no = Ruling { message: Some("Not today.".into()), ..ruling(false) };
    desk(folder, "console").await.decide(question(folder).await, &no).await.expect("decided");
    let outcome = go_on(&cleaner, &state).await;
    let result = outcome.finished().expect("an answer");
    assert!(result.output().contains("Not today."), "{}", result.output());
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert!(result.items().iter().any(|item| matches!(&item.item, Item::FunctionOutput(output) if output.failed)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_program_decides_counts_at_the_desk_too() {
    let (folder, ran) = (tempfile::tempdir().expect("a folder"), Arc::new(AtomicUsize::new(0)));
    let folder = folder.path();
    let cleaner = agent(desk(folder, "n1").await, &ran);
    let outcome = Runner::new().run(&cleaner, "erase it", RunContext::new()).await.expect("a run");
    let mut state = outcome.interrupted().expect("it waits");
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    let outcome = go_on(&cleaner, &state).await;
    assert_eq!(outcome.finished().expect("an answer").output(), "It says: erased");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let late = desk(folder, "console").await.decide(question(folder).await, &ruling(false)).await;
    assert!(late.is_err(), "it was answered already");
}
