//! Which languages somebody wants to read, in order: `Accept-Language` with its weights, or a list.

use serde_json::{Map, Value};

use super::tag::{LanguageTag, ParseLanguageTagError};
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// Languages in order of preference. Nothing at all is a valid wish: the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Languages {
    /// Wanted, the best first; languages of one weight in the order they were written.
    wanted: Vec<LanguageTag>,
    /// Written with a weight of zero.
    refused: Vec<LanguageTag>,
    /// Nothing but what is wanted will do: `*;q=0`.
    closed: bool,
}

/// A text that says nothing about languages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptLanguageError {
    /// Too long to be honest.
    #[error("the list of languages is {bytes} bytes long, more than {}", Languages::MAX_BYTES)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// More languages than anybody reads.
    #[error("the list names more than {} languages", Languages::MAX)]
    TooMany,
    /// One of them is none.
    #[error(transparent)]
    Tag(#[from] ParseLanguageTagError),
    /// A weight that is no number from 0 to 1 with at most three digits.
    #[error("`{0}` is no weight of a language")]
    Weight(String),
}

impl Languages {
    /// The longest list, in bytes.
    pub const MAX_BYTES: usize = 1024;
    /// The most languages in a list.
    pub const MAX: usize = 32;

    /// Reads what stands in an `Accept-Language` header.
    ///
    /// # Errors
    /// [`AcceptLanguageError`] when any part of it is malformed. The edge then takes the default, and says so.
    pub fn accept(text: &str) -> Result<Self, AcceptLanguageError> {
        if text.len() > Self::MAX_BYTES {
            return Err(AcceptLanguageError::TooLong { bytes: text.len() });
        }
        let mut all = Self::default();
        let mut weighted: Vec<(u16, LanguageTag)> = Vec::new();
        let mut count = 0;
        // Empty members of a list are to be read over (RFC 9110, section 5.6.1).
        for member in text.split(',').map(blank).filter(|member| !member.is_empty()) {
            count += 1;
            if count > Self::MAX {
                return Err(AcceptLanguageError::TooMany);
            }
            let (range, weight) = match member.split_once(';') {
                Some((range, weight)) => (blank(range), read_weight(blank(weight))?),
                None => (member, 1000),
            };
            match (range, weight) {
                ("*", 0) => all.closed = true,
                // Whatever there is: what the default is anyway.
                ("*", _) => {}
                (range, 0) => all.refused.push(range.parse()?),
                (range, weight) => weighted.push((weight, range.parse()?)),
            }
        }
        weighted.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        for (_, tag) in weighted {
            if !all.wanted.contains(&tag) && !all.refused.contains(&tag) {
                all.wanted.push(tag);
            }
        }
        Ok(all)
    }

    /// These languages, the best first.
    #[must_use]
    pub fn of(wanted: impl IntoIterator<Item = LanguageTag>) -> Self {
        Self { wanted: wanted.into_iter().take(Self::MAX).collect(), ..Self::default() }
    }

    /// The languages that are wanted, the best first.
    #[must_use]
    pub fn wanted(&self) -> &[LanguageTag] {
        &self.wanted
    }

    /// True when nothing is wanted in particular and nothing is refused.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.wanted.is_empty() && self.refused.is_empty() && !self.closed
    }

    /// True for a language that was refused: `en;q=0`, or everything that is not wanted after `*;q=0`.
    #[must_use]
    pub fn refuses(&self, tag: &LanguageTag) -> bool {
        if self.refused.is_empty() && !self.closed {
            return false;
        }
        let wished = |tag: &LanguageTag| self.wanted.iter().any(|wanted| tag.answers(wanted).is_some());
        // `nl, nl-BE;q=0` wants Dutch, and not that of Belgium; `nl-BE, nl;q=0` the other way round.
        let refused = self.refused.iter().any(|refused| refused.answers(tag).is_some());
        if refused { !self.wanted.contains(tag) } else { self.closed && !wished(tag) }
    }

    /// What of this wish makes a difference where only these languages are there.
    #[must_use]
    pub fn limited_to<'t>(&self, available: impl IntoIterator<Item = &'t LanguageTag, IntoIter: Clone>) -> Self {
        let available = available.into_iter();
        let answered = |wanted: &&LanguageTag| available.clone().any(|tag| tag.answers(wanted).is_some());
        let there = |refused: &&LanguageTag| available.clone().any(|tag| refused.answers(tag).is_some());
        Self {
            wanted: self.wanted.iter().filter(answered).cloned().collect(),
            refused: self.refused.iter().filter(there).cloned().collect(),
            closed: self.closed,
        }
    }

    /// The one of `available` that fits best, by RFC 4647 lookup; nothing when none does.
    pub fn lookup<'t>(
        &self,
        available: impl IntoIterator<Item = &'t LanguageTag, IntoIter: Clone>,
    ) -> Option<&'t LanguageTag> {
        let available = available.into_iter();
        self.wanted.iter().find_map(|wanted| {
            let fitting = available.clone().filter(|tag| !self.refuses(tag));
            let scored = fitting.filter_map(|tag| tag.answers(wanted).map(|score| (score, tag)));
            scored
                .max_by(|(one, tag), (other, second)| one.cmp(other).then_with(|| second.cmp(tag)))
                .map(|(_, tag)| tag)
        })
    }
}

/// Takes optional white space away, as HTTP means it.
fn blank(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// The weight in thousandths.
fn read_weight(text: &str) -> Result<u16, AcceptLanguageError> {
    let refuse = || AcceptLanguageError::Weight(visible(text, 40));
    let number = text.strip_prefix(['q', 'Q']).and_then(|rest| blank(rest).strip_prefix('=')).ok_or_else(refuse)?;
    let number = blank(number);
    let (whole, digits) = number.split_once('.').unwrap_or((number, ""));
    if digits.len() > 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse());
    }
    let thousandths = format!("{digits:0<3}").parse::<u16>().map_err(|_| refuse())?;
    match (whole, thousandths) {
        ("0", thousandths) => Ok(thousandths),
        ("1", 0) => Ok(1000),
        _ => Err(refuse()),
    }
}

impl Explain for AcceptLanguageError {
    fn code(&self) -> Code {
        match self {
            Self::Tag(error) => error.code(),
            Self::TooLong { .. } | Self::TooMany | Self::Weight(_) => Code::new("accept-language"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Tag(error) => error.why(),
            _ => "half of a wish is not what was wished for; names are shown in the default language instead".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Tag(error) => error.fix(),
            _ => "send languages with weights from 0 to 1, such as `nl-BE, nl;q=0.9, en;q=0.5`".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Tag(error) => error.facts(),
            Self::TooLong { bytes } => facts([("bytes", (*bytes).into()), ("max", Languages::MAX_BYTES.into())]),
            Self::TooMany => facts([("max", Languages::MAX.into())]),
            Self::Weight(weight) => facts([("weight", weight.as_str().into())]),
        }
    }
}

#[cfg(test)]
mod tests;
