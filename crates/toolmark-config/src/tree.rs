//! The files of clients, whatever they are written in, as one kind of tree that knows where everything stands.

use std::ops::Range;
use std::sync::Arc;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml::de::{DeTable, DeValue};
use toolmark_core::document::Document;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::problem::Problem;

/// A value and its place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) value: Value,
    pub(crate) span: Range<usize>,
}

/// What a value is. Numbers keep their spelling.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Number(String),
    Bool(bool),
    Null,
    List(Vec<Tree>),
    Table(Vec<Entry>),
}

/// A key, where it begins, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: usize,
    pub(crate) value: Tree,
}

/// The largest file of a client that is read. `~/.claude.json` holds the history of all projects and can be large.
pub(crate) const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A file that cannot be read at all.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("the file is no {format}: {message}")]
    Syntax { format: &'static str, message: String },
    #[error("the file has {bytes} bytes, more than {MAX_BYTES}")]
    TooLarge { bytes: usize },
}

impl Tree {
    /// Reads JSON with comments and trailing commas. A text without any value is an empty table. Places count from the beginning of
    /// the text, a byte order mark included.
    pub(crate) fn json(document: &Arc<Document>) -> Result<Self, Box<Problem>> {
        let (text, skipped) = without_mark(document)?;
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        match parse_to_ast(text, &CollectOptions::default(), &options) {
            Ok(parsed) => Ok(match parsed.value {
                Some(value) => of_json(&value, skipped),
                None => Self { value: Value::Table(Vec::new()), span: 0..0 },
            }),
            Err(error) => {
                let at = skipped + error.range().start;
                Err(refused(document, at, &Unreadable::Syntax { format: "JSON", message: error.kind().to_string() }))
            }
        }
    }

    /// Reads TOML.
    pub(crate) fn toml(document: &Arc<Document>) -> Result<Self, Box<Problem>> {
        let (text, skipped) = without_mark(document)?;
        let parsed = DeTable::parse(text).map_err(|error| {
            let at = skipped + error.span().map_or(0, |span| span.start);
            let message = error.message().trim().replace('\n', "; ");
            refused(document, at, &Unreadable::Syntax { format: "TOML", message })
        })?;
        let span = parsed.span();
        Ok(of_toml(&DeValue::Table(parsed.into_inner()), &span, skipped))
    }

    /// The value of a key; of a key that stands there twice, the later, as every reader of JSON that clients use takes it.
    pub(crate) fn get(&self, key: &str) -> Option<&Tree> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The entries, if it is a table.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The texts of a list.
    pub(crate) fn texts(&self) -> Vec<String> {
        match &self.value {
            Value::List(items) => items.iter().filter_map(Self::text).map(ToOwned::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// The same without places, to compare.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) => text.as_str().into(),
            Value::Number(number) => number.parse().map_or_else(|_| number.as_str().into(), serde_json::Value::Number),
            Value::Bool(value) => (*value).into(),
            Value::Null => serde_json::Value::Null,
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect(),
            ),
        }
    }
}

fn without_mark(document: &Arc<Document>) -> Result<(&str, usize), Box<Problem>> {
    let text = document.text();
    if text.len() > MAX_BYTES {
        return Err(refused(document, 0, &Unreadable::TooLarge { bytes: text.len() }));
    }
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok((rest, '\u{feff}'.len_utf8())),
        None => Ok((text, 0)),
    }
}

fn refused(document: &Arc<Document>, at: usize, error: &Unreadable) -> Box<Problem> {
    Box::new(Problem::refused(error.report(), Some(document.place(at))))
}

fn of_json(value: &ast::Value<'_>, skipped: usize) -> Tree {
    let range = value.range();
    let span = range.start + skipped..range.end + skipped;
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.to_string()),
        ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
        ast::Value::BooleanLit(value) => Value::Bool(value.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(items) => Value::List(items.elements.iter().map(|item| of_json(item, skipped)).collect()),
        ast::Value::Object(object) => {
            let entry = |property: &ast::ObjectProp<'_>| Entry {
                key: property.name.as_str().to_owned(),
                at: property.name.start() + skipped,
                value: of_json(&property.value, skipped),
            };
            Value::Table(object.properties.iter().map(entry).collect())
        }
    };
    Tree { value, span }
}

fn of_toml(value: &DeValue<'_>, span: &Range<usize>, skipped: usize) -> Tree {
    let span = span.start + skipped..span.end + skipped;
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Number(
            i64::from_str_radix(number.as_str(), number.radix()).map_or_else(|_| number.to_string(), |n| n.to_string()),
        ),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(date) => Value::Text(date.to_string()),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| of_toml(item.get_ref(), &item.span(), skipped)).collect())
        }
        DeValue::Table(table) => {
            let entry = |(key, value): crate::read::TomlEntry<'_>| Entry {
                key: key.get_ref().to_string(),
                at: key.span().start + skipped,
                value: of_toml(value.get_ref(), &value.span(), skipped),
            };
            Value::Table(crate::read::in_order(table).into_iter().map(entry).collect())
        }
    };
    Tree { value, span }
}

impl Explain for Unreadable {
    fn code(&self) -> Code {
        Code::new("client-file-syntax")
    }

    fn why(&self) -> String {
        "a file that is half understood would lose servers silently; it was left as it is".into()
    }

    fn fix(&self) -> String {
        "correct the file so that its own client reads it, then try again".into()
    }
}
