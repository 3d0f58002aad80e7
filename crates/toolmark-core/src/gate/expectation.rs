//! What a task may do: patterns over behaviors, from a specification, a policy, or a baseline of earlier approved runs.

use super::verb;
use crate::behavior::{Action, Behavior, BehaviorPattern, Mutability};
use crate::facts::Facts;
use crate::verdict::{Decision, Reason};

/// What a task may do, and what happens when a call does something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    task: String,
    patterns: Vec<BehaviorPattern>,
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
        Self { task: task.into(), patterns, on_mismatch }
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

    /// What speaks against a call in this task.
    pub(super) fn reasons(
        &self,
        behavior: Option<Behavior>,
        mutability: Option<Mutability>,
        facts: &Facts,
    ) -> Vec<Reason> {
        let mut reasons = Vec::new();
        // The effect of an open-ended tool is the behavior of the call; its own says only that it may be anything.
        let open_ended = behavior.is_some_and(|behavior| behavior.action() == Action::Execute);
        match behavior {
            Some(_) if open_ended && !facts.is_empty() => {}
            Some(behavior) if self.patterns.iter().any(|pattern| pattern.matches(&behavior)) => {}
            Some(behavior) => reasons.push(self.mismatch(&format!("the tool does {behavior}"))),
            None if mutability == Some(Mutability::Mutates) && self.only_pure() => {
                reasons.push(self.mismatch("the tool changes something"));
            }
            None if mutability == Some(Mutability::Pure) && self.only_pure() => {}
            None => {
                let message =
                    format!("the task `{}` expects {}, and nobody knows what this tool does", self.task, self.shown());
                reasons.push(Reason::new(Decision::Ask, "task-behavior-unknown", message));
            }
        }
        if self.only_pure() {
            if let Some(effect) = facts.effects().find(|effect| effect.mutability == Mutability::Mutates) {
                reasons.push(self.mismatch(&format!("this would {}: {}", verb(effect.action), effect.summary)));
            } else if facts.unclear().next().is_some() {
                reasons.push(Reason::new(
                    Decision::Ask,
                    "task-effect-unclear",
                    format!("the task `{}` only reads, and it cannot be told what this would do", self.task),
                ));
            }
        }
        reasons
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
}
