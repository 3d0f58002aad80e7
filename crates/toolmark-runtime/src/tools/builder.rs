//! Building a tool by hand, or from what `#[tool]` found: everything is checked once, when it is built.

mod error;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolmark_core::behavior::{Behavior, ParseBehaviorError};
use toolmark_core::definition::Definition;
use toolmark_core::display;
use toolmark_core::explain::facts;
use toolmark_core::text::visible;
use toolmark_core::tool::ToolKind;

pub use self::error::BuildToolError;
use super::arguments::Arguments;
use super::condition::Condition;
use super::context::{ToolContext, TurnContext};
use super::error::ToolError;
use super::function::{Around, Body, FunctionTool, OnError, OnTimeout, Said, Strict};
use super::grammar::Grammar;
use super::guardrail::{InputGuardrail, OutputGuardrail};
use super::names::DisplayNames;
use super::output::ToolOutput;
use super::schema::{self, Unusable};

/// A tool to be.
///
/// ```
/// use serde_json::json;
/// use toolmark_runtime::tools::FunctionTool;
///
/// let tool = FunctionTool::builder("process_user")
///     .description("Processes extracted user data")
///     .parameters(json!({
///         "properties": { "username": { "type": "string" }, "age": { "type": "integer" } },
///         "required": ["username", "age"],
///     }))
///     .run(|_, arguments| async move {
///         let user = arguments.get("username").and_then(|name| name.as_str()).unwrap_or("somebody");
///         Ok(format!("{user} is done"))
///     })
///     .build()?;
/// assert_eq!(tool.name().as_str(), "process_user");
/// # Ok::<(), toolmark_runtime::tools::BuildToolError>(())
/// ```
pub struct ToolBuilder {
    name: String,
    place: String,
    description: String,
    parameters: Value,
    strict: Strict,
    kind: ToolKind,
    behavior: Option<Result<Behavior, ParseBehaviorError>>,
    definition: Option<Definition>,
    names: DisplayNames,
    enabled: Condition<TurnContext>,
    needs_approval: Condition<ToolContext>,
    grammar: Option<Grammar>,
    defer_loading: bool,
    around: Around,
    body: Option<Body>,
}

impl ToolBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            place: format!("rust:{}", visible(&name, 100)),
            name,
            description: String::new(),
            parameters: json!({"type": "object", "properties": {}}),
            strict: Strict::default(),
            kind: ToolKind::Function,
            behavior: None,
            definition: None,
            names: DisplayNames::default(),
            enabled: Condition::fixed(true),
            needs_approval: Condition::fixed(false),
            grammar: None,
            defer_loading: false,
            around: Around::default(),
            body: None,
        }
    }

    /// Another name than the one it began with.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Where it is written, for whoever has to find it.
    #[must_use]
    pub fn place(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    /// What models read about it.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// What it accepts, as JSON Schema of an object.
    #[must_use]
    pub fn parameters(mut self, schema: Value) -> Self {
        self.parameters = schema;
        self
    }

    /// What it accepts, as a type says it.
    #[must_use]
    pub fn parameters_of<T: schemars::JsonSchema>(self) -> Self {
        let schema = schema::of_type::<T>();
        self.parameters(schema)
    }

    /// Whether a provider holds the model to the schema.
    #[must_use]
    pub fn strict(mut self, strict: Strict) -> Self {
        self.strict = strict;
        self
    }

    /// What it does.
    #[must_use]
    pub fn behavior(mut self, behavior: Behavior) -> Self {
        self.behavior = Some(Ok(behavior));
        self
    }

    /// What it does, in words: `MUTATES|CREATE|ISSUE`.
    #[must_use]
    pub fn behavior_of(mut self, text: &str) -> Self {
        self.behavior = Some(text.parse());
        self
    }

    /// What runs when it is called, where that is not a function of this program.
    #[must_use]
    pub fn kind(mut self, kind: ToolKind) -> Self {
        self.kind = kind;
        self
    }

    /// What the text looks like that it takes. Only tools of the kind [`ToolKind::Custom`] take free text.
    #[must_use]
    pub fn grammar(mut self, grammar: Grammar) -> Self {
        self.grammar = Some(grammar);
        self
    }

    /// What a publisher says of it, such as an MCP server. It takes the place of name, description, parameters, behavior and display
    /// names.
    #[must_use]
    pub fn definition(mut self, definition: Definition) -> Self {
        self.definition = Some(definition);
        self
    }

    /// What people call it.
    #[must_use]
    pub fn display_name(mut self, name: impl Into<String>) -> Self {
        self.names.everywhere = Some(name.into());
        self
    }

    /// What people call it in one language, such as `nl` or `pt-BR`.
    #[must_use]
    pub fn display_name_in(mut self, locale: impl Into<String>, name: impl Into<String>) -> Self {
        self.names.locales.insert(locale.into(), name.into());
        self
    }

    /// What is said, aloud or as progress, while it works.
    #[must_use]
    pub fn spoken(mut self, text: impl Into<String>) -> Self {
        self.names.spoken = Some(text.into());
        self
    }

    /// What is said in one language while it works.
    #[must_use]
    pub fn spoken_in(mut self, locale: impl Into<String>, text: impl Into<String>) -> Self {
        self.names.spoken_in.insert(locale.into(), text.into());
        self
    }

    /// A small picture: one emoji, or a picture as `data:` address. What is neither is not shown.
    #[must_use]
    pub fn icon(mut self, icon: impl Into<String>) -> Self {
        self.names.icon = Some(icon.into());
        self
    }

    /// The group that it is shown in.
    #[must_use]
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.names.category = Some(category.into());
        self
    }

    /// Whether it is offered at all, asked in every turn. A tool that is not offered cannot be called.
    #[must_use]
    pub fn enabled(mut self, condition: impl Into<Condition<TurnContext>>) -> Self {
        self.enabled = condition.into();
        self
    }

    /// Offered when this says so.
    #[must_use]
    pub fn enabled_if(self, asked: impl Fn(&TurnContext) -> bool + Send + Sync + 'static) -> Self {
        self.enabled(Condition::when(asked))
    }

    /// Offered when this says so, which may take a while.
    #[must_use]
    pub fn enabled_later<F, T>(self, asked: F) -> Self
    where
        F: Fn(TurnContext) -> T + Send + Sync + 'static,
        T: Future<Output = bool> + Send + 'static,
    {
        self.enabled(Condition::when_later(asked))
    }

    /// Whether a person must agree, asked for every call. This only adds a reason to ask; it takes none away.
    #[must_use]
    pub fn needs_approval(mut self, condition: impl Into<Condition<ToolContext>>) -> Self {
        self.needs_approval = condition.into();
        self
    }

    /// One more reason to ask a person, beside whatever was said before.
    #[must_use]
    pub fn also_needs_approval(mut self, condition: impl Into<Condition<ToolContext>>) -> Self {
        self.needs_approval = self.needs_approval.or(condition.into());
        self
    }

    /// A person must agree when this says so.
    #[must_use]
    pub fn needs_approval_if(self, asked: impl Fn(&ToolContext) -> bool + Send + Sync + 'static) -> Self {
        self.needs_approval(Condition::when(asked))
    }

    /// A person must agree when this says so, which may take a while.
    #[must_use]
    pub fn needs_approval_later<F, T>(self, asked: F) -> Self
    where
        F: Fn(ToolContext) -> T + Send + Sync + 'static,
        T: Future<Output = bool> + Send + 'static,
    {
        self.needs_approval(Condition::when_later(asked))
    }

    /// How long a call may take. What takes longer is dropped.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.around.timeout = Some(timeout);
        self
    }

    /// What becomes of a call that takes longer.
    #[must_use]
    pub fn on_timeout(mut self, on_timeout: OnTimeout) -> Self {
        self.around.on_timeout = on_timeout;
        self
    }

    /// What becomes of an error.
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.around.on_error = on_error;
        self
    }

    /// Shows it to a model only after the model looked for it.
    #[must_use]
    pub fn defer_loading(mut self, deferred: bool) -> Self {
        self.defer_loading = deferred;
        self
    }

    /// One more check before the body runs.
    #[must_use]
    pub fn input_guardrail(mut self, guardrail: InputGuardrail) -> Self {
        self.around.inputs.push(guardrail);
        self
    }

    /// One more check of what the body brought.
    #[must_use]
    pub fn output_guardrail(mut self, guardrail: OutputGuardrail) -> Self {
        self.around.outputs.push(guardrail);
        self
    }

    /// Also runs the input guardrails before a person is asked, so that nobody is asked about a call that they stop anyway.
    #[must_use]
    pub fn check_before_approval(mut self, check: bool) -> Self {
        self.around.check_before_approval = check;
        self
    }

    /// What runs. The arguments fit the schema.
    #[must_use]
    pub fn run<F, T, O>(mut self, body: F) -> Self
    where
        F: Fn(ToolContext, Arguments) -> T + Send + Sync + 'static,
        T: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: Into<ToolOutput> + 'static,
    {
        self.body = Some(Arc::new(move |context, arguments| {
            let running = body(context, arguments);
            Box::pin(async move { running.await.map(Into::into) })
        }));
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// [`BuildToolError`] with the first thing that cannot be.
    pub fn build(self) -> Result<FunctionTool, BuildToolError> {
        let shown = || visible(&self.name, 200);
        let Some(body) = self.body.clone() else { return Err(BuildToolError::NoBody { tool: shown() }) };
        if self.around.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(BuildToolError::Timeout { tool: shown() });
        }
        if let Some(locale) = self.names.no_language() {
            return Err(BuildToolError::Locale { tool: shown(), locale: visible(locale, 60) });
        }
        if let Some(Err(error)) = &self.behavior {
            return Err(BuildToolError::Behavior { tool: shown(), error: error.clone() });
        }
        if let Some(grammar) = &self.grammar {
            let misplaced = || "only a tool of the kind `Custom` takes free text".to_owned();
            let problem = if self.kind == ToolKind::Custom { grammar.problem() } else { Some(misplaced()) };
            if let Some(problem) = problem {
                return Err(BuildToolError::Grammar { tool: shown(), problem: visible(&problem, 400) });
            }
        }
        let (definition, description, names, written) = match &self.definition {
            None => (None, self.description.clone(), self.names.clone(), self.parameters.clone()),
            Some(given) => {
                let reading = given.reading();
                let names = DisplayNames { everywhere: reading.title().map(str::to_owned), ..DisplayNames::default() };
                let schema = reading.input_schema().to_value();
                (Some(given.clone()), reading.description().to_owned(), names, schema)
            }
        };
        let parameters = schema::prepare(written, self.strict).map_err(|unusable| match unusable {
            Unusable::NotAnObject => BuildToolError::NotAnObject { tool: shown() },
            Unusable::Compile(error) => BuildToolError::Schema { tool: shown(), error },
            Unusable::Strict(error) => BuildToolError::Strict { tool: shown(), error },
        })?;
        let definition = match definition {
            Some(given) => given,
            None => Definition::of_value(&self.place, &self.said(&parameters.plain))
                .map_err(|error| BuildToolError::Definition { tool: shown(), error })?,
        };
        let strict = parameters.strict;
        let said = Said { description, parameters: parameters.plain, strict, grammar: self.grammar.clone(), names };
        Ok(FunctionTool {
            definition: Arc::new(definition),
            said: Arc::new(said),
            kind: self.kind,
            namespace: None,
            enabled: self.enabled,
            needs_approval: self.needs_approval,
            defer_loading: self.defer_loading,
            flat: false,
            around: Arc::new(self.around),
            body,
        })
    }

    /// The definition, in the form of an MCP tool.
    fn said(&self, parameters: &Value) -> Value {
        let mut all = Map::new();
        all.insert("name".into(), self.name.as_str().into());
        if let Some(title) = &self.names.everywhere {
            all.insert("title".into(), title.as_str().into());
        }
        all.insert("description".into(), self.description.as_str().into());
        all.insert("inputSchema".into(), parameters.clone());
        let mut meta = Map::new();
        if let Some(Ok(behavior)) = self.behavior {
            meta.insert("dev.toolmark/behavior".into(), fields(behavior));
        }
        if let Some(grammar) = &self.grammar {
            meta.insert("dev.toolmark/format".into(), grammar.to_wire());
        }
        if let Some(names) = self.names.to_json() {
            meta.insert("dev.toolmark/names".into(), names);
        }
        if let Some(spoken) = self.names.spoken_json() {
            meta.insert(display::SPOKEN_TEXTS.into(), spoken);
        }
        for (key, text) in [(display::ICON, &self.names.icon), (display::CATEGORY, &self.names.category)] {
            meta.extend(text.as_ref().map(|text| (key.to_owned(), text.as_str().into())));
        }
        if !meta.is_empty() {
            all.insert("_meta".into(), Value::Object(meta));
        }
        Value::Object(all)
    }
}

/// A behavior as a publisher declares it.
fn fields(behavior: Behavior) -> Value {
    let mut all = facts([
        ("mutability", behavior.mutability().as_str().into()),
        ("action", behavior.action().as_str().into()),
        ("output_domain", behavior.output_domain().as_str().into()),
    ]);
    if let Some(content) = behavior.content_type() {
        all.insert("content_type".into(), content.as_str().into());
    }
    if let Some(facets) = behavior.facets() {
        if let Some(target) = facets.target {
            all.insert("target".into(), target.to_string().into());
        }
        all.insert("polarity".into(), facets.polarity.as_str().into());
        all.insert("reach".into(), facets.reach.as_str().into());
    }
    Value::Object(all)
}

impl fmt::Debug for ToolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
