//! Agents of a configuration: which tools their names mean, and how one of them is built so that its calls go the way of every other call.

mod names;
mod toolset;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_agents::{Agent, AgentBuilder, BuildAgentError, Handoff};
use toolmark_config::Config;
use toolmark_config::sections;
use toolmark_config::values::{ModelText, Name};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::text::visible;
use toolmark_models::{Effort, Model, Settings};
use toolmark_runtime::TaskName;
use toolmark_runtime::tools::Tools;

pub(crate) use names::running;
pub use names::{Meant, Spelling, ToolNameError, table, tools_of};

use crate::gateway::Gateway;
use toolset::GatewayTools;

/// An agent that cannot be built, with every reason.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct BuildError {
    agent: String,
    reports: Vec<Report>,
}

/// Agents that ask each other as tools, without end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent `{agent}` asks `{asked}` as a tool, which asks it in turn")]
struct AgentsInCircle {
    agent: String,
    asked: String,
}

/// An agent that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent `{name}`")]
pub struct AgentUnknown {
    name: String,
    known: Vec<String>,
}

/// Opens the model that an agent names.
pub type OpenModel<'o> = dyn Fn(&ModelText) -> Result<Arc<dyn Model>, Box<Report>> + 'o;

impl AgentUnknown {
    /// Looks for an agent.
    ///
    /// # Errors
    /// This, with all that there are.
    pub fn find<'c>(config: &'c Config, name: &str) -> Result<(&'c Name, &'c sections::Agent), Self> {
        let found = config.agents.iter().find(|(own, _)| own.as_str() == name);
        found.map(|(own, agent)| (own, agent)).ok_or_else(|| Self {
            name: visible(name, 80),
            known: config.agents.iter().map(|(own, _)| own.to_string()).collect(),
        })
    }
}

/// Builds an agent of a configuration and all that it may hand over to. Its tools are those of the gateway's packs; rules, approvals and
/// records are the gateway's own.
///
/// # Errors
/// [`BuildError`] with everything that is wrong with any of them: names that mean no tool, or two, and models that cannot be opened.
pub fn build(gateway: &Arc<Gateway>, config: &Config, name: &Name, open: &OpenModel<'_>) -> Result<Agent, BuildError> {
    Ok(build_with(gateway, config, name, open, None)?.agent)
}

/// An agent with all that it can reach.
pub(crate) struct Built {
    pub(crate) agent: Agent,
    /// All agents of the run by their names, itself included.
    pub(crate) all: BTreeMap<String, Agent>,
}

/// The same with tools of whoever asks for the run: for the agent and all that it may hand over to.
pub(crate) fn build_with(
    gateway: &Arc<Gateway>,
    config: &Config,
    name: &Name,
    open: &OpenModel<'_>,
    frontend: Option<&Tools>,
) -> Result<Built, BuildError> {
    let mut building = Building {
        gateway,
        config,
        open,
        frontend,
        asked: 0,
        built: BTreeMap::new(),
        begun: BTreeSet::new(),
        reports: Vec::new(),
    };
    let agent = building.agent(name);
    let (reports, all) = (building.reports, building.built);
    match agent {
        Some(agent) if reports.is_empty() => {
            let all = all.into_iter().map(|((_, name), agent)| (name, agent)).collect();
            Ok(Built { agent, all })
        }
        _ => Err(BuildError { agent: name.to_string(), reports }),
    }
}

/// How often a model is asked at most in a run of this agent.
pub const MAX_TURNS: u32 = 10;

struct Building<'b> {
    gateway: &'b Arc<Gateway>,
    config: &'b Config,
    open: &'b OpenModel<'b>,
    frontend: Option<&'b Tools>,
    /// How many agents deep something is asked as a tool.
    asked: u32,
    /// By whether it is asked as a tool, and its name: only the others reach what the frontend has.
    built: BTreeMap<(bool, String), Agent>,
    begun: BTreeSet<(bool, String)>,
    reports: Vec<Report>,
}

impl Building<'_> {
    fn agent(&mut self, name: &Name) -> Option<Agent> {
        let key = (self.asked > 0, name.to_string());
        if let Some(built) = self.built.get(&key) {
            return Some(built.clone());
        }
        let written = self.config.agents.get(name)?;
        self.begun.insert(key.clone());
        let mut builder = Agent::builder(name.as_str()).settings(settings(&written.settings));
        if let Some(text) = &written.instructions {
            builder = builder.instructions(text.as_str());
        }
        if let Some(text) = &written.display_name {
            for (language, text) in text.iter() {
                builder = match language {
                    Some(language) => builder.display_name_in(language.as_str(), text),
                    None => builder.display_name(text),
                };
            }
        }
        if let Some(text) = &written.description {
            builder = builder.handoff_description(text);
        }
        if let Some(parallel) = written.parallel_tool_calls {
            builder = builder.parallel_tool_calls(parallel);
        }
        for other in &written.handoffs {
            // Who is being built already hands over further up: the way back is by name.
            let there = (self.asked > 0, other.to_string());
            if self.begun.contains(&there) && !self.built.contains_key(&there) {
                builder = builder.handoff(Handoff::to_named(other.as_str()));
            } else if let Some(agent) = self.agent(other) {
                builder = builder.handoff(&agent);
            }
        }
        for other in &written.agents {
            builder = self.ask(builder, name, other)?;
        }
        if let Some(tools) = self.frontend.filter(|_| self.asked == 0) {
            builder = builder.toolset(tools.clone());
        }
        let builder = self.task(builder, written);
        let builder = self.model(builder, written);
        let builder = self.tools(builder, name, written)?;
        match builder.build() {
            Ok(agent) => {
                self.built.insert(key, agent.clone());
                Some(agent)
            }
            Err(error) => {
                self.refuse::<BuildAgentError>(&error);
                None
            }
        }
    }

    /// Lets an agent ask another as a tool.
    fn ask(&mut self, builder: AgentBuilder, name: &Name, other: &Name) -> Option<AgentBuilder> {
        let there = (true, other.to_string());
        if self.begun.contains(&there) && !self.built.contains_key(&there) {
            self.refuse(&AgentsInCircle { agent: name.to_string(), asked: other.to_string() });
            return None;
        }
        self.asked += 1;
        let agent = self.agent(other);
        self.asked -= 1;
        let agent = agent?;
        let description = agent.handoff_description().to_owned();
        Some(builder.tool(agent.as_tool().description(description)))
    }

    fn task(&mut self, builder: AgentBuilder, written: &sections::Agent) -> AgentBuilder {
        match written.task.as_ref().map(|task| task.as_str().parse::<TaskName>()) {
            None => builder,
            Some(Ok(task)) => builder.task(task),
            Some(Err(error)) => {
                self.refuse(&error);
                builder
            }
        }
    }

    fn model(&mut self, builder: AgentBuilder, written: &sections::Agent) -> AgentBuilder {
        // A configuration without a model was refused when it was read.
        let Some(text) = &written.model else { return builder };
        match (self.open)(text) {
            Ok(model) => builder.model(model),
            Err(report) => {
                self.reports.push(*report);
                builder
            }
        }
    }

    fn tools(&mut self, builder: AgentBuilder, name: &Name, written: &sections::Agent) -> Option<AgentBuilder> {
        let snapshot = self.gateway.snapshot();
        let (table, _) = running(snapshot.workspace().catalog(), self.config);
        let meant = match tools_of(snapshot.workspace().catalog(), &table, name.as_str(), &written.tools) {
            Ok(meant) => meant,
            Err(errors) => {
                self.reports.extend(errors.iter().map(Explain::report));
                return None;
            }
        };
        let rules = match self.gateway.rules() {
            Ok(rules) => rules,
            Err(error) => {
                self.reports.extend(error.problems().iter().map(|problem| problem.report().clone()));
                return None;
            }
        };
        let pipeline = self.gateway.pipeline();
        let task = written.task.as_ref().map(ToString::to_string);
        let tools = GatewayTools::new(Arc::clone(self.gateway), &meant, task);
        let builder = builder.toolset(tools).rules(rules).recorder(Arc::clone(pipeline.recorder()));
        Some(match self.gateway.desk() {
            Some(_) => builder.approvals(Arc::clone(pipeline.approvals())),
            // Without a store nobody keeps questions: the run itself does.
            None => builder,
        })
    }

    fn refuse<E: Explain>(&mut self, error: &E) {
        self.reports.push(error.report());
    }
}

fn settings(written: &sections::AgentSettings) -> Settings {
    use toolmark_config::values::Effort as Word;
    let effort = written.effort.map(|word| match word {
        Word::None => Effort::None,
        Word::Minimal => Effort::Minimal,
        Word::Low => Effort::Low,
        Word::Medium => Effort::Medium,
        Word::High => Effort::High,
        Word::Xhigh => Effort::Xhigh,
        Word::Max => Effort::Max,
    });
    Settings {
        temperature: written.temperature,
        top_p: written.top_p,
        max_output_tokens: written.max_output_tokens.map(u64::from),
        effort,
        timeout: written.timeout,
        extra: written.extra.clone(),
    }
}

impl BuildError {
    fn sentence(&self) -> String {
        let agent = visible(&self.agent, 80);
        match self.reports.as_slice() {
            [] => format!("the agent `{agent}` cannot be built"),
            [only] => only.what().to_owned(),
            many => {
                let all: Vec<&str> = many.iter().map(Report::what).collect();
                format!("the agent `{agent}` cannot be built: {}", all.join("; "))
            }
        }
    }

    /// Every reason.
    #[must_use]
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }
}

impl Explain for BuildError {
    fn code(&self) -> Code {
        match self.reports.as_slice() {
            [only] => only.code(),
            _ => Code::new("agent-unbuildable"),
        }
    }

    fn why(&self) -> String {
        match self.reports.as_slice() {
            [only] => only.why().to_owned(),
            _ => "an agent with some of its tools is not the agent that was meant".into(),
        }
    }

    fn fix(&self) -> String {
        let all: Vec<&str> = self.reports.iter().map(Report::fix).collect();
        all.join("\n")
    }

    fn facts(&self) -> Map<String, Value> {
        match self.reports.as_slice() {
            [only] => only.facts().clone(),
            many => facts([("problems", many.iter().map(Report::to_json).collect())]),
        }
    }
}

impl Explain for AgentsInCircle {
    fn code(&self) -> Code {
        Code::new("agents-in-circle")
    }

    fn why(&self) -> String {
        "an agent that is asked by whom it asks could go on for ever".into()
    }

    fn fix(&self) -> String {
        format!("remove `{}` from `agents.{}.agents`, or hand over to it in place of asking", self.asked, self.agent)
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("agent", self.agent.as_str().into()), ("asked", self.asked.as_str().into())])
    }
}

impl Explain for AgentUnknown {
    fn code(&self) -> Code {
        Code::new("agent-unknown")
    }

    fn why(&self) -> String {
        "another agent has other tools".into()
    }

    fn fix(&self) -> String {
        match self.known.as_slice() {
            [] => format!("add a table `[agents.{}]` to `toolmark.toml`", self.name),
            known => format!("use one of {}", known.join(", ")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("agent", self.name.as_str().into()), ("known", self.known.as_slice().into())])
    }
}

#[cfg(test)]
mod tests;
