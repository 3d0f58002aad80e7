//! Who is it that an agent calls? Tools of packs, agents, handoffs and tools of the page, in the language of whoever reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolmark_agents::Agent;
use toolmark_agui::{AgentCard, Card, Cards, HostedCall, Id, Metadata, TOOL};
use toolmark_core::display::{Category, Icon, Languages, Shown};
use toolmark_core::tool::{Tool, ToolKind};
use toolmark_runtime::tools::{RunContext, Turn, TurnContext};

use super::error::AguiError;
use super::frontend::PACK;
use super::hosted;
use crate::identity;
use crate::snapshot::Snapshot;
use crate::view::ViewName;

/// The tools and agents of one run.
pub(super) struct GatewayCards {
    snapshot: Arc<Snapshot>,
    languages: Languages,
    names: bool,
    agents: BTreeMap<String, Agent>,
    turns: HashMap<String, Turn>,
    /// What was found, by agent, namespace and name.
    found: Mutex<HashMap<(String, String, String), Card>>,
}

impl GatewayCards {
    /// Looks at what every agent has.
    pub(super) async fn new(
        snapshot: Arc<Snapshot>,
        agents: BTreeMap<String, Agent>,
        languages: Languages,
        names: bool,
        principal: &str,
    ) -> Result<Self, AguiError> {
        let mut turns = HashMap::new();
        for (name, agent) in &agents {
            let context = TurnContext::new(name, RunContext::new()).caller(principal);
            let turn = agent.toolbox().turn(context).await;
            let turn =
                turn.map_err(|error| AguiError::Report(Box::new(toolmark_core::explain::Explain::report(&error))))?;
            turns.insert(name.clone(), turn);
        }
        Ok(Self { snapshot, languages, names, agents, turns, found: Mutex::default() })
    }

    /// Who has a name that pages know tools by, the page itself left out.
    pub(super) fn owner(&self, wanted: &str) -> Option<String> {
        for (agent, turn) in &self.turns {
            for (own, tool) in turn.offered() {
                let called = own.called();
                let namespace = own.seen_in().map(|namespace| namespace.name().as_str());
                if tool.pack() != Some(PACK) && self.call(agent, &called, namespace).name.as_str() == wanted {
                    return Some(format!("`{}`", tool.canonical()));
                }
            }
        }
        let mut handoffs = self.agents.values().flat_map(Agent::handoffs);
        let handoff = handoffs.find(|handoff| handoff.tool_name() == wanted)?;
        Some(format!("the handoff to `{}`", handoff.agent()))
    }

    fn find(&self, agent: &str, name: &str, namespace: Option<&str>) -> Option<Card> {
        if let Some((_, tool)) = self.turns.get(agent).and_then(|turn| turn.find(name, namespace).ok()) {
            return self.of_tool(agent, tool);
        }
        let own = self.agents.get(agent)?;
        let handoff = own.handoffs().iter().find(|handoff| handoff.tool_name() == name)?;
        let labels = self.snapshot.labels();
        let names = labels.handoff(handoff.agent(), name);
        let shown = names.shown(&self.languages, labels.default_language());
        let mut value = identity::shown(&shown);
        value.shift_insert(0, "id".into(), name.into());
        value.insert("handoff".into(), handoff.agent().into());
        Some(card(name.into(), value.into(), &shown))
    }

    fn of_tool(&self, agent: &str, tool: &Tool) -> Option<Card> {
        let known = self.turns.get(agent)?.workspace().known(tool);
        let catalog = self.snapshot.workspace().catalog();
        let own = match tool.kind() {
            ToolKind::Agent => None,
            _ => {
                catalog.find(tool.canonical().as_str(), |_| true).ok().filter(|own| own.canonical() == tool.canonical())
            }
        };
        Some(match own {
            Some(own) => {
                let view = self.snapshot.view(&ViewName::default()).ok();
                let exposed = view.as_ref().and_then(|view| view.name_of(own)).unwrap_or(own.raw().as_str());
                let shown = self.snapshot.shown(own, &self.languages);
                card(exposed.into(), identity::card(&self.snapshot, own, &self.languages, self.names), &shown)
            }
            None => {
                let value = identity::card_of_other(&self.snapshot, tool, &known, &self.languages, self.names);
                let default = self.snapshot.labels().default_language().clone();
                let table =
                    toolmark_core::display::NameTable::new(default, std::iter::once(tool), |_| Default::default());
                card(tool.raw().as_str().into(), value, &table.shown(tool, &self.languages))
            }
        })
    }
}

fn card(name: Id, value: Value, shown: &Shown) -> Card {
    Card {
        name,
        metadata: Some(Metadata::new([(TOOL, value)])),
        display_name: Some(shown.name.as_str().into()),
        spoken: shown.spoken.as_ref().map(|spoken| spoken.text.as_str().into()),
    }
}

impl Cards for GatewayCards {
    fn call(&self, agent: &str, name: &str, namespace: Option<&str>) -> Card {
        let key = (agent.to_owned(), namespace.unwrap_or_default().to_owned(), name.to_owned());
        if let Some(known) = self.found.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        // What nobody has is called what the model calls it; nothing is known of it.
        let Some(found) = self.find(agent, name, namespace) else { return Card::plain(name, namespace) };
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        found
    }

    fn hosted(&self, call: &HostedCall) -> Card {
        let names = hosted::names(call);
        Card::hosted(call, &names.shown(&self.languages, self.snapshot.labels().default_language()))
    }

    fn agent(&self, name: &str) -> AgentCard {
        let labels = self.snapshot.labels();
        let shown = labels.agent(name).shown(&self.languages, labels.default_language());
        let agent = self.agents.get(name);
        let description = agent.map(|agent| agent.handoff_description().to_owned()).filter(|text| !text.is_empty());
        AgentCard {
            display_name: Some(shown.name.as_str().to_owned()),
            lang: shown.lang.as_ref().map(|lang| lang.as_str().to_owned()),
            dir: Some(shown.dir.as_str()),
            description,
        }
    }
}

/// What a list says of an agent.
pub(super) fn agent_json(snapshot: &Snapshot, name: &str, languages: &Languages) -> serde_json::Map<String, Value> {
    let labels = snapshot.labels();
    let shown = labels.agent(name).shown(languages, labels.default_language());
    let mut all = identity::shown(&shown);
    all.extend(shown.icon.as_ref().map(|icon: &Icon| ("icon".to_owned(), icon.as_str().into())));
    all.extend(shown.category.as_ref().map(|category: &Category| ("category".to_owned(), category.as_str().into())));
    all
}
