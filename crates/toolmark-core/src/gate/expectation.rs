//! What a task may do: patterns over behaviors, from a specification, a policy, or a baseline of earlier approved runs.

use super::baseline::Baseline;
use super::{Call, verb};
use crate::behavior::{Action, Behavior, BehaviorPattern, Mutability};
use crate::facts::{Effect, Facts};
use crate::verdict::{Decision, Reason};

/// What a task may do, and what happens when a call does something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    task: String,
    patterns: Vec<BehaviorPattern>,
    baseline: Option<Baseline>,
    on_mismatch: OnMismatch,
}

/// What a call gets that is not expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMismatch {
    /// It does not run.
    #[default]
    Deny,
    /// A person is asked.
    Ask,
}

impl Expectation {
    /// A task that may do what any of these patterns says.
    #[must_use]
    pub fn new(task: impl Into<String>, patterns: Vec<BehaviorPattern>, on_mismatch: OnMismatch) -> Self {
        Self { task: task.into(), patterns, baseline: None, on_mismatch }
    }

    /// The same, and nothing that its earlier runs did not do.
    #[must_use]
    pub fn with_baseline(mut self, baseline: Baseline) -> Self {
        self.baseline = Some(baseline);
        self
    }

    /// What its earlier runs did.
    #[must_use]
    pub fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref()
    }

    /// The task's name.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// What it may do.
    #[must_use]
    pub fn patterns(&self) -> &[BehaviorPattern] {
        &self.patterns
    }

    fn decision(&self) -> Decision {
        match self.on_mismatch {
            OnMismatch::Deny => Decision::Deny,
            OnMismatch::Ask => Decision::Ask,
        }
    }

    /// The patterns in one line.
    #[must_use]
    pub fn shown(&self) -> String {
        self.patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
    }

    /// What speaks against a call in this task. Nothing is allocated when nothing does.
    pub(super) fn reasons(&self, call: &Call<'_>, behavior: Option<Behavior>) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if !self.patterns.is_empty() {
            reasons.extend(self.by_behavior(behavior, call.known.mutability(), call.facts));
            reasons.extend(self.by_effects(call.facts));
        }
        if let Some(baseline) = &self.baseline {
            let unusual = baseline.unusual(call.tool, behavior, call.facts);
            reasons.extend(unusual.map(|does| self.unlike_before(&does)));
        }
        reasons
    }

    /// What the tool does, against the patterns.
    fn by_behavior(&self, behavior: Option<Behavior>, mutability: Option<Mutability>, facts: &Facts) -> Option<Reason> {
        match behavior {
            // The effect of an open-ended tool is the behavior of the call; its own says only that it may be anything.
            Some(behavior) if behavior.action() == Action::Execute && !facts.is_empty() => None,
            Some(behavior) if self.patterns.iter().any(|pattern| pattern.matches(&behavior)) => None,
            Some(behavior) => Some(self.mismatch(&format!("the tool does {behavior}"))),
            None if mutability == Some(Mutability::Mutates) && self.only_pure() => {
                Some(self.mismatch("the tool changes something"))
            }
            None if mutability == Some(Mutability::Pure) && self.only_pure() => None,
            None => {
                let message =
                    format!("the task `{}` expects {}, and nobody knows what this tool does", self.task, self.shown());
                Some(Reason::new(Decision::Ask, "task-behavior-unknown", message))
            }
        }
    }

    /// What the arguments would do, against the patterns. Reading on the way to something else is expected of every task.
    fn by_effects(&self, facts: &Facts) -> Option<Reason> {
        let unexpected = |effect: &&Effect| {
            effect.mutability == Mutability::Mutates
                && !self.patterns.iter().any(|pattern| pattern.admits(effect.mutability, effect.action))
        };
        if let Some(effect) = facts.effects().find(unexpected) {
            return Some(self.mismatch(&format!("this would {}: {}", verb(effect.action), effect.summary)));
        }
        facts.unclear().next().map(|_| {
            let message =
                format!("the task `{}` expects {}, and it cannot be told what this would do", self.task, self.shown());
            Reason::new(Decision::Ask, "task-effect-unclear", message)
        })
    }

    fn only_pure(&self) -> bool {
        !self.patterns.is_empty() && self.patterns.iter().all(BehaviorPattern::only_pure)
    }

    fn mismatch(&self, does: &str) -> Reason {
        let message = format!("the task `{}` expects {}, but {does}", self.task, self.shown());
        Reason::new(self.decision(), "task-mismatch", message)
            .fact("task", self.task.as_str())
            .fact("expected", self.shown())
    }

    fn unlike_before(&self, does: &str) -> Reason {
        let message = format!("earlier runs of the task `{}` did nothing like this: {does}", self.task);
        Reason::new(self.decision(), "task-unlike-baseline", message).fact("task", self.task.as_str())
    }
}
