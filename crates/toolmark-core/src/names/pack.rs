//! The group that owns a tool: chosen by the operator, never taken from the server's own claim.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::text_name;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// The name of a pack: `[a-z][a-z0-9_-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackName(Box<str>);

text_name!(PackName);

/// A pack is found by its text: both are equal, ordered and hashed alike.
impl std::borrow::Borrow<str> for PackName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Text that is no pack name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a pack name")]
pub struct ParsePackNameError {
    shown: String,
    suggestion: Option<PackName>,
}

impl PackName {
    /// The longest pack name, in characters.
    pub const MAX: usize = 64;

    /// Makes a pack name of a key that was written for another program: lower case, runs of anything else become `-`,
    /// a leading non-letter gets `p-`. Different keys may come out the same; the caller must refuse that.
    ///
    /// ```
    /// # use toolmark_core::names::PackName;
    /// assert_eq!(PackName::slug("My Server (v2)").unwrap().as_str(), "my-server-v2");
    /// assert_eq!(PackName::slug("1password").unwrap().as_str(), "p-1password");
    /// ```
    ///
    /// # Errors
    /// When nothing of the key is left.
    pub fn slug(key: &str) -> Result<Self, ParsePackNameError> {
        slug(key).ok_or_else(|| ParsePackNameError { shown: visible(key, 80), suggestion: None })
    }
}

impl FromStr for PackName {
    type Err = ParsePackNameError;

    fn from_str(text: &str) -> Result<Self, ParsePackNameError> {
        if is_pack_name(text) {
            Ok(Self(text.into()))
        } else {
            Err(ParsePackNameError { shown: visible(text, 80), suggestion: slug(text) })
        }
    }
}

impl Explain for ParsePackNameError {
    fn code(&self) -> Code {
        Code::new("pack-name-syntax")
    }

    fn why(&self) -> String {
        "a pack name starts with a letter a–z and holds only a–z, 0–9, `_` and `-`, at most 64 in all; the dot after it ends it, \
         so `pack.tool` is read in one way only"
            .into()
    }

    fn fix(&self) -> String {
        match &self.suggestion {
            Some(name) => format!("name it `{name}`"),
            None => "name it `server`".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("name", self.shown.as_str().into())])
    }
}

fn is_pack_name(text: &str) -> bool {
    text.len() <= PackName::MAX
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

fn slug(key: &str) -> Option<PackName> {
    let mut out = String::new();
    let mut gap = false;
    for character in key.chars().flat_map(char::to_lowercase) {
        if matches!(character, 'a'..='z' | '0'..='9' | '_' | '-') {
            if gap && !out.is_empty() {
                out.push('-');
            }
            gap = false;
            out.push(character);
        } else {
            gap = true;
        }
    }
    let kept = out.trim_matches('-');
    let mut out = match kept.chars().next()? {
        'a'..='z' => kept.to_owned(),
        _ => format!("p-{kept}"),
    };
    out.truncate(PackName::MAX);
    Some(PackName(out.into()))
}
