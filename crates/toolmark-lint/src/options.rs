//! What a run of lint leaves out, and what the operator has already said.

use std::collections::HashMap;
use std::sync::Arc;

use toolmark_core::behavior::Behavior;
use toolmark_core::display::{LanguageTag, NameTable};
use toolmark_core::document::Place;
use toolmark_core::names::CanonicalName;
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::rule::RuleId;

/// Which findings are wanted, by default all of them, and the operator's declarations, by default none.
#[derive(Clone, Debug, Default)]
pub struct Options {
    at_least: Option<Severity>,
    only: Vec<RuleId>,
    without: Vec<RuleId>,
    declared: HashMap<CanonicalName, Behavior>,
    labels: Option<Arc<Labels>>,
}

/// What people call tools, as the operator and files of translations say it.
#[derive(Debug)]
pub struct Labels {
    /// The names of all tools.
    pub table: NameTable,
    /// Texts for what is not there.
    pub dead: Vec<DeadLabel>,
    /// Texts that are never shown.
    pub shadowed: Vec<ShadowedLabel>,
}

/// A text for something that is not there.
#[derive(Clone, Debug)]
pub struct DeadLabel {
    /// What it is for, as it is written.
    pub key: String,
    /// Tools that could be meant, by canonical name.
    pub near: Vec<String>,
    /// Where it stands.
    pub place: Option<Place>,
}

/// A text that another one goes before.
#[derive(Clone, Debug)]
pub struct ShadowedLabel {
    /// What it is for, as it is written.
    pub key: String,
    /// The language.
    pub language: LanguageTag,
    /// The text that is never shown.
    pub text: String,
    /// The text that is shown.
    pub shown: String,
    /// Where it stands.
    pub place: Place,
}

impl Options {
    /// Leaves out what matters less than `severity`.
    #[must_use]
    pub fn at_least(mut self, severity: Severity) -> Self {
        self.at_least = Some(severity);
        self
    }

    /// Keeps this rule, and others only if they are named too.
    #[must_use]
    pub fn only(mut self, rule: RuleId) -> Self {
        self.only.push(rule);
        self
    }

    /// Leaves out this rule.
    #[must_use]
    pub fn without(mut self, rule: RuleId) -> Self {
        self.without.push(rule);
        self
    }

    /// Takes the operator's word for what a tool does.
    #[must_use]
    pub fn declared(mut self, tool: CanonicalName, behavior: Behavior) -> Self {
        self.declared.insert(tool, behavior);
        self
    }

    /// Takes names from outside into account. Without them, only what tools call themselves is looked at.
    #[must_use]
    pub fn labels(mut self, labels: Labels) -> Self {
        self.labels = Some(Arc::new(labels));
        self
    }

    pub(crate) fn given_labels(&self) -> Option<&Labels> {
        self.labels.as_deref()
    }

    pub(crate) fn operator(&self, tool: &CanonicalName) -> Option<Behavior> {
        self.declared.get(tool).copied()
    }

    pub(crate) fn wants(&self, finding: &Finding) -> bool {
        let rule = finding.rule();
        // What could not be read is never left out because somebody looked for something else.
        if rule == RuleId::CatalogProblem {
            return !self.without.contains(&rule);
        }
        let chosen = self.only.is_empty() || self.only.contains(&rule);
        chosen && !self.without.contains(&rule) && Some(finding.severity()) >= self.at_least
    }
}
