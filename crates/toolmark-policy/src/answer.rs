//! What a policy says about a call: reasons to ask or deny, and the rules that allow it. Weighing them against the defaults is the
//! gate's work.

use std::fmt;
use std::sync::Arc;

use toolmark_core::verdict::{Decision, Reason};

/// Everything that rules and policies say about one call.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct PolicyAnswer {
    /// Reasons to ask or to deny, never to allow.
    pub reasons: Vec<Reason>,
    /// Rules that allow the call. They weaken no reason; they may only answer a question that a default would ask.
    pub allows: Vec<Permission>,
}

/// A rule or policy that allows a call, and how explicit it is about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// The rule or policy.
    pub by: Author,
    /// What it names. A default that asks because of an effect is answered by a rule that names effects, and so on.
    pub names: Named,
}

/// Which conditions a rule states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// It names tools.
    pub tools: bool,
    /// It names behaviors.
    pub behavior: bool,
    /// It names effects, and all effects of the call are among them; of a Cedar policy, it looks at facts.
    pub effect: bool,
    /// It names arguments.
    pub arguments: bool,
}

/// A rule or policy that may apply to a call, which only its arguments could tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The rule or policy.
    pub by: Author,
    /// Whether it could ask or deny.
    pub may_stop: bool,
    /// Whether it could allow.
    pub may_allow: bool,
}

/// Who said it: a rule of the configuration or a Cedar policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Author {
    /// A rule under `[[rules]]`, by its id or place.
    Rule(Arc<str>),
    /// A Cedar policy, by its `@id` or place.
    Cedar(Arc<str>),
}

impl PolicyAnswer {
    /// True when nothing was said.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.reasons.is_empty() && self.allows.is_empty()
    }

    /// The strictest of the reasons. Allow when there is none, whether or not a rule allows.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.reasons.iter().map(|reason| reason.decision).max().unwrap_or(Decision::Allow)
    }
}

impl Author {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Rule(id) | Self::Cedar(id) => id,
        }
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(id) => write!(f, "rule `{id}`"),
            Self::Cedar(id) => write!(f, "policy `{id}`"),
        }
    }
}
