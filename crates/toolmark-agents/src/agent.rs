//! What is an agent? A name, what it is told, what it may call and to whom it may hand over. It never changes once it is built.

mod as_tool;
mod builder;
mod instructions;
mod output;
mod stop;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolmark_models::{HostedTool, Raw, Settings, ToolChoice};
use toolmark_runtime::TaskName;
use toolmark_runtime::tools::Toolbox;

pub use as_tool::AgentTool;
pub use builder::{AgentBuilder, BuildAgentError};
pub use instructions::Instructions;
pub use output::OutputType;
pub use stop::{Answers, Stop, ToolResult};

use toolmark_core::display::{Kind, LanguageTag, Languages, Names, Shown};

use crate::guardrail::{InputCheck, OutputCheck};
use crate::handoff::Handoff;
use crate::hooks::Hooks;
use crate::host;
use crate::models::ModelChoice;

/// An agent. Cheap to clone; clones are the same agent.
#[derive(Clone)]
pub struct Agent(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) name: String,
    pub(crate) names: Names,
    pub(crate) handoff_description: String,
    pub(crate) instructions: Instructions,
    pub(crate) toolbox: Toolbox,
    pub(crate) hosted: Vec<HostedTool>,
    /// Tools of the provider that this program runs.
    pub(crate) host: Vec<HostedTool>,
    /// Who answers what the provider asks about its MCP servers, by their labels.
    pub(crate) mcp: BTreeMap<String, host::Answers>,
    pub(crate) handoffs: Vec<Handoff>,
    pub(crate) task: Option<TaskName>,
    pub(crate) model: ModelChoice,
    pub(crate) settings: Settings,
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) reset_tool_choice: bool,
    pub(crate) parallel_tool_calls: Option<bool>,
    pub(crate) output: Option<OutputType>,
    pub(crate) stop: Stop,
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
    pub(crate) input_checks: Vec<InputCheck>,
    pub(crate) output_checks: Vec<OutputCheck>,
}

impl Agent {
    /// Begins an agent.
    #[must_use]
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name.into())
    }

    /// Its name, which tells it from every other agent of a run.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What people call it who ask for no language: the name for all, or the English one, or its own.
    #[must_use]
    pub fn display_name(&self) -> &str {
        let names = || self.0.names.texts(Kind::Name);
        let english = LanguageTag::english();
        let plain = names().find(|(_, language, _)| language.is_none_or(|language| *language == english));
        plain.map_or(&self.0.name, |(_, _, text)| text)
    }

    /// Everything that it is called.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.0.names
    }

    /// What people call it who want these languages.
    #[must_use]
    pub fn shown(&self, languages: &Languages) -> Shown {
        self.0.names.shown(languages, &LanguageTag::english())
    }

    /// What an agent reads that may hand over to it.
    #[must_use]
    pub fn handoff_description(&self) -> &str {
        &self.0.handoff_description
    }

    /// Everything that it can reach.
    #[must_use]
    pub fn toolbox(&self) -> &Toolbox {
        &self.0.toolbox
    }

    /// To whom it may hand over.
    #[must_use]
    pub fn handoffs(&self) -> &[Handoff] {
        &self.0.handoffs
    }

    /// The agent as a tool: it is asked, answers, and the conversation stays where it is.
    #[must_use]
    pub fn as_tool(&self) -> AgentTool {
        AgentTool::new(self.clone())
    }

    /// True when a call in the provider's own words is answered here.
    pub(crate) fn hosts(&self, raw: &Raw) -> bool {
        if host::is_request(raw) {
            let asked = raw.value.get("server_label").and_then(Value::as_str);
            return asked.is_some() && self.0.hosted.iter().any(|tool| host::label(tool) == asked);
        }
        let name = host::runs(raw);
        name.is_some() && self.0.host.iter().any(|tool| Some(tool.kind()) == name)
    }

    /// True when the provider calls MCP servers for it.
    pub(crate) fn has_servers(&self) -> bool {
        self.0.hosted.iter().any(|tool| host::label(tool).is_some())
    }

    /// True when both are the same agent, and not only of the same name.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("name", &self.0.name).finish_non_exhaustive()
    }
}
