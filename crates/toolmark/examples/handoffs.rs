//! One agent hands the conversation over to another, which reads the messages only.
//!
//! `cargo run --example handoffs`
#![expect(clippy::print_stdout, reason = "an example shows something")]

mod support;

use toolmark::models::scripted::Turn;
use toolmark::prelude::*;
use toolmark::serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let billing = Agent::builder("Billing Agent")
        .handoff_description("Knows everything about bills.")
        .instructions("Answer questions about bills.")
        .model(support::model([Turn::text("Your bill of May is paid.")])?)
        .build()?;
    let script = [Turn::call("transfer_to_billing_agent", json!({}))];
    let triage = Agent::builder("Triage")
        .instructions("Hand over to whoever knows best.")
        .handoff(Handoff::to(&billing).without_tools())
        .model(support::model(script)?)
        .build()?;

    let outcome = Runner::new().run(&triage, "Is my bill paid?", RunContext::new()).await?;
    if let Some(result) = outcome.finished() {
        println!("{}: {}", result.agent(), result.output());
    }
    Ok(())
}
