//! A text as it arrived, shared by everything that was read from it, so that raw JSON is kept without being copied.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A whole text with the label people know it by: a path, an address, a server's name.
#[derive(Debug)]
pub struct Document {
    label: String,
    text: String,
    /// The line and column at every `STRIDE`-th byte, counted when somebody first asks for a place.
    counted: OnceLock<Box<[Count]>>,
}

/// How many line breaks stand before a byte, and how many characters since the last of them.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    lines: usize,
    characters: usize,
}

/// A place is found by counting from the last of these, so that a thousand places in one text cost little more than one.
const STRIDE: usize = 4096;

/// A part of a document. Cheap to clone; keeps the document alive.
#[derive(Clone)]
pub struct Slice {
    document: Arc<Document>,
    start: usize,
    end: usize,
}

/// Where something stands, for people: `label:line:column`, both counted from one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Place {
    /// The document's label.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Document {
    /// Takes over a text without copying it.
    #[must_use]
    pub fn new(label: impl Into<String>, text: String) -> Arc<Self> {
        Arc::new(Self { label: label.into(), text, counted: OnceLock::new() })
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What people call it.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The place of a byte.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let start = self.counts().get(offset / STRIDE).copied().unwrap_or_default();
        let count = start.after(bytes.get(offset / STRIDE * STRIDE..offset).unwrap_or_default());
        Place { file: self.label.clone(), line: count.lines + 1, column: count.characters + 1 }
    }

    fn counts(&self) -> &[Count] {
        self.counted.get_or_init(|| {
            let mut count = Count::default();
            let mut all = vec![count];
            for chunk in self.text.as_bytes().chunks(STRIDE) {
                count = count.after(chunk);
                all.push(count);
            }
            all.into()
        })
    }
}

impl Count {
    fn after(self, bytes: &[u8]) -> Self {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let rest = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(newline) => bytes.get(newline + 1..).unwrap_or_default(),
            None => bytes,
        };
        // A character begins at every byte that does not continue one.
        let characters = rest.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        let before = if lines == 0 { self.characters } else { 0 };
        Self { lines: self.lines + lines, characters: before + characters }
    }
}

impl Slice {
    /// The part of `document` in `range`, or the empty end of it when the range is not inside.
    #[must_use]
    pub fn new(document: &Arc<Document>, range: Range<usize>) -> Self {
        let inside = document.text.get(range.clone()).is_some();
        let length = document.text.len();
        let (start, end) = if inside { (range.start, range.end) } else { (length, length) };
        Self { document: Arc::clone(document), start, end }
    }

    /// A document of its own for a text that came from no file.
    #[must_use]
    pub fn of(label: impl Into<String>, text: String) -> Self {
        let end = text.len();
        Self { document: Document::new(label, text), start: 0, end }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.document.text.get(self.start..self.end).unwrap_or_default()
    }

    /// Where it begins.
    #[must_use]
    pub fn place(&self) -> Place {
        self.document.place(self.start)
    }

    /// Where the byte `offset` of this part stands in the document.
    #[must_use]
    pub fn place_of(&self, offset: usize) -> Place {
        self.document.place(self.start + offset)
    }
}

impl fmt::Debug for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}..{}]", self.document.label, self.start, self.end)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", crate::text::visible(&self.file, 200), self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_where_an_editor_shows_it() {
        let text = "ab\nçd€\n\n".repeat(1500) + "😀x";
        let document = Document::new("file", text.clone());
        let (mut line, mut column) = (1, 1);
        for (offset, character) in text.char_indices() {
            let place = document.place(offset);
            assert_eq!((place.line, place.column), (line, column), "byte {offset}");
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        assert_eq!(document.place(text.len()).to_string(), format!("file:{line}:{column}"));
        assert_eq!(document.place(usize::MAX), document.place(text.len()));
    }
}
