//! `[[ … ]]`: words that are compared, not commands, unless the shell does not know the brackets.

use super::{Parsed, Reader, Refusal};
use crate::shell::tree::{Compound, Piece, Word};

impl Reader<'_> {
    pub(super) fn test(&mut self) -> Parsed<Compound> {
        let mut words: Vec<Word> = Vec::new();
        let mut fresh = false;
        loop {
            self.skip_blanks();
            if self.bare_word() == "]]" {
                self.at += 2;
                return Ok(Compound { words, ..Compound::default() });
            }
            match self.peek() {
                None => return Err(Refusal("a test is not closed")),
                _ if self.eat("&&") || self.eat("||") => {
                    fresh = true;
                    continue;
                }
                Some(b'(' | b')') => {
                    self.at += 1;
                    continue;
                }
                Some(b'<' | b'>' | b'|' | b'&' | b';' | b'#' | b'\n') => {
                    return Err(Refusal("a test holds an operator"));
                }
                _ => {}
            }
            if self.bare_word() == "!" {
                self.at += 1;
                continue;
            }
            // Invariant: what a shell without `[[` would run as a command is never taken for an operand.
            if std::mem::take(&mut fresh) && !matches!(self.peek(), Some(b'-' | b'$' | b'"')) {
                return Err(Refusal("a test holds what another shell would run"));
            }
            let is_pattern = words.last().and_then(Word::bare).is_some_and(|word| word == "=~");
            let numeric = matches!(self.bare_word(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R");
            self.notes.computes |= numeric;
            let word = if is_pattern { self.pattern()? } else { self.non_empty_word()? };
            words.push(word);
        }
    }

    /// A regular expression: parentheses and bars inside them are part of it.
    fn pattern(&mut self) -> Parsed<Word> {
        let mut pieces = Vec::new();
        let mut open = 0_u32;
        loop {
            match self.peek() {
                None => return Err(Refusal("a test is not closed")),
                Some(b' ' | b'\t' | b'\n') if open == 0 => return Ok(Word { pieces }),
                Some(b'(') => {
                    open += 1;
                    self.at += 1;
                    pieces.push(Piece::Glob('('));
                }
                Some(b')') if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                Some(b'|' | b' ') if open > 0 => self.at += 1,
                Some(b')' | b'|' | b'<' | b'>' | b'&' | b';' | b'\n') => {
                    return Err(Refusal("a test holds an operator"));
                }
                Some(_) => pieces.append(&mut self.word_in_pattern()?.pieces),
            }
        }
    }

    fn word_in_pattern(&mut self) -> Parsed<Word> {
        let before = self.at;
        let rest = self.rest();
        let end = rest.find(|c: char| "()|<>&; \t\n\\'\"`$".contains(c)).unwrap_or(rest.len());
        if end > 0 {
            self.at += end;
            return Ok(Word { pieces: vec![Piece::Plain(rest.get(..end).unwrap_or_default().to_owned())] });
        }
        let mut pieces = Vec::new();
        match self.peek() {
            Some(b'\\') => {
                self.at += 1;
                self.take();
            }
            Some(b'\'') => {
                self.at += 1;
                let text = self.single_quoted()?;
                self.quoted(&mut pieces, &text);
            }
            Some(b'"') => {
                self.at += 1;
                self.double_quoted(&mut pieces)?;
            }
            Some(b'`') => self.backquoted(&mut pieces, true)?,
            Some(b'$') => self.dollar(&mut pieces, true)?,
            _ => {}
        }
        if self.at == before {
            return Err(Refusal("a test holds an operator"));
        }
        Ok(Word { pieces })
    }
}
