//! What a model reads when a tool fails: nothing of the error, what was written for it, or what a function makes of it.
//!
//! `cargo run --example error_handling`
#![expect(clippy::print_stdout, clippy::panic, reason = "an example shows something")]

use std::time::Duration;

use toolmark::prelude::*;

/// Fetches the profile of a user.
#[tool]
async fn get_user_profile(user_id: String) -> Result<String, std::io::Error> {
    match user_id.as_str() {
        "user_123" => Ok("User profile for user_123 successfully retrieved.".into()),
        _ => Err(std::io::Error::other("password=hunter2 was refused by db-7.internal")),
    }
}

/// Looks a city up.
#[tool]
fn find_city(name: &str) -> Result<String, ToolError> {
    Err(ToolError::told(format!("There is no city called {name}. Ask for the next larger one.")))
}

fn friendly(ctx: &ToolContext, _: &ToolError) -> String {
    format!("{} is being repaired. Tell the user to come back tomorrow.", ctx.tool())
}

/// Books a table.
#[tool(on_error = friendly)]
fn book_table(guests: u8) -> Result<String, String> {
    Err(format!("no table for {guests}"))
}

/// Counts to infinity.
#[tool(timeout = "50ms")]
async fn count() -> u64 {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    u64::MAX
}

/// Has a mistake in it.
#[tool]
fn broken() -> u32 {
    panic!("the key is 4711")
}

/// Ends the run when it fails.
#[tool(on_error = propagate)]
fn launch() -> Result<(), String> {
    Err("the countdown stopped".into())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A panic is told to the program by its own hook; the model does not read it.
    std::panic::set_hook(Box::new(|_| {}));
    let tools = toolset! { get_user_profile, find_city, book_table, count, broken, launch }?;
    let toolbox = Toolbox::builder().toolset(tools).build();
    let turn = toolbox.turn(TurnContext::new("Assistant", RunContext::new())).await?;
    for (name, arguments) in [
        ("get_user_profile", r#"{"user_id": "user_123"}"#),
        ("get_user_profile", r#"{"user_id": "user_456"}"#),
        ("find_city", r#"{"name": "Atlantis"}"#),
        ("book_table", r#"{"guests": 4}"#),
        ("book_table", r#"{"guests": "four"}"#),
        ("count", ""),
        ("broken", ""),
        ("launch", ""),
    ] {
        let id = "call_1".parse()?;
        let said = match turn.call(&ToolCall::new(name, &id, arguments)).await {
            Called::Answered(answer) => answer.output.to_text(),
            Called::Waiting(..) => "a person is asked".to_owned(),
            Called::Unfinished(_) => "somebody has to decide something first".into(),
            Called::Raised(raised, _) => format!("the run ends: {raised}"),
        };
        println!("{name}({arguments})\n  {}", said.replace('\n', "\n  "));
    }
    Ok(())
}
