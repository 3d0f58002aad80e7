//! A tool reads values of the program that no model sees: its first argument is the context of the call.
//!
//! `cargo run --example context`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use toolmark::prelude::*;

/// Who is logged in. Models never see it, and cannot pretend to be somebody else.
struct User {
    name: String,
    account: u32,
}

/// Says how much money is left.
#[tool(behavior(pure, read, data))]
async fn balance(ctx: &ToolContext, currency: Option<String>) -> Result<String, ToolError> {
    let user = ctx.need::<User>()?;
    let currency = currency.unwrap_or_else(|| "EUR".into());
    Ok(format!("{} has 12.50 {currency} on account {}", user.name, user.account))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolbox = Toolbox::builder().toolset(toolset! { balance }?).build();
    for (name, account) in [("Ada", 1815), ("Grace", 1906)] {
        let context = RunContext::new().with(User { name: name.into(), account });
        let turn = toolbox.turn(TurnContext::new("Teller", context)).await?;
        let id = "call_1".parse()?;
        let called = turn.call(&ToolCall::new("balance", &id, r#"{"currency": "GBP"}"#)).await;
        println!("{}", called.answer().ok_or("no answer")?.output.to_text());
    }
    Ok(())
}
