//! Failures: what the model reads, what the program gets, and what never leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use toolmark::prelude::*;
use toolmark::tools::{Ended, OnError, OnTimeout, Raised, ToolErrorKind};

const SECRET: &str = "postgres://root:hunter2@db";

#[derive(Debug, thiserror::Error)]
#[error("cannot connect to {SECRET}")]
struct Down;

/// Reads the rows of a table.
#[tool(name = "read_rows", behavior(pure, read, data))]
fn down() -> Result<String, Down> {
    Err(Down)
}

#[tool]
fn by_text() -> Result<String, String> {
    Err(SECRET.into())
}

#[tool]
fn by_box() -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    Err(SECRET.into())
}

#[tool]
fn panics() -> String {
    panic!("{SECRET}")
}

#[tool]
async fn panics_later() -> String {
    tokio::task::yield_now().await;
    panic!("{SECRET}")
}

#[tool(blocking)]
fn panics_elsewhere() -> String {
    panic!("{SECRET}")
}

#[tool]
fn unknown_city() -> Result<String, ToolError> {
    Err(ToolError::told("There is no such city. Try a larger one."))
}

async fn failed(tool: toolmark::tools::ToolBuilder, name: &str) -> (String, ToolErrorKind, String, bool) {
    let turn = super::turn(super::one(tool)).await;
    let answer = super::answer(&turn, name, "").await;
    let Ended::Failed { error, default_text } = &answer.ended else { panic!("{answer:?}") };
    (answer.output.to_text(), error.kind(), error.message().to_owned(), *default_text)
}

#[tokio::test]
async fn the_default_text_leaks_nothing_and_the_program_gets_all() {
    for (tool, name, kind) in [
        (down::tool(), "read_rows", ToolErrorKind::Failed),
        (by_text::tool(), "by_text", ToolErrorKind::Failed),
        (by_box::tool(), "by_box", ToolErrorKind::Failed),
        (panics::tool(), "panics", ToolErrorKind::Panicked),
        (panics_later::tool(), "panics_later", ToolErrorKind::Panicked),
        (panics_elsewhere::tool(), "panics_elsewhere", ToolErrorKind::Panicked),
    ] {
        let (text, found, message, default) = failed(tool, name).await;
        assert_eq!(found, kind, "{name}");
        assert!(message.contains(SECRET), "{name}: {message}");
        assert!(!text.contains("hunter2") && text.starts_with(&format!("`{name}` failed.")), "{name}: {text}");
        assert!(default, "{name}");
    }
}

#[tokio::test]
async fn the_text_says_whether_there_may_have_been_an_effect() {
    assert!(failed(down::tool(), "read_rows").await.0.ends_with("Try again with other arguments, or go another way."));
    assert!(failed(by_text::tool(), "by_text").await.0.ends_with("check before you repeat it."));
}

#[tokio::test]
async fn what_is_written_for_the_model_reaches_it() {
    let (text, kind, ..) = failed(unknown_city::tool(), "unknown_city").await;
    assert_eq!((text.as_str(), kind), ("There is no such city. Try a larger one.", ToolErrorKind::Told));
}

fn friendly(ctx: &ToolContext, error: &ToolError) -> String {
    format!("{} is resting ({} bytes of reasons).", ctx.tool(), error.message().len())
}

#[tool(on_error = friendly)]
fn custom() -> Result<String, Down> {
    Err(Down)
}

#[tool(on_error = |_, error| error.message().to_uppercase())]
fn custom_closure() -> Result<String, String> {
    Err("no".into())
}

#[tool(on_error = tell)]
fn frank() -> Result<String, String> {
    Err("no such file".into())
}

#[tokio::test]
async fn a_tool_may_say_something_else_or_everything() {
    let (text, _, _, default) = failed(custom::tool(), "custom").await;
    assert_eq!((text.as_str(), default), ("custom is resting (44 bytes of reasons).", false));
    assert_eq!(failed(custom_closure::tool(), "custom_closure").await.0, "NO");
    assert_eq!(failed(frank::tool(), "frank").await.0, "no such file");
}

#[tokio::test]
async fn an_error_function_that_panics_leaves_the_default_text() {
    let tool = frank::tool().on_error(OnError::say(|_, _| panic!("again")));
    let (text, _, _, default) = failed(tool, "frank").await;
    assert!(text.starts_with("`frank` failed.") && default, "{text}");
}

#[tool(on_error = propagate)]
fn fatal() -> Result<String, Down> {
    Err(Down)
}

#[tokio::test]
async fn a_propagated_error_ends_the_run() {
    let turn = super::turn(super::one(fatal::tool())).await;
    let id = "call_1".parse().expect("an id");
    let called = turn.call(&ToolCall::new("fatal", &id, "")).await;
    let Called::Raised(Raised::Tool { tool, error }, _) = called else { panic!("{called:?}") };
    assert_eq!(tool, "fatal");
    assert!(error.source().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Down>));
}

/// True once whoever holds it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tool(timeout = "20ms")]
async fn slow(ctx: &ToolContext) -> Result<String, ToolError> {
    let _held = Dropped(Arc::clone(ctx.need::<Arc<AtomicBool>>()?));
    std::future::pending().await
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_dropped_and_told() {
    let dropped = Arc::new(AtomicBool::new(false));
    let context = RunContext::new().with(Arc::clone(&dropped));
    let turn = super::turn_with(super::one(slow::tool()), context).await;
    let answer = super::answer(&turn, "slow", "").await;
    assert_eq!(
        answer.output.to_text(),
        "`slow` failed. It took longer than 0.02 seconds. It may have had an effect: check before you repeat it."
    );
    assert_eq!(answer.ended.code(), Some("tool-timeout"));
    assert!(dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_timeout_may_end_the_run() {
    let context = RunContext::new().with(Arc::new(AtomicBool::new(false)));
    let turn = super::turn_with(super::one(slow::tool().on_timeout(OnTimeout::Propagate)), context).await;
    let id = "call_1".parse().expect("an id");
    let called = turn.call(&ToolCall::new("slow", &id, "")).await;
    assert!(matches!(called, Called::Raised(Raised::Tool { .. }, _)), "{called:?}");
}

#[tool(blocking, timeout = "20ms")]
fn stubborn(ctx: &ToolContext) -> Result<String, ToolError> {
    let seen = Arc::clone(ctx.need::<Arc<AtomicBool>>()?);
    while !ctx.cancellation().is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    seen.store(true, Ordering::SeqCst);
    Ok("late".into())
}

#[tokio::test]
async fn a_function_that_blocks_is_left_behind_and_told_that_nobody_waits() {
    let seen = Arc::new(AtomicBool::new(false));
    let turn = super::turn_with(super::one(stubborn::tool()), RunContext::new().with(Arc::clone(&seen))).await;
    assert_eq!(super::answer(&turn, "stubborn", "").await.ended.code(), Some("tool-timeout"));
    while !seen.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
}
