//! Tools in Rust as an application writes them: what the macro makes of functions, and what becomes of calls.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

mod calls;
mod errors;
mod guardrails;
mod hosted;
mod identity;
mod schemas;
mod shapes;
mod toolsets;
mod words;

use toolmark::prelude::*;
use toolmark::tools::{Answer, Ended};

/// A turn with these tools and this context.
async fn turn_with(tools: impl Toolset + 'static, context: RunContext) -> toolmark::tools::Turn {
    let toolbox = Toolbox::builder().toolset(tools).build();
    toolbox.turn(TurnContext::new("assistant", context)).await.expect("a turn")
}

async fn turn(tools: impl Toolset + 'static) -> toolmark::tools::Turn {
    turn_with(tools, RunContext::new()).await
}

/// Calls a tool and takes the answer.
async fn answer(turn: &toolmark::tools::Turn, name: &str, arguments: &str) -> Answer {
    let id = "call_1".parse().expect("an id");
    match turn.call(&ToolCall::new(name, &id, arguments)).await {
        Called::Answered(answer) => answer,
        other => panic!("no answer: {other:?}"),
    }
}

/// What a tool answers that has to succeed.
async fn text(turn: &toolmark::tools::Turn, name: &str, arguments: &str) -> String {
    let answer = answer(turn, name, arguments).await;
    assert!(matches!(answer.ended, Ended::Ran), "{answer:?}");
    answer.output.to_text()
}

/// One tool as a toolset.
fn one(tool: toolmark::tools::ToolBuilder) -> Tools {
    Tools::builder().tool(tool).build().expect("a tool")
}
