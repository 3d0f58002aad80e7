//! An agent that is called like a tool: it gets a text, has a run of its own, and what comes of that is the output.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::json;
use toolmark_core::compat::agent_tool_name;
use toolmark_core::display::Kind;
use toolmark_core::tool::ToolKind;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{
    Arguments, Condition, FunctionTool, ToolBuilder, ToolContext, ToolError, ToolOutput, TurnContext,
};

use super::Agent;
use crate::run::{Nest, RunOutcome, RunResult, Runner};

/// An agent as a tool to be.
pub struct AgentTool {
    agent: Agent,
    name: Option<String>,
    extract: Option<Extract>,
    max_turns: Option<u32>,
    change: Vec<Box<dyn FnOnce(ToolBuilder) -> ToolBuilder + Send>>,
}

type Extract = Arc<dyn Fn(RunResult) -> Later<'static, Result<ToolOutput, ToolError>> + Send + Sync>;

impl AgentTool {
    pub(super) fn new(agent: Agent) -> Self {
        Self { agent, name: None, extract: None, max_turns: None, change: Vec::new() }
    }

    /// The name that models call, in place of one made of the agent's.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What models read about it.
    #[must_use]
    pub fn description(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.tool(move |tool| tool.description(text))
    }

    /// What is made of the result, in place of the final answer.
    #[must_use]
    pub fn output<F, T, O>(mut self, extract: F) -> Self
    where
        F: Fn(RunResult) -> T + Send + Sync + 'static,
        T: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: Into<ToolOutput> + 'static,
    {
        self.extract = Some(Arc::new(move |result| {
            let extracting = extract(result);
            Box::pin(async move { extracting.await.map(Into::into) })
        }));
        self
    }

    /// How often its model is asked at most; as often as that of the outer run, unless this says otherwise.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Whether it is offered, asked in every turn.
    #[must_use]
    pub fn enabled(self, condition: impl Into<Condition<TurnContext>>) -> Self {
        let condition = condition.into();
        self.tool(move |tool| tool.enabled(condition))
    }

    /// Offered when this says so.
    #[must_use]
    pub fn enabled_if(self, asked: impl Fn(&TurnContext) -> bool + Send + Sync + 'static) -> Self {
        self.enabled(Condition::when(asked))
    }

    /// Whether a person must agree before the agent is asked.
    #[must_use]
    pub fn needs_approval(self, condition: impl Into<Condition<ToolContext>>) -> Self {
        let condition = condition.into();
        self.tool(move |tool| tool.needs_approval(condition))
    }

    /// Whatever else can be said of a tool.
    #[must_use]
    pub fn tool(mut self, change: impl FnOnce(ToolBuilder) -> ToolBuilder + Send + 'static) -> Self {
        self.change.push(Box::new(change));
        self
    }
}

/// Runs the agent, or goes on where its run was interrupted.
async fn ask(
    agent: Agent,
    extract: Option<Extract>,
    max_turns: Option<u32>,
    context: ToolContext,
    arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    let input = arguments.get("input").and_then(|input| input.as_str()).unwrap_or_default().to_owned();
    let nest = context.get::<Nest>().cloned();
    let runner = nest.as_ref().map_or_else(Runner::new, Nest::runner).turns(max_turns);
    let sink = nest.as_ref().map(|nest| nest.sink(context.call_id())).unwrap_or_default();
    let values = context.turn().context().clone();
    let outcome = match nest.as_ref().and_then(|nest| nest.take(context.call_id())) {
        Some(state) => runner.go_on(&agent, state, values, sink).await,
        None => runner.begin(&agent, input.into(), values, sink).await,
    };
    match (outcome, nest) {
        (Ok(RunOutcome::Finished(result)), nest) => {
            if let Some(nest) = nest {
                nest.count(result.usage());
            }
            match extract {
                Some(extract) => extract(*result).await,
                None => Ok(ToolOutput::text(result.output())),
            }
        }
        (Ok(RunOutcome::Interrupted(state)), Some(nest)) => {
            nest.leave(context.call_id(), *state);
            Err(ToolError::unfinished())
        }
        (Ok(RunOutcome::Interrupted(_)), None) => {
            Err(ToolError::told("A call inside of it needs the approval of a person, and nobody can be asked here."))
        }
        (Err(error), nest) => {
            if let (Some(nest), Some(state)) = (nest, error.state()) {
                nest.count(state.usage());
            }
            Err(error.into())
        }
    }
}

impl From<AgentTool> for ToolBuilder {
    fn from(tool: AgentTool) -> Self {
        let AgentTool { agent, name, extract, max_turns, change } = tool;
        let name = name.filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| agent_tool_name(agent.name()).name().to_owned());
        let place = format!("agent:{}", agent.name());
        let mut builder = FunctionTool::builder(name).place(place).display_name(agent.display_name());
        for (_, language, text) in agent.names().texts(Kind::Name) {
            if let Some(language) = language {
                builder = builder.display_name_in(language.as_str(), text);
            }
        }
        let builder = builder
            .kind(ToolKind::Agent)
            .parameters(json!({
                "type": "object",
                "properties": { "input": { "type": "string" } },
                "required": ["input"],
                "additionalProperties": false,
            }))
            .run(move |context, arguments| ask(agent.clone(), extract.clone(), max_turns, context, arguments));
        change.into_iter().fold(builder, |builder, change| change(builder))
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool").field("agent", &self.agent).field("name", &self.name).finish_non_exhaustive()
    }
}
