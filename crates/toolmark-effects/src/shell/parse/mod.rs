//! Text → tree. Reads the common part of POSIX shell, bash and dash, and refuses whatever one of them reads in another way.
//!
//! Every character is looked at a bounded number of times and nesting has a limit, so that no input is slow or deep.

mod command;
mod expand;
mod here;
mod test;
mod word;

use super::tree::{Command, Pipeline, Script, Word};
pub(super) use command::SETTERS;
use here::Pending;

/// A program that was read.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) script: Script,
    /// The bodies of here-documents, by number.
    pub(super) bodies: Vec<Word>,
    /// Arithmetic meets text that holds a substitution: the shell may run that text.
    pub(super) runs_text: bool,
    /// The variables that the text sets, once for each time.
    pub(super) assigned: Vec<String>,
    /// Commands set variables that the text does not name.
    pub(super) volatile: bool,
}

/// Why a program was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) &'static str);

/// The result of reading a part.
pub(super) type Parsed<T> = Result<T, Refusal>;

/// How deep substitutions, groups and expansions may nest. Honest commands stay below five.
const MAX_DEPTH: u8 = 24;

/// Reads a whole program.
pub(super) fn program(text: &str) -> Parsed<Program> {
    let mut reader = Reader::new(text, 0);
    let script = reader.script(Until::End)?;
    reader.no_pending()?;
    let Notes { bodies, assigned, volatile, computes, quotes_code } = reader.notes;
    Ok(Program { script, bodies, runs_text: computes && quotes_code, assigned, volatile })
}

/// A position in a text, and what must be remembered on the way.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u8,
    /// Here-documents whose bodies begin at the next line.
    pending: Vec<Pending>,
    /// True while an outer level waits for such bodies.
    outer_pending: bool,
    notes: Notes,
}

/// What is noted about the whole program on the way.
#[derive(Default)]
struct Notes {
    bodies: Vec<Word>,
    assigned: Vec<String>,
    volatile: bool,
    computes: bool,
    quotes_code: bool,
}

/// Where a script ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// At the end of the text.
    End,
    /// At `)`.
    Paren,
    /// At one of these words.
    Word(&'static [&'static str]),
    /// At `;;` or `esac`.
    Case,
}

/// Words that end or continue a compound command and can begin none.
const INNER_WORDS: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl<'t> Reader<'t> {
    fn new(text: &'t str, depth: u8) -> Self {
        Self { text, at: 0, depth, pending: Vec::new(), outer_pending: false, notes: Notes::default() }
    }

    /// Reads a text that was taken out of this one, one level deeper.
    fn within<T>(&mut self, text: &str, read: impl FnOnce(&mut Reader<'_>) -> Parsed<T>) -> Parsed<T> {
        self.deeper(|reader| {
            let mut inner = Reader::new(text, reader.depth);
            inner.notes = std::mem::take(&mut reader.notes);
            let result = read(&mut inner);
            reader.notes = inner.notes;
            result
        })
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek_second(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Takes one character, whatever it is.
    fn take(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Reads something one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Refusal("it nests too deeply"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_second() == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and line ends, and reads the bodies of here-documents that begin on the way.
    fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'#') => self.skip_comment(),
                Some(b'\n') => self.end_line()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// The unquoted text up to the next blank or operator: enough to recognize a keyword.
    fn bare_word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| " \t\n;&|()<>".contains(c)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    fn script(&mut self, until: Until) -> Parsed<Script> {
        let mut pipelines = Vec::new();
        loop {
            self.skip_lines()?;
            if self.ends(until)? {
                return Ok(Script { pipelines });
            }
            self.and_or(&mut pipelines)?;
            self.skip_blanks();
            match (self.peek(), self.peek_second()) {
                (Some(b';'), Some(b';')) if until == Until::Case => {}
                (Some(b';'), Some(b'&')) if until == Until::Case => {}
                (Some(b';'), Some(b';' | b'&' | b'|')) => return Err(Refusal("two operators stand together")),
                (Some(b';' | b'&'), _) => self.at += 1,
                (Some(b'\n' | b'#' | b')') | None, _) => {}
                _ => return Err(Refusal("something stands where a command must end")),
            }
        }
    }

    /// True at the end of a script; the end itself is left for the caller.
    fn ends(&self, until: Until) -> Parsed<bool> {
        let word = self.bare_word();
        match (until, self.peek()) {
            (Until::End, None) | (Until::Paren, Some(b')')) => return Ok(true),
            (Until::Case, Some(b';')) => return Ok(true),
            (Until::Case, _) if word == "esac" => return Ok(true),
            (Until::Word(words), _) if words.contains(&word) => return Ok(true),
            (_, None) => return Err(Refusal("it ends in the middle of something")),
            _ => {}
        }
        if INNER_WORDS.contains(&word) {
            return Err(Refusal("a keyword stands in the wrong place"));
        }
        Ok(false)
    }

    fn and_or(&mut self, pipelines: &mut Vec<Pipeline>) -> Parsed<()> {
        loop {
            pipelines.push(self.pipeline()?);
            self.skip_blanks();
            if !(self.eat("&&") || self.eat("||")) {
                return Ok(());
            }
            self.skip_lines()?;
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let mut commands: Vec<Command> = Vec::new();
        loop {
            while matches!(self.bare_word(), "!" | "time") {
                self.at += self.bare_word().len();
                self.skip_blanks();
                if self.bare_word() == "-p" {
                    self.at += 2;
                    self.skip_blanks();
                }
            }
            commands.push(self.deeper(Self::command)?);
            self.skip_blanks();
            if self.rest().starts_with("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(Pipeline { commands });
            }
            self.skip_lines()?;
        }
    }

    /// Reads what stands between here and `)`, which is taken too.
    fn inner_script(&mut self) -> Parsed<Script> {
        let waiting = std::mem::take(&mut self.pending);
        let outer = self.outer_pending;
        self.outer_pending |= !waiting.is_empty();
        let script = self.deeper(|reader| reader.script(Until::Paren))?;
        self.no_pending()?;
        self.pending = waiting;
        self.outer_pending = outer;
        self.at += 1;
        Ok(script)
    }
}

#[cfg(test)]
mod tests;
