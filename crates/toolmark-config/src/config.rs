//! The whole of `toolmark.toml`, and what its parts say about each other.

use toolmark_core::exposure::ProfileName;
use toolmark_core::names::PackName;
use toolmark_policy::{PolicyConfig, RuleConfig};

use crate::read::{self, ReadConfigError, Refused, Section, table};
use crate::sections::{
    Agent, Agui, Approvals, Audit, BehaviorSection, Console, Gateway, ModelSection, Names, Pack, Pins, PolicySection,
    Profile, RuleShape, Task, Telemetry,
};
use crate::values::{Durability, Entries, ModelText, Name, PROVIDERS};

table! {
    /// The configuration of Toolmark.
    pub struct Config check check {
        /// The version of this format. There is one: 1.
        pub version: Option<u32>,
        /// The MCP servers, by the names under which Toolmark knows them.
        pub packs: Entries<PackName, Pack>,
        /// What clients may do, by task.
        pub tasks: Entries<Name, Task>,
        /// Verdicts with conditions. The strictest that matches decides.
        #[schemars(with = "Vec<RuleShape>")]
        pub rules: Vec<RuleConfig>,
        /// How calls are judged that no rule mentions.
        pub policy: PolicySection,
        /// The gateway itself.
        pub gateway: Gateway,
        /// How people are asked.
        pub approvals: Approvals,
        /// Which definitions of tools are taken for the right ones.
        pub pins: Pins,
        /// The record of every call.
        pub audit: Audit,
        /// Second opinions on what tools do.
        pub behavior: BehaviorSection,
        /// Traces, metrics and logs.
        pub telemetry: Telemetry,
        /// How names are chosen.
        pub names: Names,
        /// Clients and the addresses they use.
        pub profiles: Entries<Name, Profile>,
        /// Models, by the names that agents and commands use.
        pub models: Entries<Name, ModelSection>,
        /// Agents that `toolmark run` runs.
        pub agents: Entries<Name, Agent>,
        /// Agents for user interfaces.
        pub agui: Agui,
        /// The console in the browser.
        pub console: Console,
    }
}

/// Tasks that are there without being written.
pub(crate) const BUILT_IN_TASKS: &[&str] = &["read-only"];

impl Config {
    /// Reads a text. The label is what people know it by, usually its path.
    ///
    /// # Errors
    /// [`ReadConfigError`] with everything that is wrong, each with its place.
    pub fn read(text: &str, label: &str) -> Result<Self, ReadConfigError> {
        read::read(text, label)
    }

    /// When a record counts as written.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.audit.durability.unwrap_or(self.gateway.durability)
    }

    /// The rules, the preset and the default. Texts of Cedar policies are added by whoever reads files.
    #[must_use]
    pub fn policy_config(&self) -> PolicyConfig {
        let config = PolicyConfig::new().preset(self.policy.preset).cedar_default(self.policy.default);
        self.rules.iter().fold(config, PolicyConfig::written_rule)
    }
}

fn check(config: &Config, section: &mut Section<'_, '_>) {
    if config.version.is_some_and(|version| version != 1) {
        let error =
            Refused::value("this version of the format is not known", "write `version = 1`, or use a newer Toolmark");
        section.refuse(Some("version"), &error.at_key("version"));
    }
    if config.gateway.durability == Durability::Strict && config.audit.durability == Some(Durability::Batched) {
        section.refuse_at(
            &["audit", "durability"],
            &Refused::Conflict {
                table: "`audit.durability`".into(),
                message: "is `batched`, and `gateway.durability` is `strict`".into(),
                fix: "keep the one in `[audit]`".into(),
            },
        );
    }
    let is_client = |name: &Name| name.as_str().parse::<ProfileName>().is_ok();
    for (name, _) in &config.tasks {
        let profile = config.profiles.get(name).is_some();
        if profile || is_client(name) {
            let what = if profile { "there is a profile of the same name" } else { "a client has the same name" };
            section.refuse_at(
                &["tasks", name.as_str()],
                &Refused::Conflict {
                    table: format!("`[tasks.{name}]`"),
                    message: format!("cannot have the address `/mcp/{name}`: {what}"),
                    fix: format!("rename the task, for example to `{name}-task`"),
                },
            );
        }
    }
    let knows_task = |name: &Name| config.tasks.get(name).is_some() || BUILT_IN_TASKS.contains(&name.as_str());
    let knows_profile = |name: &Name| config.profiles.get(name).is_some() || is_client(name);
    let mut missing = Vec::new();
    let task = |key: String, name: &Name| Refused::NoSuchName {
        key,
        kind: "the task",
        name: name.to_string(),
        fix: format!("add a table `[tasks.{name}]`, or use one of {}", listed(&config.tasks, BUILT_IN_TASKS)),
    };
    for (pack, settings) in &config.packs {
        for name in settings.task.iter().filter(|name| !knows_task(name)) {
            missing.push((vec!["packs", pack.as_str(), "task"], task(format!("packs.{pack}.task"), name)));
        }
    }
    for (profile, settings) in &config.profiles {
        for name in settings.task.iter().filter(|name| !knows_task(name)) {
            missing.push((vec!["profiles", profile.as_str(), "task"], task(below_profile(profile, "task"), name)));
        }
        for pack in settings.packs.iter().flatten().filter(|pack| config.packs.get(pack).is_none()) {
            missing.push((
                vec!["profiles", profile.as_str(), "packs"],
                Refused::NoSuchName {
                    key: below_profile(profile, "packs"),
                    kind: "the pack",
                    name: pack.to_string(),
                    fix: format!("use one of {}", listed(&config.packs, &[])),
                },
            ));
        }
    }
    for (name, settings) in &config.tasks {
        for profile in settings.profile.iter().filter(|profile| !knows_profile(profile)) {
            let clients: Vec<&str> = ProfileName::ALL.iter().map(|client| client.as_str()).collect();
            missing.push((
                vec!["tasks", name.as_str(), "profile"],
                Refused::NoSuchName {
                    key: format!("tasks.{name}.profile"),
                    kind: "the profile",
                    name: profile.to_string(),
                    fix: format!(
                        "add a table `[profiles.{profile}]`, or use one of {}",
                        listed(&config.profiles, &clients)
                    ),
                },
            ));
        }
    }
    for (scope, tasks) in config.gateway.auth.jwt.iter().flat_map(|jwt| jwt.scopes.iter()) {
        for name in tasks.named().iter().filter(|name| !knows_task(name)) {
            missing.push((
                vec!["gateway", "auth", "jwt", "scopes", scope],
                task(read::below("gateway.auth.jwt.scopes", scope), name),
            ));
        }
    }
    for (model, settings) in &config.models {
        if let Some(name) = settings.model.as_ref().and_then(ModelText::named) {
            missing.push((
                vec!["models", model.as_str(), "model"],
                Refused::value(
                    format!("`{name}` is no model of a provider"),
                    format!("write `PROVIDER:MODEL`, with one of {}", PROVIDERS.join(", ")),
                )
                .at_key(&of("models", model, "model")),
            ));
        }
    }
    for (agent, settings) in &config.agents {
        for name in settings.task.iter().filter(|name| !knows_task(name)) {
            missing.push((vec!["agents", agent.as_str(), "task"], task(of("agents", agent, "task"), name)));
        }
        let unknown = |name: &&Name| config.models.get(name).is_none();
        for name in settings.model.as_ref().and_then(ModelText::named).into_iter().filter(unknown) {
            missing.push((
                vec!["agents", agent.as_str(), "model"],
                Refused::NoSuchName {
                    key: of("agents", agent, "model"),
                    kind: "the model",
                    name: name.to_string(),
                    fix: format!(
                        "add a table `[models.{name}]`, write `PROVIDER:MODEL`, or use one of {}",
                        listed(&config.models, &[])
                    ),
                },
            ));
        }
        for name in settings.handoffs.iter().filter(|name| config.agents.get(name).is_none()) {
            missing.push((
                vec!["agents", agent.as_str(), "handoffs"],
                Refused::NoSuchName {
                    key: of("agents", agent, "handoffs"),
                    kind: "the agent",
                    name: name.to_string(),
                    fix: format!("add a table `[agents.{name}]`, or use one of {}", listed(&config.agents, &[])),
                },
            ));
        }
        for handoff in settings.handoffs.iter().filter(|name| *name == agent) {
            missing.push((
                vec!["agents", agent.as_str(), "handoffs"],
                Refused::value(format!("`{handoff}` would hand over to itself"), "remove it from the list")
                    .at_key(&of("agents", agent, "handoffs")),
            ));
        }
    }
    for (agent, settings) in &config.agents {
        for name in &settings.agents {
            let key = of("agents", agent, "agents");
            let error = match config.agents.get(name) {
                None => Refused::NoSuchName {
                    key,
                    kind: "the agent",
                    name: name.to_string(),
                    fix: format!("add a table `[agents.{name}]`, or use one of {}", listed(&config.agents, &[])),
                },
                Some(_) if name == agent => {
                    Refused::value(format!("`{name}` would ask itself"), "remove it from the list").at_key(&key)
                }
                Some(_) => continue,
            };
            missing.push((vec!["agents", agent.as_str(), "agents"], error));
        }
    }
    for (key, error) in missing {
        section.refuse_at(&key, &error);
    }
}

fn below_profile(profile: &Name, key: &str) -> String {
    of("profiles", profile, key)
}

/// A key of an entry of a table.
fn of(table: &str, name: &Name, key: &str) -> String {
    read::below(&read::below(table, name.as_str()), key)
}

/// Names to choose from.
fn listed<K: std::fmt::Display, V>(entries: &Entries<K, V>, more: &[&str]) -> String {
    let all: Vec<String> =
        entries.iter().map(|(name, _)| name.to_string()).chain(more.iter().map(ToString::to_string)).collect();
    if all.is_empty() { "none, because none is configured".into() } else { all.join(", ") }
}

#[cfg(test)]
mod tests;
