//! The tools of one turn: which are offered, and which of them a call means. A call reaches nothing else.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::names::LookupKey;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;

use super::context::TurnContext;
use super::function::FunctionTool;
use super::listing::{Listing, OpenTurnError};
use crate::pipeline::Pipeline;
use crate::record::StrayKind;
use crate::task::Task;
use crate::workspace::Workspace;

/// One turn. Cheap to clone; calls of one turn may run side by side.
#[derive(Clone, Debug)]
pub struct Turn {
    context: TurnContext,
    tools: Arc<[FunctionTool]>,
    enabled: Arc<[bool]>,
    listing: Arc<Listing>,
    pipeline: Pipeline,
}

/// A call of something that is not offered in this turn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct UnknownCall {
    called: String,
    /// Tools that have that name in a namespace that the call did not say.
    elsewhere: Vec<String>,
    offered: Vec<String>,
}

/// How many tools an error lists.
const SHOWN: usize = 20;

impl Turn {
    pub(super) fn new(
        context: TurnContext,
        tools: Vec<FunctionTool>,
        enabled: Vec<bool>,
        listing: Arc<Listing>,
        pipeline: Pipeline,
    ) -> Result<Self, OpenTurnError> {
        if let Some(task) = context.task_name() {
            listing.workspace().tasks().find(task.as_str())?;
        }
        Ok(Self { context, tools: tools.into(), enabled: enabled.into(), listing, pipeline })
    }

    /// Which turn it is.
    #[must_use]
    pub fn context(&self) -> &TurnContext {
        &self.context
    }

    /// What decides about its calls. Its catalog also holds tools that are not offered.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        self.listing.workspace()
    }

    /// The tools that are offered, each with its entry in the catalog, in the order in which they are listed.
    pub fn offered(&self) -> impl Iterator<Item = (&FunctionTool, &Tool)> {
        (0..self.tools.len()).filter_map(|at| self.at(at))
    }

    /// The offered tool that an entry of the catalog stands for.
    #[must_use]
    pub fn offers(&self, tool: &Tool) -> Option<&FunctionTool> {
        self.at(self.listing.place_of(tool)?).map(|(own, _)| own)
    }

    /// The tool that a call means: exactly the one with this name in exactly this namespace.
    ///
    /// # Errors
    /// [`UnknownCall`], with everything that is offered, when there is none or it is not offered.
    pub fn find(&self, name: &str, namespace: Option<&str>) -> Result<(&FunctionTool, &Tool), UnknownCall> {
        LookupKey::of(name, namespace)
            .and_then(|key| self.listing.find(&key))
            .and_then(|at| self.at(at))
            .ok_or_else(|| self.unknown(name, namespace))
    }

    fn at(&self, at: usize) -> Option<(&FunctionTool, &Tool)> {
        let offered = self.enabled.get(at).copied().unwrap_or(false);
        offered.then(|| Some((self.tools.get(at)?, self.listing.tool(at)?))).flatten()
    }

    fn unknown(&self, name: &str, namespace: Option<&str>) -> UnknownCall {
        let shown = |tool: &FunctionTool| visible(tool.lookup_key().trace_name().as_str(), 200);
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let called = match namespace {
            Some(namespace) if namespace != name => format!("{namespace}.{name}"),
            _ => name.to_owned(),
        };
        let named = |(tool, _): &(&FunctionTool, &Tool)| tool.name().as_str() == name;
        UnknownCall {
            called: visible(&called, 200),
            elsewhere: self.offered().filter(named).map(|(tool, _)| shown(tool)).collect(),
            offered: self.offered().map(|(tool, _)| shown(tool)).collect(),
        }
    }

    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    pub(super) fn task(&self) -> Option<&Task> {
        self.workspace().tasks().find(self.context.task_name()?.as_str()).ok().map(AsRef::as_ref)
    }
}

impl UnknownCall {
    fn sentence(&self) -> String {
        match self.elsewhere.as_slice() {
            [] => format!("there is no tool `{}`", self.called),
            [_] => format!("there is no tool `{}` in that namespace", self.called),
            many => format!("`{}` is the name of {} tools", self.called, many.len()),
        }
    }

    /// What records call it.
    #[must_use]
    pub fn kind(&self) -> StrayKind {
        if self.elsewhere.len() > 1 { StrayKind::Ambiguous } else { StrayKind::Unknown }
    }

    /// What the model is told.
    #[must_use]
    pub fn text(&self) -> String {
        let listed = if self.elsewhere.is_empty() { &self.offered } else { &self.elsewhere };
        let mut names: Vec<String> = listed.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
        if listed.len() > SHOWN {
            names.push(format!("and {} more", listed.len() - SHOWN));
        }
        let then = match (names.is_empty(), self.elsewhere.is_empty()) {
            (true, _) => "No tool is offered.".to_owned(),
            (false, true) => format!("Offered are: {}.", names.join(", ")),
            (false, false) => format!("Did you mean {}?", names.join(" or ")),
        };
        format!("Nothing was called: {}. {then}", self.sentence())
    }
}

impl Explain for UnknownCall {
    fn code(&self) -> Code {
        if self.elsewhere.len() > 1 { Code::new("ambiguous-tool") } else { Code::new("unknown-tool") }
    }

    fn why(&self) -> String {
        "only what is offered in a turn can be called in it, and a likely tool is not the tool that was meant".into()
    }

    fn fix(&self) -> String {
        match self.elsewhere.as_slice() {
            [] => "call one of the offered tools".into(),
            some => format!("say the namespace: {}", some.join(", ")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("called", self.called.as_str().into()), ("offered", self.offered.as_slice().into())])
    }
}
