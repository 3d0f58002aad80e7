//! What a person is asked, what they may answer, and what of it holds for later calls: plain data, decided by nobody here.
//!
//! An [`Ask`] is one question about one call. A [`Ruling`] answers it. A [`Grant`] is what stays of a ruling that was meant for more
//! than one call; it is bound to the mark, so that it says nothing about a tool that has changed.

mod ask;
mod effect;
mod grant;
mod id;
mod pattern;
mod prompt;
mod run;

pub use ask::{Ask, AskKey, AskState, Decided, Ruling, RulingError};
pub use effect::EffectBound;
pub use grant::{Asked, Covers, Given, Grant, Way};
pub use id::{AskId, GrantId, ParseIdError, RunId};
pub use pattern::{ArgumentPattern, Matches, Proposal};
pub use prompt::Prompt;
pub use run::{ApprovalsVersion, Joined, Outcome, Run, RunState};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::explain::{Code, Explain};
use crate::text::visible;

/// How far an answer reaches. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The calls that are waiting, each of them once.
    Once,
    /// Every call of this tool in this session.
    Session,
    /// Every call of this tool whose arguments do no more than these.
    Effect,
    /// Every call of this tool whose arguments fit a pattern.
    Pattern,
    /// Every call of this tool.
    Always,
}

/// Text that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scope of an approval")]
pub struct ParseScopeError(String);

impl Scope {
    /// All of them, narrowest first.
    pub const ALL: [Self; 5] = [Self::Once, Self::Session, Self::Effect, Self::Pattern, Self::Always];

    /// The scope in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Effect => "effect",
            Self::Pattern => "pattern",
            Self::Always => "always",
        }
    }

    /// True when it reaches beyond the calls that wait.
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        !matches!(self, Self::Once)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = ParseScopeError;

    fn from_str(text: &str) -> Result<Self, ParseScopeError> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| ParseScopeError(visible(text, 40)))
    }
}

impl Explain for ParseScopeError {
    fn code(&self) -> Code {
        Code::new("approval-scope")
    }

    fn why(&self) -> String {
        "an approval that reaches further than it was meant to lets calls through that nobody saw".into()
    }

    fn fix(&self) -> String {
        "use `once`, `session`, `effect`, `pattern` or `always`".into()
    }
}
