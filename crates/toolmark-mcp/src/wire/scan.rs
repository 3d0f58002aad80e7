//! Where does a JSON value end? One pass over bytes that checks all of the grammar and builds nothing.

use toolmark_core::json::plain_length;

/// How large and how deep a message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of one message.
    pub bytes: usize,
    /// Deepest nesting, the envelope included; never more than [`Limits::DEEPEST`].
    pub depth: u32,
}

/// What is wrong with a text, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanError {
    Syntax(usize),
    TooDeep(usize),
}

/// A string in a text: where its contents begin and end, without the quotes, and whether anything in it is escaped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) escaped: bool,
}

/// A position in a text that is known to be UTF-8.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    deepest: u32,
}

impl Limits {
    /// Nesting that no setting goes beyond: open brackets are remembered as the bits of one number.
    pub const DEEPEST: u32 = 128;
    /// For what was let in before: it is as long as it is.
    pub const ADMITTED: Self = Self { bytes: usize::MAX, depth: Self::DEEPEST };
}

impl Default for Limits {
    /// 4 MiB and 128 levels.
    fn default() -> Self {
        Self { bytes: 4 << 20, depth: Self::DEEPEST }
    }
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, deepest: u32) -> Self {
        Self { bytes: text.as_bytes(), at: 0, depth: 0, deepest: deepest.min(Limits::DEEPEST) }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn syntax(&self) -> ScanError {
        ScanError::Syntax(self.at)
    }

    /// The next byte that is not white space, without moving past it.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Moves past `byte`, which must come next.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), ScanError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.syntax())
        }
    }

    /// Moves past `byte` if it comes next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Moves past an opening bracket.
    pub(crate) fn enter(&mut self, bracket: u8) -> Result<(), ScanError> {
        self.expect(bracket)?;
        if self.depth >= self.deepest {
            return Err(ScanError::TooDeep(self.at));
        }
        self.depth += 1;
        Ok(())
    }

    /// Notes that a closing bracket was passed.
    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Nothing but white space may follow.
    pub(crate) fn finish(&mut self) -> Result<(), ScanError> {
        if self.peek().is_none() { Ok(()) } else { Err(self.syntax()) }
    }

    /// Moves past the string that must come next.
    pub(crate) fn string(&mut self) -> Result<Quoted, ScanError> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let length = plain_length(rest);
            self.at += length;
            match rest.get(length) {
                Some(b'"') => {
                    let end = self.at;
                    self.at += 1;
                    return Ok(Quoted { start, end, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return Err(self.syntax()),
            }
        }
    }

    /// Moves past `\` and what it escapes.
    fn escape(&mut self) -> Result<(), ScanError> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 2..self.at + 6).unwrap_or_default();
                if digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit) {
                    self.at += 6;
                    Ok(())
                } else {
                    Err(self.syntax())
                }
            }
            _ => Err(self.syntax()),
        }
    }

    /// Moves past the value that must come next, whatever it is.
    pub(crate) fn value(&mut self) -> Result<(), ScanError> {
        let base = self.depth;
        // One bit for each open bracket, the innermost last: 1 for an object, 0 for an array.
        let mut objects: u128 = 0;
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.enter(b'{')?;
                    objects = objects << 1 | 1;
                    if !self.take(b'}') {
                        self.key()?;
                        continue;
                    }
                    self.leave();
                    objects >>= 1;
                }
                Some(b'[') => {
                    self.enter(b'[')?;
                    objects <<= 1;
                    if !self.take(b']') {
                        continue;
                    }
                    self.leave();
                    objects >>= 1;
                }
                Some(b'"') => drop(self.string()?),
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => return Err(self.syntax()),
            }
            loop {
                if self.depth == base {
                    return Ok(());
                }
                let object = objects & 1 == 1;
                if self.take(b',') {
                    if object {
                        self.key()?;
                    }
                    break;
                }
                self.expect(if object { b'}' } else { b']' })?;
                self.leave();
                objects >>= 1;
            }
        }
    }

    /// Moves past a key and its colon.
    pub(crate) fn key(&mut self) -> Result<Quoted, ScanError> {
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), ScanError> {
        if self.bytes.get(self.at..self.at + word.len()) == Some(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.syntax())
        }
    }

    fn number(&mut self) -> Result<(), ScanError> {
        let is = |at: usize, byte: u8| self.bytes.get(at) == Some(&byte);
        let digits = |at: usize| {
            self.bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let mut at = self.at + usize::from(is(self.at, b'-'));
        let whole = digits(at);
        let mut fine = whole == 1 || (whole > 1 && !is(at, b'0'));
        at += whole;
        if fine && is(at, b'.') {
            let fraction = digits(at + 1);
            fine = fraction > 0;
            at += 1 + fraction;
        }
        if fine && (is(at, b'e') || is(at, b'E')) {
            at += 1;
            at += usize::from(is(at, b'+') || is(at, b'-'));
            let exponent = digits(at);
            fine = exponent > 0;
            at += exponent;
        }
        self.at = at;
        if fine { Ok(()) } else { Err(self.syntax()) }
    }
}
