//! The text of a call's arguments, read the way the SDK reads it before hashing.
//!
//! Laxer than [`crate::json`]: the last of two equal keys counts, a number too large is infinite, half a surrogate pair is
//! noticed only if it is still there in the end. Stricter than Python alone: `NaN` and `Infinity` are not JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::plain::Plain;
use super::{IdentifyInvocationError, MAX_DEPTH};

/// Python refuses to read a whole number of more digits than this.
const MAX_DIGITS: usize = 4300;

/// The value that the text spells; the text itself when it is not JSON.
pub(super) fn read(text: &str) -> Result<Plain<'_>, IdentifyInvocationError> {
    let mut reader = Reader { text, at: 0 };
    match reader.document() {
        Ok(value) => Ok(value),
        Err(Stop::NotJson) => Ok(Plain::Text(text.into())),
        Err(Stop::TooDeep) => Err(IdentifyInvocationError::TooDeep),
    }
}

enum Stop {
    NotJson,
    TooDeep,
}

/// One container that is being filled.
enum Open<'a> {
    Array(Vec<Plain<'a>>),
    Object { entries: BTreeMap<Cow<'a, str>, Plain<'a>>, key: Key<'a>, broken: bool },
}

/// A key; none when it holds half a surrogate pair.
type Key<'a> = Option<Cow<'a, str>>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Plain<'a>, Stop> {
        let value = self.value()?;
        self.skip_space();
        if self.at == self.text.len() { Ok(value) } else { Err(Stop::NotJson) }
    }

    /// Reads a value with an explicit stack, so that depth costs no machine stack.
    fn value(&mut self) -> Result<Plain<'a>, Stop> {
        let mut stack: Vec<Open<'a>> = Vec::new();
        loop {
            self.skip_space();
            let mut done = match self.peek() {
                Some(b'[') => {
                    self.open(&stack)?;
                    if !self.take(b']') {
                        stack.push(Open::Array(Vec::new()));
                        continue;
                    }
                    Plain::Array(Vec::new())
                }
                Some(b'{') => {
                    self.open(&stack)?;
                    if !self.take(b'}') {
                        stack.push(Open::Object { entries: BTreeMap::new(), key: self.key()?, broken: false });
                        continue;
                    }
                    Plain::Object(BTreeMap::new())
                }
                _ => self.scalar()?,
            };
            // Give the finished value to its container, and close as many containers as end here.
            loop {
                match stack.pop() {
                    None => return Ok(done),
                    Some(Open::Array(mut items)) => {
                        items.push(done);
                        if self.more(b']')? {
                            stack.push(Open::Array(items));
                            break;
                        }
                        done = Plain::Array(items);
                    }
                    Some(Open::Object { mut entries, key, mut broken }) => {
                        // A broken key stays in the object whatever else is written into it.
                        match key {
                            Some(key) => drop(entries.insert(key, done)),
                            None => broken = true,
                        }
                        if self.more(b'}')? {
                            self.skip_space();
                            let key = self.key()?;
                            stack.push(Open::Object { entries, key, broken });
                            break;
                        }
                        done = if broken { Plain::Broken } else { Plain::Object(entries) };
                    }
                }
            }
        }
    }

    fn open(&mut self, stack: &[Open<'a>]) -> Result<(), Stop> {
        if stack.len() >= MAX_DEPTH {
            return Err(Stop::TooDeep);
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// After an entry: true when another follows, false when the container ends.
    fn more(&mut self, end: u8) -> Result<bool, Stop> {
        self.skip_space();
        if self.take(b',') {
            return Ok(true);
        }
        if self.take(end) { Ok(false) } else { Err(Stop::NotJson) }
    }

    fn key(&mut self) -> Result<Key<'a>, Stop> {
        let key = self.string()?;
        self.skip_space();
        if self.take(b':') { Ok(key) } else { Err(Stop::NotJson) }
    }

    fn scalar(&mut self) -> Result<Plain<'a>, Stop> {
        match self.peek() {
            Some(b'"') => Ok(self.string()?.map_or(Plain::Broken, Plain::Text)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [("true", Plain::Bool(true)), ("false", Plain::Bool(false)), ("null", Plain::Null)];
                let rest = self.rest();
                let found = words.into_iter().find(|(word, _)| rest.starts_with(word));
                let (word, value) = found.ok_or(Stop::NotJson)?;
                self.at += word.len();
                Ok(value)
            }
        }
    }

    fn number(&mut self) -> Result<Plain<'a>, Stop> {
        let start = self.at;
        self.take(b'-');
        let first = self.at;
        if !self.take(b'0') {
            self.some_digits()?;
        }
        let digits = self.at - first;
        let mut whole = true;
        if self.take(b'.') {
            whole = false;
            self.some_digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            whole = false;
            let _signed = self.take(b'+') || self.take(b'-');
            self.some_digits()?;
        }
        if whole && digits > MAX_DIGITS {
            return Err(Stop::NotJson);
        }
        Ok(Plain::number(self.text.get(start..self.at).unwrap_or_default()))
    }

    fn some_digits(&mut self) -> Result<(), Stop> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        if digits == 0 { Err(Stop::NotJson) } else { Ok(()) }
    }

    /// Reads a string; none when it holds half a surrogate pair.
    fn string(&mut self) -> Result<Key<'a>, Stop> {
        if !self.take(b'"') {
            return Err(Stop::NotJson);
        }
        let start = self.at;
        self.plain();
        if self.take(b'"') {
            return Ok(self.text.get(start..self.at - 1).map(Cow::Borrowed));
        }
        let mut owned = self.text.get(start..self.at).unwrap_or_default().to_owned();
        let mut broken = false;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok((!broken).then_some(Cow::Owned(owned)));
                }
                Some(b'\\') => match self.escape()? {
                    Some(character) => owned.push(character),
                    None => broken = true,
                },
                _ => {
                    let from = self.at;
                    self.plain();
                    if self.at == from {
                        return Err(Stop::NotJson);
                    }
                    owned.push_str(self.text.get(from..self.at).unwrap_or_default());
                }
            }
        }
    }

    /// Moves over everything in a string that needs no attention.
    fn plain(&mut self) {
        let rest = self.rest().as_bytes();
        self.at += rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20).unwrap_or(rest.len());
    }

    /// Reads an escape; none when it is half a surrogate pair.
    fn escape(&mut self) -> Result<Option<char>, Stop> {
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
            _ => return Err(Stop::NotJson),
        };
        self.at += 1;
        Ok(Some(character))
    }

    fn unicode(&mut self) -> Result<Option<char>, Stop> {
        let first = self.unit()?;
        if !(0xD800..0xDC00).contains(&first) || !self.rest().starts_with("\\u") {
            return Ok(char::from_u32(first));
        }
        let here = self.at;
        self.at += 1;
        let second = self.unit()?;
        if (0xDC00..0xE000).contains(&second) {
            return Ok(char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)));
        }
        // Not the other half: it is read again as a character of its own.
        self.at = here;
        Ok(None)
    }

    /// Reads `uXXXX`, standing on the `u`.
    fn unit(&mut self) -> Result<u32, Stop> {
        let digits = self.text.get(self.at + 1..self.at + 5).ok_or(Stop::NotJson)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Stop::NotJson);
        }
        self.at += 5;
        u32::from_str_radix(digits, 16).map_err(|_| Stop::NotJson)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}
