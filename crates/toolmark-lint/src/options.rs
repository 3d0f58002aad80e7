//! What a run of lint leaves out, and what the operator has already said.

use std::collections::HashMap;

use toolmark_core::behavior::Behavior;
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
