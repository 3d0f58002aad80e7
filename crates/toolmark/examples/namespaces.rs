//! Two packs with a tool of the same name, and a wrapper around one of them: which tool is meant is never guessed.
//!
//! `cargo run --example namespaces`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use toolmark::prelude::*;

/// Customers and what they bought.
#[toolmark::pack]
mod crm {
    use toolmark::prelude::*;

    /// Finds customers.
    #[tool(behavior(pure, search, user))]
    fn search(name: &str) -> String {
        format!("customer {name}")
    }

    /// Deletes a customer.
    #[tool(behavior(mutates, delete, user))]
    fn delete(id: u64) -> String {
        format!("{id} is gone")
    }
}

/// Bills and payments.
#[toolmark::pack]
mod billing {
    use toolmark::prelude::*;

    /// Finds bills.
    #[tool(behavior(pure, search, data))]
    fn search(name: &str) -> String {
        format!("bills of {name}")
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let crm = crm::tools()?;
    // Only what deletes needs a person; both halves are still one pack.
    let guarded = crm.clone().filtered(|tool| tool.name().as_str() == "delete").approval_required();
    let harmless = crm.filtered(|tool| tool.name().as_str() != "delete");
    let toolbox = Toolbox::builder().toolset(harmless).toolset(guarded).toolset(billing::tools()?).build();
    let turn = toolbox.turn(TurnContext::new("Assistant", RunContext::new())).await?;
    for (tool, entry) in turn.offered() {
        println!("{} {} {}", entry.canonical(), tool.description(), entry.mark());
    }
    for (namespace, name, arguments) in [
        (Some("billing"), "search", r#"{"name": "Ada"}"#),
        (None, "search", r#"{"name": "Ada"}"#),
        (Some("crm"), "delete", r#"{"id": 1}"#),
    ] {
        let id = "call_1".parse()?;
        let called = turn.call(&ToolCall::new(name, &id, arguments).in_namespace(namespace)).await;
        println!("{}", called.answer().ok_or("no answer")?.output.to_text());
    }
    Ok(())
}
