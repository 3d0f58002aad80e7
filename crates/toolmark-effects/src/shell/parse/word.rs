//! Words: plain text, quotes, escapes and the patterns between them.

use super::{Parsed, Reader, Refusal};
use crate::shell::tree::{Piece, Word};

impl Reader<'_> {
    /// Reads a word that must be there.
    pub(super) fn non_empty_word(&mut self) -> Parsed<Word> {
        let before = self.at;
        let word = self.word()?;
        if self.at == before {
            return Err(Refusal("a word is missing"));
        }
        Ok(word)
    }

    /// Reads a word, which may be empty.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let mut pieces = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' if self.peek_second() == Some(b'(') => {
                    self.at += 2;
                    pieces.push(Piece::Process(self.inner_script()?));
                }
                b'<' | b'>' => break,
                b'(' if pieces.is_empty() => break,
                // The name of a function; anything else is a pattern or a qualifier that some shells run.
                b'(' if matches!(pieces.as_slice(), [Piece::Plain(_)]) => break,
                b'(' => return Err(Refusal("a parenthesis stands in the middle of a word")),
                b'\\' => self.escape(&mut pieces)?,
                b'\'' => {
                    self.at += 1;
                    let text = self.single_quoted()?;
                    self.quoted(&mut pieces, &text);
                }
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut pieces)?;
                }
                b'`' => self.backquoted(&mut pieces, false)?,
                b'$' => self.dollar(&mut pieces, false)?,
                b'*' | b'?' | b'[' => {
                    self.at += 1;
                    pieces.push(Piece::Glob(char::from(byte)));
                }
                _ => self.plain(&mut pieces),
            }
        }
        if let [Piece::Glob('[')] = pieces.as_slice() {
            // The command `[`.
            pieces = vec![Piece::Plain("[".into())];
        }
        Ok(Word { pieces })
    }

    fn plain(&mut self, pieces: &mut Vec<Piece>) {
        let rest = self.rest();
        let end = rest.find(|c: char| " \t\n;&|()<>\\'\"`$*?[".contains(c)).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or_default();
        self.at += text.len();
        match pieces.last_mut() {
            Some(Piece::Plain(before)) => before.push_str(text),
            _ => pieces.push(Piece::Plain(text.to_owned())),
        }
    }

    /// Adds quoted text, joined to quoted text before it.
    pub(super) fn quoted(&mut self, pieces: &mut Vec<Piece>, text: &str) {
        if text.contains("$(") || text.contains('`') || text.ends_with('$') {
            self.notes.quotes_code = true;
        }
        match pieces.last_mut() {
            Some(Piece::Quoted(before)) => before.push_str(text),
            _ => pieces.push(Piece::Quoted(text.to_owned())),
        }
    }

    fn escape(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        self.at += 1;
        match self.take() {
            None => Err(Refusal("it ends with a backslash")),
            Some('\n') => Ok(()),
            Some(character) => {
                // A substitution that is escaped piecemeal is still text that arithmetic could run.
                if matches!(character, '$' | '`') {
                    self.notes.quotes_code = true;
                }
                self.quoted(pieces, character.encode_utf8(&mut [0; 4]));
                Ok(())
            }
        }
    }

    /// Reads up to the closing quote, which is taken too.
    pub(super) fn single_quoted(&mut self) -> Parsed<String> {
        let rest = self.rest();
        let end = rest.find('\'').ok_or(Refusal("a quote is not closed"))?;
        self.at += end + 1;
        Ok(rest.get(..end).unwrap_or_default().to_owned())
    }

    /// Reads up to the closing quote, which is taken too.
    pub(super) fn double_quoted(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        self.quoted(pieces, "");
        loop {
            match self.peek() {
                None => return Err(Refusal("a quote is not closed")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.quoted_piece(pieces, "\"")?,
            }
        }
    }

    /// Reads one piece of text in which only `$`, backquotes and backslashes mean something; `ends` stops plain text.
    pub(super) fn quoted_piece(&mut self, pieces: &mut Vec<Piece>, ends: &str) -> Parsed<()> {
        match self.peek() {
            Some(b'\\') => {
                self.at += 1;
                match self.take() {
                    None => return Err(Refusal("it ends with a backslash")),
                    Some('\n') => {}
                    Some(character @ ('$' | '`' | '"' | '\\')) => {
                        if matches!(character, '$' | '`') {
                            self.notes.quotes_code = true;
                        }
                        self.quoted(pieces, character.encode_utf8(&mut [0; 4]));
                    }
                    Some(character) => {
                        self.quoted(pieces, "\\");
                        self.quoted(pieces, character.encode_utf8(&mut [0; 4]));
                    }
                }
                Ok(())
            }
            Some(b'`') => self.backquoted(pieces, true),
            Some(b'$') => self.dollar(pieces, true),
            _ => {
                let rest = self.rest();
                let end = rest.find(|c: char| "\\`$".contains(c) || ends.contains(c)).unwrap_or(rest.len());
                let text = rest.get(..end).unwrap_or_default();
                self.at += text.len();
                self.quoted(pieces, text);
                Ok(())
            }
        }
    }

    /// `$'…'`: reads up to the closing quote, which is taken too.
    pub(super) fn ansi_quoted(&mut self, pieces: &mut Vec<Piece>) -> Parsed<()> {
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(Refusal("a quote is not closed")),
                Some('\'') => break,
                Some('\\') => text.push(self.ansi_escape()?),
                Some(character) => text.push(character),
            }
        }
        self.quoted(pieces, &text);
        Ok(())
    }

    fn ansi_escape(&mut self) -> Parsed<char> {
        let character = self.take().ok_or(Refusal("a quote is not closed"))?;
        Ok(match character {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '"' | '?' => character,
            'x' => self.code_point(16, 2)?,
            'u' => self.code_point(16, 4)?,
            'U' => self.code_point(16, 8)?,
            '0'..='7' => {
                self.at -= 1;
                self.code_point(8, 3)?
            }
            // Shells without this quoting see the end of the text here.
            _ => return Err(Refusal("a quote is escaped in a way that shells read differently")),
        })
    }

    fn code_point(&mut self, radix: u32, digits: usize) -> Parsed<char> {
        let rest = self.rest();
        let length = rest.chars().take(digits).take_while(|c| c.is_digit(radix)).count();
        let number = rest.get(..length).and_then(|text| u32::from_str_radix(text, radix).ok());
        self.at += length;
        // Bytes above ASCII may join to other characters, and NUL ends the text for some shells.
        number
            .filter(|number| (1..0x80).contains(number))
            .and_then(char::from_u32)
            .ok_or(Refusal("an escape stands for a character that shells read differently"))
    }
}
