//! Which agent does what next? Agents, what they may hand over and to whom, and the run that takes one from a question to an answer.
//!
//! A run is a machine without I/O ([`run::Machine`]) that is driven by a thin [`Runner`]. Every tool is called through the pipeline of
//! `toolmark-runtime`; nothing here runs a tool by itself. What waits for a person ends the run with a [`RunState`], which another
//! process may take up.
//!
//! ```
//! use std::sync::Arc;
//! use serde_json::json;
//! use toolmark_agents::{Agent, Runner};
//! use toolmark_models::{ScriptedModel, scripted::Turn};
//! use toolmark_runtime::tools::{FunctionTool, RunContext};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let weather = FunctionTool::builder("weather")
//!     .description("Says what the weather is.")
//!     .parameters(json!({"properties": {"city": {"type": "string"}}, "required": ["city"]}))
//!     .run(|_, arguments| async move { Ok(format!("sunny in {}", arguments.value()["city"].as_str().unwrap_or("?"))) });
//! let model = ScriptedModel::new([Turn::call("weather", json!({"city": "Delft"})), Turn::text("It is {output}.")]);
//!
//! let agent = Agent::builder("Assistant").instructions("Be brief.").tool(weather).model(Arc::new(model)).build()?;
//! let outcome = Runner::new().run(&agent, "What is the weather in Delft?", RunContext::new()).await?;
//! assert_eq!(outcome.finished().unwrap().output(), "It is sunny in Delft.");
//! # Ok(())
//! # }
//! ```

mod agent;
mod graph;
mod guardrail;
mod handoff;
mod hooks;
pub mod host;
mod models;
pub mod run;
mod session;

pub use agent::{Agent, AgentBuilder, AgentTool, Answers, BuildAgentError, Instructions, OutputType, Stop, ToolResult};
pub use graph::GraphError;
pub use guardrail::{Checked, InputCheck, OutputCheck};
pub use handoff::{HandedOver, Handoff};
pub use hooks::{Hooks, NoHooks};
pub use models::{ModelUnknownError, Models};
pub use run::{
    DecideError, OutsideCall, Pending, ReadStateError, RunError, RunErrorKind, RunEvent, RunItem, RunOutcome,
    RunResult, RunState, RunStream, Runner, answered_outside,
};
pub use session::{CompactingSession, MemorySession, Session, SessionError, StoredSession};
