//! Which behaviors a rule means, and what can still be said when only part of a behavior is known.

use std::fmt;
use std::str::FromStr;

use toolmark_core::behavior::{
    Action, Agreement, Behavior, BehaviorPattern, BehaviorSource, KnownBehavior, Mutability, OutputDomain,
    ParseBehaviorError,
};

/// A pattern over behaviors, with what it leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehaviorCondition {
    pattern: BehaviorPattern,
    beyond_three: Beyond,
    may_be_pure: bool,
    may_mutate: bool,
}

/// What a pattern asks beyond mutability, action and output domain.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Beyond {
    /// Nothing.
    Nothing,
    /// The content type, for behaviors that meet this.
    ContentType(BehaviorPattern),
    /// The content type and the facets, for behaviors that meet this.
    Facets(BehaviorPattern),
    /// An identity that is not one of three fields.
    Identity,
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
    pub fn may_match(&self, behavior: Option<&Behavior>, known: &KnownBehavior) -> bool {
        let Some(behavior) = behavior else {
            return match known.mutability() {
                Some(Mutability::Mutates) => self.may_mutate,
                Some(Mutability::Pure) if is_trusted(known) => self.may_be_pure,
                Some(Mutability::Pure) | None => true,
            };
        };
        let has_content = behavior.content_type().is_some();
        let has_all = has_content && behavior.facets().is_some();
        match &self.beyond_three {
            Beyond::Nothing => self.matches(behavior),
            Beyond::ContentType(three) => self.matches(behavior) || (!has_content && three.matches(behavior)),
            Beyond::Facets(three) => self.matches(behavior) || (!has_all && three.matches(behavior)),
            Beyond::Identity => self.matches(behavior) || !has_all,
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
        let fields: Vec<&str> = text.split('|').collect();
        let first_three = || fields.iter().take(3).copied().collect::<Vec<_>>().join("|").parse::<BehaviorPattern>();
        let met = |by: &BehaviorPattern, mutability| any_of(mutability).any(|behavior| by.matches(&behavior));
        let known = [Mutability::Pure, Mutability::Mutates].map(|mutability| met(&pattern, mutability));
        let (beyond_three, [may_be_pure, may_mutate]) = match fields.len() {
            3 => (Beyond::Nothing, known),
            1 if known.contains(&true) => (Beyond::Nothing, known),
            1 => (Beyond::Identity, [true, true]),
            count => {
                let three = first_three()?;
                let may = [Mutability::Pure, Mutability::Mutates].map(|mutability| met(&three, mutability));
                (if count == 4 { Beyond::ContentType(three) } else { Beyond::Facets(three) }, may)
            }
        };
        Ok(Self { pattern, beyond_three, may_be_pure, may_mutate })
    }
}

/// Every behavior of three fields.
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

#[cfg(test)]
mod tests {
    use toolmark_core::behavior::Statements;

    use super::*;

    fn condition(text: &str) -> BehaviorCondition {
        text.parse().unwrap()
    }

    fn behavior(text: &str) -> Behavior {
        text.parse().unwrap()
    }

    fn unknown() -> KnownBehavior {
        KnownBehavior::combine(Statements::default())
    }

    #[test]
    fn a_field_that_is_not_known_may_be_the_one_that_is_meant() {
        let may = |pattern: &str, text: &str| condition(pattern).may_match(Some(&behavior(text)), &unknown());
        assert!(may("MUTATES|*|*|TEXT", "MUTATES|SEND|MESSAGE"));
        assert!(!may("MUTATES|*|*|TEXT", "PURE|READ|DATA"));
        assert!(!may("MUTATES|*|*|TEXT", "MUTATES|SEND|MESSAGE|IMAGE"));
        assert!(!may("MUTATES|DELETE|*", "MUTATES|SEND|MESSAGE"));
    }

    #[test]
    fn an_identity_of_three_fields_is_decided_and_a_longer_one_is_not() {
        let three = behavior("MUTATES|CREATE|ACK");
        let same = condition(&three.identity().to_string());
        assert!(same.matches(&three));
        assert!(!same.may_match(Some(&behavior("PURE|READ|DATA")), &unknown()));
        let longer = condition(&behavior("PURE|READ|DATA|STRUCTURED").identity_v2().unwrap().to_string());
        assert!(longer.may_match(Some(&three), &unknown()));
    }

    #[test]
    fn nothing_known_may_be_anything() {
        assert!(condition("PURE|READ|DATA").may_match(None, &unknown()));
        assert!(condition("MUTATES|*|*|TEXT").may_match(None, &unknown()));
    }
}
