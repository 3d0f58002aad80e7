//! Sessions: what a run says is added once and whole, and one run at a time has the conversation.

use toolmark_agents::{CompactingSession, MemorySession, Session};
use toolmark_models::Item;

use super::*;

async fn said(session: &dyn Session) -> Vec<String> {
    let items = session.items(None).await.expect("a history");
    let texts = items.into_iter().map(|item| match item {
        Item::Message(message) => message.joined_text(),
        Item::FunctionCall(call) => format!("calls {}", call.name),
        Item::FunctionOutput(output) => format!("gets {}", output.output.joined_text()),
        other => panic!("{other:?}"),
    });
    texts.collect()
}

fn with(session: &Arc<MemorySession>) -> Runner {
    Runner::new().session(Arc::clone(session) as _)
}

async fn says(runner: &Runner, agent: &Agent, input: &str) -> Result<RunOutcome, &'static str> {
    runner.run(agent, input, RunContext::new()).await.map_err(|error| error.code().as_str())
}

#[tokio::test]
async fn an_interrupted_run_keeps_its_session_and_adds_to_it_once() {
    let calls = Calls::default();
    let session = Arc::new(MemorySession::new("s"));
    let turns = [Turn::calls([call("1", "note", text("x"))]), Turn::text("noted"), Turn::text("again")];
    let agent = agent("A", turns).tool(calls.tool("note").needs_approval(true)).build().expect("an agent");
    let state = says(&with(&session), &agent, "note it").await.expect("a run").interrupted().expect("it waits");
    assert!(said(&*session).await.is_empty(), "half of a turn is not a conversation");
    // Nobody comes between.
    assert_eq!(says(&with(&session), &agent, "hello?").await.expect_err("it is held"), "session-busy");

    let mut state = RunState::from_json(&state.to_json()).expect("a state");
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    let outcome = with(&session).resume(&agent, state, RunContext::new()).await.expect("a run");
    let result = outcome.finished().expect("an answer").clone();
    let all = ["note it", "calls note", "gets note x", "noted"];
    assert_eq!(said(&*session).await, all);
    // Resumed again, because somebody did not hear that it was over: nothing is said twice.
    for _ in 0..2 {
        let outcome = with(&session).resume(&agent, result.state().clone(), RunContext::new()).await.expect("a run");
        assert_eq!(outcome.finished().expect("an answer").output(), "noted");
    }
    assert_eq!(said(&*session).await, all);
    let _ = says(&with(&session), &agent, "and now?").await.expect("the session is free");
    assert_eq!(said(&*session).await[4..], ["and now?", "again"]);
    assert_eq!(calls.all(), ["note x"]);
}

#[tokio::test]
async fn a_run_that_ends_with_an_error_gives_its_session_back_and_can_go_on() {
    use toolmark_models::scripted::Fault;
    let session = Arc::new(MemorySession::new("s"));
    let turns = [Turn::fail(Fault::Overloaded), Turn::text("second"), Turn::text("first")];
    let agent = agent("A", turns).build().expect("an agent");
    let error = with(&session).run(&agent, "one", RunContext::new()).await.expect_err("the model is away");
    let state = error.into_state().expect("a state");
    let _ = says(&with(&session), &agent, "two").await.expect("the session is free");
    let _ = with(&session).resume(&agent, state, RunContext::new()).await.expect("it goes on");
    assert_eq!(said(&*session).await, ["two", "second", "one", "first"]);
}

#[tokio::test]
async fn a_session_can_be_taken_over_and_whoever_lost_it_adds_nothing() {
    let calls = Calls::default();
    let session = Arc::new(MemorySession::new("s"));
    let turns = [Turn::calls([call("1", "note", text("x"))]), Turn::text("mine"), Turn::text("late")];
    let agent = agent("A", turns).tool(calls.tool("note").needs_approval(true)).build().expect("an agent");
    let mut state = says(&with(&session), &agent, "one").await.expect("a run").interrupted().expect("it waits");
    let _ = says(&with(&session).take_over(true), &agent, "two").await.expect("taken over");
    assert_eq!(said(&*session).await, ["two", "mine"]);
    // It was given back, so that the first may have it again; nothing of what it says is lost.
    let pending = state.pending();
    state.reject(&pending[0], None).expect("it waits");
    let _ = with(&session).resume(&agent, state, RunContext::new()).await.expect("it goes on");
    assert_eq!(said(&*session).await.last().map(String::as_str), Some("late"));
}

#[tokio::test]
async fn a_run_whose_session_was_taken_while_it_ran_says_so_and_keeps_its_answer() {
    let session = Arc::new(MemorySession::new("s"));
    let thief = Arc::clone(&session);
    let tool = FunctionTool::builder("slow").run(move |_, _| {
        let thief = Arc::clone(&thief);
        async move {
            thief.begin(uuid::Uuid::from_u128(7), None, true).await.map_err(toolmark_runtime::tools::ToolError::new)?;
            Ok("done")
        }
    });
    let agent = agent("A", [Turn::call("slow", json!({})), Turn::text("answer")]).tool(tool).build().expect("an agent");
    let error = with(&session).run(&agent, "go", RunContext::new()).await.expect_err("nothing can be added");
    assert_eq!(error.code().as_str(), "session-taken");
    let state = error.into_state().expect("a state");
    assert!(
        state.items().iter().any(|item| matches!(&item.item, Item::Message(said) if said.joined_text() == "answer"))
    );
    assert!(said(&*session).await.is_empty());
}

#[tokio::test]
async fn a_saved_run_is_resumed_with_its_own_session() {
    let calls = Calls::default();
    let session = Arc::new(MemorySession::new("s"));
    let turns = [Turn::calls([call("1", "note", text("x"))]), Turn::text("noted")];
    let agent = agent("A", turns).tool(calls.tool("note").needs_approval(true)).build().expect("an agent");
    let state = says(&with(&session), &agent, "one").await.expect("a run").interrupted().expect("it waits");
    for runner in [Runner::new(), with(&Arc::new(MemorySession::new("other")))] {
        let error = runner.resume(&agent, state.clone(), RunContext::new()).await.expect_err("another session");
        assert_eq!(error.code().as_str(), "session-other");
        assert_eq!(error.into_state().as_ref(), Some(&state), "nothing is lost");
    }
}

#[tokio::test]
async fn of_many_runs_at_once_one_has_the_session() {
    let session = Arc::new(MemorySession::new("s"));
    let gate = Arc::new(tokio::sync::Notify::new());
    let waits = Arc::clone(&gate);
    let tool = FunctionTool::builder("wait").run(move |_, _| {
        let waits = Arc::clone(&waits);
        async move {
            waits.notified().await;
            Ok("done")
        }
    });
    let agent = agent("A", [Turn::call("wait", json!({})), Turn::text("answer")]).tool(tool).build().expect("an agent");
    let running = {
        let (runner, agent) = (with(&session), agent.clone());
        tokio::spawn(async move { runner.run(&agent, "first", RunContext::new()).await })
    };
    // Whichever begins second finds the session taken, however they meet.
    while session.begin(uuid::Uuid::from_u128(9), Some(0), false).await.is_ok() {
        session.release(uuid::Uuid::from_u128(9)).await.expect("released");
        tokio::task::yield_now().await;
    }
    assert_eq!(says(&with(&session), &agent, "second").await.expect_err("it is held"), "session-busy");
    gate.notify_one();
    let _ = running.await.expect("no panic").expect("an answer");
    assert_eq!(said(&*session).await.first().map(String::as_str), Some("first"));
}

#[tokio::test]
async fn items_are_read_added_taken_back_and_forgotten_by_hand() {
    let session = MemorySession::new("s");
    session.append(vec![Item::user("a"), Item::assistant("b"), Item::user("c")]).await.expect("added");
    assert_eq!(session.items(Some(2)).await.expect("a history"), [Item::assistant("b"), Item::user("c")]);
    assert_eq!(session.pop().await.expect("popped"), Some(Item::user("c")));
    assert_eq!(said(&session).await, ["a", "b"]);
    session.clear().await.expect("cleared");
    assert!(said(&session).await.is_empty());
}

/// A turn in which a tool was called, or not. The id is the same in every turn, as some providers have it.
fn turn_of(number: usize) -> Vec<Item> {
    use toolmark_models::FunctionCall;
    let id = || "call_0".parse().expect("an id");
    vec![
        Item::user(format!("ask {number}")),
        Item::FunctionCall(FunctionCall::new(id(), "note", "{}")),
        Item::output(id(), format!("noted {number}")),
        Item::assistant(format!("answer {number}")),
    ]
}

async fn filled(turns: usize) -> Arc<MemorySession> {
    let session = Arc::new(MemorySession::new("s"));
    for number in 0..turns {
        session.append(turn_of(number)).await.expect("kept");
    }
    session
}

#[tokio::test]
async fn of_a_session_that_is_too_long_as_few_of_the_oldest_turns_go_as_will_do() {
    let session = filled(6).await;
    let short = Arc::new(CompactingSession::new(Arc::clone(&session) as _).after_items(13).keep_turns(2));
    let agent = agent("A", [Turn::text("fine")]).build().expect("an agent");
    let _ = Runner::new().session(short).run(&agent, "go on", RunContext::new()).await.expect("a run");
    let said = said(&*session).await;
    assert_eq!(said.first().map(String::as_str), Some("ask 3"), "{said:?}");
    assert_eq!((said.len(), said.last().map(String::as_str)), (14, Some("fine")));
}

#[tokio::test]
async fn what_is_told_in_short_is_told_by_a_model_that_reads_whole_turns_and_the_last_ones_stay() {
    let session = filled(5).await;
    let model = scripted([Turn::text("they asked four times")]);
    let short = CompactingSession::new(Arc::clone(&session) as _)
        .after_tokens(10)
        .keep_turns(1)
        .summarize_by(Arc::clone(&model) as _);
    assert_eq!(short.compact().await.expect("shorter"), 15);
    let said = said(&*session).await;
    assert_eq!(said[0], "Summary of the conversation so far:\n\nthey asked four times");
    assert_eq!(said[1..], ["ask 4", "calls note", "gets noted 4", "answer 4"]);
    let Item::Message(read) = &model.requests()[0].input[0] else { panic!("a record") };
    let read = read.joined_text();
    assert!(read.contains("[user] ask 0") && read.contains("[output] noted 3") && !read.contains("ask 4"), "{read}");
    assert!(model.requests()[0].tools.is_empty());
    // It was given back.
    session.begin(uuid::Uuid::now_v7(), None, false).await.expect("nobody has it");
}

#[tokio::test]
async fn where_it_cannot_be_told_in_short_nothing_is_lost_and_the_run_goes_on() {
    let session = filled(5).await;
    let short = CompactingSession::new(Arc::clone(&session) as _)
        .after_items(3)
        .summarize(|_| async { Err::<String, _>("no model today") });
    let agent = agent("A", [Turn::text("fine")]).build().expect("an agent");
    let outcome = Runner::new().session(Arc::new(short)).run(&agent, "go on", RunContext::new()).await.expect("a run");
    assert!(outcome.finished().is_some());
    assert_eq!(said(&*session).await.len(), 22);
}

#[tokio::test]
async fn no_call_is_parted_from_its_output_and_another_run_is_not_disturbed() {
    // An answer that came after the user had said something else.
    let session = Arc::new(MemorySession::new("s"));
    let mut items = turn_of(0);
    items.insert(2, Item::user("hurry"));
    items.extend(turn_of(1));
    session.append(items).await.expect("kept");
    let short = CompactingSession::new(Arc::clone(&session) as _).after_items(1).keep_turns(2);
    assert_eq!(short.compact().await.expect("nothing to cut"), 0);
    let short = CompactingSession::new(Arc::clone(&session) as _).after_items(1).keep_turns(1);
    assert_eq!(short.compact().await.expect("shorter"), 5);
    assert_eq!(said(&*session).await[0], "ask 1");

    let run = uuid::Uuid::now_v7();
    session.begin(run, None, false).await.expect("claimed");
    assert!(short.compact().await.expect_err("a run has it").is_busy());
}
