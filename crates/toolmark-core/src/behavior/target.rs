//! What a behavior acts on, as a noun of a checked-in list or a part of one: `repository`, `repository.star`.
//!
//! Never a copy of a tool's name: two servers that mean the same thing must arrive at the same word.

use std::fmt;
use std::str::FromStr;

use super::nouns::NOUNS;
use super::{ParseBehaviorError, Polarity, Reach};
use crate::text::visible;

/// One word of the list of nouns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Noun(&'static str);

/// A thing, or a part of a thing: its star, its protection, its credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    noun: Noun,
    part: Option<Noun>,
}

/// What keeps opposites and siblings apart that share all other fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Facets {
    /// What is acted on, where the list has a noun for it.
    pub target: Option<Target>,
    /// Which way it goes.
    pub polarity: Polarity,
    /// How far it reaches.
    pub reach: Reach,
}

impl Noun {
    /// Every noun, sorted.
    pub const ALL: &[&'static str] = NOUNS;

    /// A noun that the lexicon of the classifier names; a test holds that each is in the list.
    pub(crate) const fn known(word: &'static str) -> Self {
        Self(word)
    }

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl Target {
    /// The thing itself.
    #[must_use]
    pub const fn of(noun: Noun) -> Self {
        Self { noun, part: None }
    }

    /// A part of it. A thing is no part of itself.
    #[must_use]
    pub fn part(self, part: Noun) -> Self {
        Self { noun: self.noun, part: Some(part).filter(|part| *part != self.noun) }
    }

    /// The thing.
    #[must_use]
    pub const fn noun(self) -> Noun {
        self.noun
    }
}

impl FromStr for Noun {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        let found = NOUNS.binary_search(&text).ok().and_then(|at| NOUNS.get(at));
        found.map(|word| Self(word)).ok_or_else(|| ParseBehaviorError::Noun(visible(text, 60)))
    }
}

impl FromStr for Target {
    type Err = ParseBehaviorError;

    fn from_str(text: &str) -> Result<Self, ParseBehaviorError> {
        match text.split_once('.') {
            None => Ok(Self::of(text.parse()?)),
            Some((noun, part)) if noun != part => Ok(Self::of(noun.parse()?).part(part.parse()?)),
            Some(_) => Err(ParseBehaviorError::Noun(visible(text, 60))),
        }
    }
}

impl fmt::Display for Noun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            None => write!(f, "{}", self.noun),
            Some(part) => write!(f, "{}.{part}", self.noun),
        }
    }
}

impl serde::Serialize for Target {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// As they stand in the third identity: `repository.star|NEGATIVE|NAMED`, a dash where there is no target.
impl fmt::Display for Facets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            Some(target) => write!(f, "{target}|{}|{}", self.polarity, self.reach),
            None => write!(f, "-|{}|{}", self.polarity, self.reach),
        }
    }
}
