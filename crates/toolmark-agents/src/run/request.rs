//! What is a model told in a turn? The tools that are offered, the agents it may hand over to, and how to answer.

use std::borrow::Cow;
use std::collections::HashSet;

use toolmark_core::compat::{self, CollisionPolicy, Route, Routes, WireName, resolve_tool_name_collisions};
use toolmark_core::digest::DefinitionDigest;
use toolmark_core::names::LookupKey;
use toolmark_core::tool::ToolKind;
use toolmark_models::{CustomTool, FunctionCall, FunctionTool, HostedTool, ModelRequest, WireTool};
use toolmark_runtime::tools::{self, Turn};

use super::error::RunErrorKind;
use crate::agent::Agent;
use crate::graph::Graph;
use crate::handoff::Handoff;

/// One turn, ready to be asked and to be called in.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) turn: Turn,
    /// The handoffs that are offered.
    handoffs: Vec<Handoff>,
    routes: Routes,
}

/// What was said last about tools, so that it need not be written again while nothing changes.
#[derive(Debug, Default)]
pub(super) struct Written {
    agent: String,
    /// Which tools they were, and the names of the handoffs.
    of: (Vec<Listed>, Vec<String>),
    pub(super) request: ModelRequest,
}

/// What of a tool could make another request. Lists of toolsets change between turns, so that no address tells tools apart.
type Listed = (DefinitionDigest, LookupKey, bool);

impl Prepared {
    pub(super) async fn new(agent: &Agent, turn: Turn) -> Result<Self, RunErrorKind> {
        let mut handoffs = Vec::new();
        for handoff in agent.handoffs() {
            if handoff.enabled.holds(turn.context(), false).await {
                handoffs.push(handoff.clone());
            }
        }
        let routes = routes(agent, &turn, &handoffs)?;
        Ok(Self { turn, handoffs, routes })
    }

    /// The handoff that a call means.
    pub(super) fn handoff(&self, call: &FunctionCall) -> Option<&Handoff> {
        match self.routes.route(WireName::new(Some(&call.name), call.namespace.as_deref())) {
            Ok(Route::Handoff(at)) => self.handoffs.get(at),
            _ => None,
        }
    }

    /// The names of the handoffs, for a model that called something else.
    pub(super) fn handoff_names(&self) -> Vec<String> {
        self.handoffs.iter().map(Handoff::tool_name).collect()
    }
}

/// Finds out where calls lead. Tools among themselves were compared when the turn began; here they are compared with everything else.
fn routes(agent: &Agent, turn: &Turn, handoffs: &[Handoff]) -> Result<Routes, RunErrorKind> {
    if handoffs.is_empty() && agent.0.hosted.is_empty() && agent.0.host.is_empty() {
        return Ok(Routes::default());
    }
    // What the host runs has the provider's own words on the wire, and no function's name.
    let functions = || turn.offered().map(|(own, _)| own).filter(|own| own.kind() != ToolKind::Hosted);
    let tools: Vec<compat::Tool> = functions().map(as_compat).collect();
    let named: Vec<compat::Handoff> = handoffs.iter().map(Handoff::as_compat).collect();
    let _ = resolve_tool_name_collisions(&tools, &named, CollisionPolicy::Error)?;
    // Custom tools are called by their bare names too, and must not be taken for a handoff.
    let mut bare: HashSet<Cow<'_, str>> = functions().map(tools::FunctionTool::called).collect();
    for handoff in &named {
        let name = handoff.tool_name().unwrap_or_default();
        let custom = functions().any(|own| own.kind() == ToolKind::Custom && own.name().as_str() == name);
        if custom {
            return Err(RunErrorKind::HostedCollision(name.to_owned()));
        }
        bare.insert(name.into());
    }
    let mut hosted: HashSet<&str> = HashSet::new();
    for tool in agent.0.hosted.iter().chain(&agent.0.host) {
        // Several MCP servers of the provider have one kind; each has a label of its own.
        let several = tool.kind() == "mcp";
        if bare.contains(tool.kind()) || (!hosted.insert(tool.kind()) && !several) {
            return Err(RunErrorKind::HostedCollision(tool.kind().to_owned()));
        }
    }
    Routes::new(&tools, &named).map_err(|error| RunErrorKind::Collisions(error.into()))
}

fn as_compat(tool: &tools::FunctionTool) -> compat::Tool {
    if tool.kind() == ToolKind::Custom {
        return compat::Tool::Custom(tool.called().as_ref().into());
    }
    let mut function = compat::FunctionTool::new(&tool.called());
    if let Some(namespace) = tool.seen_in() {
        function = function.in_namespace(namespace.name().as_str());
    }
    compat::Tool::Function(if tool.defers_loading() { function.deferred() } else { function })
}

impl Written {
    /// Writes everything but what the model reads of the conversation.
    pub(super) fn write(&mut self, agent: &Agent, graph: &Graph, prepared: &Prepared, forget_choice: bool) {
        let inner = &agent.0;
        let listed = prepared.turn.offered();
        let listed = listed.map(|(own, _)| (own.definition().digest(), own.lookup_key(), own.defers_loading()));
        let of = (listed.collect(), prepared.handoff_names());
        if self.agent != inner.name || self.of != of {
            let offered = || prepared.turn.offered().map(|(own, _)| own);
            let tools = offered().filter(|own| own.kind() != ToolKind::Hosted).map(wire);
            let here = |tool: &&HostedTool| {
                let own = |own: &tools::FunctionTool| own.kind() == ToolKind::Hosted && own.namespace().is_none();
                offered().any(|tool_of| own(tool_of) && tool_of.name().as_str() == tool.kind())
            };
            let hosted = inner.hosted.iter().chain(inner.host.iter().filter(here)).cloned().map(WireTool::Hosted);
            let handoffs =
                prepared.handoffs.iter().filter_map(|handoff| Some(as_tool(handoff, graph.target(handoff)?)));
            self.request = ModelRequest {
                tools: tools.chain(hosted).chain(handoffs).collect(),
                settings: inner.settings.clone(),
                parallel_tool_calls: inner.parallel_tool_calls,
                output: inner.output.as_ref().map(|output| (*output.schema).clone()),
                ..ModelRequest::default()
            };
            self.agent.clone_from(&inner.name);
            self.of = of;
        }
        let choice = inner.tool_choice.clone().filter(|_| !(forget_choice && inner.reset_tool_choice));
        self.request.tool_choice = choice;
    }
}

/// A tool as models see it.
fn wire(tool: &tools::FunctionTool) -> WireTool {
    let name = tool.called().into_owned();
    if tool.kind() == ToolKind::Custom {
        let description = Some(tool.description().to_owned()).filter(|text| !text.is_empty());
        let format = tool.grammar().map(tools::Grammar::to_wire);
        return WireTool::Custom(CustomTool { name, description, format, ..CustomTool::default() });
    }
    let strict = tool.strict_parameters();
    WireTool::Function(FunctionTool {
        name,
        description: tool.description().to_owned(),
        parameters: strict.unwrap_or_else(|| tool.parameters()).clone(),
        strict: strict.is_some(),
        namespace: tool.seen_in().map(|namespace| namespace.name().as_str().to_owned()),
        namespace_description: tool.seen_in().map(|namespace| namespace.description().to_owned()),
        defer_loading: tool.defers_loading(),
        ..FunctionTool::default()
    })
}

fn as_tool(handoff: &Handoff, agent: &Agent) -> WireTool {
    WireTool::Function(FunctionTool {
        strict: handoff.input.is_none(),
        ..FunctionTool::new(handoff.tool_name(), handoff.description_of(agent), handoff.parameters())
    })
}
