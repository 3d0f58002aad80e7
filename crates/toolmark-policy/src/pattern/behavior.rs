//! Which behaviors a rule means, and what can still be said when only half of a behavior is known.

use std::fmt;
use std::str::FromStr;

use toolmark_core::behavior::{Action, Behavior, Mutability, OutputDomain, ParseBehaviorError};

use crate::{Agreement, BehaviorPattern, BehaviorSource, KnownBehavior};

/// A pattern over behaviors, with what it leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviorCondition {
    pattern: BehaviorPattern,
    may_be_pure: bool,
    may_mutate: bool,
}

impl BehaviorCondition {
    /// True when this behavior is meant.
    #[must_use]
    pub fn matches(&self, behavior: &Behavior) -> bool {
        self.pattern.matches(behavior)
    }

    /// True unless what is known rules out that the behavior is meant.
    ///
    /// That it mutates is believed from anybody; that it is pure only where it can be relied on.
    #[must_use]
    pub fn may_match(&self, known: &KnownBehavior) -> bool {
        match known.mutability() {
            Some(Mutability::Mutates) => self.may_mutate,
            Some(Mutability::Pure) if is_trusted(known) => self.may_be_pure,
            Some(Mutability::Pure) | None => true,
        }
    }
}

/// True when a behavior may make a call less guarded: the operator says it, a second opinion agrees, or nobody claims it.
pub(crate) fn is_trusted(known: &KnownBehavior) -> bool {
    match known.agreement() {
        Agreement::Corroborated | Agreement::Inferred => true,
        Agreement::Declared => known.source() == Some(BehaviorSource::Operator),
        Agreement::Disputed | Agreement::Unknown => false,
    }
}

impl FromStr for BehaviorCondition {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        let pattern: BehaviorPattern = text.parse()?;
        // A pattern over more than three fields, or an identity, is not decided by the three that are tried here.
        let open = pattern.to_string().matches('|').count() != 2;
        let may = |mutability| open || any_of(mutability).any(|behavior| pattern.matches(&behavior));
        Ok(Self { may_be_pure: may(Mutability::Pure), may_mutate: may(Mutability::Mutates), pattern })
    }
}

fn any_of(mutability: Mutability) -> impl Iterator<Item = Behavior> {
    Action::ALL.iter().flat_map(move |action| {
        OutputDomain::ALL.iter().filter_map(move |domain| Behavior::new(mutability, *action, *domain).ok())
    })
}

impl fmt::Display for BehaviorCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pattern.fmt(f)
    }
}
