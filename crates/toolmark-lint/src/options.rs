//! What a run of lint leaves out.

use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::rule::RuleId;

/// Which findings are wanted. By default all of them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    at_least: Option<Severity>,
    only: Vec<RuleId>,
    without: Vec<RuleId>,
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

    pub(crate) fn wants(&self, finding: &Finding) -> bool {
        let rule = finding.rule();
        let chosen = self.only.is_empty() || self.only.contains(&rule);
        chosen && !self.without.contains(&rule) && Some(finding.severity()) >= self.at_least
    }
}
