//! Which agents take part in a run? Everybody whom a conversation can pass to, told apart by their names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::agent::Agent;
use crate::handoff::{Handoff, Target};

/// The agents of a run by name.
#[derive(Clone, Debug)]
pub(crate) struct Graph(BTreeMap<String, Agent>);

/// Agents that cannot take part in one run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two of them have one name.
    #[error("two agents of the run are called `{0}`")]
    NamedAlike(String),
    /// A handoff leads to an agent that takes no part.
    #[error("the agent `{from}` may hand over to `{to}`, and the run has no such agent")]
    Nowhere {
        /// Who may hand over.
        from: String,
        /// To whom.
        to: String,
    },
}

impl Graph {
    /// Everybody who can be reached from an agent.
    pub(crate) fn of(start: &Agent) -> Result<Self, GraphError> {
        let mut all: BTreeMap<String, Agent> = BTreeMap::new();
        let mut next = vec![start.clone()];
        while let Some(agent) = next.pop() {
            match all.get(agent.name()) {
                Some(known) if known.is(&agent) => continue,
                Some(_) => return Err(GraphError::NamedAlike(visible(agent.name(), 200))),
                None => {}
            }
            next.extend(agent.handoffs().iter().filter_map(|handoff| match &handoff.to {
                Target::Agent(agent) => Some(agent.clone()),
                Target::Named(_) => None,
            }));
            all.insert(agent.name().to_owned(), agent);
        }
        for agent in all.values() {
            if let Some(lost) = agent.handoffs().iter().find(|handoff| !all.contains_key(handoff.agent())) {
                let (from, to) = (visible(agent.name(), 200), visible(lost.agent(), 200));
                return Err(GraphError::Nowhere { from, to });
            }
        }
        Ok(Self(all))
    }

    pub(crate) fn agent(&self, name: &str) -> Option<&Agent> {
        self.0.get(name)
    }

    /// The agent that a handoff leads to.
    pub(crate) fn target(&self, handoff: &Handoff) -> Option<&Agent> {
        self.agent(handoff.agent())
    }
}

impl Explain for GraphError {
    fn code(&self) -> Code {
        match self {
            Self::NamedAlike(_) => Code::new("agents-named-alike"),
            Self::Nowhere { .. } => Code::new("handoff-to-nowhere"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NamedAlike(_) => {
                "what a person decides about one of them would hold for the other, and a saved run could go on with either"
            }
            Self::Nowhere { .. } => "a model that hands over must reach somebody",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::NamedAlike(name) => format!("rename one of them, for example to `{name} 2`"),
            Self::Nowhere { to, .. } => {
                format!("let some agent of the run hand over to `{to}` itself, or correct the name")
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::NamedAlike(name) => facts([("agent", name.as_str().into())]),
            Self::Nowhere { from, to } => facts([("from", from.as_str().into()), ("to", to.as_str().into())]),
        }
    }
}
