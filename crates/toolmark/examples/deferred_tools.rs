//! Tools that a model gets to see only after it looked for them, some of them in namespaces: what it is told, and which calls reach
//! what.
//!
//! `cargo run --example deferred_tools`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use std::sync::Arc;

use toolmark::models::scripted::{ScriptedCall, Turn};
use toolmark::models::{HostedTool, Item, ScriptedModel, WireTool};
use toolmark::prelude::*;
use toolmark::serde_json::json;

/// Customers and what they bought.
#[toolmark::pack]
mod crm {
    use toolmark::prelude::*;

    /// Finds customers.
    #[tool(behavior(pure, search, user))]
    fn search(name: &str) -> String {
        format!("customer {name}")
    }
}

/// Bills and payments.
#[toolmark::pack]
mod billing {
    use toolmark::prelude::*;

    /// Finds bills.
    #[tool(behavior(pure, search, data), defer_loading)]
    fn search(name: &str) -> String {
        format!("bills of {name}")
    }
}

/// Says what the weather is.
#[tool(defer_loading)]
fn weather(city: &str) -> String {
    format!("sunny in {city}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let call = |namespace: Option<&str>, name: &str, arguments| ScriptedCall {
        namespace: namespace.map(str::to_owned),
        ..ScriptedCall::new(name, arguments)
    };
    let model = Arc::new(ScriptedModel::remembering([
        Turn::calls([
            call(Some("crm"), "search", json!({"name": "Ada"})),
            call(Some("billing"), "search", json!({"name": "Ada"})),
            // A tool without a namespace that was loaded late is called with its own name in place of one.
            call(Some("weather"), "weather", json!({"city": "Delft"})),
            // Bare names reach none of them.
            call(None, "search", json!({"name": "Ada"})),
            call(None, "weather", json!({"city": "Delft"})),
        ]),
        Turn::text("Found."),
    ]));
    let agent = Agent::builder("Assistant")
        .toolset(crm::tools()?)
        .toolset(billing::tools()?)
        .tool(weather::tool())
        .hosted(HostedTool::ToolSearch(Default::default()))
        .model(Arc::clone(&model) as _)
        .build()?;
    let outcome = Runner::new().run(&agent, "Who is Ada?", RunContext::new()).await?;
    for tool in model.requests().iter().take(1).flat_map(|request| &request.tools) {
        match tool {
            WireTool::Function(tool) => {
                let pack = tool.namespace.as_deref().unwrap_or("none");
                println!("{} in the namespace {pack}, loaded late: {}", tool.name, tool.defer_loading);
            }
            other => println!("{}", other.name()),
        }
    }
    let result = outcome.finished().ok_or("no answer")?;
    for item in result.items() {
        if let Item::FunctionOutput(output) = &item.item {
            println!("{}: {}", output.call_id, output.output.joined_text());
        }
    }
    println!("{}", result.output());
    Ok(())
}
