//! What an agent brings as a tool can be chosen: here the last output of a tool that is JSON, and not what the model says about it.
//!
//! `cargo run --example custom_output`
#![expect(clippy::print_stdout, reason = "an example shows something")]

mod support;

use toolmark::agents::RunResult;
use toolmark::models::Item;
use toolmark::models::scripted::Turn;
use toolmark::prelude::*;
use toolmark::serde_json::{Value, json};

/// Reads the figures of a month.
#[tool]
fn figures(month: &str) -> Value {
    json!({"month": month, "visitors": 1834})
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = Agent::builder("Data agent")
        .instructions("Look up what you are asked for.")
        .tool(figures::tool())
        .model(support::model([Turn::call("figures", json!({"month": "May"})), Turn::text("May was a fine month!")])?)
        .build()?;
    let tool =
        data.as_tool().name("get_data_json").description("Brings the data as JSON").output(|result| async move {
            let json = result.items().iter().rev().find_map(|item| match &item.item {
                Item::FunctionOutput(output) => Some(output.output.joined_text()).filter(|text| text.starts_with('{')),
                _ => None,
            });
            Ok(json.unwrap_or_else(|| "{}".into()))
        });

    let script = [Turn::call("get_data_json", json!({"input": "the visitors of May"})), Turn::text("{output}")];
    let reporter = Agent::builder("Reporter").tool(tool).model(support::model(script)?).build()?;
    let outcome = Runner::new().run(&reporter, "How many visitors came in May?", RunContext::new()).await?;
    println!("{}", outcome.finished().map_or("interrupted", RunResult::output));
    Ok(())
}
