//! What an operator calls a task, a profile or an agent. It stands in addresses (`/mcp/NAME`), so it needs no escaping there.

use std::fmt;
use std::str::FromStr;

use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;

use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// The name of a task, a profile or an agent: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// Text that is no such name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a name for a task, a profile or an agent")]
pub struct ParseNameError {
    shown: String,
}

impl Name {
    /// The longest name.
    pub const MAX: usize = 64;

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, ParseNameError> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if first && text.len() <= Self::MAX && text.bytes().all(legal) {
            Ok(Self(text.into()))
        } else {
            Err(ParseNameError { shown: visible(text, 80) })
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromToml for Name {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a name", reader, |text| text.parse().map_err(|error| Refused::inner(&error)))
    }
}

impl Explain for ParseNameError {
    fn code(&self) -> Code {
        Code::new("config-name-syntax")
    }

    fn why(&self) -> String {
        "it becomes part of an address, `/mcp/NAME`, and of what people type".into()
    }

    fn fix(&self) -> String {
        "use letters, digits, `.`, `_` and `-`, at most 64, beginning with a letter or a digit".into()
    }
}
