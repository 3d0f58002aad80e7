//! Reads the words of a rule and refuses what could never match, everything at once.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::text::visible;
use toolmark_core::verdict::Decision;

use super::{OneOrMany, Patience, Rule};
use crate::pattern::{ArgumentPath, ArgumentPattern, BehaviorCondition, CallerPattern, EffectPattern, Glob};

/// A rule that is being put together.
#[derive(Clone, Debug)]
pub struct RuleBuilder {
    rule: Rule,
    problems: Vec<Report>,
}

/// A rule that cannot be, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildRuleError {
    id: Option<String>,
    problems: Vec<Report>,
}

/// One word or field of a rule that is wrong.
#[derive(Debug, thiserror::Error)]
enum RuleSyntax {
    #[error("`{0}` is not a verdict")]
    Verdict(String),
    #[error("the list `{0}` is empty")]
    EmptyList(&'static str),
    #[error("an empty text stands in `{0}`")]
    EmptyText(&'static str),
    #[error("the rule has a verdict but no condition")]
    NoCondition,
    #[error("the rule allows dangerous effects without saying what may be done")]
    AllowsOnlyDanger,
}

impl RuleBuilder {
    pub(super) fn new(verdict: Decision) -> Self {
        let rule = Rule {
            id: None,
            verdict,
            tools: Vec::new(),
            behavior: Vec::new(),
            effect: Vec::new(),
            arguments: Vec::new(),
            task: Vec::new(),
            caller: Vec::new(),
            reason: None,
            patience: Patience::default(),
        };
        Self { rule, problems: Vec::new() }
    }

    pub(super) fn written(verdict: &str) -> Self {
        let known =
            [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().find(|known| known.as_str() == verdict);
        let mut builder = Self::new(known.unwrap_or(Decision::Deny));
        if known.is_none() {
            builder.refuse(&RuleSyntax::Verdict(visible(verdict, 60)));
        }
        builder
    }

    /// Names the rule. Without a name it is known by its place: `rule 3`.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.rule.id = Some(id.into());
        self
    }

    /// How long its question is open.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.rule.patience = patience;
        self
    }

    /// Why, in one line.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.rule.reason = Some(reason.into());
        self
    }

    /// Adds a tool, in any spelling, with `*` for several.
    #[must_use]
    pub fn tool(mut self, pattern: &str) -> Self {
        self.rule.tools.push(pattern.to_owned());
        self
    }

    /// Adds a behavior, such as `MUTATES|DELETE|*`.
    #[must_use]
    pub fn behavior(mut self, pattern: &str) -> Self {
        match pattern.parse::<BehaviorCondition>() {
            Ok(pattern) => self.rule.behavior.push(pattern),
            Err(error) => self.refuse(&error),
        }
        self
    }

    /// Adds an effect, such as `MUTATES|DELETE` or `secret`.
    #[must_use]
    pub fn effect(mut self, pattern: &str) -> Self {
        match pattern.parse::<EffectPattern>() {
            Ok(pattern) => self.rule.effect.push(pattern),
            Err(error) => self.refuse(&error),
        }
        self
    }

    /// Adds a condition on an argument.
    #[must_use]
    pub fn argument(mut self, path: &str, pattern: impl Into<Value>) -> Self {
        match (ArgumentPath::parse(path), ArgumentPattern::parse(&pattern.into())) {
            (Ok(path), Ok(pattern)) => self.rule.arguments.push((path, pattern)),
            (path, pattern) => {
                self.problems.extend(path.err().map(|error| error.report()));
                self.problems.extend(pattern.err().map(|error| error.report()));
            }
        }
        self
    }

    /// Adds a task.
    #[must_use]
    pub fn task(mut self, pattern: &str) -> Self {
        self.rule.task.push(Glob::new(pattern));
        self
    }

    /// Adds a caller: a name, `agent:…` or `session:…`.
    #[must_use]
    pub fn caller(mut self, pattern: &str) -> Self {
        self.rule.caller.push(CallerPattern::new(pattern));
        self
    }

    /// The rule.
    ///
    /// # Errors
    /// [`BuildRuleError`] with everything that is wrong with it.
    pub fn build(mut self) -> Result<Rule, BuildRuleError> {
        if self.problems.is_empty() {
            self.check();
        }
        let Self { rule, problems } = self;
        if problems.is_empty() { Ok(rule) } else { Err(BuildRuleError { id: rule.id, problems }) }
    }

    pub(super) fn all(
        self,
        field: &'static str,
        texts: Option<&OneOrMany<String>>,
        add: impl Fn(Self, &str) -> Self,
    ) -> Self {
        let Some(OneOrMany(texts)) = texts else { return self };
        let mut rule = texts.iter().fold(self, |rule, text| add(rule, text));
        if texts.is_empty() {
            rule.refuse(&RuleSyntax::EmptyList(field));
        } else if texts.iter().any(String::is_empty) {
            rule.refuse(&RuleSyntax::EmptyText(field));
        }
        rule
    }

    fn check(&mut self) {
        let rule = &self.rule;
        let conditions = [
            rule.tools.len(),
            rule.behavior.len(),
            rule.effect.len(),
            rule.arguments.len(),
            rule.task.len(),
            rule.caller.len(),
        ];
        if conditions.iter().all(|count| *count == 0) {
            self.refuse(&RuleSyntax::NoCondition);
        }
        let allows = self.rule.verdict == Decision::Allow && !self.rule.effect.is_empty();
        if allows && !self.rule.effect.iter().any(EffectPattern::says_what_is_done) {
            self.refuse(&RuleSyntax::AllowsOnlyDanger);
        }
    }

    fn refuse(&mut self, error: &dyn Explain) {
        self.problems.push(error.report());
    }
}

impl BuildRuleError {
    /// The name of the rule, if it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Everything that is wrong with it.
    #[must_use]
    pub fn reports(&self) -> &[Report] {
        &self.problems
    }
}

impl fmt::Display for BuildRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<&str> = self.problems.iter().map(Report::what).collect();
        f.write_str(&all.join("; "))
    }
}

impl std::error::Error for BuildRuleError {}

impl Explain for BuildRuleError {
    fn code(&self) -> Code {
        Code::new("rule-syntax")
    }

    fn why(&self) -> String {
        self.problems.iter().map(Report::why).collect::<Vec<_>>().join("\n")
    }

    fn fix(&self) -> String {
        self.problems.iter().map(Report::fix).collect::<Vec<_>>().join("\n")
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problems", self.problems.iter().map(Report::to_json).collect())])
    }
}

impl Explain for RuleSyntax {
    fn code(&self) -> Code {
        Code::new("rule-syntax")
    }

    fn why(&self) -> String {
        match self {
            Self::Verdict(_) => "there are three verdicts, and guessing one could let a call through",
            Self::EmptyList(_) | Self::EmptyText(_) => "it matches nothing, so the rule would do nothing",
            Self::NoCondition => "it would decide every call of every tool, which is rarely meant",
            Self::AllowsOnlyDanger => "every effect also does something, so this rule would allow nothing",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Verdict(_) => "write `verdict = \"allow\"`, `\"ask\"` or `\"deny\"`".into(),
            Self::EmptyList(field) => format!("leave `{field}` out to mean everything, or list what is meant"),
            Self::EmptyText(field) => format!("remove the empty text from `{field}`, or write `*` for everything"),
            Self::NoCondition => "write `tools = [\"*\"]` if every call is meant".into(),
            Self::AllowsOnlyDanger => "add what may be done, such as `effect = [\"PURE|*\", \"secret\"]`".into(),
        }
    }
}
