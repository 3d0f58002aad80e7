//! What is blacked out before arguments and results are kept: a name, a place or a pattern.

use std::fmt;

use toolmark_core::text::visible;

use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redact {
    /// Every value under this name, at whatever depth; upper and lower case are one, `*` stands for any characters.
    Name(String),
    /// The value at this JSON pointer; `*` as a step stands for any key or place.
    Pointer(String),
    /// Every part of a text that this regular expression matches.
    Pattern(String),
}

const PATTERN: &str = "regex:";

/// How much memory a compiled pattern may take.
pub(crate) const PATTERN_BYTES: usize = 1 << 20;

impl FromToml for Redact {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a name, a JSON pointer or a pattern", reader, redact)
    }
}

fn redact(text: &str) -> Result<Redact, Refused> {
    let fix = "write the name of an argument (`iban`), a JSON pointer (`/user/email`) or a pattern (`regex:[0-9]{16}`)";
    match text.strip_prefix(PATTERN) {
        Some("") => Err(Refused::value("the pattern is empty", fix)),
        Some(pattern) => match regex::RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build() {
            Ok(compiled) if compiled.is_match("") => {
                Err(Refused::value(format!("`{}` matches everywhere, even nothing", visible(pattern, 80)), fix))
            }
            Ok(_) => Ok(Redact::Pattern(pattern.to_owned())),
            Err(error) => {
                let why = error.to_string();
                let last = why.lines().last().unwrap_or_default().trim().to_owned();
                Err(Refused::value(format!("`{}` is no pattern: {}", visible(pattern, 80), visible(&last, 120)), fix))
            }
        },
        None if text.is_empty() => Err(Refused::value("the text is empty", fix)),
        None if text.starts_with('/') => Ok(Redact::Pointer(text.to_owned())),
        None if text.chars().all(|character| character == '*') => {
            Err(Refused::value("everything would be blacked out", "write `bodies = \"none\"` to keep none"))
        }
        None => Ok(Redact::Name(text.to_owned())),
    }
}

/// As it is written in the file.
impl fmt::Display for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Pointer(text) => f.write_str(text),
            Self::Pattern(pattern) => write!(f, "{PATTERN}{pattern}"),
        }
    }
}
