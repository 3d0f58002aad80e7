//! Regular expressions from strangers: which engine may run one, and what a byte of text may cost it at worst.
//!
//! The linear engine never backtracks, but its time is text times the size of the pattern, so large patterns count for more.
//! Look-around and back-references need an engine that backtracks. Refusing them would refuse the e-mail pattern that a widely
//! used schema library writes, so they run with few steps allowed and on short strings only; a match that cannot be
//! finished within them counts as no match. They are refused in `patternProperties`, where the checker runs them on its own.

use jsonschema::paths::Location;
use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::text::visible;

/// The longest string, in bytes, that a pattern with look-around is matched against.
const LOOK_AROUND_BYTES: usize = 2_000;
/// Steps back that one match with look-around may take.
const LOOK_AROUND_STEPS: usize = 1_000;

/// What it takes to run a pattern, from cheap to dear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// Linear, and small enough for megabytes of text.
    Small,
    /// Linear, for moderate text.
    Large,
    /// Backtracking, bounded by steps and length.
    LookAround,
}

impl Engine {
    /// The cheapest engine that takes the pattern; `None` when no engine does.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        [Self::Small, Self::Large, Self::LookAround].into_iter().find(|engine| engine.matcher(pattern).is_some())
    }

    /// Steps to charge for one byte of text, from measuring the worst patterns that each engine takes: about 200 ns a step.
    pub(super) fn steps_per_byte(self) -> u64 {
        match self {
            Self::Small => 4,
            Self::Large => 256,
            Self::LookAround => 100,
        }
    }

    /// The options for the two linear engines.
    pub(super) fn options(self) -> PatternOptions<jsonschema::Regex> {
        let size = if self == Self::Small { 16 << 10 } else { 1 << 20 };
        PatternOptions::regex().size_limit(size).dfa_size_limit(256 << 10)
    }

    fn matcher(self, pattern: &str) -> Option<Validator> {
        let options = jsonschema::options().offline();
        let options = match self {
            Self::Small | Self::Large => options.with_pattern_options(self.options()),
            Self::LookAround => options.with_pattern_options(
                PatternOptions::fancy_regex()
                    .backtrack_limit(LOOK_AROUND_STEPS)
                    .size_limit(16 << 10)
                    .dfa_size_limit(256 << 10),
            ),
        };
        options.build(&json!({ "pattern": pattern })).ok()
    }
}

/// One `pattern` of a schema in which at least one needs look-around.
struct Pattern {
    matcher: Validator,
    engine: Engine,
    text: Box<str>,
}

/// Builds the `pattern` keyword in place of the checker's own, so that each pattern gets the engine it needs.
pub(super) fn keyword<'a>(
    _: &'a Map<String, Value>,
    pattern: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let text = pattern.as_str().ok_or_else(|| ValidationError::custom("a pattern is a string"))?;
    let engine = Engine::of(text).ok_or_else(|| ValidationError::custom("no engine takes this pattern"))?;
    let matcher = engine.matcher(text).ok_or_else(|| ValidationError::custom("no engine takes this pattern"))?;
    Ok(Box::new(Pattern { matcher, engine, text: text.into() }))
}

impl Pattern {
    fn is_too_long(&self, value: &Value) -> bool {
        self.engine == Engine::LookAround && value.as_str().is_some_and(|text| text.len() > LOOK_AROUND_BYTES)
    }
}

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_too_long(value) {
            let pattern = visible(&self.text, 80);
            return Err(ValidationError::custom(format!(
                "is longer than the {LOOK_AROUND_BYTES} bytes that can be matched against `{pattern}`"
            )));
        }
        self.matcher
            .validate(value)
            .map_err(|_| ValidationError::custom(format!("must match the pattern `{}`", visible(&self.text, 80))))
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        !self.is_too_long(value) && self.matcher.is_valid(value)
    }
}
