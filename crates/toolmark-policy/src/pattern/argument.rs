//! What an argument must be for a rule to match: an exact value, a text with `*`, one of several, a number within bounds, or not that.
//!
//! Doubt counts against the call. A restrictive rule also takes `"10"` for `10`; a permissive one wants the very type, and its
//! `*` does not reach over a `..` in a path, a line break or another control character.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value, json};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use super::{Glob, Stance};

/// A condition on one argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentPattern {
    /// `"*"`: anything, as long as it is there.
    Present,
    /// A text, exact or with `*`.
    Text(Glob),
    /// Exactly this JSON value.
    Exact(Value),
    /// A number that compares so, such as `">=10"`.
    Compare(Comparison, Number),
    /// One of these.
    OneOf(Vec<Self>),
    /// Anything but this.
    Not(Box<Self>),
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// A value that is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseArgumentPatternError {
    /// A comparison with something that is no number.
    #[error("`{0}` compares with something that is no number")]
    Comparison(String),
    /// An empty list.
    #[error("an empty list of values allows nothing")]
    Empty,
    /// A table that is neither `{ not = … }` nor `{ equals = … }`.
    #[error("`{0}` is neither `{{ not = … }}` nor `{{ equals = … }}`")]
    Table(String),
    /// `null`, which counts as absent.
    #[error("`null` counts as absent and cannot be compared with")]
    Null,
}

const COMPARISONS: &[(&str, Comparison)] =
    &[(">=", Comparison::AtLeast), ("<=", Comparison::AtMost), (">", Comparison::Greater), ("<", Comparison::Less)];

impl ArgumentPattern {
    /// Reads a condition as it stands in a configuration.
    ///
    /// # Errors
    /// When it could never hold, or is not one of the known forms.
    pub fn parse(value: &Value) -> Result<Self, ParseArgumentPatternError> {
        match value {
            Value::Null => Err(ParseArgumentPatternError::Null),
            Value::Bool(_) | Value::Number(_) => Ok(Self::Exact(value.clone())),
            Value::String(text) => Self::parse_text(text),
            Value::Array(values) if values.is_empty() => Err(ParseArgumentPatternError::Empty),
            Value::Array(values) => Ok(Self::OneOf(values.iter().map(Self::parse).collect::<Result<_, _>>()?)),
            Value::Object(table) => match (table.len(), table.get("not"), table.get("equals")) {
                (1, Some(inner), _) => Ok(Self::Not(Box::new(Self::parse(inner)?))),
                (1, _, Some(exact)) => Ok(Self::Exact(exact.clone())),
                _ => Err(ParseArgumentPatternError::Table(visible(&value.to_string(), 80))),
            },
        }
    }

    fn parse_text(text: &str) -> Result<Self, ParseArgumentPatternError> {
        for (sign, comparison) in COMPARISONS {
            if let Some(limit) = text.strip_prefix(sign) {
                let limit = number(limit.trim());
                let limit = limit.ok_or_else(|| ParseArgumentPatternError::Comparison(visible(text, 80)))?;
                return Ok(Self::Compare(*comparison, limit));
            }
        }
        let glob = Glob::new(text);
        Ok(if glob.is_any() { Self::Present } else { Self::Text(glob) })
    }

    /// True when a value that is there meets the condition.
    #[must_use]
    pub fn matches(&self, value: &Value, stance: Stance) -> bool {
        match self {
            Self::Present => true,
            Self::Text(glob) => match (value, stance) {
                (Value::String(text), Stance::Restrictive) => glob.matches(text),
                (Value::String(text), Stance::Permissive) => glob.matches(text) && !slips_through(glob, text),
                (Value::Number(_) | Value::Bool(_), Stance::Restrictive) => glob.matches(&value.to_string()),
                _ => false,
            },
            Self::Exact(wanted) => equal(wanted, value) || (stance == Stance::Restrictive && reads_as(value, wanted)),
            Self::Compare(comparison, limit) => {
                let found = match (value, stance) {
                    (Value::Number(found), _) => Some(found.clone()),
                    (Value::String(text), Stance::Restrictive) => number(text.trim()),
                    _ => None,
                };
                found.and_then(|found| order(&found, limit)).is_some_and(|order| comparison.holds(order))
            }
            Self::OneOf(patterns) => patterns.iter().any(|pattern| pattern.matches(value, stance)),
            Self::Not(pattern) => !pattern.matches(value, stance.opposite()),
        }
    }

    /// True when an argument that is not there meets the condition: never for a permissive rule.
    #[must_use]
    pub fn matches_absence(&self, stance: Stance) -> bool {
        match self {
            Self::Not(pattern) => stance == Stance::Restrictive && !pattern.matches_absence(stance.opposite()),
            Self::OneOf(patterns) => patterns.iter().any(|pattern| pattern.matches_absence(stance)),
            _ => false,
        }
    }

    /// True when a value that is there is written out in the condition, without a `*` or a `not` to let it in.
    #[must_use]
    pub fn matches_to_the_letter(&self, value: &Value) -> bool {
        match self {
            Self::Text(glob) => glob.exact().is_some_and(|exact| value == exact),
            Self::Exact(_) | Self::Compare(..) => self.matches(value, Stance::Permissive),
            Self::OneOf(patterns) => patterns.iter().any(|pattern| pattern.matches_to_the_letter(value)),
            Self::Present | Self::Not(_) => false,
        }
    }

    /// The condition as it would be written.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Present => "*".into(),
            Self::Text(glob) => glob.as_str().into(),
            Self::Exact(value @ (Value::Bool(_) | Value::Number(_))) => value.clone(),
            Self::Exact(value) => json!({"equals": value}),
            Self::Compare(comparison, limit) => format!("{}{limit}", comparison.sign()).into(),
            Self::OneOf(patterns) => patterns.iter().map(Self::to_json).collect(),
            Self::Not(pattern) => json!({"not": pattern.to_json()}),
        }
    }
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// Invariant: `allow` for `/srv/*` does not cover `/srv/../etc/passwd`, however the dots are written, nor what follows a line break.
fn slips_through(glob: &Glob, text: &str) -> bool {
    let up = |text: &str| text.split(['/', '\\']).any(|part| part == "..");
    let encoded = || {
        let lower = text.to_ascii_lowercase();
        ["%2e", "%2f", "%5c"].iter().any(|escape| lower.contains(escape))
    };
    let control = || text.contains(char::is_control) && !glob.as_str().contains(char::is_control);
    let climbs = || !up(glob.as_str()) && (up(text) || (text.contains('%') && encoded()));
    glob.exact().is_none() && (control() || climbs())
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => order(one, other).is_some_and(Ordering::is_eq),
        _ => one == other,
    }
}

/// True for a text that a lenient server would read as the wanted value, and the other way round.
fn reads_as(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::String(text), Value::Number(wanted)) => {
            number(text.trim()).and_then(|found| order(&found, wanted)).is_some_and(Ordering::is_eq)
        }
        (Value::String(text), Value::Bool(wanted)) => text.trim().eq_ignore_ascii_case(&wanted.to_string()),
        (Value::Number(found), Value::String(wanted)) => *found.to_string() == **wanted,
        (Value::Bool(found), Value::String(wanted)) => wanted == if *found { "true" } else { "false" },
        _ => false,
    }
}

fn number(text: &str) -> Option<Number> {
    let whole = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

fn order(one: &Number, other: &Number) -> Option<Ordering> {
    let whole = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

impl Explain for ParseArgumentPatternError {
    fn code(&self) -> Code {
        Code::new("rule-syntax")
    }

    fn why(&self) -> String {
        "a condition that can never hold makes a rule that does nothing".into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Comparison(_) => "write `\">=10\"`, or `{ equals = \">…\" }` for a text that begins so".into(),
            Self::Empty => "list at least one value, or leave the argument out of the rule".into(),
            Self::Table(_) => "write `{ not = \"main\" }` or `{ equals = \"…\" }`".into(),
            Self::Null => "write `{ not = \"*\" }` for an argument that must be absent".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Comparison(found) | Self::Table(found) => facts([("found", found.as_str().into())]),
            Self::Empty | Self::Null => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests;
