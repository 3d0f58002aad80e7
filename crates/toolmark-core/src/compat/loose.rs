//! Reading calls that may hold anything: a field is text only if it is a string, and nothing is ever turned into one.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::Json;

/// A JSON value as the rules here read it; `serde_json` for what is in flight, [`Json`] where the spelling of numbers counts.
pub(super) trait Loose: Sized {
    /// The value under `key`, if this is an object that has it.
    fn field(&self, key: &str) -> Option<&Self>;
    /// The string, empty or not.
    fn string(&self) -> Option<&str>;
    /// True for `null`.
    fn is_null(&self) -> bool;
    /// What Python takes for true: everything but `null`, `false`, zero and what is empty.
    fn is_truthy(&self) -> bool;

    /// The string, unless it is empty.
    fn text(&self) -> Option<&str> {
        self.string().filter(|text| !text.is_empty())
    }

    /// The text of a field; anything that is not a non-empty string counts as absent.
    fn text_field(&self, key: &str) -> Option<&str> {
        self.field(key).and_then(Self::text)
    }

    /// True when the field `type` says `kind`.
    fn is_of_type(&self, kind: &str) -> bool {
        self.field("type").and_then(Self::string) == Some(kind)
    }
}

impl Loose for Value {
    fn field(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }

    fn string(&self) -> Option<&str> {
        self.as_str()
    }

    fn is_null(&self) -> bool {
        self.is_null()
    }

    fn is_truthy(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(entries) => !entries.is_empty(),
        }
    }
}

impl Loose for Json<'_> {
    fn field(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }

    fn string(&self) -> Option<&str> {
        self.as_str()
    }

    fn is_null(&self) -> bool {
        self.is_null()
    }

    fn is_truthy(&self) -> bool {
        match self {
            Json::Null => false,
            Json::Bool(flag) => *flag,
            Json::Number(text) => text.parse() != Ok(0.0),
            Json::String(text) => !text.is_empty(),
            Json::Array(items) => !items.is_empty(),
            Json::Object(entries) => !entries.is_empty(),
        }
    }
}

/// The entries of an object with `key` set to `value`: in its old place, or at the end.
pub(super) fn with<'a>(
    entries: &[(Cow<'a, str>, Json<'a>)],
    key: &'static str,
    value: Json<'a>,
) -> Vec<(Cow<'a, str>, Json<'a>)> {
    let mut out = entries.to_vec();
    match out.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => out.push((key.into(), value)),
    }
    out
}
