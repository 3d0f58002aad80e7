//! Which model is meant by a name? Those that the program opened, by the names that it gave them; nothing is opened here.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_models::Model;

/// Models by name, and the one for agents that name none. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Models {
    named: Arc<BTreeMap<String, Arc<dyn Model>>>,
    default: Option<Arc<dyn Model>>,
}

/// The model that an agent says, or does not say.
#[derive(Clone, Debug, Default)]
pub(crate) enum ModelChoice {
    /// Whatever the run has.
    #[default]
    Default,
    /// The one of this name.
    Named(String),
    /// This one.
    Given(Arc<dyn Model>),
}

/// An agent whose model is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct ModelUnknownError {
    agent: String,
    wanted: Option<String>,
    known: Vec<String>,
}

impl Models {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more; it takes the place of another of that name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, model: Arc<dyn Model>) -> Self {
        Arc::make_mut(&mut self.named).insert(name.into(), model);
        self
    }

    /// The same with a model for agents that name none.
    #[must_use]
    pub fn default_model(mut self, model: Arc<dyn Model>) -> Self {
        self.default = Some(model);
        self
    }

    /// The model of an agent.
    pub(crate) fn find(&self, agent: &str, choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelUnknownError> {
        let (found, wanted) = match choice {
            ModelChoice::Given(model) => (Some(model), None),
            ModelChoice::Named(name) => (self.named.get(name), Some(visible(name, 200))),
            ModelChoice::Default => (self.default.as_ref(), None),
        };
        found.cloned().ok_or_else(|| ModelUnknownError {
            agent: visible(agent, 200),
            wanted,
            known: self.named.keys().map(|name| visible(name, 200)).collect(),
        })
    }
}

impl ModelUnknownError {
    fn sentence(&self) -> String {
        match &self.wanted {
            Some(wanted) => {
                format!("the agent `{}` wants the model `{wanted}`, which the run does not have", self.agent)
            }
            None => format!("the agent `{}` names no model, and the run has no default", self.agent),
        }
    }
}

impl Explain for ModelUnknownError {
    fn code(&self) -> Code {
        Code::new("agent-model-unknown")
    }

    fn why(&self) -> String {
        "another model than the one that was meant costs something else and says something else".into()
    }

    fn fix(&self) -> String {
        match self.known.as_slice() {
            [] => "give the agent a model, or the runner: `Runner::new().models(Models::new().default_model(model))`"
                .into(),
            known => format!("name one of `{}`, or add it with `Models::with`", known.join("`, `")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("agent", self.agent.as_str().into()),
            ("wanted", self.wanted.as_deref().into()),
            ("known", self.known.as_slice().into()),
        ])
    }
}
