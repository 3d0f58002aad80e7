//! Two MCP servers with tools of the same names, given to one agent: each call reaches the server that was meant, and a person agrees
//! before the second one is called.
//!
//! `cargo run --example mcp_toolsets`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use std::sync::Arc;

use toolmark::models::ScriptedModel;
use toolmark::models::scripted::{ScriptedCall, Turn};
use toolmark::prelude::*;
use toolmark::serde_json::json;
use toolmark_fixture::{Fixture, Options, serve_stdio};

/// A server that needs nothing installed: this program, started again. A real one is
/// `McpServer::program("github", "github-mcp-server").arg("stdio")` or `McpServer::at("docs", "https://…/mcp")`.
fn server(pack: &str) -> Result<McpServer, Box<dyn std::error::Error>> {
    let own = std::env::current_exe()?;
    Ok(McpServer::program(pack, own.to_string_lossy()).args(["serve", pack]).only(["echo", "stats"]).build()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, serve, name] = arguments.as_slice()
        && serve == "serve"
    {
        return Ok(serve_stdio(Fixture::new(Options { name: name.clone(), ..Options::default() })?).await?);
    }

    let call = |pack: &str, name: &str, arguments| ScriptedCall {
        namespace: Some(pack.into()),
        ..ScriptedCall::new(name, arguments)
    };
    let model = ScriptedModel::new([
        // The bare name is that of two tools: nothing is called, and the model reads which there are.
        Turn::call("echo", json!({"text": "to whom?"})),
        Turn::calls([call("tickets", "echo", json!({"text": "one"})), call("wiki", "echo", json!({"text": "two"}))]),
        Turn::text("Both were called."),
    ]);
    let agent = Agent::builder("Assistant")
        .toolset(server("tickets")?)
        .toolset(server("wiki")?.approval_required())
        .model(Arc::new(model))
        .build()?;

    let turn = agent.toolbox().turn(TurnContext::new("Assistant", RunContext::new())).await?;
    for (_, tool) in turn.offered() {
        println!("{} {}", tool.canonical(), tool.mark());
    }

    let mut outcome = Runner::new().run(&agent, "Call both servers.", RunContext::new()).await?;
    while let RunOutcome::Interrupted(mut state) = outcome {
        for pending in state.pending() {
            println!("\n{}", pending.prompt());
            state.approve(&pending)?;
        }
        outcome = Runner::new().resume(&agent, *state, RunContext::new()).await?;
    }
    let result = outcome.finished().ok_or("no answer")?;
    for item in result.items() {
        if let toolmark::models::Item::FunctionOutput(output) = &item.item {
            println!("{}: {}", output.call_id, output.output.joined_text());
        }
    }
    println!("{}", result.output());
    Ok(())
}
