//! `pack.raw`: the name under which Toolmark knows a tool, split at the first dot and at no other.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::{PackName, ParsePackNameError, ParseRawNameError, RawName};
use crate::explain::{Code, Explain, facts};

/// The name Toolmark itself uses: `pack.raw`, or `raw` for a tool without a pack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalName {
    text: Box<str>,
    /// Where the raw name begins: after the dot, or at zero.
    raw: usize,
}

/// Text that is no canonical name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCanonicalNameError {
    /// The part before the first dot is no pack name.
    #[error(transparent)]
    Pack(#[from] ParsePackNameError),
    /// The part after it is no raw name.
    #[error(transparent)]
    Raw(#[from] ParseRawNameError),
    /// A tool without a pack has a dot in its name.
    #[error("the tool `{0}` has no pack but a dot in its name")]
    DotWithoutPack(String),
}

impl CanonicalName {
    /// Joins a pack and what the pack calls its tool.
    #[must_use]
    pub fn in_pack(pack: &PackName, raw: &RawName) -> Self {
        Self { text: format!("{pack}.{raw}").into(), raw: pack.as_str().len() + 1 }
    }

    /// Names a tool that no pack owns.
    ///
    /// # Errors
    /// When the raw name holds a dot: `a.b` would read as tool `b` of pack `a`.
    pub fn without_pack(raw: &RawName) -> Result<Self, ParseCanonicalNameError> {
        if raw.as_str().contains('.') {
            return Err(ParseCanonicalNameError::DotWithoutPack(crate::text::visible(raw.as_str(), 80)));
        }
        Ok(Self { text: raw.as_str().into(), raw: 0 })
    }

    /// The whole name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The pack's part of it, if a pack owns the tool.
    #[must_use]
    pub fn pack(&self) -> Option<&str> {
        self.text.get(..self.raw.checked_sub(1)?)
    }

    /// What the source calls the tool.
    #[must_use]
    pub fn raw(&self) -> &str {
        self.text.get(self.raw..).unwrap_or_default()
    }
}

impl FromStr for CanonicalName {
    type Err = ParseCanonicalNameError;

    fn from_str(text: &str) -> Result<Self, ParseCanonicalNameError> {
        match text.split_once('.') {
            Some((pack, raw)) => Ok(Self::in_pack(&pack.parse()?, &raw.parse()?)),
            None => Self::without_pack(&text.parse()?),
        }
    }
}

impl fmt::Display for CanonicalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for CanonicalName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Explain for ParseCanonicalNameError {
    fn code(&self) -> Code {
        match self {
            Self::Pack(error) => error.code(),
            Self::Raw(error) => error.code(),
            Self::DotWithoutPack(_) => Code::new("tool-name-dot-without-pack"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Pack(error) => error.why(),
            Self::Raw(error) => error.why(),
            Self::DotWithoutPack(_) => {
                "a name with a dot is canonical: it would be looked up as a tool of the pack before the dot".into()
            }
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Pack(error) => error.fix(),
            Self::Raw(error) => error.fix(),
            Self::DotWithoutPack(name) => match name.split_once('.') {
                Some((pack, raw)) => {
                    format!("put `{raw}` into a pack named `{pack}`, or rename it `{}`", name.replace('.', "_"))
                }
                None => "rename it".into(),
            },
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Pack(error) => error.facts(),
            Self::Raw(error) => error.facts(),
            Self::DotWithoutPack(name) => facts([("name", name.as_str().into())]),
        }
    }
}
