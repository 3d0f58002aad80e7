//! One thing that lint found: which rule, how much it matters, which tools, where, and what to do about it.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolmark_core::document::Place;
use toolmark_core::names::CanonicalName;
use toolmark_core::severity::Severity;
use toolmark_core::tool::Tool;

use crate::rule::RuleId;
use crate::suggestion::Suggestion;

/// One finding. It names all tools that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    rule: RuleId,
    severity: Severity,
    tools: Vec<CanonicalName>,
    places: Vec<Place>,
    message: String,
    help: String,
    data: Map<String, Value>,
    suggestions: Vec<Suggestion>,
    /// Tells apart findings of one rule about the same tools, without depending on wording or place.
    key: String,
}

impl Finding {
    pub(crate) fn new(rule: RuleId, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity,
            tools: Vec::new(),
            places: Vec::new(),
            message: message.into(),
            help: rule.rule().fix().into(),
            data: Map::new(),
            suggestions: Vec::new(),
            key: String::new(),
        }
    }

    pub(crate) fn about<'t>(mut self, tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        for tool in tools {
            self.tools.push(tool.canonical().clone());
            self.places.push(tool.place());
        }
        self
    }

    /// About tools that are not in the catalog, by name.
    pub(crate) fn named(mut self, names: &[&str]) -> Self {
        self.tools.extend(names.iter().filter_map(|name| name.parse().ok()));
        self
    }

    pub(crate) fn at(mut self, place: Option<&Place>) -> Self {
        self.places.extend(place.cloned());
        self
    }

    /// At places that are not those of tools, such as whole files.
    pub(crate) fn at_all(mut self, places: Vec<Place>) -> Self {
        self.places.extend(places);
        self
    }

    pub(crate) fn helped_by(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    pub(crate) fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.data.insert(field.into(), value.into());
        self
    }

    /// With declarations that would settle it.
    pub(crate) fn suggesting(mut self, suggestions: impl IntoIterator<Item = Suggestion>) -> Self {
        self.suggestions.extend(suggestions);
        self
    }

    /// The rule that found it.
    #[must_use]
    pub fn rule(&self) -> RuleId {
        self.rule
    }

    /// How much it matters.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// All tools that it is about, by canonical name. Empty when it is about the catalog.
    #[must_use]
    pub fn tools(&self) -> &[CanonicalName] {
        &self.tools
    }

    /// Where their definitions stand, in the same order.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// What was found, in one line, lower case, safe to print.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    /// The details, for machines.
    #[must_use]
    pub fn data(&self) -> &Map<String, Value> {
        &self.data
    }

    /// Declarations that would settle it, where there are any: read them before you use them.
    #[must_use]
    pub fn suggestions(&self) -> &[Suggestion] {
        &self.suggestions
    }

    /// Sixteen hexadecimal digits that stay the same while the finding does, wherever the definition moves to.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new_with_prefix("toolmark/finding/v1\0");
        hash.update(self.rule.as_str());
        for part in self.tools.iter().map(CanonicalName::as_str).chain([self.key.as_str()]) {
            hash.update([0]);
            hash.update(part);
        }
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Most serious first, then by rule, tools and key.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other
            .severity
            .cmp(&self.severity)
            .then_with(|| self.rule.as_str().cmp(other.rule.as_str()))
            .then_with(|| self.tools.cmp(&other.tools))
            .then_with(|| self.key.cmp(&other.key))
            .then_with(|| self.message.cmp(&other.message))
    }

    /// The finding as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "rule": self.rule.as_str(),
            "severity": self.severity,
            "tools": self.tools,
            "message": self.message,
            "help": self.help,
            "places": self.places,
            "fingerprint": self.fingerprint(),
            "data": self.data,
            "suggestions": self.suggestions.iter().map(Suggestion::to_json).collect::<Vec<_>>(),
        })
    }
}
