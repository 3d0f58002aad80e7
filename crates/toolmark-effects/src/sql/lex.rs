//! Cuts a text into words, names, strings and symbols, as one dialect spells them. Understands nothing, hides nothing.

use super::lexis::{Doubts, Lexis};

/// How far a bracket is looked into before it counts as doubtful.
const LOOK_AHEAD: usize = 256;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a bare name.
    Word,
    /// A name in quotes, backticks or brackets.
    Quoted,
    /// A string.
    Text,
    Number,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    Comma,
    Semicolon,
    Dot,
    /// `@name`, `@@name`, `$1`, `?`.
    Variable,
    /// Any other symbol, one byte each.
    Symbol,
}

/// One token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A text, cut up.
#[derive(Debug)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    /// What another dialect would cut differently.
    pub(super) doubts: Doubts,
    /// Whether comments were left out.
    pub(super) comments: bool,
}

/// Cuts `text`. The error says why it cannot be done.
pub(super) fn lex(text: &str, lexis: Lexis) -> Result<Lexed, &'static str> {
    let mut lexer = Lexer { bytes: text.as_bytes(), text, at: 0, lexis, executed: 0, out: Lexed::default() };
    lexer.run()?;
    Ok(lexer.out)
}

impl Default for Lexed {
    fn default() -> Self {
        Self { tokens: Vec::with_capacity(64), doubts: Doubts::default(), comments: false }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    lexis: Lexis,
    /// How many `/*!` are open.
    executed: usize,
    out: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), &'static str> {
        while let Some(byte) = self.peek(0) {
            let start = self.at;
            let kind = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                    self.at += 1;
                    continue;
                }
                0 => return Err("it contains a NUL byte"),
                b'-' if self.peek(1) == Some(b'-') && self.dashes() => continue,
                b'#' if self.hashes() => continue,
                b'/' if self.peek(1) == Some(b'*') => {
                    self.block_comment()?;
                    continue;
                }
                b'*' if self.executed > 0 && self.peek(1) == Some(b'/') => {
                    self.executed -= 1;
                    self.at += 2;
                    continue;
                }
                b'\'' => self.quoted(b'\'', self.lexis.backslash, Kind::Text)?,
                b'"' if self.lexis.double_text => self.quoted(b'"', self.lexis.backslash, Kind::Text)?,
                b'"' => self.quoted(b'"', self.lexis.backslash, Kind::Quoted)?,
                // MySQL takes a backslash in backticks as it is; ClickHouse and BigQuery do not.
                b'`' => self.quoted(b'`', self.lexis.backslash && !self.lexis.spaced_dash, Kind::Quoted)?,
                b'[' => self.bracket()?,
                b'$' if self.lexis.dollar => self.dollar()?,
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) && !self.after_name() => self.number(),
                b'@' | b'?' => self.variable(),
                _ if is_name_byte(byte) => self.word()?,
                _ => self.symbol(byte),
            };
            self.push(kind, start);
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: Kind, start: usize) {
        // Invariant: `read` refuses texts past 256 KiB, so positions fit.
        let (start, end) = (u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(self.at).unwrap_or(u32::MAX));
        self.out.tokens.push(Token { kind, start, end });
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&accept) {
            self.at += 1;
        }
    }

    /// Skips a line comment, if `--` begins one here.
    fn dashes(&mut self) -> bool {
        if self.peek(2).is_some_and(|next| next > b' ') {
            self.out.doubts.add(Doubts::DASH);
            if self.lexis.spaced_dash {
                return false;
            }
        }
        self.line_comment();
        true
    }

    /// Skips a line comment, if `#` begins one here.
    fn hashes(&mut self) -> bool {
        self.out.doubts.add(Doubts::HASH);
        if self.lexis.hash {
            self.line_comment();
        }
        self.lexis.hash
    }

    fn line_comment(&mut self) {
        self.out.comments = true;
        while let Some(byte) = self.peek(0) {
            let lone = byte == b'\r' && self.peek(1) != Some(b'\n');
            if lone {
                self.out.doubts.add(Doubts::CARRIAGE);
            }
            if byte == b'\n' || (lone && self.lexis.carriage) {
                return;
            }
            self.at += 1;
        }
    }

    fn block_comment(&mut self) -> Result<(), &'static str> {
        self.out.comments = true;
        let maria = self.peek(2) == Some(b'M') && self.peek(3) == Some(b'!');
        if maria || self.peek(2) == Some(b'!') {
            self.out.doubts.add(Doubts::EXECUTED);
            if self.lexis.executed {
                self.executed += 1;
                self.at += if maria { 4 } else { 3 };
                let start = self.at;
                self.skip_while(|byte| byte.is_ascii_digit());
                // Five or six digits are a version; more are the beginning of a number.
                self.at = self.at.min(start + 6);
                return Ok(());
            }
        }
        self.at += 2;
        let mut depth = 1_usize;
        while depth > 0 {
            match (self.peek(0), self.peek(1)) {
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (Some(b'/'), Some(b'*')) => {
                    self.out.doubts.add(Doubts::NESTED);
                    depth += usize::from(self.lexis.nested);
                    // Where comments do not nest, `/*/` inside one still ends it.
                    self.at += if self.lexis.nested { 2 } else { 1 };
                }
                (Some(_), _) => self.at += 1,
                (None, _) if self.lexis.open_comment => return Ok(()),
                (None, _) => {
                    self.out.doubts.add(Doubts::OPEN);
                    return Err("a comment is never closed");
                }
            }
        }
        Ok(())
    }

    fn quoted(&mut self, quote: u8, backslash: bool, kind: Kind) -> Result<Kind, &'static str> {
        if self.peek(1) == Some(quote) && self.peek(2) == Some(quote) && quote != b'`' {
            self.out.doubts.add(Doubts::TRIPLE);
            if self.lexis.triple {
                return self.triple(quote);
            }
        }
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(b'\\') => {
                    self.out.doubts.add(Doubts::BACKSLASH);
                    self.at += 1 + usize::from(backslash);
                }
                Some(byte) if byte == quote => {
                    self.at += 1;
                    if self.peek(0) != Some(quote) {
                        return Ok(kind);
                    }
                    self.at += 1;
                }
                Some(_) => self.at += 1,
                None => return Err("a quote is never closed"),
            }
        }
    }

    fn triple(&mut self, quote: u8) -> Result<Kind, &'static str> {
        self.at += 3;
        loop {
            match self.peek(0) {
                Some(b'\\') => self.at += 2,
                Some(byte) if byte == quote && self.peek(1) == Some(quote) && self.peek(2) == Some(quote) => {
                    self.at += 3;
                    return Ok(Kind::Text);
                }
                Some(_) => self.at += 1,
                None => return Err("a quote is never closed"),
            }
        }
    }

    fn bracket(&mut self) -> Result<Kind, &'static str> {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        // A list of numbers is the same to everybody; a name, quotes or statements inside are not.
        let named = rest.first().is_some_and(|first| is_name_byte(*first) && !first.is_ascii_digit());
        let plain = |byte: &&u8| !b"]'\"`;-/#$(){}[".contains(byte);
        if named || rest.iter().take(LOOK_AHEAD).find(|byte| !plain(byte)) != Some(&b']') {
            self.out.doubts.add(Doubts::BRACKET);
        }
        if !self.lexis.brackets {
            self.at += 1;
            return Ok(Kind::Open);
        }
        self.at += rest.iter().position(|&byte| byte == b']').ok_or("a bracket is never closed")? + 2;
        Ok(Kind::Quoted)
    }

    fn dollar(&mut self) -> Result<Kind, &'static str> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let tag = rest.iter().skip(1).position(|&byte| !is_name_byte(byte) || byte == b'$').unwrap_or(rest.len());
        let starts_with_digit = rest.get(1).is_some_and(u8::is_ascii_digit);
        if rest.get(tag + 1) != Some(&b'$') || starts_with_digit {
            self.at += 1;
            self.skip_while(|byte| is_name_byte(byte) && byte != b'$');
            return Ok(Kind::Variable);
        }
        self.out.doubts.add(Doubts::DOLLAR);
        let opening = self.text.get(self.at..self.at + tag + 2).unwrap_or_default();
        let body = self.text.get(self.at + tag + 2..).unwrap_or_default();
        let length = body.find(opening).ok_or("a dollar-quoted string is never closed")?;
        self.at += length + 2 * opening.len();
        Ok(Kind::Text)
    }

    fn number(&mut self) -> Kind {
        if self.peek(0) == Some(b'0') && matches!(self.peek(1), Some(b'x' | b'X')) {
            self.at += 2;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
            return Kind::Number;
        }
        self.skip_while(|byte| byte.is_ascii_digit() || byte == b'_');
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit() || byte == b'_');
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                self.at += 1 + sign;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        Kind::Number
    }

    fn variable(&mut self) -> Kind {
        if self.peek(0) == Some(b'?') {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        } else {
            self.skip_while(|byte| byte == b'@');
            self.skip_while(is_name_byte);
        }
        Kind::Variable
    }

    fn word(&mut self) -> Result<Kind, &'static str> {
        let start = self.at;
        self.skip_while(is_name_byte);
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        if !word.is_ascii() && self.text.get(start..self.at).is_some_and(|word| word.contains(char::is_whitespace)) {
            return Err("it contains white space that databases disagree on");
        }
        match (word, self.peek(0)) {
            // Only PostgreSQL and its relatives know these; elsewhere a name before a string is no statement.
            ([b'e' | b'E'], Some(b'\'')) if self.lexis.dollar => self.quoted(b'\'', true, Kind::Text),
            ([b'u' | b'U'], Some(b'&')) if matches!(self.peek(1), Some(b'\'' | b'"')) => {
                Err("it escapes characters of names or strings")
            }
            ([b'q' | b'Q'] | [b'n' | b'N', b'q' | b'Q'], Some(b'\'')) => Err("it quotes strings in the way of Oracle"),
            ([b'n' | b'N' | b'x' | b'X' | b'b' | b'B'], Some(b'\'')) => {
                self.quoted(b'\'', self.lexis.backslash, Kind::Text)
            }
            _ => Ok(Kind::Word),
        }
    }

    fn symbol(&mut self, byte: u8) -> Kind {
        self.at += 1;
        match byte {
            b'(' | b'{' => Kind::Open,
            b')' | b']' | b'}' => Kind::Close,
            b',' => Kind::Comma,
            b';' => Kind::Semicolon,
            b'.' => Kind::Dot,
            _ => Kind::Symbol,
        }
    }

    /// True when a dot here belongs to a name such as `t.1`.
    fn after_name(&self) -> bool {
        self.out.tokens.last().is_some_and(|last| {
            matches!(last.kind, Kind::Word | Kind::Quoted) && usize::try_from(last.end).is_ok_and(|end| end == self.at)
        })
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
