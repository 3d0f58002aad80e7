//! Tools that are offered only to those who want them: asked in every turn, and a tool that is not offered cannot be called.
//!
//! `cargo run --example conditional_tools`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use toolmark::prelude::*;

#[derive(PartialEq)]
enum Preference {
    SpanishOnly,
    FrenchAndSpanish,
}

fn wants_french(turn: &TurnContext) -> bool {
    turn.get::<Preference>().is_some_and(|preference| *preference == Preference::FrenchAndSpanish)
}

/// Responds to the user's question in Spanish.
#[tool]
fn respond_spanish(answer: String) -> String {
    format!("¡{answer}!")
}

/// Responds to the user's question in French.
#[tool(enabled = wants_french)]
fn respond_french(answer: String) -> String {
    format!("{answer} !")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolbox = Toolbox::builder().toolset(toolset! { respond_spanish, respond_french }?).build();
    for preference in [Preference::SpanishOnly, Preference::FrenchAndSpanish] {
        let turn = toolbox.turn(TurnContext::new("Polyglot", RunContext::new().with(preference))).await?;
        let offered: Vec<&str> = turn.offered().map(|(tool, _)| tool.name().as_str()).collect();
        println!("offered: {}", offered.join(", "));
        let id = "call_1".parse()?;
        let called = turn.call(&ToolCall::new("respond_french", &id, r#"{"answer": "Bonjour"}"#)).await;
        println!("  {}", called.answer().ok_or("no answer")?.output.to_text());
    }
    Ok(())
}
