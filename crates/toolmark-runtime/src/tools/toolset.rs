//! Tools that belong together: a list that never changes, or whatever can say which tools there are in a turn.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_core::tool::Source;

use super::builder::ToolBuilder;
use super::context::TurnContext;
use super::function::{FunctionTool, Namespace};
use crate::approve::Later;

/// Says which tools there are in a turn. Whether one of them is offered is the tool's own condition.
pub trait Toolset: Send + Sync {
    /// The tools, in the order in which models see them.
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>>;
}

/// A toolset that cannot say which tools it has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tools of `{toolset}` cannot be listed: {message}")]
pub struct ListToolsError {
    toolset: String,
    message: String,
}

/// Tools that never change. With a name they are a pack, which models see as a namespace. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Tools(Arc<[FunctionTool]>);

/// Tools to be.
#[derive(Debug, Default)]
pub struct ToolsBuilder {
    pack: Option<String>,
    description: String,
    source: Option<Source>,
    tools: Vec<ToolBuilder>,
}

/// Tools that cannot be built, with everything that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildToolsError {
    reports: Vec<Report>,
}

impl ListToolsError {
    /// Why a toolset cannot say which tools it has.
    #[must_use]
    pub fn new(toolset: &str, message: impl fmt::Display) -> Self {
        Self { toolset: visible(toolset, 200), message: visible(&message.to_string(), 1000) }
    }
}

impl Tools {
    /// Begins tools without a pack: models call them by their bare names.
    #[must_use]
    pub fn builder() -> ToolsBuilder {
        ToolsBuilder::default()
    }

    /// Begins a pack.
    #[must_use]
    pub fn pack(name: impl Into<String>) -> ToolsBuilder {
        ToolsBuilder { pack: Some(name.into()), ..ToolsBuilder::default() }
    }

    /// All of these.
    ///
    /// # Errors
    /// [`BuildToolsError`] with everything that is wrong with any of them.
    pub fn join(parts: impl IntoIterator<Item = Result<Self, BuildToolsError>>) -> Result<Self, BuildToolsError> {
        let (mut tools, mut reports) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Ok(part) => tools.extend(part.0.iter().cloned()),
                Err(error) => reports.extend(error.reports),
            }
        }
        if reports.is_empty() { Ok(tools.into_iter().collect()) } else { Err(BuildToolsError { reports }) }
    }

    /// The tools.
    #[must_use]
    pub fn list(&self) -> &[FunctionTool] {
        &self.0
    }
}

impl FromIterator<FunctionTool> for Tools {
    fn from_iter<I: IntoIterator<Item = FunctionTool>>(tools: I) -> Self {
        Self(tools.into_iter().collect())
    }
}

impl ToolsBuilder {
    /// What models read about the pack.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// Where the tools come from, such as the module they are written in. A namesake from elsewhere is another tool.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: ToolBuilder) -> Self {
        self.tools.push(tool);
        self
    }

    /// Checks every tool.
    ///
    /// # Errors
    /// [`BuildToolsError`] with everything that is wrong with any of them.
    pub fn build(self) -> Result<Tools, BuildToolsError> {
        let mut reports = Vec::new();
        let namespace = match self.pack.as_deref().map(str::parse::<PackName>) {
            None => None,
            Some(Ok(name)) => {
                let source = self.source.unwrap_or_else(|| Source::new(&format!("rust:{name}")));
                Some(Arc::new(Namespace::new(name, &self.description, source)))
            }
            Some(Err(error)) => {
                reports.push(error.report());
                None
            }
        };
        let mut tools = Vec::with_capacity(self.tools.len());
        for tool in self.tools {
            match tool.build() {
                Ok(tool) => tools.push(match &namespace {
                    Some(namespace) => tool.in_namespace(Arc::clone(namespace)),
                    None => tool,
                }),
                Err(error) => reports.push(error.report()),
            }
        }
        if reports.is_empty() { Ok(tools.into_iter().collect()) } else { Err(BuildToolsError { reports }) }
    }
}

impl Toolset for Tools {
    fn tools<'a>(&'a self, _: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>> {
        Box::pin(std::future::ready(Ok(self.0.to_vec())))
    }
}

impl<T: Toolset + ?Sized> Toolset for Arc<T> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>> {
        (**self).tools(turn)
    }
}

impl<T: Toolset + ?Sized> Toolset for Box<T> {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>> {
        (**self).tools(turn)
    }
}

impl BuildToolsError {
    /// One report for each thing that is wrong.
    #[must_use]
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }
}

impl fmt::Display for BuildToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reports.as_slice() {
            [only] => f.write_str(only.what()),
            many => write!(f, "{} tools cannot be built: {}", many.len(), whats(many)),
        }
    }
}

pub(super) fn whats(reports: &[Report]) -> String {
    reports.iter().map(Report::what).collect::<Vec<_>>().join("; ")
}

impl std::error::Error for BuildToolsError {}

impl Explain for BuildToolsError {
    fn code(&self) -> Code {
        Code::new("tools-unbuildable")
    }

    fn why(&self) -> String {
        "an agent with some of its tools is not the agent that was meant".into()
    }

    fn fix(&self) -> String {
        self.reports.iter().map(Report::fix).collect::<Vec<_>>().join("\n")
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("tools", self.reports.iter().map(Report::to_json).collect())])
    }
}

impl Explain for ListToolsError {
    fn code(&self) -> Code {
        Code::new("tools-unlisted")
    }

    fn why(&self) -> String {
        "a turn with some of its tools could call another tool than the one that was meant".into()
    }

    fn fix(&self) -> String {
        "make sure that what lists the tools can be reached, or leave the toolset out".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("toolset", self.toolset.as_str().into())])
    }
}
