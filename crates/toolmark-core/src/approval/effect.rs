//! "Only what this one did": the effects of a call, as a limit for later calls.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::{Effect, Facts};

/// The kinds of effect that a grant covers: nothing else, nothing unbounded that was bounded, no danger that was not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectBound {
    kinds: BTreeSet<Kind>,
}

/// One kind of effect, without what it acts on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Kind {
    language: String,
    mutability: String,
    action: String,
    bounded: bool,
    dangers: BTreeSet<String>,
}

impl EffectBound {
    /// What these arguments do. Nothing where they carry no program, or one that was not understood: such a limit would be none.
    #[must_use]
    pub fn of(facts: &Facts) -> Option<Self> {
        if facts.is_empty() || facts.unclear().next().is_some() {
            return None;
        }
        let kinds: BTreeSet<Kind> = kinds(facts).collect();
        (!kinds.is_empty()).then_some(Self { kinds })
    }

    /// Whether these arguments do no more.
    #[must_use]
    pub fn covers(&self, facts: &Facts) -> bool {
        let Some(other) = Self::of(facts) else { return false };
        other.kinds.iter().all(|kind| {
            self.kinds.iter().any(|known| {
                known.language == kind.language
                    && known.mutability == kind.mutability
                    && known.action == kind.action
                    && (kind.bounded || !known.bounded)
                    && kind.dangers.is_subset(&known.dangers)
            })
        })
    }
}

fn kinds(facts: &Facts) -> impl Iterator<Item = Kind> {
    use crate::facts::Reading;
    facts.parts().iter().flat_map(|part| {
        let effects: &[Effect] = match &part.reading {
            Reading::Understood(effects) => effects,
            Reading::CannotTell { .. } => &[],
        };
        effects.iter().map(|effect| Kind {
            language: part.language.to_owned(),
            mutability: effect.mutability.as_str().to_owned(),
            action: effect.action.as_str().to_owned(),
            bounded: effect.bounded,
            dangers: effect.dangers.iter().map(|danger| danger.as_str().to_owned()).collect(),
        })
    })
}

/// `sql PURE QUERY, sql MUTATES UPDATE`
impl fmt::Display for EffectBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, kind) in self.kinds.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{} {} {}", kind.language, kind.mutability, kind.action)?;
            if !kind.bounded {
                f.write_str(" without limit")?;
            }
            for danger in &kind.dangers {
                write!(f, " ({danger})")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
