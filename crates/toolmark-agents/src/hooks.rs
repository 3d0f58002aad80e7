//! Who hears about a run while it goes on? Hooks see everything and change nothing.

use toolmark_models::ModelResponse;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{ToolContext, ToolOutput, TurnContext};

/// Hears about a run, or about one agent of it. Every method does nothing unless it is written.
pub trait Hooks: Send + Sync {
    /// An agent takes over, at the beginning or after a handoff.
    fn agent_started<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, ()> {
        let _ = turn;
        nothing()
    }

    /// An agent has the final answer.
    fn agent_ended<'a>(&'a self, turn: &'a TurnContext, output: &'a str) -> Later<'a, ()> {
        let _ = (turn, output);
        nothing()
    }

    /// A model is about to be asked.
    fn model_asked<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, ()> {
        let _ = turn;
        nothing()
    }

    /// A model answered.
    fn model_answered<'a>(&'a self, turn: &'a TurnContext, response: &'a ModelResponse) -> Later<'a, ()> {
        let _ = (turn, response);
        nothing()
    }

    /// The body of a tool is about to run.
    fn tool_started<'a>(&'a self, context: &'a ToolContext) -> Later<'a, ()> {
        let _ = context;
        nothing()
    }

    /// A tool ran; this is what the model gets.
    fn tool_ended<'a>(&'a self, context: &'a ToolContext, output: &'a ToolOutput) -> Later<'a, ()> {
        let _ = (context, output);
        nothing()
    }

    /// The conversation passes from one agent to another.
    fn handed_over<'a>(&'a self, turn: &'a TurnContext, to: &'a str) -> Later<'a, ()> {
        let _ = (turn, to);
        nothing()
    }
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}

fn nothing<'a>() -> Later<'a, ()> {
    Box::pin(std::future::ready(()))
}
