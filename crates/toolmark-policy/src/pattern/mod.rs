//! What rules compare with: texts with wildcards, argument values, effects.

mod argument;
mod behavior;
mod caller;
mod effect;
mod glob;
mod path;

pub use argument::{ArgumentPattern, Comparison, ParseArgumentPatternError};
pub use behavior::BehaviorCondition;
pub(crate) use behavior::is_trusted;
pub use caller::CallerPattern;
pub(crate) use effect::cover;
pub use effect::{Deed, EffectPattern, EffectWord, ParseEffectPatternError};
pub use glob::Glob;
pub use path::{ArgumentPath, ParsePathError};

/// Which way a doubt counts. A restrictive rule matches when any part does, a permissive one only when all parts do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// The rule asks or denies.
    Restrictive,
    /// The rule allows.
    Permissive,
}

impl Stance {
    pub(crate) const fn opposite(self) -> Self {
        match self {
            Self::Restrictive => Self::Permissive,
            Self::Permissive => Self::Restrictive,
        }
    }
}
