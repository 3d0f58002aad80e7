//! All toolsets of an agent, with the rules that hold for them and the pipeline that every call goes through.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use futures_util::future::join_all;
use toolmark_core::names::PackName;

use super::context::TurnContext;
use super::function::FunctionTool;
use super::listing::{Listing, OpenTurnError};
use super::toolset::Toolset;
use super::turn::Turn;
use crate::approve::{Approvals, Unattended};
use crate::pipeline::Pipeline;
use crate::record::{NoRecords, Recorder};
use crate::workspace::WorkspaceBuilder;

/// What an agent can reach. Shared by all its turns.
pub struct Toolbox {
    toolsets: Vec<Box<dyn Toolset>>,
    rules: WorkspaceBuilder,
    pipeline: Pipeline,
    listing: ArcSwapOption<Listing>,
}

/// A toolbox to be.
pub struct ToolboxBuilder {
    toolsets: Vec<Box<dyn Toolset>>,
    rules: WorkspaceBuilder,
    approvals: Arc<dyn Approvals>,
    recorder: Arc<dyn Recorder>,
}

impl Toolbox {
    /// Begins a toolbox. Until something else is said: no rules, nobody to be asked, no records.
    #[must_use]
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder {
            toolsets: Vec::new(),
            rules: WorkspaceBuilder::new(),
            approvals: Arc::new(Unattended),
            recorder: Arc::new(NoRecords),
        }
    }

    /// Begins a turn: asks every toolset for its tools and every tool whether it is offered.
    ///
    /// Tools that are not offered count too where names are compared: which tool a name means does not change from turn to turn.
    ///
    /// # Errors
    /// [`OpenTurnError`] when a toolset cannot say what it has, or when the tools cannot stand beside one another.
    pub async fn turn(&self, context: TurnContext) -> Result<Turn, OpenTurnError> {
        let mut tools: Vec<FunctionTool> = Vec::new();
        for listed in join_all(self.toolsets.iter().map(|toolset| toolset.tools(&context))).await {
            tools.extend(listed?);
        }
        let listing = self.listing(&tools)?;
        let enabled = join_all(tools.iter().map(|tool| tool.is_enabled(&context))).await;
        Turn::new(context, tools, enabled, listing, self.pipeline.clone())
    }

    /// The listing of these tools: the last one, where nothing changed.
    fn listing(&self, tools: &[FunctionTool]) -> Result<Arc<Listing>, OpenTurnError> {
        let last = self.listing.load_full();
        if let Some(last) = &last
            && last.is_of(tools)
        {
            return Ok(Arc::clone(last));
        }
        let rules = match &last {
            Some(last) => self.rules.clone().effects(Arc::clone(last.workspace().effects())),
            None => self.rules.clone(),
        };
        let listing = Arc::new(Listing::new(tools, rules)?);
        self.listing.store(Some(Arc::clone(&listing)));
        Ok(listing)
    }
}

impl ToolboxBuilder {
    /// Adds a toolset.
    #[must_use]
    pub fn toolset(mut self, toolset: impl Toolset + 'static) -> Self {
        self.toolsets.push(Box::new(toolset));
        self
    }

    /// Rules, tasks, pins and whatever else decides about calls.
    #[must_use]
    pub fn rules(mut self, rules: WorkspaceBuilder) -> Self {
        self.rules = rules;
        self
    }

    /// A pack whose tools may come later; the rules that were given may name them already.
    #[must_use]
    pub fn awaited(mut self, pack: PackName) -> Self {
        self.rules = self.rules.awaited(pack);
        self
    }

    /// Who is asked when a person must agree.
    #[must_use]
    pub fn approvals(mut self, approvals: Arc<dyn Approvals>) -> Self {
        self.approvals = approvals;
        self
    }

    /// Who keeps records.
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = recorder;
        self
    }

    /// Puts it together. What is wrong with the tools shows when a turn begins.
    #[must_use]
    pub fn build(self) -> Toolbox {
        Toolbox {
            toolsets: self.toolsets,
            rules: self.rules,
            pipeline: Pipeline::new(self.approvals, self.recorder),
            listing: ArcSwapOption::empty(),
        }
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolbox").field("toolsets", &self.toolsets.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolboxBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolboxBuilder").field("toolsets", &self.toolsets.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
