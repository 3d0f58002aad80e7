//! Building an agent: everything that can be known to be wrong is found here, before anything is run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::display::{Kind, Layer, Names, ParseLanguageTagError};
use toolmark_core::explain::{Code, Explain};
use toolmark_models::{HostedTool, Model, Settings, ToolChoice};
use toolmark_runtime::tools::{BuildToolsError, ToolBuilder, Toolbox, ToolboxBuilder, Tools, ToolsBuilder, Toolset};
use toolmark_runtime::{Approvals, Recorder, TaskName, WorkspaceBuilder};

use super::{Agent, Inner, Instructions, OutputType, Stop};
use crate::guardrail::{InputCheck, OutputCheck};
use crate::handoff::Handoff;
use crate::hooks::Hooks;
use crate::host::{self, HostTool, HostedMcp};
use crate::models::ModelChoice;
use crate::run::ByState;

/// An agent to be.
pub struct AgentBuilder {
    name: String,
    names: Vec<(Option<String>, String)>,
    handoff_description: String,
    instructions: Instructions,
    tools: ToolsBuilder,
    toolsets: Vec<Box<dyn Toolset>>,
    toolbox: ToolboxBuilder,
    hosted: Vec<HostedTool>,
    host: Vec<HostedTool>,
    mcp: BTreeMap<String, host::Answers>,
    handoffs: Vec<Handoff>,
    task: Option<TaskName>,
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
    /// It has a name in a language that is none.
    #[error("the agent `{agent}` has a name in a language that is none: {error}")]
    Language {
        /// The agent.
        agent: String,
        /// What is wrong with it.
        error: ParseLanguageTagError,
    },
    /// Its tools cannot be built.
    #[error(transparent)]
    Tools(#[from] BuildToolsError),
}

impl AgentBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            names: Vec::new(),
            handoff_description: String::new(),
            instructions: Instructions::default(),
            tools: Tools::builder(),
            toolsets: Vec::new(),
            toolbox: Toolbox::builder().approvals(Arc::new(ByState)),
            hosted: Vec::new(),
            host: Vec::new(),
            mcp: BTreeMap::new(),
            handoffs: Vec::new(),
            task: None,
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
        self.names.push((None, name.into()));
        self
    }

    /// What people call it in one language, such as `nl` or `pt-BR`.
    #[must_use]
    pub fn display_name_in(mut self, locale: impl Into<String>, name: impl Into<String>) -> Self {
        self.names.push((Some(locale.into()), name.into()));
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

    /// Adds a tool that the provider has a shape for and this program runs, such as a shell.
    #[must_use]
    pub fn host_tool(mut self, tool: impl Into<HostTool>) -> Self {
        let HostTool { hosted, tool, asks } = tool.into();
        self.host.push(hosted);
        self.tools = self.tools.tool(tool.also_needs_approval(asks));
        self
    }

    /// Adds an MCP server that the provider calls by itself. What it asks for goes through the approvals of the run, as it does for
    /// servers that are given with [`AgentBuilder::hosted`].
    #[must_use]
    pub fn hosted_mcp(mut self, server: HostedMcp) -> Self {
        let tool = HostedTool::Mcp { config: server.config };
        if let (Some(label), Some(answers)) = (host::label(&tool), server.answers) {
            self.mcp.insert(label.to_owned(), answers);
        }
        self.hosted(tool)
    }

    /// Rules, tasks and pins that decide about its calls.
    #[must_use]
    pub fn rules(mut self, rules: WorkspaceBuilder) -> Self {
        self.toolbox = self.toolbox.rules(rules);
        self
    }

    /// Who is asked when a person must agree. Without it the run is interrupted, and its state is asked.
    #[must_use]
    pub fn approvals(mut self, approvals: Arc<dyn Approvals>) -> Self {
        self.toolbox = self.toolbox.approvals(approvals);
        self
    }

    /// Who keeps records of its calls.
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.toolbox = self.toolbox.recorder(recorder);
        self
    }

    /// Adds somebody to hand over to: an agent, or a [`Handoff`] with more to say.
    #[must_use]
    pub fn handoff(mut self, handoff: impl Into<Handoff>) -> Self {
        self.handoffs.push(handoff.into());
        self
    }

    /// What it works on: the expectation of this task holds for its calls, in place of the one of the run.
    #[must_use]
    pub fn task(mut self, task: TaskName) -> Self {
        self.task = Some(task);
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
        let mut names = Names::of(&self.name);
        // The last word counts, and of one language the first is kept.
        for (locale, name) in self.names.iter().rev() {
            let language = locale.as_deref().map(str::parse).transpose();
            let language = language.map_err(|error| BuildAgentError::Language { agent: self.name.clone(), error })?;
            names.put(Layer::Declared, Kind::Name, language, name);
        }
        let own = self.toolbox.toolset(self.tools.build()?);
        let mut toolbox = self.toolsets.into_iter().fold(own, ToolboxBuilder::toolset);
        if let Some(servers) = host::Servers::new(&self.hosted) {
            toolbox = toolbox.awaited(servers.pack()).toolset(servers);
        }
        Ok(Agent(Arc::new(Inner {
            name: self.name,
            names,
            handoff_description: self.handoff_description,
            instructions: self.instructions,
            toolbox: toolbox.build(),
            hosted: self.hosted,
            host: self.host,
            mcp: self.mcp,
            handoffs: self.handoffs,
            task: self.task,
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
            Self::Language { error, .. } => error.code(),
            Self::Tools(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NoName => "decisions, records and handoffs name the agent that they are about".into(),
            Self::Language { error, .. } => error.why(),
            Self::Tools(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::NoName => "name it after what it does: `Agent::builder(\"Billing\")`".into(),
            Self::Language { error, .. } => error.fix(),
            Self::Tools(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::NoName => Map::new(),
            Self::Language { error, .. } => error.facts(),
            Self::Tools(error) => error.facts(),
        }
    }
}
