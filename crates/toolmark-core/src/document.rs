//! A text as it arrived, shared by everything that was read from it, so that raw JSON is kept without being copied.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A whole text with the label people know it by: a path, an address, a server's name.
#[derive(Debug)]
pub struct Document {
    label: String,
    text: String,
}

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
        Arc::new(Self { label: label.into(), text })
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
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        Place {
            file: self.label.clone(),
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: before.get(start..).map_or(0, |line| String::from_utf8_lossy(line).chars().count()) + 1,
        }
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
