//! What a tool does, in closed vocabularies, and the short identities of that.
//!
//! The first three fields and the first identity are those of "Behavioral Identity for Tool Ecosystems"; some values are ours.

mod annotations;
mod by_argument;
mod disagreement;
mod error;
mod identity;
mod known;
mod nouns;
mod pattern;
mod target;
mod vocabulary;

use std::fmt;
use std::str::FromStr;

pub use annotations::Annotations;
pub use by_argument::ByArgument;
pub use disagreement::Disagreement;
pub use error::ParseBehaviorError;
pub use identity::{BehaviorIdentity, ParseIdentityError};
pub use known::{Agreement, BehaviorSource, KnownBehavior, Statements};
pub use pattern::BehaviorPattern;
pub use target::{Facets, Noun, Target};
pub use vocabulary::{Action, ContentType, Mutability, OutputDomain, Polarity, Reach};

use crate::text::visible;

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Behavior {
    mutability: Mutability,
    action: Action,
    output_domain: OutputDomain,
    content_type: Option<ContentType>,
    facets: Option<Facets>,
}

impl Behavior {
    /// Puts three fields together.
    ///
    /// # Errors
    /// When they contradict each other: what is PURE does not create, change or delete.
    pub fn new(
        mutability: Mutability,
        action: Action,
        output_domain: OutputDomain,
    ) -> Result<Self, ParseBehaviorError> {
        if mutability == Mutability::Pure && !action.may_be_pure() {
            return Err(ParseBehaviorError::Contradiction(action));
        }
        Ok(Self { mutability, action, output_domain, content_type: None, facets: None })
    }

    /// The same with a content type.
    #[must_use]
    pub fn with_content_type(mut self, content_type: ContentType) -> Self {
        self.content_type = Some(content_type);
        self
    }

    /// The same with the facets of the third identity.
    #[must_use]
    pub fn with_facets(mut self, facets: Facets) -> Self {
        self.facets = Some(facets);
        self
    }

    /// The same, said to change something: what is left when a claim to be pure is not believed.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.mutability = Mutability::Mutates;
        self
    }

    /// Whether it changes anything.
    #[must_use]
    pub fn mutability(&self) -> Mutability {
        self.mutability
    }

    /// What it does.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// What it acts on or returns.
    #[must_use]
    pub fn output_domain(&self) -> OutputDomain {
        self.output_domain
    }

    /// The kind of its payload, where it is known.
    #[must_use]
    pub fn content_type(&self) -> Option<ContentType> {
        self.content_type
    }

    /// What keeps it apart from its opposites and siblings, where that is known.
    #[must_use]
    pub fn facets(&self) -> Option<Facets> {
        self.facets
    }

    /// The three fields of the paper, for people: `MUTATES|DELETE|ISSUE`.
    #[must_use]
    pub fn short(&self) -> String {
        format!("{}|{}|{}", self.mutability, self.action, self.output_domain)
    }

    /// The identity of the paper: over `MUTABILITY|ACTION|OUTPUT_DOMAIN`.
    #[must_use]
    pub fn identity(&self) -> BehaviorIdentity {
        BehaviorIdentity::of(&self.short())
    }

    /// The second identity, over four fields, where the content type is known.
    #[must_use]
    pub fn identity_v2(&self) -> Option<BehaviorIdentity> {
        self.content_type.map(|content| BehaviorIdentity::of(&format!("{}|{content}", self.short())))
    }

    /// The third identity, over all seven fields, where they are known.
    #[must_use]
    pub fn identity_v3(&self) -> Option<BehaviorIdentity> {
        let (content, facets) = (self.content_type?, self.facets?);
        Some(BehaviorIdentity::of(&format!("{}|{content}|{facets}", self.short())))
    }
}

impl Action {
    /// True for what a tool can do without changing anything.
    #[must_use]
    pub const fn may_be_pure(self) -> bool {
        matches!(self, Self::Read | Self::Search | Self::Execute)
    }
}

/// Three, four or seven fields. Facets are printed only beside a content type, without which they have no identity.
impl fmt::Display for Behavior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())?;
        match (self.content_type, self.facets) {
            (Some(content), Some(facets)) => write!(f, "|{content}|{facets}"),
            (Some(content), None) => write!(f, "|{content}"),
            (None, _) => Ok(()),
        }
    }
}

impl FromStr for Behavior {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        let fields: Vec<&str> = text.split('|').collect();
        match fields.as_slice() {
            [mutability, action, domain] => Self::new(mutability.parse()?, action.parse()?, domain.parse()?),
            [mutability, action, domain, content] => {
                Ok(Self::new(mutability.parse()?, action.parse()?, domain.parse()?)?
                    .with_content_type(content.parse()?))
            }
            [mutability, action, domain, content, target, polarity, reach] => {
                let target = if *target == "-" { None } else { Some(target.parse()?) };
                let facets = Facets { target, polarity: polarity.parse()?, reach: reach.parse()? };
                Ok(Self::new(mutability.parse()?, action.parse()?, domain.parse()?)?
                    .with_content_type(content.parse()?)
                    .with_facets(facets))
            }
            other => Err(ParseBehaviorError::Fields { found: visible(text, 60), fields: other.len() }),
        }
    }
}

impl serde::Serialize for Behavior {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
