//! A tool without a function: name, description, schema and a closure over the arguments.
//!
//! `cargo run --example custom_tool`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use toolmark::prelude::*;
use toolmark::schemars;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct FunctionArgs {
    username: String,
    #[schemars(range(max = 150))]
    age: u8,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let process_user = FunctionTool::builder("process_user")
        .description("Processes extracted user data")
        .parameters_of::<FunctionArgs>()
        .run(|_, arguments| async move {
            let user: FunctionArgs = arguments.read()?;
            Ok(format!("{} is {} years old", user.username, user.age))
        });
    let toolbox = Toolbox::builder().toolset(Tools::builder().tool(process_user).build()?).build();
    let turn = toolbox.turn(TurnContext::new("Clerk", RunContext::new())).await?;
    let id = "call_1".parse()?;
    for arguments in [r#"{"username": "Ada", "age": 36}"#, r#"{"username": "Methuselah", "age": 969}"#] {
        let called = turn.call(&ToolCall::new("process_user", &id, arguments)).await;
        println!("{}", called.answer().ok_or("no answer")?.output.to_text());
    }
    Ok(())
}
