//! What begins with `$` or a backquote: parameters, substitutions, arithmetic.

use super::command::is_name;
use super::{Parsed, Reader, Refusal, Until};
use crate::shell::tree::{Compound, Form, Parameter, Piece, Word};

/// Parameters of one character.
const SPECIAL: &str = "@*#?-$!0123456789";

/// Where arithmetic stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a word, as a number.
    Word,
    /// As a command.
    Command,
    /// As the head of a loop.
    Loop,
}

impl Reader<'_> {
    /// Reads what begins with `$`.
    pub(super) fn dollar(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Parsed<()> {
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.peek_second() == Some(b'(') => {
                self.at += 2;
                self.deeper(|reader| reader.arithmetic(pieces, Place::Word))?;
                pieces.push(Piece::Number);
            }
            Some(b'(') => {
                self.at += 1;
                let script = self.inner_script()?;
                pieces.push(Piece::Output(script));
            }
            Some(b'{') => {
                self.at += 1;
                self.deeper(|reader| reader.braced(pieces, quoted))?;
            }
            Some(b'[') => return Err(Refusal("it uses an old form of arithmetic")),
            Some(b'\'') if !quoted => {
                self.at += 1;
                self.ansi_quoted(pieces)?;
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double_quoted(pieces)?;
            }
            _ => {
                let name = self.parameter_name();
                if name.is_empty() {
                    self.quoted(pieces, "$");
                } else {
                    pieces.push(whole(name, quoted));
                }
            }
        }
        Ok(())
    }

    fn parameter_name(&mut self) -> String {
        let rest = self.rest();
        let letters = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = match rest.chars().next() {
            Some(first) if SPECIAL.contains(first) => 1,
            _ => letters,
        };
        let name = rest.get(..length).unwrap_or_default();
        self.at += name.len();
        name.to_owned()
    }

    /// `${…}`, after the brace.
    fn braced(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Parsed<()> {
        let counts = self.peek() == Some(b'#') && self.peek_second() != Some(b'}');
        let indirect = self.peek() == Some(b'!') && self.peek_second() != Some(b'}');
        if counts || indirect {
            self.at += 1;
        }
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let mut name = if digits > 1 {
            self.at += digits;
            rest.get(..digits).unwrap_or_default().to_owned()
        } else {
            self.parameter_name()
        };
        if name.is_empty() {
            return Err(Refusal("an expansion has a form that shells read differently"));
        }
        if indirect {
            name.clear();
        }
        let mut form = if counts { Form::Changed } else { Form::Whole };
        let mut inner = Vec::new();
        if self.eat("[") {
            self.notes.computes = true;
            let all = self.rest().starts_with("@]") || self.rest().starts_with("*]");
            if all {
                self.at += 1;
            } else {
                self.until_closing(&mut inner, b']', quoted)?;
            }
            if !self.eat("]") {
                return Err(Refusal("an expansion is not closed"));
            }
        }
        if self.peek() != Some(b'}') {
            if self.rest().starts_with(":=") || self.rest().starts_with('=') {
                self.notes.assigned.push(name.clone());
            }
            form = self.operator()?;
            // Where a part begins and ends is arithmetic.
            self.notes.computes |= form == Form::Sliced;
            self.until_closing(&mut inner, b'}', quoted)?;
        }
        if !self.eat("}") {
            return Err(Refusal("an expansion is not closed"));
        }
        let mut instead = String::new();
        for piece in inner {
            match piece {
                Piece::Plain(text) | Piece::Quoted(text) => instead.push_str(&text),
                Piece::Glob(character) => instead.push(character),
                // Runs, or stands for a variable, wherever it is.
                other => pieces.push(other),
            }
        }
        if form != Form::Default {
            instead.clear();
        }
        pieces.push(Piece::Parameter(Parameter { name, quoted, form, instead }));
        Ok(())
    }

    /// What stands between the name and the rest of `${…}`.
    fn operator(&mut self) -> Parsed<Form> {
        for (text, form) in [
            (":-", Form::Default),
            (":=", Form::Default),
            (":+", Form::Default),
            (":?", Form::Whole),
            ("-", Form::Default),
            ("=", Form::Default),
            ("+", Form::Default),
            ("?", Form::Whole),
            ("#", Form::Changed),
            ("%", Form::Changed),
            ("/", Form::Sliced),
            ("^", Form::Changed),
            (",", Form::Changed),
            (":", Form::Sliced),
        ] {
            if self.eat(text) {
                return Ok(form);
            }
        }
        Err(Refusal("an expansion has a form that shells read differently"))
    }

    /// Reads words and expansions up to a closing character, which is left.
    fn until_closing(&mut self, pieces: &mut Vec<Piece>, closing: u8, quoted: bool) -> Parsed<()> {
        loop {
            match self.peek() {
                None => return Err(Refusal("an expansion is not closed")),
                Some(byte) if byte == closing => return Ok(()),
                Some(b'[' | b']') if closing == b'}' => {
                    self.at += 1;
                    pieces.push(Piece::Glob('['));
                }
                Some(b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b'\n') => {
                    return Err(Refusal("an expansion holds a character that shells read differently"));
                }
                Some(b'\'' | b'"') if quoted => {
                    return Err(Refusal("an expansion holds quotes that shells read differently"));
                }
                Some(b'\'') => {
                    self.at += 1;
                    let text = self.single_quoted()?;
                    self.quoted(pieces, &text);
                }
                Some(b'"') => {
                    self.at += 1;
                    self.double_quoted(pieces)?;
                }
                Some(_) => self.quoted_piece(pieces, "{}[]<>'\"\n")?,
            }
        }
    }

    /// A script in backquotes.
    pub(super) fn backquoted(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> Parsed<()> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(Refusal("a backquote is not closed")),
                Some('`') => break,
                Some('\\') => match self.take() {
                    Some(character @ ('`' | '\\' | '$')) => text.push(character),
                    Some('"') if quoted => text.push('"'),
                    Some('\n') => {}
                    Some(character) => text.extend(['\\', character]),
                    None => return Err(Refusal("a backquote is not closed")),
                },
                Some(character) => text.push(character),
            }
        }
        let script = self.within(&text, |inner| {
            let script = inner.script(Until::End)?;
            inner.no_pending()?;
            Ok(script)
        })?;
        pieces.push(Piece::Output(script));
        Ok(())
    }

    /// `((…))` as a command or as the head of a loop. A shell that does not know it sees two subshells.
    pub(super) fn computation(&mut self, place: Place) -> Parsed<Compound> {
        if place == Place::Command && !self.closes_together()? {
            self.at += 1;
            let script = self.inner_script()?;
            return Ok(Compound { scripts: vec![script], ..Compound::default() });
        }
        self.at += 2;
        let mut pieces = Vec::new();
        self.deeper(|reader| reader.arithmetic(&mut pieces, place))?;
        Ok(Compound { words: vec![Word { pieces }], ..Compound::default() })
    }

    /// True when the parentheses that open here close together, as those of arithmetic do. Quotes between them mean one thing
    /// in arithmetic and another in a subshell.
    fn closes_together(&self) -> Parsed<bool> {
        let mut open = 0_u32;
        let mut inner = None;
        for (at, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'(' => open += 1,
                b')' if open == 1 => return Ok(inner.is_some_and(|inner: usize| inner + 1 == at)),
                b')' => {
                    open = open.saturating_sub(1);
                    inner = Some(at);
                }
                b'\'' | b'"' | b'`' | b'\\' | b'#' => return Err(Refusal("two parentheses can be read in two ways")),
                _ => {}
            }
        }
        Ok(true)
    }

    /// Reads arithmetic up to and with its `))`.
    fn arithmetic(&mut self, pieces: &mut Vec<Piece>, place: Place) -> Parsed<()> {
        self.notes.computes = true;
        let mut open = 0_u32;
        let mut bound = false;
        loop {
            match self.peek() {
                None => return Err(Refusal("arithmetic is not closed")),
                Some(b'(') => {
                    open += 1;
                    self.at += 1;
                    bound = false;
                }
                Some(b')') if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                Some(b')') if self.peek_second() == Some(b')') => {
                    self.at += 2;
                    return Ok(());
                }
                Some(b')' | b'\'' | b'"' | b'\\' | b'\n') => return Err(Refusal("arithmetic is not closed")),
                Some(b'>') if place == Place::Command => {
                    return Err(Refusal("another shell would write to a file here"));
                }
                Some(b';') if place != Place::Loop => return Err(Refusal("arithmetic holds a semicolon")),
                Some(b'`') => self.backquoted(pieces, true)?,
                Some(b'$') => self.dollar(pieces, true)?,
                Some(b' ' | b'\t') => {
                    self.at += 1;
                    bound = false;
                }
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                    let name = self.parameter_name();
                    // Invariant: a word that a shell without arithmetic would run as a command is never taken for a number.
                    let operates = self.peek().is_some_and(|next| b"+-*/%=^?,~!:".contains(&next));
                    if place == Place::Command && !bound && !operates {
                        return Err(Refusal("another shell would run a word that stands in arithmetic"));
                    }
                    bound = true;
                    self.notes.assigned.push(name.clone());
                    if is_name(&name) {
                        pieces.push(Piece::Touched(name));
                    }
                }
                Some(byte) => {
                    bound = b"+-*/%=^?,~:".contains(&byte);
                    if self.take().is_none() {
                        return Err(Refusal("arithmetic is not closed"));
                    }
                }
            }
        }
    }
}

fn whole(name: String, quoted: bool) -> Piece {
    Piece::Parameter(Parameter { name, quoted, form: Form::Whole, instead: String::new() })
}
