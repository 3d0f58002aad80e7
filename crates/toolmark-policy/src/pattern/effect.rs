//! Which effects a rule means: what a statement does (`MUTATES|DELETE`), or one word for what makes it dangerous.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use toolmark_core::behavior::{Action, Mutability, ParseBehaviorError};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

/// A set of effects: `MUTATES|DELETE`, `PURE|*`, `unbounded`, `secret`, or `*` for all that is understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectPattern {
    /// `*`: whatever was understood.
    Any,
    /// A statement that does this.
    Does(Deed),
    /// A statement, or a reading of one, that this word holds for.
    Word(EffectWord),
}

/// What a statement does; an empty list stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    mutability: Vec<Mutability>,
    action: Vec<Action>,
}

/// One thing that may hold for an effect beside what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectWord {
    /// What it changes has no limit.
    Unbounded,
    /// It was not understood.
    Unclear,
    /// It is dangerous in this way.
    Danger(Danger),
}

/// Text that is no pattern over effects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseEffectPatternError {
    /// A value of a field that does not exist, or a contradiction.
    #[error(transparent)]
    Behavior(#[from] ParseBehaviorError),
    /// Neither two fields nor a known word.
    #[error("`{0}` is neither a pattern such as `MUTATES|DELETE` nor a known word")]
    Unknown(String),
    /// A third field, which effects do not have.
    #[error("`{0}` asks for an output domain, which an effect does not have")]
    Domain(String),
}

impl EffectWord {
    /// Every word.
    pub const ALL: &[Self] = &[
        Self::Unbounded,
        Self::Unclear,
        Self::Danger(Danger::Secret),
        Self::Danger(Danger::Escape),
        Self::Danger(Danger::Exhaustion),
        Self::Danger(Danger::Outward),
        Self::Danger(Danger::Code),
        Self::Danger(Danger::Privilege),
    ];

    /// The word itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unbounded => "unbounded",
            Self::Unclear => "unclear",
            Self::Danger(danger) => danger.as_str(),
        }
    }

    /// True when it holds for this effect.
    #[must_use]
    pub fn holds_for(self, effect: &Effect) -> bool {
        match self {
            Self::Unbounded => !effect.bounded,
            Self::Unclear => false,
            Self::Danger(danger) => effect.dangers.contains(&danger),
        }
    }
}

impl EffectPattern {
    /// True when some aspect of the effect is meant: what a restrictive rule asks.
    #[must_use]
    pub fn touches(&self, effect: &Effect) -> bool {
        match self {
            Self::Any => true,
            Self::Does(deed) => deed.is(effect),
            Self::Word(word) => word.holds_for(effect),
        }
    }

    /// True when it names this word, or everything that is understood.
    #[must_use]
    pub fn names(&self, word: EffectWord) -> bool {
        match self {
            Self::Any => word != EffectWord::Unclear,
            Self::Does(_) => false,
            Self::Word(own) => *own == word,
        }
    }

    /// True when it says what a statement may do, and not only how dangerous it may be.
    #[must_use]
    pub fn says_what_is_done(&self) -> bool {
        !matches!(self, Self::Word(word) if *word != EffectWord::Unclear)
    }
}

/// True when the patterns together cover every aspect of the effect: what a permissive rule asks.
///
/// Invariant: `PURE|*` does not cover a read that reaches a secret; the word for each danger must be named beside it.
#[must_use]
pub(crate) fn cover(patterns: &[EffectPattern], effect: &Effect) -> bool {
    let done = patterns.iter().any(|pattern| !matches!(pattern, EffectPattern::Word(_)) && pattern.touches(effect));
    let named = |word: &EffectWord| patterns.iter().any(|pattern| pattern.names(*word));
    done && EffectWord::ALL.iter().filter(|word| word.holds_for(effect)).all(named)
}

impl Deed {
    fn is(&self, effect: &Effect) -> bool {
        (self.mutability.is_empty() || self.mutability.contains(&effect.mutability))
            && (self.action.is_empty() || self.action.contains(&effect.action))
    }
}

impl FromStr for EffectPattern {
    type Err = ParseEffectPatternError;

    fn from_str(text: &str) -> Result<Self, ParseEffectPatternError> {
        let fields: Vec<&str> = text.split('|').collect();
        match fields.as_slice() {
            ["*"] => Ok(Self::Any),
            [word] => match EffectWord::ALL.iter().find(|known| known.as_str() == *word) {
                Some(word) => Ok(Self::Word(*word)),
                None => Err(ParseEffectPatternError::Unknown(visible(text, 60))),
            },
            [mutability, action] | [mutability, action, "*"] => {
                let deed = Deed { mutability: one_of(mutability)?, action: one_of(action)? };
                let pure = deed.mutability == [Mutability::Pure];
                let may_be_pure = |action: &Action| matches!(action, Action::Read | Action::Search | Action::Execute);
                match deed.action.first() {
                    Some(first) if pure && !deed.action.iter().any(may_be_pure) => {
                        Err(ParseBehaviorError::Contradiction(*first).into())
                    }
                    _ => Ok(Self::Does(deed)),
                }
            }
            [_, _, _] => Err(ParseEffectPatternError::Domain(visible(text, 60))),
            _ => Err(ParseEffectPatternError::Unknown(visible(text, 60))),
        }
    }
}

/// The values between commas; none for `*`.
fn one_of<T: FromStr>(text: &str) -> Result<Vec<T>, T::Err> {
    if text == "*" { Ok(Vec::new()) } else { text.split(',').map(str::parse).collect() }
}

impl fmt::Display for EffectPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(values: &[T]) -> String {
            match values {
                [] => "*".into(),
                values => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
            }
        }
        match self {
            Self::Any => f.write_str("*"),
            Self::Does(deed) => write!(f, "{}|{}", list(&deed.mutability), list(&deed.action)),
            Self::Word(word) => f.write_str(word.as_str()),
        }
    }
}

impl Explain for ParseEffectPatternError {
    fn code(&self) -> Code {
        Code::new("rule-syntax")
    }

    fn why(&self) -> String {
        match self {
            Self::Behavior(error) => error.why(),
            Self::Unknown(_) => "a word nobody else knows would match no effect".into(),
            Self::Domain(_) => {
                "arguments say what is done, not what comes back; such a rule would match nothing".into()
            }
        }
    }

    fn fix(&self) -> String {
        let words: Vec<&str> = EffectWord::ALL.iter().map(|word| word.as_str()).collect();
        match self {
            Self::Behavior(error) => error.fix(),
            Self::Unknown(_) => {
                format!("write `MUTABILITY|ACTION`, such as `MUTATES|DELETE`, or one of {}", words.join(", "))
            }
            Self::Domain(_) => {
                "leave the third field out, or write `*` there; `behavior` compares the tool's domain".into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Behavior(error) => error.facts(),
            Self::Unknown(found) | Self::Domain(found) => facts([("found", found.as_str().into())]),
        }
    }
}

#[cfg(test)]
mod tests;
