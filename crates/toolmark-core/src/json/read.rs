//! The reader: one pass over the bytes, strict JSON, no recursion on the machine's stack, an error that says where.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Json, plain_length};
use crate::explain::{Code, Explain, facts};

/// How much one document may hold before it is refused.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Containers inside containers.
    pub depth: usize,
    /// Values in the whole document.
    pub values: usize,
}

/// Text that is not acceptable JSON, with the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at line {line}, column {column}")]
pub struct ReadJsonError {
    kind: ReadJsonErrorKind,
    offset: usize,
    line: usize,
    column: usize,
}

/// What is wrong with the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadJsonErrorKind {
    /// The text ends inside a value.
    #[error("the text ends inside a value")]
    Truncated,
    /// A byte that cannot stand here.
    #[error("unexpected {0}")]
    Unexpected(String),
    /// Two entries of one object have the same key.
    #[error("the key `{0}` appears twice in one object")]
    DuplicateKey(String),
    /// Half of a UTF-16 pair, which no text can hold.
    #[error("a lone surrogate `\\u{0:04x}` in a string")]
    LoneSurrogate(u16),
    /// A raw control character inside a string.
    #[error("an unescaped control character U+{0:04X} in a string")]
    ControlCharacter(u8),
    /// A number that is too large for a double.
    #[error("the number `{0}` is out of range")]
    NumberOutOfRange(String),
    /// Containers nested beyond the limit.
    #[error("more than {0} levels of nesting")]
    TooDeep(usize),
    /// More values than the limit.
    #[error("more than {0} values in one document")]
    TooManyValues(usize),
}

/// One container that is being filled.
enum Open<'a> {
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>, Cow<'a, str>),
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    values: usize,
    limits: Limits,
}

/// Objects with more entries than this look for a repeated key with a set.
const FEW_KEYS: usize = 24;

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 128, values: 4_000_000 }
    }
}

impl ReadJsonError {
    pub(crate) fn at(kind: ReadJsonErrorKind, text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset.min(text.len())).unwrap_or_default();
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count() + 1;
        Self { kind, offset, line, column }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ReadJsonErrorKind {
        &self.kind
    }

    /// The byte at which it was noticed.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The line, counted from one.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, counted from one.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// The same error, told from the document that the text is a part of.
    #[must_use]
    pub(crate) fn seen_in(self, part: &crate::document::Slice) -> Self {
        let place = part.place_of(self.offset);
        Self { line: place.line, column: place.column, ..self }
    }
}

impl Explain for ReadJsonError {
    fn code(&self) -> Code {
        match self.kind {
            ReadJsonErrorKind::Truncated => Code::new("json-truncated"),
            ReadJsonErrorKind::Unexpected(_) | ReadJsonErrorKind::ControlCharacter(_) => Code::new("json-syntax"),
            ReadJsonErrorKind::DuplicateKey(_) => Code::new("json-duplicate-key"),
            ReadJsonErrorKind::LoneSurrogate(_) => Code::new("json-not-text"),
            ReadJsonErrorKind::NumberOutOfRange(_) => Code::new("json-number-out-of-range"),
            ReadJsonErrorKind::TooDeep(_) => Code::new("json-too-deep"),
            ReadJsonErrorKind::TooManyValues(_) => Code::new("json-too-large"),
        }
    }

    fn why(&self) -> String {
        match self.kind {
            ReadJsonErrorKind::Truncated => "half a definition is not the definition that somebody approved".into(),
            ReadJsonErrorKind::Unexpected(_) | ReadJsonErrorKind::ControlCharacter(_) => {
                "readers repair broken JSON in different ways, so two programs would see two different tools".into()
            }
            ReadJsonErrorKind::DuplicateKey(_) => {
                "some readers keep the first value and some the last, so what was reviewed may not be what runs".into()
            }
            ReadJsonErrorKind::LoneSurrogate(_) => "it has no canonical form, so the tool could have no digest".into(),
            ReadJsonErrorKind::NumberOutOfRange(_) => {
                "it has no canonical form: readers turn it into infinity, an error or another number".into()
            }
            ReadJsonErrorKind::TooDeep(_) | ReadJsonErrorKind::TooManyValues(_) => {
                "a document of this shape is used to exhaust the programs that read it".into()
            }
        }
    }

    fn fix(&self) -> String {
        match self.kind {
            ReadJsonErrorKind::Truncated => "fetch the file again and compare its size".into(),
            ReadJsonErrorKind::DuplicateKey(ref key) => {
                format!("remove one of the two `{key}` entries in the source of the snapshot")
            }
            ReadJsonErrorKind::LoneSurrogate(_) => {
                "write the character in full, as UTF-8 or as a pair of \\u escapes".into()
            }
            ReadJsonErrorKind::NumberOutOfRange(_) => "write the number as a string".into(),
            ReadJsonErrorKind::TooDeep(_) => {
                "use `$defs` and `$ref` in place of nesting, or report the server that sends it".into()
            }
            ReadJsonErrorKind::TooManyValues(_) => "split the snapshot into one file a server".into(),
            ReadJsonErrorKind::Unexpected(_) | ReadJsonErrorKind::ControlCharacter(_) => {
                format!("correct the text at line {}, column {}", self.line, self.column)
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("offset", self.offset.into()), ("line", self.line.into()), ("column", self.column.into())])
    }
}

/// Reads one JSON document with the usual limits.
///
/// # Errors
/// [`ReadJsonError`] with the place of the first thing that is not strict JSON or exceeds the limits.
pub fn read(text: &str) -> Result<Json<'_>, ReadJsonError> {
    read_with(text, Limits::default())
}

/// Reads one JSON document with limits of the caller's.
///
/// # Errors
/// As [`read`].
pub fn read_with(text: &str, limits: Limits) -> Result<Json<'_>, ReadJsonError> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, values: 0, limits };
    reader.document().map_err(|kind| ReadJsonError::at(kind, reader.bytes, reader.at))
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Json<'a>, ReadJsonErrorKind> {
        let value = self.value()?;
        self.skip_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.unexpected()),
        }
    }

    /// Reads a value with an explicit stack: depth costs memory that the limit bounds, never the machine's stack.
    fn value(&mut self) -> Result<Json<'a>, ReadJsonErrorKind> {
        let mut stack: Vec<Open<'a>> = Vec::new();
        loop {
            self.skip_space();
            self.values += 1;
            if self.values > self.limits.values {
                return Err(ReadJsonErrorKind::TooManyValues(self.limits.values));
            }
            let mut done = match self.peek() {
                Some(b'{') => {
                    self.open(&stack)?;
                    if self.closes(b'}') {
                        Json::Object(Vec::new())
                    } else {
                        let key = self.key()?;
                        stack.push(Open::Object(Vec::new(), key));
                        continue;
                    }
                }
                Some(b'[') => {
                    self.open(&stack)?;
                    if self.closes(b']') {
                        Json::Array(Vec::new())
                    } else {
                        stack.push(Open::Array(Vec::new()));
                        continue;
                    }
                }
                _ => self.scalar()?,
            };
            // Hand the finished value to its container, and close as many containers as end here.
            loop {
                match stack.pop() {
                    None => return Ok(done),
                    Some(Open::Array(mut items)) => {
                        items.push(done);
                        if self.more(b']')? {
                            stack.push(Open::Array(items));
                            break;
                        }
                        done = Json::Array(items);
                    }
                    Some(Open::Object(mut entries, key)) => {
                        entries.push((key, done));
                        if self.more(b'}')? {
                            self.skip_space();
                            let key = self.key()?;
                            stack.push(Open::Object(entries, key));
                            break;
                        }
                        refuse_repeated_keys(&entries)?;
                        done = Json::Object(entries);
                    }
                }
            }
        }
    }

    fn open(&mut self, stack: &[Open<'a>]) -> Result<(), ReadJsonErrorKind> {
        if stack.len() >= self.limits.depth {
            return Err(ReadJsonErrorKind::TooDeep(self.limits.depth));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn closes(&mut self, end: u8) -> bool {
        let closes = self.peek() == Some(end);
        if closes {
            self.at += 1;
        }
        closes
    }

    /// After an entry: true when another follows, false when the container ends.
    fn more(&mut self, end: u8) -> Result<bool, ReadJsonErrorKind> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn key(&mut self) -> Result<Cow<'a, str>, ReadJsonErrorKind> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(key)
    }

    fn scalar(&mut self) -> Result<Json<'a>, ReadJsonErrorKind> {
        match self.peek() {
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, ReadJsonErrorKind> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Cow<'a, str>, ReadJsonErrorKind> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected()),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        // Anything this short without an exponent is finite; skip the conversion for the common case.
        let finite = (text.len() < 300 && !text.contains(['e', 'E'])) || text.parse::<f64>().is_ok_and(f64::is_finite);
        if finite {
            Ok(Cow::Borrowed(text))
        } else {
            self.at = start;
            Err(ReadJsonErrorKind::NumberOutOfRange(shown(text)))
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), ReadJsonErrorKind> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected());
        }
        self.digits();
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, ReadJsonErrorKind> {
        self.at += 1;
        let start = self.at;
        self.plain();
        match self.peek() {
            Some(b'"') => {
                let text = self.text.get(start..self.at).unwrap_or_default();
                self.at += 1;
                return Ok(Cow::Borrowed(text));
            }
            Some(b'\\') => {}
            _ => return Err(self.broken_string()),
        }
        let mut owned = String::with_capacity((self.at - start) * 2 + 16);
        owned.push_str(self.text.get(start..self.at).unwrap_or_default());
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(owned));
                }
                Some(b'\\') => {
                    let character = self.escape()?;
                    owned.push(character);
                }
                _ => {
                    let from = self.at;
                    self.plain();
                    if self.at == from {
                        return Err(self.broken_string());
                    }
                    owned.push_str(self.text.get(from..self.at).unwrap_or_default());
                }
            }
        }
    }

    /// Moves over everything in a string that needs no attention.
    fn plain(&mut self) {
        self.at += plain_length(self.bytes.get(self.at..).unwrap_or_default());
    }

    fn broken_string(&self) -> ReadJsonErrorKind {
        match self.peek() {
            Some(byte) => ReadJsonErrorKind::ControlCharacter(byte),
            None => ReadJsonErrorKind::Truncated,
        }
    }

    fn escape(&mut self) -> Result<char, ReadJsonErrorKind> {
        self.at += 1;
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode(&mut self) -> Result<char, ReadJsonErrorKind> {
        let start = self.at - 1;
        let first = self.unit()?;
        let point = match first {
            0xD800..=0xDBFF => {
                let second = if self.bytes.get(self.at..self.at + 2) == Some(b"\\u") {
                    self.at += 1;
                    self.unit()?
                } else {
                    0
                };
                if !(0xDC00..=0xDFFF).contains(&second) {
                    self.at = start;
                    return Err(ReadJsonErrorKind::LoneSurrogate(first));
                }
                0x1_0000 + ((u32::from(first) - 0xD800) << 10) + (u32::from(second) - 0xDC00)
            }
            other => u32::from(other),
        };
        char::from_u32(point).ok_or_else(|| {
            self.at = start;
            ReadJsonErrorKind::LoneSurrogate(first)
        })
    }

    /// Reads `uXXXX`, standing on the `u`.
    fn unit(&mut self) -> Result<u16, ReadJsonErrorKind> {
        self.at += 1;
        let mut unit = 0u16;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte @ b'0'..=b'9') => byte - b'0',
                Some(byte @ b'a'..=b'f') => byte - b'a' + 10,
                Some(byte @ b'A'..=b'F') => byte - b'A' + 10,
                _ => return Err(self.unexpected()),
            };
            unit = (unit << 4) | u16::from(digit);
            self.at += 1;
        }
        Ok(unit)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn unexpected(&self) -> ReadJsonErrorKind {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => ReadJsonErrorKind::Truncated,
            Some(character) if character.is_control() => {
                ReadJsonErrorKind::Unexpected(format!("character U+{:04X}", u32::from(character)))
            }
            Some(character) => ReadJsonErrorKind::Unexpected(format!("character `{character}`")),
        }
    }
}

fn refuse_repeated_keys(entries: &[(Cow<'_, str>, Json<'_>)]) -> Result<(), ReadJsonErrorKind> {
    let repeated = if entries.len() <= FEW_KEYS {
        entries.iter().enumerate().find_map(|(index, (key, _))| {
            let before = entries.get(..index).unwrap_or_default();
            before.iter().any(|(other, _)| other == key).then_some(key)
        })
    } else {
        let mut seen = HashSet::with_capacity(entries.len());
        entries.iter().find_map(|(key, _)| (!seen.insert(key.as_ref())).then_some(key))
    };
    match repeated {
        None => Ok(()),
        Some(key) => Err(ReadJsonErrorKind::DuplicateKey(shown(key))),
    }
}

/// Keeps a message readable when the input is not.
fn shown(text: &str) -> String {
    crate::text::visible(text, 60)
}
