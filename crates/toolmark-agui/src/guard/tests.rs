use super::*;
use crate::event::Interrupt;
use crate::{PROTOCOL_VERSION, SubagentOutcome};

fn id(text: &str) -> Id {
    text.into()
}

fn started() -> Event {
    Event::RunStarted {
        thread_id: id("t"),
        run_id: id("r"),
        protocol_version: PROTOCOL_VERSION,
        parent_run_id: None,
        metadata: None,
    }
}

fn finished(outcome: Outcome) -> Event {
    Event::RunFinished { thread_id: id("t"), run_id: id("r"), result: None, outcome, usage: Vec::new(), metadata: None }
}

fn success() -> Event {
    finished(Outcome::Success { pending_tool_call_ids: Vec::new() })
}

fn failed() -> Event {
    Event::RunError { message: "m".into(), code: "c".into(), usage: Vec::new(), metadata: None }
}

fn start(call: &str, owner: Option<&str>, parent: Option<&str>) -> Event {
    Event::ToolCallStart {
        tool_call_id: id(call),
        tool_call_name: id("x"),
        parent_message_id: parent.map(id),
        subagent_run_id: owner.map(id),
        metadata: None,
        tool_display_name: None,
        tool_description: None,
    }
}

fn arguments(call: &str, owner: Option<&str>) -> Event {
    Event::ToolCallArgs { tool_call_id: id(call), delta: "{}".into(), subagent_run_id: owner.map(id) }
}

fn end(call: &str) -> Event {
    Event::ToolCallEnd { tool_call_id: id(call), subagent_run_id: None }
}

fn result(call: &str) -> Event {
    Event::ToolCallResult {
        message_id: id(&format!("res-{call}")),
        tool_call_id: id(call),
        content: "ok".into(),
        role: "tool",
        subagent_run_id: None,
        metadata: None,
    }
}

fn text(message: &str, owner: Option<&str>) -> Event {
    Event::TextMessageStart { message_id: id(message), role: "assistant", subagent_run_id: owner.map(id) }
}

fn said(message: &str, owner: Option<&str>) -> Event {
    Event::TextMessageContent { message_id: id(message), delta: String::new(), subagent_run_id: owner.map(id) }
}

fn end_of_text(message: &str) -> Event {
    Event::TextMessageEnd { message_id: id(message), subagent_run_id: None }
}

fn step(name: &str) -> Event {
    Event::StepStarted { step_name: id(name), subagent_run_id: None, metadata: None }
}

fn end_of_step(name: &str, owner: Option<&str>) -> Event {
    Event::StepFinished { step_name: id(name), subagent_run_id: owner.map(id) }
}

fn subagent(name: &str, parent: Option<&str>) -> Event {
    Event::SubagentStarted {
        subagent_run_id: id(name),
        name: id(name),
        description: None,
        parent_subagent_run_id: parent.map(id),
        parent_tool_call_id: None,
        metadata: None,
    }
}

fn end_of_subagent(name: &str) -> Event {
    Event::SubagentFinished { subagent_run_id: id(name), result: None, outcome: SubagentOutcome::Success }
}

fn all(events: &[Event]) -> Result<(), String> {
    let mut guard = Guard::new();
    events.iter().try_for_each(|event| guard.check(event)).and_then(|()| guard.end()).map_err(|error| error.to_string())
}

fn in_run(events: impl IntoIterator<Item = Event>) -> Result<(), String> {
    let run: Vec<Event> = std::iter::once(started()).chain(events).chain([success()]).collect();
    all(&run)
}

#[test]
fn a_run_begins_with_its_start_and_has_an_end() {
    assert_eq!(all(&[started(), success()]), Ok(()));
    assert_eq!(all(&[failed()]), Ok(()), "an error needs no start");
    assert_eq!(all(&[started(), success(), started(), success()]), Ok(()), "one after the other");
    assert_eq!(all(&[success()]).unwrap_err(), "the first event is not RUN_STARTED");
    assert_eq!(all(&[started(), started()]).unwrap_err(), "a run is under way");
    assert_eq!(all(&[started(), success(), step("s")]).unwrap_err(), "the run is over");
    assert_eq!(all(&[started(), failed(), failed()]).unwrap_err(), "the run is over");
    assert_eq!(all(&[started()]).unwrap_err(), "the stream has neither RUN_FINISHED nor RUN_ERROR");
    let other = Event::RunFinished {
        thread_id: id("t"),
        run_id: id("other"),
        result: None,
        outcome: Outcome::Cancelled,
        usage: vec![],
        metadata: None,
    };
    assert_eq!(all(&[started(), other]).unwrap_err(), "RUN_FINISHED is of another run");
}

#[test]
fn a_call_is_begun_once_ended_once_and_answered_once() {
    assert_eq!(in_run([start("c", None, None), arguments("c", None), end("c"), result("c")]), Ok(()));
    let two = [
        start("a", None, None),
        start("b", None, None),
        arguments("a", None),
        end("b"),
        end("a"),
        result("b"),
        result("a"),
    ];
    assert_eq!(in_run(two), Ok(()), "calls may be interleaved");
    assert_eq!(in_run([arguments("c", None)]).unwrap_err(), "the call `c` was never made");
    assert_eq!(in_run([result("c")]).unwrap_err(), "the call `c` was never made");
    assert_eq!(in_run([start("c", None, None), result("c")]).unwrap_err(), "the call `c` has not ended");
    assert_eq!(in_run([start("c", None, None), start("c", None, None)]).unwrap_err(), "the call `c` was begun before");
    assert_eq!(in_run([start("c", None, None), end("c"), end("c")]).unwrap_err(), "the call `c` has ended");
    assert_eq!(
        in_run([start("c", None, None), end("c"), result("c"), result("c")]).unwrap_err(),
        "the call `c` has its result"
    );
    assert_eq!(in_run([start("c", None, None)]).unwrap_err(), "a call `c` is open when the run ends");
    assert_eq!(all(&[started(), start("c", None, None), failed()]), Ok(()), "an error may leave things open");
}

#[test]
fn a_run_that_went_well_says_which_calls_the_client_answers() {
    let pending = |id: &str| finished(Outcome::Success { pending_tool_call_ids: vec![id.into()] });
    assert_eq!(all(&[started(), start("c", None, None), end("c"), pending("c")]), Ok(()));
    assert_eq!(
        in_run([start("c", None, None), end("c")]).unwrap_err(),
        "the call `c` has no result, and nobody is told to bring one"
    );
    assert_eq!(all(&[started(), pending("c")]).unwrap_err(), "the call `c` is pending, and was never made");
}

#[test]
fn an_interrupt_is_about_a_call_that_was_made_in_this_run_or_an_earlier_one() {
    let interrupt = Interrupt {
        id: id("i"),
        reason: "tool_call",
        message: None,
        tool_call_id: Some(id("c")),
        response_schema: None,
        expires_at: None,
        subagent_run_id: None,
        metadata: None,
    };
    let interrupted = finished(Outcome::Interrupt { interrupts: vec![interrupt] });
    assert_eq!(all(&[started(), start("c", None, None), end("c"), interrupted.clone()]), Ok(()));
    assert!(all(&[started(), interrupted.clone()]).unwrap_err().contains("never made"));
    assert!(all(&[started(), finished(Outcome::Interrupt { interrupts: vec![] })]).unwrap_err().contains("by nothing"));
    let mut guard = Guard::new().knowing([id("c")]);
    for event in [started(), result("c"), interrupted] {
        guard.check(&event).unwrap();
    }
    let mut guard = Guard::new().knowing([id("c")]);
    guard.check(&started()).unwrap();
    assert!(guard.check(&start("c", None, None)).is_err(), "a call of an earlier run is not proposed again");
}

#[test]
fn messages_steps_and_subagents_are_closed_by_whoever_opened_them() {
    assert_eq!(in_run([text("m", None), said("m", None), end_of_text("m")]), Ok(()));
    assert_eq!(in_run([text("m", None), text("m", None)]).unwrap_err(), "the message `m` is open already");
    assert_eq!(in_run([said("m", None)]).unwrap_err(), "the message `m` is not open");
    assert_eq!(in_run([text("m", None)]).unwrap_err(), "a text message `m` is open when the run ends");
    assert_eq!(in_run([step("s"), step("s")]).unwrap_err(), "the step `s` is open already");
    assert_eq!(in_run([step("s"), end_of_step("s", Some("x"))]).unwrap_err(), "the step `s` is not open");
    assert_eq!(in_run([subagent("a", None), end_of_subagent("a")]), Ok(()));
    assert_eq!(in_run([subagent("a", None)]).unwrap_err(), "a subagent `a` is open when the run ends");
    assert_eq!(
        in_run([subagent("a", None), end_of_subagent("a"), subagent("a", None)]).unwrap_err(),
        "the subagent `a` was begun before"
    );
    assert_eq!(in_run([end_of_subagent("a")]).unwrap_err(), "the subagent `a` is not there");
    assert_eq!(in_run([subagent("b", Some("a"))]).unwrap_err(), "the subagent `a` was never begun");
}

#[test]
fn what_belongs_to_a_subagent_stays_with_it() {
    let inside = [subagent("a", None), text("m", Some("a")), said("m", None)];
    assert_eq!(in_run(inside).unwrap_err(), "the message `m` belongs to another agent");
    let call = [subagent("a", None), start("c", Some("a"), None), arguments("c", None)];
    assert_eq!(in_run(call).unwrap_err(), "the call `c` belongs to another agent");
    let parent = [subagent("a", None), text("m", Some("a")), start("c", None, Some("m"))];
    assert_eq!(in_run(parent).unwrap_err(), "the message `m` belongs to another agent");
    assert_eq!(in_run([text("m", Some("a"))]).unwrap_err(), "the subagent `a` was never begun");
}
