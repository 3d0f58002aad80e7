//! A call that a person must agree to interrupts the run. The state is text: another process goes on with it.
//!
//! `cargo run --example approvals_and_resume`
#![expect(clippy::print_stdout, reason = "an example shows something")]

mod support;

use toolmark::agents::RunResult;
use toolmark::models::scripted::{ScriptedCall, Turn};
use toolmark::prelude::*;
use toolmark::serde_json::json;

/// Cancels an order.
#[tool(needs_approval)]
fn cancel_order(order: u32) -> String {
    format!("order {order} is cancelled")
}

/// Looks an order up.
#[tool]
fn find_order(order: u32) -> String {
    format!("order {order}: two chairs")
}

fn agent(script: Vec<Turn>) -> Result<Agent, Box<dyn std::error::Error>> {
    let agent = Agent::builder("Support").tool(find_order::tool()).tool(cancel_order::tool());
    Ok(agent.model(support::model(script)?).build()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let call = |name: &str, order: u32| ScriptedCall::new(name, json!({ "order": order }));
    let calls = Turn::calls([call("find_order", 7), call("cancel_order", 7), call("cancel_order", 8)]);
    let first = agent(vec![calls])?;
    let outcome = Runner::new().run(&first, "Cancel my orders 7 and 8.", RunContext::new()).await?;
    let Some(state) = outcome.interrupted() else { return Ok(()) };
    let saved = state.to_json();

    // Another process, later.
    let mut state = RunState::from_json(&saved)?;
    for pending in state.pending() {
        println!("{}\n", pending.prompt());
        if pending.arguments().contains('7') {
            state.approve(&pending)?;
        } else {
            state.reject(&pending, Some("Order 8 is on its way already."))?;
        }
    }
    let second = agent(vec![Turn::text("{output}")])?;
    let outcome = Runner::new().resume(&second, state, RunContext::new()).await?;
    println!("{}", outcome.finished().map_or("interrupted again", RunResult::output));
    Ok(())
}
