//! A small picture beside a name: one emoji, or a picture that is all there. Nothing is ever fetched to show a tool.

use std::str::FromStr;
use std::sync::Arc;

use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// An emoji, or a `data:` address with a picture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Icon(Arc<str>);

crate::names::text_name!(Icon);

/// A text that is no icon.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no icon: {problem}")]
pub struct ParseIconError {
    text: String,
    problem: &'static str,
}

/// Pictures that hold pixels and nothing that runs or refers.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

impl Icon {
    /// The longest `data:` address.
    pub const MAX_BYTES: usize = 16 << 10;

    /// True for an emoji, which is text; false for a picture.
    #[must_use]
    pub fn is_emoji(&self) -> bool {
        !self.0.starts_with("data:")
    }
}

impl FromStr for Icon {
    type Err = ParseIconError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |problem| ParseIconError { text: visible(text, 40), problem };
        let trimmed = text.trim();
        if let Some(rest) = trimmed.strip_prefix("data:") {
            return match is_picture(rest) {
                _ if trimmed.len() > Self::MAX_BYTES => Err(refuse("a picture has at most 16 KiB")),
                true => Ok(Self(trimmed.into())),
                false => Err(refuse("a picture is PNG, JPEG, WebP or GIF in base64")),
            };
        }
        if trimmed.contains(':') {
            return Err(refuse("pictures are not fetched: whoever serves them would learn who looks"));
        }
        let mut graphemes = trimmed.graphemes(true);
        match (graphemes.next(), graphemes.next()) {
            (Some(one), None) if is_emoji(one) => Ok(Self(one.into())),
            _ => Err(refuse("it is neither one emoji nor a picture")),
        }
    }
}

fn is_picture(address: &str) -> bool {
    let Some((kind, body)) = address.split_once(";base64,") else { return false };
    let digits = body.trim_end_matches('=');
    let padding = body.len() - digits.len();
    PICTURES.contains(&kind)
        && !digits.is_empty()
        && padding <= 2
        && body.len().is_multiple_of(4)
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// True for one grapheme that shows as an emoji: a picture with its modifiers, a flag, or a keycap.
fn is_emoji(grapheme: &str) -> bool {
    let mut characters = grapheme.chars();
    let Some(first) = characters.next() else { return false };
    let keycap = matches!(first, '0'..='9' | '#' | '*') && grapheme.ends_with('\u{20E3}');
    let flag = is_region(first) && characters.clone().next().is_some_and(is_region);
    let picture = is_pictograph(first);
    let joined = |c: char| {
        is_pictograph(c)
            || is_region(c)
            || matches!(c, '\u{200D}' | '\u{FE0F}' | '\u{20E3}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0020}'..='\u{E007F}')
    };
    grapheme.chars().count() <= 16 && (keycap || flag || picture) && characters.all(joined)
}

fn is_region(character: char) -> bool {
    matches!(character, '\u{1F1E6}'..='\u{1F1FF}')
}

/// The blocks that emoji come from.
fn is_pictograph(character: char) -> bool {
    matches!(character,
        '\u{00A9}' | '\u{00AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{21AA}'
        | '\u{231A}'..='\u{23FF}' | '\u{24C2}' | '\u{25AA}'..='\u{25FE}' | '\u{2600}'..='\u{27BF}'
        | '\u{2934}' | '\u{2935}' | '\u{2B05}'..='\u{2B55}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1F1E5}' | '\u{1F200}'..='\u{1FAFF}')
}

impl Explain for ParseIconError {
    fn code(&self) -> Code {
        Code::new("icon")
    }

    fn why(&self) -> String {
        "a picture that is fetched, or that may run something, tells strangers who looks or does more than show".into()
    }

    fn fix(&self) -> String {
        "write one emoji, such as `🔎`, or `data:image/png;base64,…` of at most 16 KiB".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("icon", self.text.as_str().into()), ("problem", self.problem.into())])
    }
}

#[cfg(test)]
mod tests;
