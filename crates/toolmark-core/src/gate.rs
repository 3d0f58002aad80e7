//! The gate: may this call run? What the tool is known to do, what these arguments would do, what the task expects, and what changed
//! since somebody approved it, weighed into one verdict.
//!
//! Pure and monotone: every finding is a reason, and a reason can only make the verdict stricter. The defaults are the table in
//! `docs/behavior.md`.

mod baseline;
mod expectation;
mod fitting;
mod preset;

use serde_json::Value;

use crate::behavior::{Action, Agreement, Behavior, BehaviorSource, KnownBehavior, Mutability};
use crate::facts::{Effect, Facts};
use crate::names::CanonicalName;
use crate::verdict::{Decision, Reason, Verdict};

pub use baseline::{Baseline, Learned, ReadBaselineError};
pub use expectation::{Expectation, OnMismatch};
pub use fitting::fitting;
pub use preset::{ParsePresetError, Preset};

/// Everything about one call that the gate weighs.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a CanonicalName,
    /// What the tool is known to do.
    pub known: &'a KnownBehavior,
    /// What it is called with.
    pub arguments: &'a Value,
    /// What these arguments would do.
    pub facts: &'a Facts,
    /// What is expected of the call, by its task and by the pack that its tool belongs to. All of it must hold.
    pub expectations: [Option<&'a Expectation>; 2],
    /// True when the definition is not the one that was approved.
    pub changed: bool,
    /// How strict the operator is.
    pub preset: Preset,
}

/// Which row of the table applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    Pure,
    Mutates(Option<Action>),
    Execute,
    Doubtful,
    Unknown,
}

/// Judges one call. Nothing is allocated when nothing speaks against it.
pub fn judge(call: &Call<'_>) -> Verdict {
    let behavior = call.known.behavior_of(call.arguments);
    let row = Row::of(call, behavior);
    let mut verdict = Verdict::allow();
    for reason in [doubt(call, row), selected(call, behavior), unclear(call, row)].into_iter().flatten() {
        verdict = verdict.and(reason);
    }
    for effect in call.facts.effects() {
        for reason in [exceeds(row, effect), unbounded(row, effect), dangerous(effect)].into_iter().flatten() {
            verdict = verdict.and(reason);
        }
    }
    for expectation in call.expectations.into_iter().flatten() {
        for reason in expectation.reasons(call, behavior) {
            verdict = verdict.and(reason);
        }
    }
    for reason in call.preset.reasons(call.known, behavior, call.facts) {
        verdict = verdict.and(reason);
    }
    verdict
}

impl Row {
    fn of(call: &Call<'_>, behavior: Option<Behavior>) -> Self {
        if call.changed || call.known.agreement() == Agreement::Disputed {
            return Self::Doubtful;
        }
        let mutability = behavior.map_or_else(|| call.known.mutability(), |behavior| Some(behavior.mutability()));
        match (mutability, behavior.map(|behavior| behavior.action())) {
            (_, Some(Action::Execute)) => Self::Execute,
            (Some(Mutability::Pure), _) => Self::Pure,
            (Some(Mutability::Mutates), action) => Self::Mutates(action),
            (None, _) => Self::Unknown,
        }
    }
}

fn doubt(call: &Call<'_>, row: Row) -> Option<Reason> {
    if row != Row::Doubtful {
        return None;
    }
    if call.changed {
        let message = "the tool is not the one that was approved: its definition changed";
        return Some(Reason::new(Decision::Ask, "definition-changed", message));
    }
    let said: Vec<String> = call
        .known
        .disagreements()
        .iter()
        .map(|one| {
            format!("{} says {} {}, {} says {}", who(one.source), one.field, one.claimed, who(one.against), one.found)
        })
        .collect();
    let message = format!("what the tool claims to do is disputed: {}", said.join("; "));
    Some(Reason::new(Decision::Ask, "behavior-disputed", message).fact("disagreements", said))
}

fn who(source: BehaviorSource) -> &'static str {
    match source {
        BehaviorSource::Operator => "the operator",
        BehaviorSource::Publisher => "the publisher",
        BehaviorSource::Annotations => "an annotation",
        BehaviorSource::Inferred => "the classifier",
        BehaviorSource::Models => "most models",
    }
}

/// A tool that does several things, called for the gravest of them.
fn selected(call: &Call<'_>, behavior: Option<Behavior>) -> Option<Reason> {
    let by_argument = call.known.by_argument()?;
    // The effect of an open-ended tool is the behavior of the call.
    let behavior = behavior.filter(|behavior| call.facts.is_empty() || behavior.action() != Action::Execute)?;
    let grave = matches!(behavior.action(), Action::Delete | Action::Overwrite | Action::Merge | Action::Execute);
    let milder = by_argument.values().values().any(|other| other.action() != behavior.action());
    if !(grave && milder && behavior.mutability() == Mutability::Mutates) {
        return None;
    }
    let message = format!(
        "the argument `{}` selects {}, the gravest thing this tool does",
        by_argument.pointer(),
        behavior.action()
    );
    Some(Reason::new(Decision::Ask, "argument-selects-gravest", message).fact("pointer", by_argument.pointer()))
}

fn unclear(call: &Call<'_>, row: Row) -> Option<Reason> {
    let (part, why) = call.facts.unclear().next()?;
    let message = format!("it cannot be told what `{}` ({}) would do: {why}", part.pointer, part.language);
    // Without any metadata a call degrades to what its schema says.
    let decision = if row == Row::Unknown { Decision::Allow } else { Decision::Ask };
    Some(
        Reason::new(decision, "effect-unclear", message)
            .fact("pointer", part.pointer.as_str())
            .fact("language", part.language),
    )
}

/// An effect that the tool's behavior does not cover.
fn exceeds(row: Row, effect: &Effect) -> Option<Reason> {
    if effect.mutability == Mutability::Pure {
        return None;
    }
    let (decision, message) = match row {
        Row::Pure => {
            (Decision::Deny, format!("the tool only reads, but this would {}: {}", verb(effect.action), effect.summary))
        }
        Row::Doubtful => (
            Decision::Deny,
            format!("the tool is not trusted, and this would {}: {}", verb(effect.action), effect.summary),
        ),
        Row::Execute => (Decision::Ask, format!("this would {}: {}", verb(effect.action), effect.summary)),
        Row::Mutates(Some(declared)) if !covers(declared, effect.action) => {
            let message = format!(
                "the tool is there to {}, but this would {}: {}",
                verb(declared),
                verb(effect.action),
                effect.summary
            );
            (Decision::Ask, message)
        }
        Row::Mutates(_) | Row::Unknown => return None,
    };
    let code = if row == Row::Execute { "effect-mutates" } else { "effect-exceeds-behavior" };
    Some(
        Reason::new(decision, code, message)
            .fact("action", effect.action.as_str())
            .fact("targets", effect.targets.clone()),
    )
}

fn unbounded(row: Row, effect: &Effect) -> Option<Reason> {
    if effect.bounded || row == Row::Pure {
        return None;
    }
    let message = format!("what this would {} has no limit: {}", verb(effect.action), effect.summary);
    Some(Reason::new(Decision::Ask, "effect-unbounded", message).fact("targets", effect.targets.clone()))
}

fn dangerous(effect: &Effect) -> Option<Reason> {
    let dangers: Vec<&str> = effect.dangers.iter().map(|danger| danger.as_str()).collect();
    if dangers.is_empty() {
        return None;
    }
    let message = format!("dangerous ({}): {}", dangers.join(", "), effect.summary);
    Some(Reason::new(Decision::Ask, "effect-dangerous", message).fact("dangers", dangers))
}

/// Whether a tool that is there for one kind of change may make another within limits.
fn covers(declared: Action, effect: Action) -> bool {
    match declared {
        Action::Create | Action::Append => {
            matches!(effect, Action::Create | Action::Append | Action::Read | Action::Search)
        }
        Action::Send => {
            matches!(effect, Action::Send | Action::Create | Action::Append | Action::Read | Action::Search)
        }
        Action::Read | Action::Search => matches!(effect, Action::Read | Action::Search),
        Action::Update | Action::Merge => !matches!(effect, Action::Execute | Action::Send | Action::Delete),
        Action::Overwrite | Action::Delete => !matches!(effect, Action::Execute | Action::Send),
        Action::Execute => true,
    }
}

pub(crate) fn verb(action: Action) -> &'static str {
    match action {
        Action::Read => "read",
        Action::Search => "search",
        Action::Create => "create",
        Action::Update => "change",
        Action::Delete => "delete",
        Action::Merge => "merge",
        Action::Overwrite => "overwrite",
        Action::Append => "append",
        Action::Execute => "run something",
        Action::Send => "send",
    }
}

#[cfg(test)]
mod tests;
