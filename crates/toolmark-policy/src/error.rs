//! A policy that cannot be loaded, with everything that is wrong with it.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::problem::Problem;

use crate::rule::BuildRuleError;

/// A policy that cannot be loaded, with all its problems.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPolicyError {
    problems: Vec<Problem>,
}

impl LoadPolicyError {
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// Every problem: those of rules first, in their order, then those of Cedar policies.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for LoadPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => f.write_str(only.report().what()),
            many => write!(f, "the policy has {} problems", many.len()),
        }
    }
}

impl std::error::Error for LoadPolicyError {}

impl Explain for LoadPolicyError {
    fn code(&self) -> Code {
        Code::new("policy-invalid")
    }

    fn why(&self) -> String {
        "a policy that is only partly loaded protects only partly, and looks as if it did all".into()
    }

    fn fix(&self) -> String {
        self.problems.iter().map(|problem| problem.report().fix()).collect::<Vec<_>>().join("\n")
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problems", self.problems.iter().map(Problem::to_json).collect())])
    }
}

/// A rule whose words are wrong.
#[derive(Debug, thiserror::Error)]
#[error("rule `{id}`: {error}")]
pub(crate) struct WrongRule<'e> {
    pub(crate) id: String,
    pub(crate) error: &'e BuildRuleError,
}

/// Two rules with one id.
#[derive(Debug, thiserror::Error)]
#[error("{count} rules have the id `{id}`")]
pub(crate) struct DuplicateRule {
    pub(crate) id: String,
    pub(crate) count: usize,
}

/// What no policy permits is to be denied, and there is no policy.
#[derive(Debug, thiserror::Error)]
#[error("the default is to deny, but there is no Cedar policy that could permit anything")]
pub(crate) struct PermitsNothing;

impl Explain for PermitsNothing {
    fn code(&self) -> Code {
        Code::new("policy-permits-nothing")
    }

    fn why(&self) -> String {
        "either every call would be denied, or the default would be ignored; neither is likely to be meant".into()
    }

    fn fix(&self) -> String {
        "check that `cedar` under `[policy]` names files that exist, or remove `default = \"deny\"`".into()
    }
}

impl Explain for WrongRule<'_> {
    fn code(&self) -> Code {
        self.error.code()
    }

    fn why(&self) -> String {
        self.error.why()
    }

    fn fix(&self) -> String {
        self.error.fix()
    }

    fn facts(&self) -> Map<String, Value> {
        let problems = self.error.reports().iter().map(Report::to_json).collect();
        facts([("rule", self.id.as_str().into()), ("problems", problems)])
    }
}

impl Explain for DuplicateRule {
    fn code(&self) -> Code {
        Code::new("rule-duplicate-id")
    }

    fn why(&self) -> String {
        "a verdict names the rules that decided it, and this id would name several".into()
    }

    fn fix(&self) -> String {
        "give each rule an `id` of its own, or none".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("rule", self.id.as_str().into()), ("count", self.count.into())])
    }
}
