//! How strict an operator is by default.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::verb;
use crate::behavior::{Action, Agreement, Behavior, BehaviorSource, KnownBehavior, Mutability};
use crate::explain::{Code, Explain, facts};
use crate::facts::Facts;
use crate::verdict::{Decision, Reason};

/// The four ways to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// Judges as `balanced` and stops nothing; what it would have stopped is recorded.
    Observe,
    /// The table.
    #[default]
    Balanced,
    /// Also asks for everything that cannot be taken back, and for open-ended tools.
    Careful,
    /// Nothing but reading, and only where that is beyond doubt.
    ReadOnly,
}

/// Text that names no preset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a preset")]
pub struct ParsePresetError {
    found: String,
}

impl Preset {
    /// True when verdicts are recorded and nothing is stopped. A call that runs so is never reported as allowed.
    #[must_use]
    pub const fn only_observes(self) -> bool {
        matches!(self, Self::Observe)
    }

    /// Every preset, mildest first.
    pub const ALL: &[Self] = &[Self::Observe, Self::Balanced, Self::Careful, Self::ReadOnly];

    /// The preset in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Balanced => "balanced",
            Self::Careful => "careful",
            Self::ReadOnly => "read-only",
        }
    }

    /// What it adds to the table.
    pub(super) fn reasons(self, known: &KnownBehavior, behavior: Option<Behavior>, facts: &Facts) -> Vec<Reason> {
        match self {
            Self::Observe | Self::Balanced => Vec::new(),
            Self::Careful => careful(behavior, facts),
            Self::ReadOnly => read_only(known, behavior, facts),
        }
    }
}

fn careful(behavior: Option<Behavior>, facts: &Facts) -> Vec<Reason> {
    let grave = |action: Action| matches!(action, Action::Delete | Action::Overwrite | Action::Merge | Action::Send);
    let declared = behavior.map(|behavior| behavior.action());
    let mut reasons: Vec<Reason> = declared
        .into_iter()
        .chain(facts.effects().map(|effect| effect.action))
        .filter(|&action| grave(action))
        .take(1)
        .map(|action| {
            Reason::new(Decision::Ask, "preset-careful", format!("`careful` asks before anything may {}", verb(action)))
        })
        .collect();
    if declared == Some(Action::Execute) && facts.is_empty() {
        reasons.push(Reason::new(Decision::Ask, "preset-careful", "`careful` asks before an open-ended tool runs"));
    }
    reasons
}

fn read_only(known: &KnownBehavior, behavior: Option<Behavior>, facts: &Facts) -> Vec<Reason> {
    let sure = known.source() == Some(BehaviorSource::Operator) || known.agreement() == Agreement::Corroborated;
    let mutability = behavior.map_or_else(|| known.mutability(), |behavior| Some(behavior.mutability()));
    let pure = mutability == Some(Mutability::Pure) && sure && known.agreement() != Agreement::Disputed;
    let mut reasons = Vec::new();
    if !pure {
        let message = "`read-only` admits only tools that the operator or a second opinion says to read";
        reasons.push(Reason::new(Decision::Deny, "preset-read-only", message));
    }
    if facts.unclear().next().is_some() || facts.effects().any(|effect| effect.mutability != Mutability::Pure) {
        reasons.push(Reason::new(Decision::Deny, "preset-read-only", "`read-only` admits only arguments that read"));
    }
    reasons
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = ParsePresetError;

    fn from_str(text: &str) -> Result<Self, ParsePresetError> {
        let known = Self::ALL.iter().copied().find(|preset| preset.as_str() == text);
        known.ok_or_else(|| ParsePresetError { found: crate::text::visible(text, 60) })
    }
}

impl serde::Serialize for Preset {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Explain for ParsePresetError {
    fn code(&self) -> Code {
        Code::new("preset-unknown")
    }

    fn why(&self) -> String {
        "a preset decides what happens to calls that no rule mentions; none of them is a safe guess".into()
    }

    fn fix(&self) -> String {
        let all: Vec<&str> = Preset::ALL.iter().map(|preset| preset.as_str()).collect();
        format!("use one of {}", all.join(", "))
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("found", self.found.as_str().into())])
    }
}
