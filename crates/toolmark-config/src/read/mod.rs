//! From a TOML tree to typed values: every value knows where it stands, and what is wrong is collected, not thrown.

mod error;
mod section;
mod value;

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toolmark_core::document::Document;
use toolmark_core::explain::{Explain, Report};
use toolmark_core::problem::Problem;

pub use error::ReadConfigError;
pub(crate) use error::{Refused, table_name};
pub(crate) use section::{Section, TomlEntry, below, in_order, table};
pub(crate) use value::parsed;

/// The largest file that is read, in bytes. Real ones have a few kilobytes.
pub(crate) const MAX_BYTES: usize = 4 * 1024 * 1024;

/// How many problems are told; who has more has another file in hand.
const MOST_PROBLEMS: usize = 200;

/// Something that can be read from a TOML value.
pub(crate) trait FromToml: Sized {
    /// The value, or nothing when the reader was told what is wrong.
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self>;
}

/// A value with its place in the text and the keys that lead to it.
pub(crate) struct Node<'t> {
    pub(crate) value: &'t DeValue<'t>,
    pub(crate) at: usize,
    pub(crate) path: String,
}

/// The text, and what is wrong with it so far.
pub(crate) struct Reader {
    document: Arc<Document>,
    problems: Vec<(usize, Problem)>,
    more: usize,
}

impl Reader {
    pub(crate) fn new(document: Arc<Document>) -> Self {
        Self { document, problems: Vec::new(), more: 0 }
    }

    /// Notes a problem at a byte of the text.
    pub(crate) fn refuse(&mut self, at: usize, error: &dyn Explain) {
        self.refuse_with(at, || error.report());
    }

    /// The same, where finding out what to say takes a while.
    pub(crate) fn refuse_with(&mut self, at: usize, report: impl FnOnce() -> Report) {
        if self.problems.len() >= MOST_PROBLEMS {
            self.more += 1;
            return;
        }
        let place = self.document.place(at);
        self.problems.push((at, Problem::refused(report(), Some(place))));
    }

    /// What was refused, in the order of the text.
    fn finish(mut self, label: &str) -> Result<(), ReadConfigError> {
        self.problems.sort_by_key(|(at, _)| *at);
        let problems: Vec<Problem> = self.problems.into_iter().map(|(_, problem)| problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(ReadConfigError::new(label, problems, self.more)) }
    }
}

impl<'t> Node<'t> {
    /// Notes that this value is not what it should be.
    pub(crate) fn expected(&self, what: &'static str, reader: &mut Reader) {
        let found = kind(self.value);
        reader.refuse(self.at, &Refused::Type { key: self.path.clone(), what, found });
    }

    /// The text, if it is one.
    pub(crate) fn text(&self, what: &'static str, reader: &mut Reader) -> Option<&'t str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.expected(what, reader);
        }
        text
    }
}

/// Reads a whole text.
pub(crate) fn read<T: FromToml>(text: &str, label: &str) -> Result<T, ReadConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = Document::new(label, text.to_owned());
    let mut reader = Reader::new(Arc::clone(&document));
    if text.len() > MAX_BYTES {
        reader.refuse(0, &Refused::TooLarge { bytes: text.len() });
    }
    let text = if text.len() > MAX_BYTES { "" } else { document.text() };
    let (tree, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(0, |Range { start, .. }| start);
        reader.refuse(at, &Refused::Syntax { message: error.message().trim().replace('\n', "; ") });
    }
    let mut read = None;
    // What a broken text seems to say is not worth a second complaint.
    if reader.problems.is_empty() {
        let value = DeValue::Table(tree.into_inner());
        read = T::from_toml(&Node { value: &value, at: 0, path: String::new() }, &mut reader);
    }
    reader.finish(label)?;
    read.ok_or_else(|| ReadConfigError::new(label, Vec::new(), 0))
}

/// What a value is, in words.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
