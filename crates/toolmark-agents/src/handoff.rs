//! To whom may the conversation pass, under which name does a model ask for it, and what does the next agent get to read?

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Value, json};
use toolmark_core::compat;
use toolmark_core::display::{Kind, LanguageTag, Layer, Names};
use toolmark_models::Item;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{Condition, TurnContext};

use crate::agent::Agent;

/// A way from one agent to another.
#[derive(Clone)]
pub struct Handoff {
    pub(crate) to: Target,
    name: Option<String>,
    description: Option<String>,
    display_names: Vec<(LanguageTag, String)>,
    display_name: Option<String>,
    pub(crate) input: Option<Value>,
    pub(crate) filter: Option<Filter>,
    pub(crate) on_handoff: Option<OnHandoff>,
    pub(crate) enabled: Condition<TurnContext>,
}

type Filter = Arc<dyn Fn(Vec<Item>) -> Vec<Item> + Send + Sync>;
type OnHandoff = Arc<dyn Fn(HandedOver) -> Later<'static, ()> + Send + Sync>;

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Agent(Agent),
    /// An agent of the run, so that agents may hand over to one another in a circle.
    Named(String),
}

/// What somebody learns who hears of a handoff.
#[derive(Clone, Debug)]
pub struct HandedOver {
    /// The turn in which it happens.
    pub turn: TurnContext,
    /// The agent that takes over.
    pub to: String,
    /// What the model said about it, where the handoff asks for something.
    pub input: Value,
}

impl Handoff {
    /// To an agent.
    #[must_use]
    pub fn to(agent: &Agent) -> Self {
        Self::new(Target::Agent(agent.clone()))
    }

    /// To the agent of this name, which takes part in the run by another way: for agents that hand over to one another.
    #[must_use]
    pub fn to_named(agent: impl Into<String>) -> Self {
        Self::new(Target::Named(agent.into()))
    }

    fn new(to: Target) -> Self {
        Self {
            to,
            name: None,
            description: None,
            display_names: Vec::new(),
            display_name: None,
            input: None,
            filter: None,
            on_handoff: None,
            enabled: Condition::fixed(true),
        }
    }

    /// The name that models call, in place of `transfer_to_` and the name of the agent.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What people call it.
    #[must_use]
    pub fn display_name(mut self, name: impl Into<String>) -> Self {
        self.display_name = Some(name.into());
        self
    }

    /// What people call it in one language.
    #[must_use]
    pub fn display_name_in(mut self, language: LanguageTag, name: impl Into<String>) -> Self {
        self.display_names.push((language, name.into()));
        self
    }

    /// Everything that people call it; without any name, that is the name that models call, in words.
    #[must_use]
    pub fn names(&self) -> Names {
        let mut names = Names::of(&self.tool_name());
        for (language, text) in self.display_names.iter().rev() {
            names.put(Layer::Declared, Kind::Name, Some(language.clone()), text);
        }
        if let Some(text) = &self.display_name {
            names.put(Layer::Declared, Kind::Name, None, text);
        }
        names
    }

    /// What models read about it.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = Some(text.into());
        self
    }

    /// What the model has to say when it hands over, as a type says it.
    #[must_use]
    pub fn input<T: schemars::JsonSchema>(mut self) -> Self {
        let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        if let Some(all) = schema.as_object_mut() {
            all.remove("$schema");
            all.remove("title");
        }
        self.input = Some(schema);
        self
    }

    /// What the next agent reads of the conversation, made of all of it.
    #[must_use]
    pub fn filter(mut self, filter: impl Fn(Vec<Item>) -> Vec<Item> + Send + Sync + 'static) -> Self {
        self.filter = Some(Arc::new(filter));
        self
    }

    /// The next agent reads no calls and no outputs of tools.
    #[must_use]
    pub fn without_tools(self) -> Self {
        self.filter(|items| items.into_iter().filter(|item| matches!(item, Item::Message(_))).collect())
    }

    /// Who hears of it before the next agent begins.
    #[must_use]
    pub fn on_handoff<F, T>(mut self, heard: F) -> Self
    where
        F: Fn(HandedOver) -> T + Send + Sync + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        self.on_handoff = Some(Arc::new(move |handed| Box::pin(heard(handed))));
        self
    }

    /// Whether it is offered, asked in every turn.
    #[must_use]
    pub fn enabled(mut self, condition: impl Into<Condition<TurnContext>>) -> Self {
        self.enabled = condition.into();
        self
    }

    /// The name of the agent that it leads to.
    #[must_use]
    pub fn agent(&self) -> &str {
        match &self.to {
            Target::Agent(agent) => agent.name(),
            Target::Named(name) => name,
        }
    }

    /// The name that models call.
    #[must_use]
    pub fn tool_name(&self) -> String {
        self.as_compat().tool_name().unwrap_or_default().to_owned()
    }

    pub(crate) fn as_compat(&self) -> compat::Handoff {
        compat::Handoff::to_agent(self.agent(), self.name.as_deref())
    }

    pub(crate) fn description_of(&self, agent: &Agent) -> String {
        match &self.description {
            Some(text) => text.clone(),
            None => {
                let text = format!("Handoff to the {} agent to handle the request. ", agent.name());
                text + agent.handoff_description()
            }
        }
    }

    /// The schema that models see.
    pub(crate) fn parameters(&self) -> Value {
        let nothing = || json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        self.input.clone().unwrap_or_else(nothing)
    }
}

impl From<Agent> for Handoff {
    fn from(agent: Agent) -> Self {
        Self::to(&agent)
    }
}

impl From<&Agent> for Handoff {
    fn from(agent: &Agent) -> Self {
        Self::to(agent)
    }
}

impl fmt::Debug for Handoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handoff").field("to", &self.agent()).field("name", &self.tool_name()).finish_non_exhaustive()
    }
}
