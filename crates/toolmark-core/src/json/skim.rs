//! Finds where the values of a text begin and end without building them, so that a list of a million tools is cut into
//! its members before any of them is read.

use std::ops::Range;

use super::read::{ReadJsonError, ReadJsonErrorKind};

/// A position in a text of JSON values.
#[derive(Clone, Debug)]
pub struct Skim<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Deepest nesting that is skimmed; the reader has a lower limit of its own.
const DEPTH: usize = 512;

impl<'a> Skim<'a> {
    /// Starts at `at`.
    #[must_use]
    pub fn new(text: &'a str, at: usize) -> Self {
        Self { bytes: text.as_bytes(), at }
    }

    /// Where it stands.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next byte that is not white space, without moving past it.
    pub fn next_byte(&mut self) -> Option<u8> {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Moves past `byte` if it is next.
    pub fn take(&mut self, byte: u8) -> bool {
        let next = self.next_byte() == Some(byte);
        if next {
            self.at += 1;
        }
        next
    }

    /// Moves to the beginning of the next line; false at the end of the text.
    pub fn next_line(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.iter().position(|&byte| byte == b'\n') {
            Some(newline) => {
                self.at += newline + 1;
                true
            }
            None => {
                self.at = self.bytes.len();
                false
            }
        }
    }

    /// The extent of the next value. Brackets and strings are matched; what stands between them is the reader's business.
    ///
    /// # Errors
    /// When the text ends inside the value, a bracket has no partner, or no value begins here.
    pub fn value(&mut self) -> Result<Range<usize>, ReadJsonError> {
        self.next_byte();
        let start = self.at;
        let mut open = Vec::new();
        loop {
            match self.bytes.get(self.at).copied() {
                None => return Err(self.error(ReadJsonErrorKind::Truncated)),
                Some(b'"') => self.string()?,
                Some(byte @ (b'{' | b'[')) => {
                    if open.len() >= DEPTH {
                        return Err(self.error(ReadJsonErrorKind::TooDeep(DEPTH)));
                    }
                    open.push(if byte == b'{' { b'}' } else { b']' });
                    self.at += 1;
                }
                Some(byte @ (b'}' | b']')) => {
                    if open.pop() != Some(byte) {
                        return Err(self.unexpected(byte));
                    }
                    self.at += 1;
                }
                Some(byte) if open.is_empty() => {
                    if !matches!(byte, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
                        return Err(self.unexpected(byte));
                    }
                    self.word();
                }
                Some(_) => {
                    let rest = self.bytes.get(self.at..).unwrap_or_default();
                    self.at += rest
                        .iter()
                        .position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))
                        .unwrap_or(rest.len());
                    continue;
                }
            }
            if open.is_empty() {
                return Ok(start..self.at);
            }
        }
    }

    fn word(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<(), ReadJsonError> {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match rest.iter().position(|&byte| byte == b'"' || byte == b'\\') {
                None => {
                    self.at = self.bytes.len();
                    return Err(self.error(ReadJsonErrorKind::Truncated));
                }
                Some(found) if rest.get(found) == Some(&b'"') => {
                    self.at += found + 1;
                    return Ok(());
                }
                Some(found) => self.at = (self.at + found + 2).min(self.bytes.len()),
            }
        }
    }

    fn unexpected(&self, byte: u8) -> ReadJsonError {
        let rest =
            String::from_utf8_lossy(self.bytes.get(self.at..(self.at + 4).min(self.bytes.len())).unwrap_or_default());
        let character = rest.chars().next().unwrap_or(char::from(byte));
        self.error(ReadJsonErrorKind::Unexpected(format!(
            "character `{}`",
            crate::text::visible(&character.to_string(), 1)
        )))
    }

    fn error(&self, kind: ReadJsonErrorKind) -> ReadJsonError {
        ReadJsonError::at(kind, self.bytes, self.at)
    }
}
