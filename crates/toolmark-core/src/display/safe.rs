//! Text for people, made safe: one line, nothing that hides, reorders or piles up, and an end. Markup stays text: whoever shows it escapes it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation as _;

use super::joiner;
use crate::text::is_hidden;

/// The longest display name or category, in characters as people count them.
pub const NAME: usize = 80;
/// The longest spoken text.
pub const SPOKEN: usize = 240;
/// More marks on one letter than any writing has.
const MARKS: usize = 6;
/// As many characters as the longest emoji and the longest conjunct have.
const LONGEST_GRAPHEME: usize = 16;

/// What is said, aloud or as progress, while a tool works: "Searching the regulations". Not its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpokenText(Arc<str>);

/// A word for tools that belong together, for people: "Inspections".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Category(Arc<str>);

crate::names::text_name!(SpokenText);
crate::names::text_name!(Category);

impl SpokenText {
    /// A text that was made safe.
    pub(super) fn new(text: Arc<str>) -> Self {
        Self(text)
    }
}

impl Category {
    /// A text that was made safe.
    pub(super) fn new(text: Arc<str>) -> Self {
        Self(text)
    }
}

/// Makes a text safe and cuts it, visibly, after `limit` graphemes. What cannot be seen at all comes out empty.
#[must_use]
pub fn safe(text: &str, limit: usize) -> String {
    // What is cut away later is not worth reading: few graphemes that stay have more than a letter and its marks.
    let read = text.chars().take(limit.saturating_mul(64).saturating_add(1024));
    let is_seen = |c: &char| joiner::is_joiner(*c) || !(is_hidden(*c) || is_no_character(*c));
    let seen = read.map(|c| if is_blank(c) { ' ' } else { c }).filter(is_seen);
    let mut marks = 0;
    let sparse = seen.nfc().filter(|&c| {
        // What joins is seen by nobody, so that what stands behind it stands on the same letter.
        marks = match joiner::is_joiner(c) {
            true => marks,
            false if is_combining_mark(c) => marks + 1,
            false => 0,
        };
        marks <= MARKS
    });
    let composed: String = joiner::in_context(sparse.nfc()).nfc().collect();
    let folded = composed.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    match end(&folded, limit) {
        Some(cut) => {
            format!("{}…", folded.get(..cut).unwrap_or_default().trim_end_matches(|c| c == ' ' || joiner::is_joiner(c)))
        }
        None => folded,
    }
}

/// Where a text has to be cut. Of a grapheme that is longer than any writing needs, every further character counts.
fn end(text: &str, limit: usize) -> Option<usize> {
    let mut count = 0_usize;
    for (at, grapheme) in text.grapheme_indices(true) {
        count += 1 + grapheme.chars().count().saturating_sub(LONGEST_GRAPHEME);
        if count > limit {
            return Some(at);
        }
    }
    None
}

/// True for a text that [`safe`] leaves as it is: nobody is shown anything else than what was written.
#[must_use]
pub fn is_safe(text: &str, limit: usize) -> bool {
    !text.is_empty() && safe(text, limit) == text
}

/// The same text with every letter and its marks as one, where there is one (NFC).
#[must_use]
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// A name inside a sentence, isolated, so that neither changes the direction of the other.
#[must_use]
pub fn isolated(name: &(impl fmt::Display + ?Sized)) -> String {
    let text = name.to_string();
    // A name that ends its own isolation would leak into the sentence.
    let inner: Cow<'_, str> = if text.chars().any(crate::text::is_bidirectional) {
        text.chars().filter(|&c| !crate::text::is_bidirectional(c)).collect::<String>().into()
    } else {
        text.into()
    };
    format!("\u{2068}{inner}\u{2069}")
}

fn is_blank(character: char) -> bool {
    // A pattern of Braille without dots is seen as little as a space.
    character.is_whitespace() || character == '\u{2800}'
}

/// Noncharacters, private use, and the mark of a missing object: nobody knows what they show.
fn is_no_character(character: char) -> bool {
    let code = u32::from(character);
    matches!(code, 0xE000..=0xF8FF | 0xF_0000..=0x10_FFFF | 0xFDD0..=0xFDEF | 0xFFFC) || code & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests;
