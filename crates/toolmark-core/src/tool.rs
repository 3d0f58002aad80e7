//! A tool in a catalog: one identity with all its layers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::behavior::Behavior;
use crate::canonical;
use crate::definition::Definition;
use crate::digest::{self, DefinitionDigest, Mark, SchemaDigest};
use crate::display;
use crate::document::Place;
use crate::explain::{Code, Explain};
use crate::names::{ApprovalKey, CanonicalName, DisplayName, LookupKey, TraceName, text_name};
use crate::schema::check::{CompileSchemaError, InputSchema, InvalidArguments};

/// Where a tool really comes from: a package, an address, a module. Part of its key, so that a namesake is another tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(Arc<str>);

text_name!(Source);

/// What will run when a tool is called. All kinds share one space of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolKind {
    /// A function in this program.
    Function,
    /// A tool of an MCP server.
    Mcp,
    /// Another agent, called like a tool.
    Agent,
    /// The conversation passes to another agent.
    Handoff,
    /// A tool with free-form input.
    Custom,
    /// A tool that the model's provider runs.
    Hosted,
}

/// One tool, in one version, with everything that identifies it.
#[derive(Debug)]
pub struct Tool {
    canonical: CanonicalName,
    source: Source,
    kind: ToolKind,
    definition: Definition,
    schema: OnceLock<Box<Result<InputSchema, CompileSchemaError>>>,
}

/// What rules bind to: source, pack and raw name, without a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolKey {
    source: Source,
    canonical: CanonicalName,
}

/// Arguments that may not be sent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckArgumentsError {
    /// The tool's schema cannot be used.
    #[error(transparent)]
    Schema(CompileSchemaError),
    /// The arguments do not fit it.
    #[error(transparent)]
    Arguments(InvalidArguments),
}

impl Source {
    /// Names a source, such as `npm:@modelcontextprotocol/server-github`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }
}

impl ToolKind {
    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Mcp => "mcp",
            Self::Agent => "agent",
            Self::Handoff => "handoff",
            Self::Custom => "custom",
            Self::Hosted => "hosted",
        }
    }
}

impl fmt::Display for ToolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for ToolKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Tool {
    pub(crate) fn new(canonical: CanonicalName, source: Source, kind: ToolKind, definition: Definition) -> Self {
        Self { canonical, source, kind, definition, schema: OnceLock::new() }
    }

    /// `pack.raw`, the name under which Toolmark knows it.
    #[must_use]
    pub fn canonical(&self) -> &CanonicalName {
        &self.canonical
    }

    /// What the source calls it; used verbatim to dispatch.
    #[must_use]
    pub fn raw(&self) -> &crate::names::RawName {
        self.definition.name()
    }

    /// The pack that owns it.
    #[must_use]
    pub fn pack(&self) -> Option<&str> {
        self.canonical.pack()
    }

    /// Where it comes from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What runs when it is called.
    #[must_use]
    pub fn kind(&self) -> ToolKind {
        self.kind
    }

    /// What its publisher says.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The digest of what its publisher says.
    #[must_use]
    pub fn digest(&self) -> DefinitionDigest {
        self.definition.digest()
    }

    /// The behavior that is declared for it.
    #[must_use]
    pub fn behavior(&self) -> Option<Behavior> {
        self.definition.declared()
    }

    /// What rules bind to.
    #[must_use]
    pub fn key(&self) -> ToolKey {
        ToolKey { source: self.source.clone(), canonical: self.canonical.clone() }
    }

    /// The key that dispatch uses: the pack is the namespace.
    #[must_use]
    pub fn lookup_key(&self) -> LookupKey {
        match self.pack() {
            None => LookupKey::Bare(self.raw().as_str().into()),
            Some(pack) => LookupKey::Namespaced(pack.into(), self.raw().as_str().into()),
        }
    }

    /// Where decisions about it are stored.
    #[must_use]
    pub fn approval_key(&self) -> ApprovalKey {
        self.lookup_key().approval_key()
    }

    /// The label of its spans.
    #[must_use]
    pub fn trace_name(&self) -> TraceName {
        self.lookup_key().trace_name()
    }

    /// What a person reads: its title, or its name in words.
    #[must_use]
    pub fn display_name(&self) -> DisplayName {
        display::name(self.definition.reading().title(), self.raw())
    }

    /// *This* tool in *this* version: what grants and pins bind to.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let mut text = Vec::new();
        for part in [self.source.as_str(), self.pack().unwrap_or_default(), self.raw().as_str()] {
            canonical::write_string(part, &mut text);
        }
        text.extend_from_slice(self.digest().as_bytes());
        if let Some(behavior) = self.behavior() {
            canonical::write_string(&behavior.to_string(), &mut text);
        }
        Mark::of_bytes(digest::MARK, &text)
    }

    /// Where its definition was read.
    #[must_use]
    pub fn place(&self) -> Place {
        self.definition.slice().place()
    }

    /// What it accepts, compiled when somebody first asks and kept.
    ///
    /// # Errors
    /// When the publisher's schema cannot be used; the tool can then not be called.
    pub fn input_schema(&self) -> Result<&InputSchema, &CompileSchemaError> {
        let compile = || Box::new(InputSchema::compile(&self.definition.reading().input_schema().to_value()));
        self.schema.get_or_init(compile).as_ref().as_ref()
    }

    /// Checks the arguments of a call against what the tool accepts.
    ///
    /// # Errors
    /// [`CheckArgumentsError`] when they do not fit, or when the tool's own schema cannot be used.
    pub fn check_arguments(&self, arguments: &Value) -> Result<(), CheckArgumentsError> {
        let schema = self.input_schema().map_err(|error| CheckArgumentsError::Schema(error.clone()))?;
        schema.check(arguments).map_err(CheckArgumentsError::Arguments)
    }

    /// What it accepts, as a digest: tools that share it cannot be told apart by validation.
    #[must_use]
    pub fn schema_digest(&self) -> SchemaDigest {
        SchemaDigest::of_schema(&self.definition.reading().input_schema())
    }

    /// The object that stands as `_meta["dev.toolmark/identity"]` wherever the tool is shown.
    #[must_use]
    pub fn identity_json(&self) -> Map<String, Value> {
        crate::explain::facts([
            ("canonical", self.canonical.as_str().into()),
            ("pack", self.pack().into()),
            ("raw", self.raw().as_str().into()),
            ("mark", self.mark().to_string().into()),
            ("digest", self.digest().to_string().into()),
        ])
    }
}

impl ToolKey {
    /// Where the tool comes from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Its pack and raw name.
    #[must_use]
    pub fn canonical(&self) -> &CanonicalName {
        &self.canonical
    }
}

impl fmt::Display for ToolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.source, self.canonical)
    }
}

impl Explain for CheckArgumentsError {
    fn code(&self) -> Code {
        match self {
            Self::Schema(error) => error.code(),
            Self::Arguments(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Schema(error) => error.why(),
            Self::Arguments(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Schema(error) => error.fix(),
            Self::Arguments(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Schema(error) => error.facts(),
            Self::Arguments(error) => error.facts(),
        }
    }
}

#[cfg(test)]
mod tests;
