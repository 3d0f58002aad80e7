//! Everything a policy is made of, before it meets a catalog.

use serde_json::{Value, json};
use toolmark_core::gate::Preset;
use toolmark_core::names::{CanonicalName, PackName};
use toolmark_core::text::visible;

use crate::cedar::{CedarDefault, CedarText};
use crate::rule::{BuildRuleError, OneOrMany, Rule, RuleConfig};

/// Rules, Cedar policies and the preset, with what is needed to settle which tools they mean.
#[derive(Clone, Debug, Default)]
pub struct PolicyConfig {
    pub(crate) rules: Vec<Result<Rule, BuildRuleError>>,
    pub(crate) cedar: Vec<CedarText>,
    pub(crate) default: CedarDefault,
    pub(crate) preset: Preset,
    pub(crate) former: Vec<(CanonicalName, CanonicalName)>,
    pub(crate) awaited: Vec<PackName>,
}

/// The table `[policy]` of `toolmark.toml`. The files that `cedar` names are read by whoever has a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySettings {
    /// `observe`, `balanced`, `careful` or `read-only`.
    #[serde(default)]
    pub preset: Option<String>,
    /// Files with Cedar policies; `*` stands for several.
    #[serde(default)]
    pub cedar: Option<OneOrMany<String>>,
    /// `permit` or `deny`: what holds where no Cedar policy permits.
    #[serde(default)]
    pub default: Option<String>,
}

impl PolicyConfig {
    /// Nothing: no rules, no policies, the preset `balanced`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(Ok(rule));
        self
    }

    /// Adds a rule as it was written. What is wrong with it is reported by [`Policy::load`](crate::Policy::load), with the rest.
    #[must_use]
    pub fn written_rule(mut self, rule: &RuleConfig) -> Self {
        self.rules.push(rule.build());
        self
    }

    /// Adds a text with Cedar policies, known by this label, usually its file.
    #[must_use]
    pub fn cedar(mut self, label: impl Into<String>, text: impl Into<String>) -> Self {
        self.cedar.push(CedarText { label: label.into(), text: text.into() });
        self
    }

    /// Says what holds where no Cedar policy permits. It matters only where there are Cedar policies.
    #[must_use]
    pub fn cedar_default(mut self, default: CedarDefault) -> Self {
        self.default = default;
        self
    }

    /// Chooses the preset.
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// A tool that had another name before. Restrictive rules that name the old one follow it; permissive ones do not.
    #[must_use]
    pub fn former_name(mut self, old: CanonicalName, new: CanonicalName) -> Self {
        self.former.push((old, new));
        self
    }

    /// A pack that is configured but not listed yet, such as one of a server that is starting. A rule may name it already.
    #[must_use]
    pub fn awaited(mut self, pack: PackName) -> Self {
        self.awaited.push(pack);
        self
    }

    /// What the author wrote, as one value: what the version of the policy is a digest of.
    pub(crate) fn to_json(&self) -> Value {
        let rules = self.rules.iter().flatten().map(Rule::to_json).collect::<Vec<_>>();
        let cedar = self.cedar.iter().map(|text| json!([text.label, text.text])).collect::<Vec<_>>();
        json!({"rules": rules, "cedar": cedar, "default": self.default.as_str(), "preset": self.preset.as_str()})
    }
}

/// What a rule is called: its id, or its place among the rules.
pub(crate) fn rule_id(id: Option<&str>, at: usize) -> String {
    id.filter(|id| !id.is_empty()).map_or_else(|| format!("#{}", at + 1), |id| visible(id, 120))
}
