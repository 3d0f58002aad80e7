//! What the source calls a tool: used verbatim to dispatch, shown to nobody unchecked.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::text_name;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// The name a source gave its tool, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawName(Box<str>);

text_name!(RawName);

/// A name that no tool can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRawNameError {
    /// The name is empty.
    #[error("a tool has an empty name")]
    Empty,
    /// The name is longer than any client or server takes.
    #[error("the tool name `{shown}` is {bytes} bytes long, more than {}", RawName::MAX_BYTES)]
    TooLong {
        /// The beginning of the name.
        shown: String,
        /// Its length.
        bytes: usize,
    },
    /// The name holds a control character, such as NUL or a line break.
    #[error("the tool name `{shown}` holds the control character U+{character:04X}")]
    ControlCharacter {
        /// The name, made visible.
        shown: String,
        /// The character.
        character: u32,
    },
}

impl RawName {
    /// The longest name, in bytes. MCP advises 128 characters; a UTF-8 character has up to four bytes.
    pub const MAX_BYTES: usize = 1024;

    /// Checks `text` without keeping it.
    pub(crate) fn check(text: &str) -> Result<(), ParseRawNameError> {
        if text.is_empty() {
            return Err(ParseRawNameError::Empty);
        }
        if text.len() > Self::MAX_BYTES {
            return Err(ParseRawNameError::TooLong { shown: visible(text, 40), bytes: text.len() });
        }
        match text.chars().find(|character| character.is_control()) {
            None => Ok(()),
            Some(character) => {
                Err(ParseRawNameError::ControlCharacter { shown: visible(text, 80), character: u32::from(character) })
            }
        }
    }
}

impl FromStr for RawName {
    type Err = ParseRawNameError;

    fn from_str(text: &str) -> Result<Self, ParseRawNameError> {
        Self::check(text).map(|()| Self(text.into()))
    }
}

impl Explain for ParseRawNameError {
    fn code(&self) -> Code {
        match self {
            Self::Empty => Code::new("tool-name-empty"),
            Self::TooLong { .. } => Code::new("tool-name-too-long"),
            Self::ControlCharacter { .. } => Code::new("tool-name-control-character"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Empty => "a call could not say which tool it means",
            Self::TooLong { .. } => {
                "no client accepts it, and it would be cut differently in every place that shows it"
            }
            Self::ControlCharacter { .. } => {
                "names are cut or rewritten at such characters, so two tools could look like one in a log or a prompt"
            }
        }
        .into()
    }

    fn fix(&self) -> String {
        "rename the tool on its server, or leave it out: `deny = [\"…\"]` under its `[packs.…]`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Empty => Map::new(),
            Self::TooLong { bytes, .. } => facts([("bytes", (*bytes).into()), ("max", RawName::MAX_BYTES.into())]),
            Self::ControlCharacter { shown, character } => {
                facts([("name", shown.as_str().into()), ("character", (*character).into())])
            }
        }
    }
}
