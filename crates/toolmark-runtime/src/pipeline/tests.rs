use std::cell::Cell;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};
use toolmark_policy::Caller;

use super::*;
use crate::approve::{Later, NoClient, Unattended};
use crate::record::Keeping;
use crate::testing::workspace;

/// Keeps what it was told, in words. It may have no room, fail to keep what is intended, or what became of it.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>, Fails);

#[derive(Clone, Copy, Default, PartialEq)]
enum Fails {
    #[default]
    Never,
    Ready,
    Intend,
    Keep,
}

impl Kept {
    fn fails(&self, when: Fails) -> Keeping {
        (self.1 == when).then(|| Box::pin(std::future::ready(Err(NotKept::new("the disk is full")))) as _)
    }
}

impl Recorder for Kept {
    fn ready(&self) -> Keeping {
        self.fails(Fails::Ready)
    }

    fn intend(&self, record: &Record<'_>) -> Keeping {
        self.0.lock().unwrap().push(format!("{} intended", record.tool.canonical()));
        self.fails(Fails::Intend)
    }

    fn keep(&self, record: &Record<'_>) -> Keeping {
        self.record(record);
        self.fails(Fails::Keep)
    }

    fn record(&self, record: &Record<'_>) {
        let line = format!("{} {} {}", record.tool.canonical(), record.verdict.decision(), record.end.as_str());
        self.0.lock().unwrap().push(line);
    }

    fn stray(&self, stray: &Stray<'_>) {
        self.0.lock().unwrap().push(format!("{} {}", stray.lookup, stray.kind.as_str()));
    }
}

/// Answers every question in the same way.
struct Says(Approval);

impl Approvals for Says {
    fn ask<'a>(&'a self, _: Asking<'a>) -> Later<'a, Approval> {
        Box::pin(std::future::ready(self.0.clone()))
    }

    fn ended(&self, _: &Pass, _: Ending) {}
}

/// Polls a future that needs no runtime.
fn once<T>(future: impl Future<Output = T>) -> Poll<T> {
    let mut future = Box::pin(future);
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

struct Ended {
    ran: u32,
    text: String,
    kept: Vec<String>,
}

fn call(
    approvals: impl Approvals + 'static,
    tool: &str,
    arguments: &Value,
    result: Result<&str, DispatchError>,
) -> Ended {
    call_with(Fails::Never, approvals, tool, arguments, result)
}

fn call_with(
    fails: Fails,
    approvals: impl Approvals + 'static,
    tool: &str,
    arguments: &Value,
    result: Result<&str, DispatchError>,
) -> Ended {
    let workspace = workspace(Vec::new());
    let kept = Arc::new(Kept(Mutex::default(), fails));
    let pipeline = Pipeline::new(Arc::new(approvals), Arc::clone(&kept) as _);
    let tool = workspace.catalog().find(tool, |_| true).unwrap();
    let request = Request { tool, arguments, task: None, caller: Caller::new("alice") };
    let arrived = Arrived {
        id: Uuid::nil(),
        lookup: tool.canonical().as_str(),
        request,
        read: &Json::Null,
        size: 2,
        origin: Origin::default(),
    };
    let ran = Cell::new(0);
    let run = pipeline.run(
        &workspace,
        &arrived,
        &NoClient,
        |tool| Some(tool.canonical().to_string()),
        |text: &String| Brought { failed: text == "failed", unfinished: false, bytes: text.as_bytes() },
        |_| async {
            ran.set(ran.get() + 1);
            result.map(str::to_owned)
        },
    );
    let Poll::Ready(Ok(settled)) = once(run) else { panic!("it waits for nothing") };
    let text = match settled {
        Settled::Ran(text, _) => text,
        Settled::Refused(refusal, _) => refusal.text().to_owned(),
        Settled::Handed(handed, _) => handed.prompt.text().to_owned(),
        Settled::Failed(error, _) => error.text("it"),
    };
    let kept = kept.0.lock().unwrap().clone();
    Ended { ran: ran.get(), text, kept }
}

#[test]
fn an_allowed_call_runs_once_and_is_recorded() {
    let ended = call(Unattended, "db.read_query", &json!({"query": "SELECT 1"}), Ok("1"));
    assert_eq!((ended.ran, ended.text.as_str()), (1, "1"));
    assert_eq!(ended.kept, ["db.read_query allow ok"]);
}

#[test]
fn a_denied_call_never_reaches_the_tool_and_is_recorded() {
    let ended = call(Unattended, "db.read_query", &json!({"query": "DROP TABLE users"}), Ok("1"));
    assert_eq!(ended.ran, 0);
    assert_eq!(ended.kept, ["db.read_query deny denied"]);
}

#[test]
fn wrong_arguments_never_reach_the_tool() {
    let ended = call(Unattended, "db.read_query", &json!({}), Ok("1"));
    assert_eq!(ended.ran, 0);
    assert_eq!(ended.kept, ["db.read_query deny invalid"]);
}

#[test]
fn a_question_runs_when_it_is_granted_and_only_then() {
    let sweep = json!({"query": "DELETE FROM users"});
    let ended = call(Says(Approval::Granted(Pass::default())), "db.write_query", &sweep, Ok("done"));
    assert_eq!(
        (ended.ran, ended.kept),
        (1, vec!["db.write_query intended".to_owned(), "db.write_query ask approved".to_owned()])
    );
    let ended = call(Says(Approval::Rejected(Some("not today".into()))), "db.write_query", &sweep, Ok("done"));
    assert_eq!((ended.ran, ended.kept), (0, vec!["db.write_query ask asked".to_owned()]));
    assert!(ended.text.contains("not today"), "{}", ended.text);
    assert!(ended.text.starts_with("`db.write_query` was not called: it was not approved.\n"), "{}", ended.text);
    assert!(!ended.text.contains("must approve"), "whoever reads that waits for an answer: {}", ended.text);
    let ended = call(Unattended, "db.write_query", &sweep, Ok("done"));
    assert_eq!(ended.ran, 0);
    assert!(ended.text.contains("a person must approve"), "{}", ended.text);
}

#[test]
fn a_failure_says_whether_the_call_may_have_had_an_effect() {
    let timeout = DispatchError::while_it_ran(DispatchErrorKind::Timeout, "no answer in 30 s");
    let ended = call(Unattended, "tracker.list_issues", &json!({}), Err(timeout));
    assert!(ended.text.contains("may have had an effect"), "{}", ended.text);
    assert_eq!(ended.kept, ["tracker.list_issues allow timeout"]);
    let gone = DispatchError::before_it_ran(DispatchErrorKind::Unavailable, "the server is starting");
    let ended = call(Unattended, "tracker.list_issues", &json!({}), Err(gone));
    assert!(ended.text.contains("did not run"), "{}", ended.text);
}

#[test]
fn a_tool_that_reports_a_failure_is_recorded_as_failed() {
    let ended = call(Unattended, "tracker.list_issues", &json!({}), Ok("failed"));
    assert_eq!(ended.kept, ["tracker.list_issues allow tool-error"]);
}

#[test]
fn a_call_that_is_given_up_is_recorded() {
    let workspace = workspace(Vec::new());
    let kept = Arc::new(Kept::default());
    let pipeline = Pipeline::new(Arc::new(Unattended), Arc::clone(&kept) as _);
    let tool = workspace.catalog().find("tracker.list_issues", |_| true).unwrap();
    let arguments = json!({});
    let request = Request { tool, arguments: &arguments, task: None, caller: Caller::new("alice") };
    let arrived = Arrived {
        id: Uuid::nil(),
        lookup: "list_issues",
        request,
        read: &Json::Null,
        size: 2,
        origin: Origin::default(),
    };
    let run = pipeline.run(
        &workspace,
        &arrived,
        &NoClient,
        |_| None,
        |_: &()| Brought { failed: false, unfinished: false, bytes: b"" },
        |_| std::future::pending(),
    );
    assert!(once(run).is_pending());
    assert_eq!(*kept.0.lock().unwrap(), ["tracker.list_issues allow cancelled"]);
}

#[test]
fn a_call_that_may_change_something_is_announced_before_it_runs_and_one_that_only_reads_is_not() {
    let ended = call(Unattended, "db.write_query", &json!({"query": "INSERT INTO a VALUES (1)"}), Ok("done"));
    assert_eq!(ended.kept, ["db.write_query intended", "db.write_query allow ok"]);
    let ended = call(Unattended, "db.read_query", &json!({"query": "SELECT 1"}), Ok("1"));
    assert_eq!(ended.kept, ["db.read_query allow ok"]);
    let ended = call(Unattended, "db.write_query", &json!({"query": "DELETE FROM users"}), Ok("done"));
    assert_eq!(ended.kept, ["db.write_query ask asked"], "what does not run is not announced");
}

#[test]
fn a_call_whose_intent_cannot_be_kept_has_no_effect() {
    let insert = json!({"query": "INSERT INTO a VALUES (1)"});
    for fails in [Fails::Ready, Fails::Intend] {
        let ended = call_with(fails, Unattended, "db.write_query", &insert, Ok("done"));
        assert_eq!(ended.ran, 0);
        assert!(
            ended.text.contains("its record cannot be kept") && ended.text.contains("the disk is full"),
            "{}",
            ended.text
        );
        assert_eq!(ended.kept.last().map(String::as_str), Some("db.write_query allow unrecorded"));
    }
}

#[test]
fn no_answer_leaves_without_its_record_where_that_is_asked_for() {
    let ended = call_with(Fails::Keep, Unattended, "db.read_query", &json!({"query": "SELECT 1"}), Ok("secret"));
    assert_eq!(ended.ran, 1);
    assert!(!ended.text.contains("secret"), "{}", ended.text);
    assert!(ended.text.contains("may have had an effect"), "{}", ended.text);
    assert_eq!(ended.kept, ["db.read_query allow ok"]);
}

#[test]
fn edited_arguments_are_judged_like_any_others_and_never_slip_past_a_no() {
    let granted = |edited: &str| Says(Approval::Granted(Pass { edited: Some(edited.into()), ..Pass::default() }));
    let sweep = json!({"query": "DELETE FROM users"});
    let ended = call(granted(r#"{"query":"DELETE FROM users WHERE id = 1"}"#), "db.write_query", &sweep, Ok("done"));
    assert_eq!(ended.ran, 1, "{}", ended.text);
    let ended = call(granted(r#"{"wrong":1}"#), "db.write_query", &sweep, Ok("done"));
    assert_eq!((ended.ran, ended.kept), (0, vec!["db.write_query deny invalid".to_owned()]));
    let ended = call(granted("{"), "db.write_query", &sweep, Ok("done"));
    assert_eq!(ended.ran, 0);
}
