//! Agents as tools: an orchestrator asks translators and keeps the conversation.
//!
//! `cargo run --example agents_as_tools`; with `TOOLMARK_MODEL=openai:…` a real model does it.
#![expect(clippy::print_stdout, reason = "an example shows something")]

mod support;

use toolmark::models::scripted::{ScriptedCall, Turn};
use toolmark::prelude::*;
use toolmark::serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spanish = Agent::builder("Spanish agent")
        .instructions("You translate the user's message to Spanish.")
        .model(support::model([Turn::text("Hola, ¿cómo estás?")])?)
        .build()?;
    let french = Agent::builder("French agent")
        .instructions("You translate the user's message to French.")
        .model(support::model([Turn::text("Bonjour, comment vas-tu ?")])?)
        .build()?;

    let say = json!({"input": "Hello, how are you?"});
    let script = [
        Turn::calls([
            ScriptedCall::new("translate_to_spanish", say.clone()),
            ScriptedCall::new("translate_to_french", say),
        ]),
        Turn::text("{output}"),
    ];
    let orchestrator = Agent::builder("Orchestrator")
        .instructions("You use the tools given to you to translate. Call every relevant tool.")
        .tool(spanish.as_tool().name("translate_to_spanish").description("Translates the user's message to Spanish"))
        .tool(french.as_tool().name("translate_to_french").description("Translates the user's message to French"))
        .model(support::model(script)?)
        .build()?;

    let question = "Say 'Hello, how are you?' in Spanish and French.";
    let outcome = Runner::new().run(&orchestrator, question, RunContext::new()).await?;
    if let Some(result) = outcome.finished() {
        println!("{}\n{} requests to models", result.output(), result.usage().requests);
    }
    Ok(())
}
