//! Building an agent: everything that can be known to be wrong is found here, before anything is run.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain};
use toolmark_models::{HostedTool, Model, Settings, ToolChoice};
use toolmark_runtime::tools::{BuildToolsError, ToolBuilder, Toolbox, Tools, ToolsBuilder, Toolset};
use toolmark_runtime::{Approvals, Recorder, WorkspaceBuilder};

use super::{Agent, Inner, Instructions, OutputType, Stop};
use crate::guardrail::{InputCheck, OutputCheck};
use crate::handoff::Handoff;
use crate::hooks::Hooks;
use crate::models::ModelChoice;
use crate::run::ByState;

/// An agent to be.
pub struct AgentBuilder {
    name: String,
    display_name: Option<String>,
    handoff_description: String,
    instructions: Instructions,
    tools: ToolsBuilder,
    toolsets: Vec<Box<dyn Toolset>>,
    rules: WorkspaceBuilder,
    approvals: Option<Arc<dyn Approvals>>,
    recorder: Option<Arc<dyn Recorder>>,
    hosted: Vec<HostedTool>,
    handoffs: Vec<Handoff>,
    model: ModelChoice,
    settings: Settings,
    tool_choice: Option<ToolChoice>,
    reset_tool_choice: bool,
    parallel_tool_calls: Option<bool>,
    output: Option<OutputType>,
    stop: Stop,
    hooks: Option<Arc<dyn Hooks>>,
    input_checks: Vec<InputCheck>,
    output_checks: Vec<OutputCheck>,
}

/// An agent that cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildAgentError {
    /// It has no name.
    #[error("an agent has no name")]
    NoName,
    /// Its tools cannot be built.
    #[error(transparent)]
    Tools(#[from] BuildToolsError),
}

impl AgentBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            display_name: None,
            handoff_description: String::new(),
            instructions: Instructions::default(),
            tools: Tools::builder(),
            toolsets: Vec::new(),
            rules: WorkspaceBuilder::new(),
            approvals: None,
            recorder: None,
            hosted: Vec::new(),
            handoffs: Vec::new(),
            model: ModelChoice::Default,
            settings: Settings::default(),
            tool_choice: None,
            reset_tool_choice: true,
            parallel_tool_calls: None,
            output: None,
            stop: Stop::Never,
            hooks: None,
            input_checks: Vec::new(),
            output_checks: Vec::new(),
        }
    }

    /// What people call it.
    #[must_use]
    pub fn display_name(mut self, name: impl Into<String>) -> Self {
        self.display_name = Some(name.into());
        self
    }

    /// What an agent reads that may hand over to it.
    #[must_use]
    pub fn handoff_description(mut self, text: impl Into<String>) -> Self {
        self.handoff_description = text.into();
        self
    }

    /// What its model is told: a text, or [`Instructions`] that are made for each turn.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<Instructions>) -> Self {
        self.instructions = instructions.into();
        self
    }

    /// Adds a tool: of `#[tool]`, of a builder, or an agent as one.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<ToolBuilder>) -> Self {
        self.tools = self.tools.tool(tool.into());
        self
    }

    /// Adds tools that may change from turn to turn.
    #[must_use]
    pub fn toolset(mut self, toolset: impl Toolset + 'static) -> Self {
        self.toolsets.push(Box::new(toolset));
        self
    }

    /// Adds a tool that the provider brings along.
    #[must_use]
    pub fn hosted(mut self, tool: HostedTool) -> Self {
        self.hosted.push(tool);
        self
    }

    /// Rules, tasks and pins that decide about its calls.
    #[must_use]
    pub fn rules(mut self, rules: WorkspaceBuilder) -> Self {
        self.rules = rules;
        self
    }

    /// Who is asked when a person must agree. Without it the run is interrupted, and its state is asked.
    #[must_use]
    pub fn approvals(mut self, approvals: Arc<dyn Approvals>) -> Self {
        self.approvals = Some(approvals);
        self
    }

    /// Who keeps records of its calls.
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Adds somebody to hand over to: an agent, or a [`Handoff`] with more to say.
    #[must_use]
    pub fn handoff(mut self, handoff: impl Into<Handoff>) -> Self {
        self.handoffs.push(handoff.into());
        self
    }

    /// The model that it uses.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = ModelChoice::Given(model);
        self
    }

    /// The model of this name among those of the run.
    #[must_use]
    pub fn model_named(mut self, name: impl Into<String>) -> Self {
        self.model = ModelChoice::Named(name.into());
        self
    }

    /// How the model answers.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Whether the model must call a tool. After it has, it need not again, so that it comes to an end.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Whether the choice of tools is forgotten once a tool was called. It is, unless this says no.
    #[must_use]
    pub fn reset_tool_choice(mut self, reset: bool) -> Self {
        self.reset_tool_choice = reset;
        self
    }

    /// Whether the model may call several tools at once.
    #[must_use]
    pub fn parallel_tool_calls(mut self, parallel: bool) -> Self {
        self.parallel_tool_calls = Some(parallel);
        self
    }

    /// The shape of the final answer.
    #[must_use]
    pub fn output(mut self, output: OutputType) -> Self {
        self.output = Some(output);
        self
    }

    /// When what a tool brought is the answer.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Who hears about what this agent does.
    #[must_use]
    pub fn hooks(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// One more check of what a run begins with.
    #[must_use]
    pub fn input_check(mut self, check: InputCheck) -> Self {
        self.input_checks.push(check);
        self
    }

    /// One more check of the final answer.
    #[must_use]
    pub fn output_check(mut self, check: OutputCheck) -> Self {
        self.output_checks.push(check);
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// [`BuildAgentError`] when it has no name or its tools cannot be built.
    pub fn build(self) -> Result<Agent, BuildAgentError> {
        if self.name.trim().is_empty() {
            return Err(BuildAgentError::NoName);
        }
        let mut toolbox = Toolbox::builder().rules(self.rules).toolset(self.tools.build()?);
        for toolset in self.toolsets {
            toolbox = toolbox.toolset(toolset);
        }
        toolbox = toolbox.approvals(self.approvals.unwrap_or_else(|| Arc::new(ByState)));
        if let Some(recorder) = self.recorder {
            toolbox = toolbox.recorder(recorder);
        }
        Ok(Agent(Arc::new(Inner {
            name: self.name,
            display_name: self.display_name,
            handoff_description: self.handoff_description,
            instructions: self.instructions,
            toolbox: toolbox.build(),
            hosted: self.hosted,
            handoffs: self.handoffs,
            model: self.model,
            settings: self.settings,
            tool_choice: self.tool_choice,
            reset_tool_choice: self.reset_tool_choice,
            parallel_tool_calls: self.parallel_tool_calls,
            output: self.output,
            stop: self.stop,
            hooks: self.hooks,
            input_checks: self.input_checks,
            output_checks: self.output_checks,
        })))
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Explain for BuildAgentError {
    fn code(&self) -> Code {
        match self {
            Self::NoName => Code::new("agent-without-name"),
            Self::Tools(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NoName => "decisions, records and handoffs name the agent that they are about".into(),
            Self::Tools(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::NoName => "name it after what it does: `Agent::builder(\"Billing\")`".into(),
            Self::Tools(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::NoName => Map::new(),
            Self::Tools(error) => error.facts(),
        }
    }
}
