//! A run that is watched: words as the model says them, tools as they start and end.
//!
//! `cargo run --example streaming`
#![expect(clippy::print_stdout, reason = "an example shows something")]

mod support;

use futures_util::StreamExt as _;
use toolmark::agents::{RunEvent, RunResult};
use toolmark::models::ModelEvent;
use toolmark::models::scripted::Turn;
use toolmark::prelude::*;
use toolmark::serde_json::json;

/// Says what the weather is.
#[tool]
fn weather(city: &str) -> String {
    format!("sunny in {city}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = [Turn::call("weather", json!({"city": "Delft"})), Turn::text("It is {output}.")];
    let agent = Agent::builder("Assistant").tool(weather::tool()).model(support::model(script)?).build()?;
    let mut stream = Runner::new().run_stream(&agent, "What is the weather in Delft?", RunContext::new());
    while let Some(event) = stream.next().await {
        match event {
            RunEvent::Model { event: ModelEvent::Text { delta }, .. } => println!("says {delta:?}"),
            RunEvent::ToolStarted { tool, arguments, .. } => println!("{tool} starts with {arguments}"),
            RunEvent::ToolEnded { name, output, .. } => println!("{name} brought {output:?}"),
            RunEvent::Finished { output } => println!("finished: {output}"),
            _ => {}
        }
    }
    let outcome = stream.outcome().await?;
    println!("{} turns", outcome.finished().map_or(0, RunResult::turns));
    Ok(())
}
