//! Tools that the provider has words of its own for: it runs some of them, this program runs others. A shell and patches really run
//! here, in a folder that is thrown away, and a person is asked about what goes further.
//!
//! `cargo run --example hosted_tools`
#![expect(clippy::print_stdout, reason = "an example shows something")]

use std::sync::Arc;
use std::time::Duration;

use toolmark::agents::host::{HostTool, LocalShell, PatchFolder};
use toolmark::models::scripted::{ScriptedCall, Turn};
use toolmark::models::{HostedTool, Item, ScriptedModel};
use toolmark::prelude::*;
use toolmark::serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("toolmark-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;

    // In place of a model of OpenAI, which would write these calls itself.
    let patch = |operation| ScriptedCall::hosted(json!({"type": "apply_patch_call", "operation": operation}));
    let shell = |commands| ScriptedCall::hosted(json!({"type": "shell_call", "action": {"commands": commands}}));
    let model = ScriptedModel::new([
        Turn::calls([patch(
            json!({"type": "create_file", "path": "notes/todo.md", "diff": "+# To do\n+- water plants\n"}),
        )]),
        Turn::calls([
            patch(
                json!({"type": "update_file", "path": "notes/todo.md", "diff": " # To do\n-- water plants\n+- buy plants\n"}),
            ),
            patch(json!({"type": "create_file", "path": "../elsewhere", "diff": "+x\n"})),
        ]),
        Turn::calls([shell(vec!["cat notes/todo.md", "ls missing"]), shell(vec!["rm -r notes"])]),
        Turn::text("Everything is tidy."),
    ]);

    let agent = Agent::builder("Gardener")
        .hosted(HostedTool::WebSearch(Default::default()))
        .host_tool(HostTool::shell(LocalShell::in_folder(&folder)?.timeout(Duration::from_secs(10))))
        .host_tool(HostTool::apply_patch(PatchFolder::at(&folder)?))
        .model(Arc::new(model))
        .build()?;

    let mut outcome = Runner::new().run(&agent, "Tidy up my notes.", RunContext::new()).await?;
    while let RunOutcome::Interrupted(mut state) = outcome {
        for pending in state.pending() {
            println!("{}", pending.prompt());
            match pending.tool() {
                "shell" => state.approve(&pending)?,
                _ => state.reject(&pending, Some("Stay in the folder."))?,
            }
        }
        outcome = Runner::new().resume(&agent, *state, RunContext::new()).await?;
    }
    let result = outcome.finished().ok_or("no answer")?;
    for item in result.items() {
        if let Item::Hosted(raw) = &item.item
            && raw.is_answer()
        {
            println!("{}", raw.value);
        }
    }
    println!("{}", result.output());
    println!("the notes are there: {}", folder.join("notes").exists());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
