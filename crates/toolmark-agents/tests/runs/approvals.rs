use toolmark_agents::ReadStateError;
use toolmark_models::scripted::Turn;

use super::*;

fn guarded(calls: &Calls, name: &str) -> ToolBuilder {
    calls.tool(name).needs_approval(true)
}

fn one(calls: &Calls) -> Agent {
    let turns = [Turn::calls([call("c1", "pay", text("Ada"))]), Turn::text("done: {output}")];
    agent("A", turns).tool(guarded(calls, "pay")).build().expect("an agent")
}

#[tokio::test]
async fn a_call_that_needs_approval_interrupts_the_run_and_runs_once_it_has_it() {
    let calls = Calls::default();
    let agent = one(&calls);
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    assert_eq!(pending.len(), 1);
    let asked = &pending[0];
    assert_eq!((asked.agent(), asked.tool(), asked.arguments(), asked.depth()), ("A", "pay", r#"{"text":"Ada"}"#, 0));
    assert!(asked.prompt().contains("Ada"), "{}", asked.prompt());
    assert!(calls.all().is_empty());
    state.approve(asked).expect("it waits");
    assert!(state.pending().is_empty());
    let outcome = resumed(&agent, &state).await;
    assert_eq!(outcome.finished().expect("it has an answer").output(), "done: pay Ada");
    assert_eq!(calls.all(), ["pay Ada"]);
}

#[tokio::test]
async fn a_rejected_call_does_not_run_and_the_model_reads_why() {
    for (message, expected) in [(Some("not today"), "done: not today"), (Some(""), "done: ")] {
        let calls = Calls::default();
        let agent = one(&calls);
        let mut state = interrupted(&agent, "go").await;
        let pending = state.pending();
        state.reject(&pending[0], message).expect("it waits");
        assert_eq!(resumed(&agent, &state).await.finished().expect("it has an answer").output(), expected);
        assert!(calls.all().is_empty());
    }
    let calls = Calls::default();
    let agent = one(&calls);
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.reject(&pending[0], None).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    let said = outcome.finished().expect("it has an answer").output().to_owned();
    assert!(said.contains("`pay` was not called"), "{said}");
}

#[tokio::test]
async fn a_run_that_is_resumed_without_a_decision_is_interrupted_again_and_nothing_runs() {
    let calls = Calls::default();
    let agent = one(&calls);
    let state = interrupted(&agent, "go").await;
    let again = resumed(&agent, &state).await.interrupted().expect("nobody decided");
    assert_eq!(again.pending().len(), 1);
    assert!(calls.all().is_empty());
}

#[tokio::test]
async fn what_needs_no_approval_runs_first_and_never_again_and_decisions_may_come_one_by_one() {
    let calls = Calls::default();
    let turns = [
        Turn::calls([call("a", "pay", text("1")), call("b", "note", text("2")), call("c", "pay", text("3"))]),
        Turn::text("done"),
    ];
    let agent = agent("A", turns).tool(guarded(&calls, "pay")).tool(calls.tool("note")).build().expect("an agent");
    let mut state = interrupted(&agent, "go").await;
    assert_eq!(calls.all(), ["note 2"]);
    let pending = state.pending();
    assert_eq!(pending.len(), 2);
    state.approve(&pending[1]).expect("it waits");
    let mut state = resumed(&agent, &state).await.interrupted().expect("one is left");
    assert_eq!(calls.all(), ["note 2", "pay 3"]);
    let pending = state.pending();
    assert_eq!((pending.len(), pending[0].call_id().as_str()), (1, "a"));
    state.approve(&pending[0]).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    let result = outcome.finished().expect("it has an answer");
    assert_eq!(calls.all(), ["note 2", "pay 3", "pay 1"]);
    let order: Vec<_> = outputs(result).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, ["a", "b", "c"]);
}

fn twice(calls: &Calls, description: &str) -> Agent {
    let turns = [
        Turn::calls([call("c1", "pay", text("1"))]),
        Turn::calls([call("c2", "pay", text("2"))]),
        Turn::text("done: {output}"),
    ];
    agent("A", turns).tool(guarded(calls, "pay").description(description)).build().expect("an agent")
}

#[tokio::test]
async fn a_lasting_decision_holds_for_later_calls_and_one_about_a_call_beats_it() {
    let calls = Calls::default();
    let agent = twice(&calls, "Pays.");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.approve_always(&pending[0]).expect("it waits");
    assert!(resumed(&agent, &state).await.finished().is_some());
    assert_eq!(calls.all(), ["pay 1", "pay 2"]);

    let calls = Calls::default();
    let agent = twice(&calls, "Pays.");
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.reject_always(&pending[0], Some("never")).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    assert_eq!(outcome.finished().expect("it has an answer").output(), "done: never");
    assert!(calls.all().is_empty());
}

/// Invariant: a decision holds for the tool as it was when it was made.
#[tokio::test]
async fn a_tool_that_changed_since_is_asked_about_again() {
    let calls = Calls::default();
    let mut state = interrupted(&twice(&calls, "Pays."), "go").await;
    let pending = state.pending();
    state.approve_always(&pending[0]).expect("it waits");
    let other = twice(&calls, "Pays anybody anything.");
    let again = resumed(&other, &state).await.interrupted().expect("nobody decided about this tool");
    assert_eq!(again.pending().len(), 1);
    assert!(calls.all().is_empty());
}

#[tokio::test]
async fn a_decision_is_about_what_waits_and_about_nothing_else() {
    let calls = Calls::default();
    let agent = one(&calls);
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    let other = interrupted(&twice(&calls, "Pays."), "go").await;
    assert!(state.approve(&other.pending()[0]).is_err(), "the same id, and another call");
    state.approve(&pending[0]).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    assert!(outcome.finished().is_some());
}

#[tokio::test]
async fn a_saved_run_of_a_newer_version_is_refused_and_so_is_everything_else() {
    let state = interrupted(&one(&Calls::default()), "go").await;
    let mut value: Value = serde_json::from_str(&state.to_json()).expect("it is JSON");
    value["version"] = json!(99);
    let newer = RunState::from_json(&value.to_string()).expect_err("it is newer");
    assert_eq!(newer, ReadStateError::Newer { version: 99 });
    assert_eq!(newer.code().as_str(), "run-state-newer");
    for wrong in ["", "{}", "[1]", r#"{"version": 0}"#, r#"{"version": "1"}"#] {
        let error = RunState::from_json(wrong).expect_err("it is none");
        assert_eq!(error.code().as_str(), "run-state-unreadable", "{wrong}");
    }
}

#[tokio::test]
async fn a_saved_run_holds_nothing_of_the_program() {
    struct Key(#[expect(dead_code, reason = "it is there to be found")] &'static str);
    let agent = one(&Calls::default());
    let context = RunContext::new().with(Key("sk-very-secret"));
    let outcome = Runner::new().run(&agent, "go", context).await.expect("it is interrupted");
    assert!(!outcome.interrupted().expect("it is interrupted").to_json().contains("sk-very-secret"));
}

#[tokio::test]
async fn a_run_is_resumed_with_the_agent_that_it_began_with() {
    let calls = Calls::default();
    let mut state = interrupted(&one(&calls), "go").await;
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    let other = agent("B", [Turn::text("done")]).build().expect("an agent");
    let error = Runner::new().resume(&other, state, RunContext::new()).await.expect_err("it is another agent");
    assert_eq!(error.code().as_str(), "run-agent-gone");
    assert!(error.state().is_some());
    assert!(calls.all().is_empty());
}
