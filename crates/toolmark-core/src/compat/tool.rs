//! What the SDK knows about a tool when it gives it names: its kind, its own name, its namespace, whether it is loaded late.

use super::agent_name::{agent_tool_name, handoff_name};
use super::wire::{QualifiedName, WireName};
use crate::names::{LookupKey, TraceName};

/// One entry of an agent's list of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A function, or an agent used as one. Only these have lookup keys.
    Function(FunctionTool),
    /// A way to hand the conversation to another agent.
    Handoff(Handoff),
    /// A tool that takes free text.
    Custom(Box<str>),
    /// A tool that the provider or the SDK brings along.
    BuiltIn(BuiltIn),
}

/// A tool with a schema and a function behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTool {
    name: Box<str>,
    namespace: Option<Box<str>>,
    deferred: bool,
    derived_from: Option<Box<str>>,
}

/// A tool whose call moves the conversation to another agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    name: Box<str>,
    derived_from: Option<Box<str>>,
}

/// The tools that carry a fixed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after the tool it stands for")]
pub enum BuiltIn {
    WebSearch,
    FileSearch,
    CodeInterpreter,
    ImageGeneration,
    HostedMcp,
    Computer,
    Shell,
    LocalShell,
    ApplyPatch,
    ToolSearch,
    ProgrammaticToolCalling,
}

impl FunctionTool {
    /// A tool under a name of its own. With an empty name it cannot be called and takes part in nothing.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), namespace: None, deferred: false, derived_from: None }
    }

    /// An agent as a tool: under the given name, or under one derived from the agent's.
    #[must_use]
    pub fn of_agent(agent: &str, name: Option<&str>) -> Self {
        match name.filter(|name| !name.is_empty()) {
            Some(name) => Self::new(name),
            None => Self { derived_from: Some(agent.into()), ..Self::new(agent_tool_name(agent).name()) },
        }
    }

    /// The same tool inside a namespace. An empty namespace is none.
    #[must_use]
    pub fn in_namespace(self, namespace: &str) -> Self {
        Self { namespace: Some(namespace).filter(|namespace| !namespace.is_empty()).map(Into::into), ..self }
    }

    /// The same tool, loaded only when the model searches for it.
    #[must_use]
    pub fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    /// What the model sees, unless that is empty.
    #[must_use]
    pub fn public_name(&self) -> Option<&str> {
        self.wire_name().name()
    }

    /// The namespace it was put in.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The agent whose name its own was derived from.
    #[must_use]
    pub fn derived_from(&self) -> Option<&str> {
        self.derived_from.as_deref()
    }

    /// True when it is loaded late and stands in no namespace: then its bare name does not reach it.
    #[must_use]
    pub fn is_deferred_top_level(&self) -> bool {
        self.deferred && self.namespace.is_none() && !self.name.is_empty()
    }

    /// The one key under which a call reaches it.
    #[must_use]
    pub fn lookup_key(&self) -> Option<LookupKey> {
        if self.is_deferred_top_level() {
            return Some(LookupKey::DeferredTopLevel(self.name.clone()));
        }
        self.wire_name().lookup_key()
    }

    /// The label under which it is dispatched; says nothing about late loading.
    #[must_use]
    pub fn dispatch_name(&self) -> Option<QualifiedName> {
        self.wire_name().qualified_name()
    }

    /// The label of its spans.
    #[must_use]
    pub fn trace_name(&self) -> Option<TraceName> {
        self.wire_name().trace_name()
    }

    pub(super) fn wire_name(&self) -> WireName<'_> {
        WireName::new(Some(&self.name), self.namespace())
    }
}

impl Handoff {
    /// A handoff under a name of its own. An empty name takes part in nothing.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), derived_from: None }
    }

    /// A handoff to an agent: under the given name, or under one derived from the agent's.
    #[must_use]
    pub fn to_agent(agent: &str, name: Option<&str>) -> Self {
        match name.filter(|name| !name.is_empty()) {
            Some(name) => Self::new(name),
            None => Self { name: handoff_name(agent).name().into(), derived_from: Some(agent.into()) },
        }
    }

    /// The name of the tool that the model calls, unless it is empty.
    #[must_use]
    pub fn tool_name(&self) -> Option<&str> {
        Some(self.name.as_ref()).filter(|name| !name.is_empty())
    }

    /// The agent whose name its own was derived from.
    #[must_use]
    pub fn derived_from(&self) -> Option<&str> {
        self.derived_from.as_deref()
    }
}

impl BuiltIn {
    /// The name under which the SDK runs it.
    #[must_use]
    pub fn runtime_name(self) -> &'static str {
        match self {
            Self::WebSearch => "web_search",
            Self::FileSearch => "file_search",
            Self::CodeInterpreter => "code_interpreter",
            Self::ImageGeneration => "image_generation",
            Self::HostedMcp => "hosted_mcp",
            Self::Computer => "computer_use_preview",
            Self::Shell => "shell",
            Self::LocalShell => "local_shell",
            Self::ApplyPatch => "apply_patch",
            Self::ToolSearch => "tool_search",
            Self::ProgrammaticToolCalling => "programmatic_tool_calling",
        }
    }

    /// The label of its spans; only the computer has one of its own.
    #[must_use]
    pub fn trace_name(self) -> TraceName {
        TraceName::new(if self == Self::Computer { "computer" } else { self.runtime_name() })
    }
}

impl Tool {
    /// The function tool in it, if it has that shape.
    #[must_use]
    pub fn as_function(&self) -> Option<&FunctionTool> {
        match self {
            Self::Function(tool) => Some(tool),
            _ => None,
        }
    }

    /// How the span of an agent lists it: by its own name, without a namespace. Handoffs are not listed.
    #[must_use]
    pub fn display_trace_name(&self) -> Option<TraceName> {
        match self {
            Self::Function(tool) => tool.public_name().map(TraceName::new),
            Self::Custom(name) => Some(name.clone()).filter(|name| !name.is_empty()).map(TraceName::new),
            Self::BuiltIn(kind) => Some(kind.trace_name()),
            Self::Handoff(_) => None,
        }
    }
}
