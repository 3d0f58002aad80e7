//! One tool of a program: what is said of it, when it may be used, and what runs. Only the pipeline runs it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolmark_core::behavior::Behavior;
use toolmark_core::definition::{Definition, ReadDefinitionError};
use toolmark_core::names::{CanonicalName, LookupKey, PackName, RawName, flat_name};
use toolmark_core::tool::{Source, ToolKind};

use super::arguments::Arguments;
use super::builder::ToolBuilder;
use super::condition::Condition;
use super::context::{ToolContext, TurnContext};
use super::error::ToolError;
use super::grammar::Grammar;
use super::guardrail::{InputGuardrail, OutputGuardrail};
use super::names::DisplayNames;
use super::output::ToolOutput;
use crate::approve::Later;

/// A tool that this program runs. Cheap to clone; never changes.
#[derive(Clone)]
pub struct FunctionTool {
    pub(super) definition: Arc<Definition>,
    pub(super) said: Arc<Said>,
    pub(super) kind: ToolKind,
    pub(super) namespace: Option<Arc<Namespace>>,
    pub(super) enabled: Condition<TurnContext>,
    pub(super) needs_approval: Condition<ToolContext>,
    pub(super) defer_loading: bool,
    /// Called by one plain name, without its namespace.
    pub(super) flat: bool,
    pub(super) around: Arc<Around>,
    pub(super) body: Body,
}

/// What a body is: it gets the call and what it is called with.
pub(super) type Body =
    Arc<dyn Fn(ToolContext, Arguments) -> Later<'static, Result<ToolOutput, ToolError>> + Send + Sync>;

/// What models and people read.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) description: String,
    pub(super) parameters: Value,
    pub(super) strict: Option<Value>,
    pub(super) grammar: Option<Grammar>,
    pub(super) names: DisplayNames,
}

/// What happens around a body.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    pub(super) timeout: Option<Duration>,
    pub(super) on_timeout: OnTimeout,
    pub(super) on_error: OnError,
    pub(super) inputs: Vec<InputGuardrail>,
    pub(super) outputs: Vec<OutputGuardrail>,
    pub(super) check_before_approval: bool,
}

/// The pack that owns a tool: the namespace that models see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    pub(super) name: PackName,
    pub(super) description: String,
    pub(super) source: Source,
}

/// Makes a text for the model of an error.
pub type Says = Arc<dyn Fn(&ToolContext, &ToolError) -> String + Send + Sync>;

/// What becomes of an error of a tool.
#[derive(Clone, Default)]
pub enum OnError {
    /// The model reads that the tool failed, and what was written for it. Nothing else.
    #[default]
    Hide,
    /// The model reads the error.
    Tell,
    /// The model reads what this says.
    Say(Says),
    /// The run ends with the error.
    Propagate,
}

/// What becomes of a call that takes too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTimeout {
    /// The model reads that it took too long.
    #[default]
    Tell,
    /// The run ends with the error.
    Propagate,
}

/// Whether a provider is asked to hold the model to the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// Where the schema has a strict form, and not at all where it has none.
    #[default]
    WherePossible,
    /// Always; a schema without a strict form is an error.
    Always,
    /// Never.
    Never,
}

impl FunctionTool {
    /// Begins a tool.
    #[must_use]
    pub fn builder(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder::new(name.into())
    }

    /// What it is called inside its namespace.
    #[must_use]
    pub fn name(&self) -> &RawName {
        self.definition.name()
    }

    /// What models read about it.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.said.description
    }

    /// What it accepts, as JSON Schema.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.said.parameters
    }

    /// The strict form of that, where it is wanted and there is one. It accepts no more than the other.
    #[must_use]
    pub fn strict_parameters(&self) -> Option<&Value> {
        self.said.strict.as_ref()
    }

    /// What the text looks like that it takes, where it takes free text and that is said.
    #[must_use]
    pub fn grammar(&self) -> Option<&Grammar> {
        self.said.grammar.as_ref()
    }

    /// What people call it.
    #[must_use]
    pub fn display_names(&self) -> &DisplayNames {
        &self.said.names
    }

    /// What it is declared to do.
    #[must_use]
    pub fn behavior(&self) -> Option<Behavior> {
        self.definition.declared()
    }

    /// Everything that is said of it, as it stands in the catalog.
    #[must_use]
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// What runs when it is called.
    #[must_use]
    pub fn kind(&self) -> ToolKind {
        self.kind
    }

    /// The pack that owns it.
    #[must_use]
    pub fn namespace(&self) -> Option<&Namespace> {
        self.namespace.as_deref()
    }

    /// True when a model gets to see it only after it looked for it.
    #[must_use]
    pub fn defers_loading(&self) -> bool {
        self.defer_loading
    }

    /// Whether a person must agree to its calls; asked for each call.
    #[must_use]
    pub fn needs_approval(&self) -> &Condition<ToolContext> {
        &self.needs_approval
    }

    /// How long a call may take.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.around.timeout
    }

    /// Whether it is offered in a turn.
    pub async fn is_enabled(&self, turn: &TurnContext) -> bool {
        match self.enabled.as_fixed() {
            Some(fixed) => fixed,
            None => self.enabled.holds(turn, false).await,
        }
    }

    /// The name that models call it by, in the namespace that they see.
    #[must_use]
    pub fn called(&self) -> Cow<'_, str> {
        match &self.namespace {
            Some(namespace) if self.flat => flat_name(namespace.name.as_str(), self.name().as_str()).into(),
            _ => self.name().as_str().into(),
        }
    }

    /// The namespace that models see it in: its pack, unless it is called by one plain name.
    #[must_use]
    pub fn seen_in(&self) -> Option<&Namespace> {
        self.namespace.as_deref().filter(|_| !self.flat)
    }

    /// The key that dispatch uses.
    #[must_use]
    pub fn lookup_key(&self) -> LookupKey {
        let name: Box<str> = self.called().into();
        match self.seen_in() {
            Some(namespace) => LookupKey::Namespaced(namespace.name.as_str().into(), name),
            None if self.defer_loading => LookupKey::DeferredTopLevel(name),
            None => LookupKey::Bare(name),
        }
    }

    /// `pack.raw`, where it has a pack.
    #[must_use]
    pub fn canonical(&self) -> Option<CanonicalName> {
        match &self.namespace {
            Some(namespace) => Some(CanonicalName::in_pack(&namespace.name, self.name())),
            None => CanonicalName::without_pack(self.name()).ok(),
        }
    }

    /// The same tool under another name. What runs stays what it is.
    ///
    /// # Errors
    /// [`ReadDefinitionError`] when no tool can have that name.
    pub fn renamed(&self, name: &str) -> Result<Self, ReadDefinitionError> {
        let mut value =
            self.definition.reading().fields().iter().fold(serde_json::Map::new(), |mut all, (key, value)| {
                all.insert(key.to_string(), value.to_value());
                all
            });
        value.insert("name".into(), name.into());
        let definition = Definition::of_value(&self.definition.slice().place().file, &Value::Object(value))?;
        Ok(Self { definition: Arc::new(definition), ..self.clone() })
    }

    /// The same tool in a pack. Tools of one pack share the namespace itself, not only its name.
    #[must_use]
    pub fn in_namespace(mut self, namespace: Arc<Namespace>) -> Self {
        self.namespace = Some(namespace);
        self
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool")
            .field("name", &self.name().as_str())
            .field("kind", &self.kind)
            .field("namespace", &self.namespace.as_ref().map(|namespace| namespace.name.as_str()))
            .finish_non_exhaustive()
    }
}

impl Namespace {
    /// A pack that owns tools. What it says of itself is read by models.
    #[must_use]
    pub fn new(name: PackName, description: &str, source: Source) -> Self {
        Self { name, description: description.into(), source }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &PackName {
        &self.name
    }

    /// What models read about it.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Where its tools come from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }
}

impl OnError {
    /// The model reads what `says` makes of the error.
    pub fn say(says: impl Fn(&ToolContext, &ToolError) -> String + Send + Sync + 'static) -> Self {
        Self::Say(Arc::new(says))
    }
}

impl fmt::Debug for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hide => "Hide",
            Self::Tell => "Tell",
            Self::Say(_) => "Say",
            Self::Propagate => "Propagate",
        })
    }
}
