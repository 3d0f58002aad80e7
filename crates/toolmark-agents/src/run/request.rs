//! What is a model told in a turn? The tools that are offered, the agents it may hand over to, and how to answer.

use std::collections::HashSet;

use toolmark_core::compat::{self, CollisionPolicy, Route, Routes, WireName, resolve_tool_name_collisions};
use toolmark_core::tool::ToolKind;
use toolmark_models::{CustomTool, FunctionCall, FunctionTool, ModelRequest, WireTool};
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
    /// Where the definitions are in memory, and the names of the handoffs.
    of: (Vec<usize>, Vec<String>),
    pub(super) request: ModelRequest,
}

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
    if handoffs.is_empty() && agent.0.hosted.is_empty() {
        return Ok(Routes::default());
    }
    let tools: Vec<compat::Tool> = turn.offered().map(|(own, _)| as_compat(own)).collect();
    let named: Vec<compat::Handoff> = handoffs.iter().map(Handoff::as_compat).collect();
    let _ = resolve_tool_name_collisions(&tools, &named, CollisionPolicy::Error)?;
    // Custom tools are called by their bare names too, and must not be taken for a handoff.
    let mut bare: HashSet<&str> = turn.offered().map(|(own, _)| own.name().as_str()).collect();
    for handoff in &named {
        let name = handoff.tool_name().unwrap_or_default();
        let custom = turn.offered().any(|(own, _)| own.kind() == ToolKind::Custom && own.name().as_str() == name);
        if custom {
            return Err(RunErrorKind::HostedCollision(name.to_owned()));
        }
        bare.insert(name);
    }
    let mut hosted: HashSet<&str> = HashSet::new();
    for tool in &agent.0.hosted {
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
        return compat::Tool::Custom(tool.name().as_str().into());
    }
    let mut function = compat::FunctionTool::new(tool.name().as_str());
    if let Some(namespace) = tool.namespace() {
        function = function.in_namespace(namespace.name().as_str());
    }
    compat::Tool::Function(if tool.defers_loading() { function.deferred() } else { function })
}

impl Written {
    /// Writes everything but what the model reads of the conversation.
    pub(super) fn write(&mut self, agent: &Agent, graph: &Graph, prepared: &Prepared, forget_choice: bool) {
        let inner = &agent.0;
        let addresses =
            prepared.turn.offered().map(|(own, _)| std::ptr::from_ref(own.definition()).addr()).collect::<Vec<_>>();
        let of = (addresses, prepared.handoff_names());
        if self.agent != inner.name || self.of != of {
            let tools = prepared.turn.offered().map(|(own, _)| wire(own));
            let hosted = inner.hosted.iter().cloned().map(WireTool::Hosted);
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
    let name = tool.name().as_str().to_owned();
    if tool.kind() == ToolKind::Custom {
        let description = Some(tool.description().to_owned()).filter(|text| !text.is_empty());
        return WireTool::Custom(CustomTool { name, description, ..CustomTool::default() });
    }
    let strict = tool.strict_parameters();
    WireTool::Function(FunctionTool {
        name,
        description: tool.description().to_owned(),
        parameters: strict.unwrap_or_else(|| tool.parameters()).clone(),
        strict: strict.is_some(),
        namespace: tool.namespace().map(|namespace| namespace.name().as_str().to_owned()),
        namespace_description: tool.namespace().map(|namespace| namespace.description().to_owned()),
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
