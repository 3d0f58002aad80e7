//! Small catalogs and calls for the tests of this crate.

use serde_json::{Value, json};
use toolmark_core::behavior::{KnownBehavior, Statements};
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Definition;
use toolmark_core::facts::{Effect, Facts, Part, Reading};
use toolmark_core::pack::Pack;
use toolmark_core::tool::{Source, ToolKind};
use toolmark_core::verdict::Decision;

use crate::{Caller, LoadPolicyError, Policy, PolicyAnswer, PolicyConfig, Request, RuleConfig};

/// A tool that takes these arguments.
pub(crate) fn definition(name: &str, arguments: &[&str]) -> Definition {
    let properties: serde_json::Map<String, Value> = arguments.iter().map(|name| ((*name).into(), json!({}))).collect();
    let value = json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
    Definition::of_value("test", &value).unwrap()
}

pub(crate) fn pack(name: &str, tools: &[&str]) -> Pack {
    let builder = Pack::builder(name.parse().unwrap(), Source::new(&format!("test:{name}")));
    let open = |name: &str| Definition::of_value("test", &json!({"name": name})).unwrap();
    tools.iter().fold(builder, |builder, tool| builder.tool(ToolKind::Mcp, open(tool))).build()
}

pub(crate) fn catalog(packs: &[(&str, &[&str])]) -> Catalog {
    Catalog::builder().packs(packs.iter().map(|(name, tools)| pack(name, tools))).build().unwrap()
}

/// `github.create_issue`, `github.delete_repo`, `gitlab.create_issue`, `db.query`.
pub(crate) fn small() -> Catalog {
    catalog(&[("github", &["create_issue", "delete_repo", "merge"]), ("gitlab", &["create_issue"]), ("db", &["query"])])
}

pub(crate) fn rule(written: &str) -> RuleConfig {
    toml::from_str(written).unwrap()
}

pub(crate) fn load(catalog: &Catalog, rules: &[&str]) -> Result<Policy, LoadPolicyError> {
    let config = rules.iter().fold(PolicyConfig::new(), |config, written| config.written_rule(&rule(written)));
    Policy::load(&config, catalog)
}

pub(crate) fn load_cedar(catalog: &Catalog, text: &str) -> Result<Policy, LoadPolicyError> {
    Policy::load(&PolicyConfig::new().cedar("test.cedar", text), catalog)
}

/// What is wrong, by code.
pub(crate) fn codes(result: Result<Policy, LoadPolicyError>) -> Vec<&'static str> {
    result.unwrap_err().problems().iter().map(|problem| problem.code().as_str()).collect()
}

pub(crate) fn operator(behavior: &str) -> KnownBehavior {
    KnownBehavior::combine(Statements { operator: Some(behavior.parse().unwrap()), ..Statements::default() })
}

pub(crate) fn publisher(behavior: &str) -> KnownBehavior {
    KnownBehavior::combine(Statements { publisher: Some(behavior.parse().unwrap()), ..Statements::default() })
}

pub(crate) fn unknown() -> KnownBehavior {
    KnownBehavior::combine(Statements::default())
}

pub(crate) fn understood(pointer: &str, effects: Vec<Effect>) -> Part {
    Part { pointer: pointer.into(), language: "sql", reading: Reading::Understood(effects) }
}

pub(crate) fn unclear(pointer: &str) -> Part {
    Part { pointer: pointer.into(), language: "sql", reading: Reading::CannotTell { reason: "truncated".into() } }
}

/// A call, with what most tests leave alone.
pub(crate) struct Call {
    pub(crate) behavior: KnownBehavior,
    pub(crate) facts: Facts,
    pub(crate) arguments: Value,
    pub(crate) task: Option<&'static str>,
    pub(crate) caller: Caller<'static>,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            behavior: unknown(),
            facts: Facts::default(),
            arguments: json!({}),
            task: None,
            caller: Caller::new("alice"),
        }
    }
}

impl Call {
    pub(crate) fn with(arguments: Value) -> Self {
        Self { arguments, ..Self::default() }
    }

    pub(crate) fn doing(parts: Vec<Part>) -> Self {
        Self { facts: Facts::new(parts), ..Self::default() }
    }

    pub(crate) fn known(behavior: KnownBehavior) -> Self {
        Self { behavior, ..Self::default() }
    }

    pub(crate) fn on(&self, policy: &Policy, catalog: &Catalog, tool: &str) -> PolicyAnswer {
        policy.judge(&Request {
            tool: catalog.find(tool, |_| true).unwrap(),
            behavior: &self.behavior,
            facts: &self.facts,
            arguments: &self.arguments,
            task: self.task,
            caller: self.caller,
        })
    }
}

/// The decision, and the codes of everything that was said.
pub(crate) fn said(answer: &PolicyAnswer) -> (Decision, Vec<&'static str>) {
    (answer.decision(), answer.reasons.iter().map(|reason| reason.code).collect())
}
