//! The four ways in which a call is judged before any rule is written; the table behind each is the gate's.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// How strict Toolmark is by itself. Rules and policies come on top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// Everything is judged and recorded, nothing is stopped.
    Observe,
    /// What exceeds its declaration is denied, what is unbounded, dangerous or unclear is asked.
    #[default]
    Balanced,
    /// As balanced, and every delete, overwrite, merge, send and open-ended execution asks.
    Careful,
    /// What is not known to be pure, in declaration and in effect, is denied.
    ReadOnly,
}

/// Text that names no preset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a preset")]
pub struct ParsePresetError {
    found: String,
}

impl Preset {
    /// Every preset.
    pub const ALL: &[Self] = &[Self::Observe, Self::Balanced, Self::Careful, Self::ReadOnly];

    /// The preset in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Balanced => "balanced",
            Self::Careful => "careful",
            Self::ReadOnly => "read-only",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = ParsePresetError;

    fn from_str(text: &str) -> Result<Self, ParsePresetError> {
        let known = Self::ALL.iter().copied().find(|preset| preset.as_str() == text);
        known.ok_or_else(|| ParsePresetError { found: visible(text, 60) })
    }
}

impl serde::Serialize for Preset {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Explain for ParsePresetError {
    fn code(&self) -> Code {
        Code::new("preset-unknown")
    }

    fn why(&self) -> String {
        "a preset decides what happens to calls that no rule mentions; none of them is a safe guess".into()
    }

    fn fix(&self) -> String {
        let all: Vec<&str> = Preset::ALL.iter().map(|preset| preset.as_str()).collect();
        format!("use one of {}", all.join(", "))
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("found", self.found.as_str().into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_survives_printing_and_parsing() {
        for preset in Preset::ALL {
            assert_eq!(preset.to_string().parse(), Ok(*preset));
        }
        assert_eq!("Balanced".parse::<Preset>().unwrap_err().code().as_str(), "preset-unknown");
    }
}
