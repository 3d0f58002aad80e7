//! What becomes of calls: context, outputs, conditions, approval, and the ways a model gets things wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use tokio::sync::Barrier;
use toolmark::approve::{Approval, Approvals, Asking, Ending, Later, Pass};
use toolmark::prelude::*;
use toolmark::runtime::StrayKind;
use toolmark::tools::{Condition, Ended};

struct User {
    name: String,
    admin: bool,
}

fn ada(admin: bool) -> RunContext {
    RunContext::new().with(User { name: "Ada".into(), admin })
}

#[tool]
async fn whoami(ctx: &ToolContext) -> Result<String, ToolError> {
    let user = ctx.need::<User>()?;
    Ok(format!("{} via {} as {} ({})", user.name, ctx.agent(), ctx.tool(), ctx.call_id()))
}

#[tool]
fn owned(ctx: ToolContext) -> String {
    ctx.arguments().text().to_owned()
}

#[tokio::test]
async fn a_tool_reads_the_context_of_its_run() {
    let turn = super::turn_with(toolset! { whoami, owned }.expect("tools"), ada(false)).await;
    assert_eq!(super::text(&turn, "whoami", "{}").await, "Ada via assistant as whoami (call_1)");
    assert_eq!(super::text(&turn, "owned", "").await, "{}");
}

#[tokio::test]
async fn a_value_that_is_missing_is_a_failure_that_tells_the_model_nothing() {
    let turn = super::turn(super::one(whoami::tool())).await;
    let answer = super::answer(&turn, "whoami", "{}").await;
    assert_eq!(answer.ended.code(), Some("context-missing"));
    assert!(!answer.output.to_text().contains("User"), "{}", answer.output.to_text());
}

#[tool]
fn picture() -> Part {
    Part::image_url("https://example.com/cat.png")
}

#[tool]
fn report() -> Result<Vec<Part>, std::io::Error> {
    Ok(vec![Part::Text("see".into()), Part::file_data("a.txt", "YQ==")])
}

#[tool]
fn raw() -> ToolOutput {
    ToolOutput::text("as it is")
}

#[tool]
fn number() -> Option<f64> {
    Some(2.5)
}

#[tool]
fn fails_by_type() -> serde_json::Result<Vec<u8>> {
    Ok(vec![1, 2])
}

type Outcome = Result<&'static str, String>;

#[tool]
fn aliased() -> Outcome {
    Ok("fine")
}

#[tokio::test]
async fn whatever_is_returned_becomes_an_output() {
    let tools = toolset! { picture, report, raw, number, fails_by_type, aliased }.expect("tools");
    let turn = super::turn(tools).await;
    for (name, wire) in [
        ("picture", json!([{"type": "input_image", "image_url": "https://example.com/cat.png"}])),
        (
            "report",
            json!([{"type": "input_text", "text": "see"}, {"type": "input_file", "file_data": "YQ==", "filename": "a.txt"}]),
        ),
        ("raw", json!("as it is")),
        ("number", json!("2.5")),
        ("fails_by_type", json!("[1,2]")),
        ("aliased", json!("fine")),
    ] {
        assert_eq!(super::answer(&turn, name, "").await.output.to_wire(), wire, "{name}");
    }
}

fn is_admin(turn: &TurnContext) -> bool {
    turn.get::<User>().is_some_and(|user| user.admin)
}

async fn is_admin_later(turn: TurnContext) -> bool {
    tokio::task::yield_now().await;
    is_admin(&turn)
}

#[tool(enabled = is_admin)]
fn by_function() {}

#[tool(enabled = is_admin_later)]
fn by_async_function() {}

#[tool(enabled = |turn| turn.get::<User>().is_some_and(|user| user.admin))]
fn by_closure() {}

#[tool(enabled = |turn| async move { is_admin(&turn) })]
fn by_async_closure() {}

#[tool(enabled = async |turn| is_admin(&turn))]
fn by_async_keyword() {}

fn only_admins() -> Condition<TurnContext> {
    Condition::when(is_admin)
}

#[tool(enabled = only_admins())]
fn by_condition() {}

#[tool(enabled = false)]
fn never() {}

#[tool(enabled = |_| panic!("broken"))]
fn by_accident() {}

#[tokio::test]
async fn a_tool_that_is_not_enabled_is_neither_shown_nor_callable() {
    let all = || {
        toolset! {
            by_function, by_async_function, by_closure, by_async_closure, by_async_keyword, by_condition, never,
            by_accident, raw
        }
    };
    let turn = super::turn_with(all().expect("tools"), ada(false)).await;
    let shown: Vec<String> = turn.offered().map(|(tool, _)| tool.name().to_string()).collect();
    assert_eq!(shown, ["raw"]);
    let hidden = all().expect("tools");
    for name in hidden.list().iter().map(|tool| tool.name().as_str()).filter(|name| *name != "raw") {
        let answer = super::answer(&turn, name, "").await;
        assert!(matches!(answer.ended, Ended::Stray(StrayKind::Unknown)), "{name}: {answer:?}");
        assert_eq!(
            answer.output.to_text(),
            format!("Nothing was called: there is no tool `{name}`. Offered are: `raw`.")
        );
    }
    let turn = super::turn_with(all().expect("tools"), ada(true)).await;
    assert_eq!(turn.offered().count(), 7);
}

/// Says yes or no to everything, and counts.
struct Says(bool, AtomicU32);

impl Approvals for Says {
    fn ask<'a>(&'a self, _: Asking<'a>) -> Later<'a, Approval> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let said =
            if self.0 { Approval::Granted(Pass::default()) } else { Approval::Rejected(Some("Not today.".into())) };
        Box::pin(std::future::ready(said))
    }

    fn ended(&self, _: &Pass, _: Ending) {}
}

fn is_large(call: &ToolContext) -> bool {
    call.arguments().get("amount").and_then(serde_json::Value::as_u64).is_some_and(|amount| amount > 100)
}

#[tool(needs_approval = is_large)]
fn refund(amount: u64) -> String {
    format!("{amount} back")
}

#[tool(needs_approval = |call| async move { is_large(&call) })]
fn refund_later(amount: u64) -> String {
    format!("{amount} back")
}

#[tool(needs_approval = |_| panic!("broken"))]
fn refund_broken(amount: u64) -> String {
    format!("{amount} back")
}

async fn asked(yes: bool, name: &str, arguments: &str) -> (toolmark::tools::Answer, u32) {
    let says = Arc::new(Says(yes, AtomicU32::new(0)));
    let toolbox = Toolbox::builder()
        .toolset(toolset! { refund, refund_later, refund_broken }.expect("tools"))
        .approvals(Arc::clone(&says) as _)
        .build();
    let turn = toolbox.turn(TurnContext::new("assistant", RunContext::new())).await.expect("a turn");
    let answer = super::answer(&turn, name, arguments).await;
    (answer, says.1.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_person_is_asked_when_the_tool_says_so_and_not_otherwise() {
    for name in ["refund", "refund_later"] {
        let (answer, asked_for) = asked(false, name, r#"{"amount": 5}"#).await;
        assert_eq!((answer.output.to_text().as_str(), asked_for), ("5 back", 0), "{name}");
        let (answer, asked_for) = asked(true, name, r#"{"amount": 500}"#).await;
        assert_eq!((answer.output.to_text().as_str(), asked_for), ("500 back", 1), "{name}");
        let (answer, asked_for) = asked(false, name, r#"{"amount": 500}"#).await;
        assert_eq!(asked_for, 1);
        assert_eq!(answer.ended.code(), Some("needs-approval"));
        assert!(answer.output.to_text().ends_with("Not today."), "{}", answer.output.to_text());
    }
}

#[tokio::test]
async fn a_condition_that_breaks_down_asks() {
    assert_eq!(asked(true, "refund_broken", r#"{"amount": 5}"#).await.1, 1);
}

#[tokio::test]
async fn nobody_is_asked_about_arguments_that_do_not_fit() {
    let (answer, asked_for) = asked(true, "refund_broken", r#"{"amount": "5"}"#).await;
    assert_eq!(asked_for, 0);
    assert_eq!(answer.ended.code(), Some("arguments-invalid"));
}

#[tokio::test]
async fn what_nobody_can_read_is_not_called() {
    let turn = super::turn(super::one(refund::tool())).await;
    for arguments in [r#"{"amount": 5"#, r#"{"amount": 5, "amount": 500}"#, "<html>", r#"{"amount": NaN}"#, "{}{}"] {
        let answer = super::answer(&turn, "refund", arguments).await;
        assert!(matches!(answer.ended, Ended::Stray(StrayKind::Unreadable)), "{arguments}: {answer:?}");
        assert!(answer.output.to_text().contains("cannot be read"), "{}", answer.output.to_text());
    }
}

/// Returns when as many calls as are waited for are in it.
#[tool]
async fn meet(ctx: &ToolContext, number: u32) -> Result<u32, ToolError> {
    ctx.need::<Arc<Barrier>>()?.wait().await;
    Ok(number)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_one_turn_run_side_by_side() {
    let context = RunContext::new().with(Arc::new(Barrier::new(200)));
    let turn = super::turn_with(super::one(meet::tool()), context).await;
    let calls: Vec<_> = (0..200)
        .map(|number| {
            let turn = turn.clone();
            tokio::spawn(async move {
                let id = format!("call_{number}").parse().expect("an id");
                let arguments = json!({"number": number}).to_string();
                let called = turn.call(&ToolCall::new("meet", &id, &arguments)).await;
                called.answer().expect("an answer").output.to_text()
            })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.expect("a call"), number.to_string());
    }
}

#[tokio::test]
async fn whatever_a_model_sends_there_is_an_answer_and_it_ends() {
    let turn = super::turn(super::one(refund::tool())).await;
    let deep = format!("{{\"amount\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("{{\"amount\": \"{}\"}}", "x".repeat(1 << 20));
    let wide = format!("{{{}}}", (0..5_000).map(|at| format!("\"k{at}\": {at}")).collect::<Vec<_>>().join(","));
    let hostile = [
        deep.as_str(),
        long.as_str(),
        wide.as_str(),
        r#"{"amount": 1e999}"#,
        r#"{"amount": 99999999999999999999999999}"#,
        r#"{"amount": "\ud800"}"#,
        "{\"amount\": \"\u{0}\"}",
        "\u{feff}{}",
        "null",
        "\"amount\"",
    ];
    for arguments in hostile {
        let answer = super::answer(&turn, "refund", arguments).await;
        let start: String = arguments.chars().take(40).collect();
        assert!(!matches!(answer.ended, Ended::Ran), "{start}");
        assert!(answer.output.to_text().len() < 5_000, "{start}: {} bytes", answer.output.to_text().len());
    }
    for name in ["\u{202e}refund", "refund\u{0}", "REFUND", " refund", &"n".repeat(100_000)] {
        let answer = super::answer(&turn, name, r#"{"amount": 1}"#).await;
        let text = answer.output.to_text();
        assert!(matches!(answer.ended, Ended::Stray(StrayKind::Unknown)), "{text}");
        assert!(text.len() < 1_000 && !text.contains(['\u{202e}', '\u{0}']), "{text}");
    }
}
