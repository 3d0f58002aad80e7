//! Putting effects together: a statement does what its parts do, and is called after the worst of them.

use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::facts::Effect;

/// How many targets are named before the rest is left out.
const TARGETS: usize = 16;

/// How long a summary grows.
const SUMMARY: usize = 200;

/// How much is at stake.
fn rank(action: Action) -> u8 {
    match action {
        Action::Read | Action::Search => 0,
        Action::Append => 1,
        Action::Create => 2,
        Action::Update | Action::Merge => 3,
        Action::Overwrite => 4,
        Action::Delete => 5,
        Action::Send => 6,
        Action::Execute => 7,
    }
}

/// How bad an effect is, for choosing among readings.
pub(crate) fn badness(effect: &Effect) -> (bool, bool, usize, u8) {
    (effect.mutability == Mutability::Mutates, !effect.bounded, effect.dangers.len(), rank(effect.action))
}

/// Adds a nested statement to the one it stands in: the worse action names both.
pub(crate) fn join(base: &mut Effect, other: Effect) {
    let worse = rank(other.action) > rank(base.action);
    if other.mutability == Mutability::Mutates && (base.mutability == Mutability::Pure || worse) {
        base.action = other.action;
    }
    add(base, other);
}

/// Adds what a function or place does to the statement that mentions it. A statement that writes anyway keeps its name
/// unless the part deletes, sends or executes: `nextval` in an `INSERT` does not make it an update.
pub(crate) fn absorb(base: &mut Effect, other: Effect) {
    let worse = rank(other.action) >= rank(Action::Delete) && rank(other.action) > rank(base.action);
    if other.mutability == Mutability::Mutates && (base.mutability == Mutability::Pure || worse) {
        base.action = other.action;
    }
    add(base, other);
}

fn add(base: &mut Effect, other: Effect) {
    base.mutability = base.mutability.max(other.mutability);
    base.bounded &= other.bounded;
    for danger in other.dangers {
        if !base.dangers.contains(&danger) {
            base.dangers.push(danger);
        }
    }
    name(base, other.targets);
    if !other.summary.is_empty()
        && base.summary.len() + other.summary.len() < SUMMARY
        && !base.summary.contains(&other.summary)
    {
        if !base.summary.is_empty() {
            base.summary.push_str("; ");
        }
        base.summary.push_str(&other.summary);
    }
}

/// Names more targets, each once.
pub(crate) fn name(effect: &mut Effect, targets: impl IntoIterator<Item = String>) {
    for target in targets {
        if effect.targets.len() >= TARGETS {
            return;
        }
        if !target.is_empty() && !effect.targets.contains(&target) {
            effect.targets.push(target);
        }
    }
}
