//! Which behaviors are meant: a pattern over the fields, or one exact identity.

use std::fmt;
use std::str::FromStr;

use super::{
    Action, Behavior, BehaviorIdentity, ContentType, Mutability, OutputDomain, ParseBehaviorError, Polarity, Reach,
    Target,
};
use crate::text::visible;

/// A set of behaviors: `PURE|*|*`, `MUTATES|CREATE,UPDATE|ISSUE`, or the sixteen digits of an identity.
///
/// ```
/// # use toolmark_core::behavior::{Behavior, BehaviorPattern};
/// let pattern: BehaviorPattern = "MUTATES|CREATE,UPDATE|ISSUE".parse()?;
/// assert!(pattern.matches(&"MUTATES|UPDATE|ISSUE".parse::<Behavior>()?));
/// assert!(!pattern.matches(&"MUTATES|DELETE|ISSUE".parse::<Behavior>()?));
/// # Ok::<(), toolmark_core::behavior::ParseBehaviorError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BehaviorPattern(Form);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    Exact(BehaviorIdentity),
    Fields(Box<Fields>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Fields {
    mutability: OneOf<Mutability>,
    action: OneOf<Action>,
    output_domain: OneOf<OutputDomain>,
    content_type: OneOf<ContentType>,
    target: OneOf<Target>,
    polarity: OneOf<Polarity>,
    reach: OneOf<Reach>,
}

/// The values that a field may have, sorted; `None` is `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct OneOf<T>(Option<Vec<T>>);

impl BehaviorPattern {
    /// True when the behavior is one of those that are meant.
    ///
    /// A field that the behavior does not have is matched only by `*`; an identity is compared with all that it has.
    #[must_use]
    pub fn matches(&self, behavior: &Behavior) -> bool {
        match &self.0 {
            Form::Exact(identity) => {
                behavior.identity() == *identity
                    || behavior.identity_v2() == Some(*identity)
                    || behavior.identity_v3() == Some(*identity)
            }
            Form::Fields(fields) => {
                let facets = behavior.facets();
                fields.mutability.has(Some(behavior.mutability()))
                    && fields.action.has(Some(behavior.action()))
                    && fields.output_domain.has(Some(behavior.output_domain()))
                    && fields.content_type.has(behavior.content_type())
                    && fields.target.has(facets.and_then(|facets| facets.target))
                    && fields.polarity.has(facets.map(|facets| facets.polarity))
                    && fields.reach.has(facets.map(|facets| facets.reach))
            }
        }
    }

    /// True when something that does this could be one of those that are meant. An identity says nothing about parts of a call.
    #[must_use]
    pub fn admits(&self, mutability: Mutability, action: Action) -> bool {
        match &self.0 {
            Form::Exact(_) => false,
            Form::Fields(fields) => fields.mutability.has(Some(mutability)) && fields.action.has(Some(action)),
        }
    }

    /// True when every behavior that it matches is pure.
    #[must_use]
    pub fn only_pure(&self) -> bool {
        match &self.0 {
            Form::Exact(_) => false,
            Form::Fields(fields) => fields.mutability.0.as_deref() == Some(&[Mutability::Pure]),
        }
    }
}

impl Fields {
    /// A pattern that no behavior can match was not meant.
    fn check(self) -> Result<BehaviorPattern, ParseBehaviorError> {
        let pure = self.mutability.0.as_deref() == Some(&[Mutability::Pure]);
        match &self.action.0 {
            Some(actions) if pure && !actions.iter().any(|action| action.may_be_pure()) => {
                Err(ParseBehaviorError::Contradiction(actions.first().copied().unwrap_or(Action::Delete)))
            }
            _ => Ok(BehaviorPattern(Form::Fields(Box::new(self)))),
        }
    }
}

impl<T: Copy + Ord> OneOf<T> {
    const ANY: Self = Self(None);

    fn has(&self, value: Option<T>) -> bool {
        match (&self.0, value) {
            (None, _) => true,
            (Some(values), Some(value)) => values.contains(&value),
            (Some(_), None) => false,
        }
    }
}

impl<T: FromStr<Err = ParseBehaviorError> + Copy + Ord> FromStr for OneOf<T> {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        if text == "*" {
            return Ok(Self::ANY);
        }
        let mut values = text.split(',').map(str::parse).collect::<Result<Vec<T>, _>>()?;
        values.sort_unstable();
        values.dedup();
        Ok(Self(Some(values)))
    }
}

impl FromStr for BehaviorPattern {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        if let Ok(identity) = text.parse() {
            return Ok(Self(Form::Exact(identity)));
        }
        let fields: Vec<&str> = text.split('|').collect();
        let (first, content, facets) = match fields.as_slice() {
            [mutability, action, domain] => ([mutability, action, domain], "*", ["*"; 3]),
            [mutability, action, domain, content] => ([mutability, action, domain], *content, ["*"; 3]),
            [mutability, action, domain, content, target, polarity, reach] => {
                ([mutability, action, domain], *content, [*target, *polarity, *reach])
            }
            other => return Err(ParseBehaviorError::Fields { found: visible(text, 60), fields: other.len() }),
        };
        let [mutability, action, output_domain] = first;
        let [target, polarity, reach] = facets;
        Fields {
            mutability: mutability.parse()?,
            action: action.parse()?,
            output_domain: output_domain.parse()?,
            content_type: content.parse()?,
            target: target.parse()?,
            polarity: polarity.parse()?,
            reach: reach.parse()?,
        }
        .check()
    }
}

impl<T: fmt::Display> fmt::Display for OneOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(values) = &self.0 else { return f.write_str("*") };
        for (at, value) in values.iter().enumerate() {
            write!(f, "{}{value}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// In the shortest of the three forms that says the same.
impl fmt::Display for BehaviorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = match &self.0 {
            Form::Exact(identity) => return write!(f, "{identity}"),
            Form::Fields(fields) => fields,
        };
        write!(f, "{}|{}|{}", fields.mutability, fields.action, fields.output_domain)?;
        let facets = fields.target.0.is_some() || fields.polarity.0.is_some() || fields.reach.0.is_some();
        if facets || fields.content_type.0.is_some() {
            write!(f, "|{}", fields.content_type)?;
        }
        if facets {
            write!(f, "|{}|{}|{}", fields.target, fields.polarity, fields.reach)?;
        }
        Ok(())
    }
}

impl serde::Serialize for BehaviorPattern {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
