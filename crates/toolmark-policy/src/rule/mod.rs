//! A rule of the configuration as plain data: a verdict, and the conditions under which it is given.

mod builder;
mod config;
mod matching;

pub use builder::{BuildRuleError, RuleBuilder};
pub use config::{OneOrMany, RuleConfig};
pub(crate) use matching::{Doubt, Match};

use std::time::Duration;

use serde_json::{Map, Value};
use toolmark_core::verdict::Decision;

use crate::answer::Named;
use crate::pattern::{ArgumentPath, ArgumentPattern, BehaviorCondition, CallerPattern, EffectPattern, Glob, Stance};

/// A verdict and its conditions, all of which must hold. A condition that is not set holds for every call.
///
/// ```
/// # use toolmark_core::verdict::Decision;
/// # use toolmark_policy::Rule;
/// let rule = Rule::builder(Decision::Ask)
///     .id("ask-before-main")
///     .tool("github.merge_pull_request")
///     .argument("base", "main")
///     .build()?;
/// assert_eq!(rule.verdict(), Decision::Ask);
/// # Ok::<(), toolmark_policy::BuildRuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    id: Option<String>,
    verdict: Decision,
    tools: Vec<String>,
    behavior: Vec<BehaviorCondition>,
    effect: Vec<EffectPattern>,
    arguments: Vec<(ArgumentPath, ArgumentPattern)>,
    task: Vec<Glob>,
    caller: Vec<CallerPattern>,
    reason: Option<String>,
    patience: Patience,
}

/// How long a question of a rule is open, and what becomes of it then, where the rule says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patience {
    /// How long it is open.
    pub timeout: Option<Duration>,
    /// Whether it stays open after that.
    pub keeps: Option<bool>,
}

impl Rule {
    /// Begins a rule.
    #[must_use]
    pub fn builder(verdict: Decision) -> RuleBuilder {
        RuleBuilder::new(verdict)
    }

    /// True when it says the same about every call of a tool, whatever the arguments, the task and the caller.
    pub(crate) fn looks_at_the_tool_only(&self) -> bool {
        self.effect.is_empty() && self.arguments.is_empty() && self.task.is_empty() && self.caller.is_empty()
    }

    /// The name that its author gave it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// What it says when it matches.
    #[must_use]
    pub fn verdict(&self) -> Decision {
        self.verdict
    }

    /// The tools it names, as written. Empty for every tool.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// The conditions on arguments.
    #[must_use]
    pub fn arguments(&self) -> &[(ArgumentPath, ArgumentPattern)] {
        &self.arguments
    }

    /// How long its question is open.
    #[must_use]
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Why its author wants it, in one line for people and models.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Which conditions it states.
    #[must_use]
    pub fn named(&self) -> Named {
        Named {
            tools: !self.tools.is_empty(),
            behavior: !self.behavior.is_empty(),
            effect: !self.effect.is_empty(),
            arguments: !self.arguments.is_empty(),
        }
    }

    /// Which way doubt counts for it.
    #[must_use]
    pub fn stance(&self) -> Stance {
        match self.verdict {
            Decision::Allow => Stance::Permissive,
            Decision::Ask | Decision::Deny => Stance::Restrictive,
        }
    }

    /// The rule as its author could have written it; what the version of a policy is made of.
    #[must_use]
    pub fn to_json(&self) -> Value {
        fn list<T: ToString>(all: &[T]) -> Option<Value> {
            (!all.is_empty()).then(|| all.iter().map(ToString::to_string).collect())
        }
        let arguments = || -> Value {
            let entries = self.arguments.iter().map(|(path, pattern)| (path.to_string(), pattern.to_json()));
            entries.collect::<Map<_, _>>().into()
        };
        let fields = [
            ("id", self.id.as_deref().map(Value::from)),
            ("verdict", Some(self.verdict.as_str().into())),
            ("tools", list(&self.tools)),
            ("behavior", list(&self.behavior)),
            ("effect", list(&self.effect)),
            ("arguments", (!self.arguments.is_empty()).then(arguments)),
            ("task", list(&self.task)),
            ("caller", list(&self.caller)),
            ("reason", self.reason.as_deref().map(Value::from)),
        ];
        fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect::<Map<_, _>>().into()
    }
}

#[cfg(test)]
mod tests;
