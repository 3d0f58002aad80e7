//! Commands: names with arguments, groups, loops, choices, functions.

use super::expand::Place;
use super::{Parsed, Reader, Refusal, Until};
use crate::shell::tree::{Assignment, Command, Compound, CompoundKind, Piece, Script, Simple, Word};

/// Commands that set variables whose names or values the text need not show.
pub(in crate::shell) const SETTERS: &[&str] =
    &["read", "mapfile", "readarray", "getopts", "let", "eval", "source", ".", "local", "unset", "declare", "typeset"];

/// Commands whose arguments may be assignments of arrays.
const DECLARATIONS: &[&str] = &["declare", "typeset", "local", "export", "readonly"];

impl Reader<'_> {
    pub(super) fn command(&mut self) -> Parsed<Command> {
        let word = self.bare_word();
        let compound = match word {
            "{" => self.after(word, |reader| reader.body(&["}"]).map(once)),
            "if" => self.after(word, Self::choice),
            "while" => self.after(word, |reader| reader.repeat(CompoundKind::While)),
            "until" => self.after(word, |reader| reader.repeat(CompoundKind::Until)),
            "for" | "select" => self.after(word, Self::each),
            "case" => self.after(word, Self::case),
            "[[" => self.after(word, Self::test),
            "function" => return self.after(word, Self::function),
            "coproc" => return self.after(word, |reader| reader.deeper(Self::command)),
            "" if self.rest().starts_with("((") => self.computation(Place::Command),
            "" if self.peek() == Some(b'(') => {
                self.at += 1;
                self.inner_script().map(|script| once(vec![script]))
            }
            _ => return self.simple(),
        };
        let mut compound = compound?;
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => compound.redirects.push(redirect),
                None => return Ok(Command::Compound(compound)),
            }
        }
    }

    fn after<T>(&mut self, word: &str, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.at += word.len();
        self.skip_blanks();
        read(self)
    }

    /// Reads a script and the word that ends it.
    fn body(&mut self, ends: &'static [&'static str]) -> Parsed<Vec<Script>> {
        let script = self.script(Until::Word(ends))?;
        self.at += self.bare_word().len();
        Ok(vec![script])
    }

    fn choice(&mut self) -> Parsed<Compound> {
        let mut scripts = self.body(&["then"])?;
        loop {
            scripts.push(self.script(Until::Word(&["elif", "else", "fi"]))?);
            let end = self.bare_word();
            self.at += end.len();
            match end {
                "elif" => scripts.append(&mut self.body(&["then"])?),
                "else" => {}
                _ => return Ok(once(scripts)),
            }
        }
    }

    fn repeat(&mut self, kind: CompoundKind) -> Parsed<Compound> {
        let mut scripts = self.body(&["do"])?;
        scripts.append(&mut self.body(&["done"])?);
        Ok(Compound { kind, scripts, ..Compound::default() })
    }

    fn each(&mut self) -> Parsed<Compound> {
        if self.rest().starts_with("((") {
            let start = self.at;
            let mut head = self.computation(Place::Loop)?;
            let text = self.text.get(start..self.at).unwrap_or_default();
            let endless = text.split(';').nth(1).is_none_or(|condition| condition.trim().is_empty());
            self.separator()?;
            self.keyword("do")?;
            head.scripts = self.body(&["done"])?;
            head.kind = if endless { CompoundKind::Endless } else { CompoundKind::Each };
            return Ok(head);
        }
        let name = self.word()?.bare().filter(|name| is_name(name)).map(str::to_owned);
        let name = name.ok_or(Refusal("a loop has no variable"))?;
        self.notes.assigned.push(name.clone());
        let mut words = Vec::new();
        self.skip_lines()?;
        if self.bare_word() == "in" {
            self.at += 2;
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(b';' | b'\n') => break,
                    Some(b'#') => self.skip_comment(),
                    _ => words.push(self.non_empty_word()?),
                }
            }
        }
        self.separator()?;
        self.keyword("do")?;
        let scripts = self.body(&["done"])?;
        Ok(Compound { kind: CompoundKind::Each, words, scripts, binds: Some(name), redirects: Vec::new() })
    }

    fn separator(&mut self) -> Parsed<()> {
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.skip_lines()
    }

    fn keyword(&mut self, expected: &str) -> Parsed<()> {
        if self.bare_word() != expected {
            return Err(Refusal("a loop is not complete"));
        }
        self.at += expected.len();
        Ok(())
    }

    fn case(&mut self) -> Parsed<Compound> {
        let mut compound = Compound { words: vec![self.non_empty_word()?], ..Compound::default() };
        self.skip_lines()?;
        self.keyword("in")?;
        loop {
            self.skip_lines()?;
            if self.bare_word() == "esac" {
                self.at += 4;
                return Ok(compound);
            }
            let _ = self.eat("(");
            loop {
                self.skip_blanks();
                compound.words.push(self.non_empty_word()?);
                self.skip_blanks();
                if self.eat(")") {
                    break;
                }
                if !self.eat("|") {
                    return Err(Refusal("a case has no pattern"));
                }
            }
            compound.scripts.push(self.script(Until::Case)?);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    fn function(&mut self) -> Parsed<Command> {
        let name = self.word()?.bare().map(str::to_owned).ok_or(Refusal("a function has no plain name"))?;
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            if !self.eat(")") {
                return Err(Refusal("a function is not complete"));
            }
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Parsed<Command> {
        self.skip_lines()?;
        let body = Box::new(self.deeper(Self::command)?);
        Ok(Command::Function { name, body })
    }

    fn simple(&mut self) -> Parsed<Command> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'#') => self.skip_comment(),
                Some(b'(') => return self.named_function(&simple),
                _ if simple.words.is_empty() && self.assignment_name().is_some() => {
                    let assignment = self.assignment()?;
                    simple.assignments.push(assignment);
                }
                _ => {
                    let declares =
                        simple.words.first().and_then(Word::bare).is_some_and(|name| DECLARATIONS.contains(&name));
                    let word = if declares && self.assignment_name().is_some() {
                        self.declared_word()?
                    } else {
                        self.non_empty_word()?
                    };
                    simple.words.push(word);
                }
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(Refusal("a command is missing"));
        }
        let mut names = simple.words.iter().map(Word::literal);
        let sets = |name: &str| SETTERS.contains(&name);
        self.notes.volatile |= match names.next() {
            Some(Some(name)) if name == "printf" => names.next().flatten().is_none_or(|first| first.starts_with("-v")),
            Some(Some(name)) => sets(&name) || matches!(name.as_str(), "command" | "builtin"),
            Some(None) | None => false,
        };
        Ok(Command::Simple(simple))
    }

    /// `name ()` and what follows.
    fn named_function(&mut self, simple: &Simple) -> Parsed<Command> {
        self.at += 1;
        self.skip_blanks();
        let alone = simple.assignments.is_empty() && simple.redirects.is_empty();
        match simple.words.as_slice() {
            [word] if alone && self.eat(")") => {
                let name = word.bare().ok_or(Refusal("a function has no plain name"))?.to_owned();
                self.function_body(name)
            }
            _ => Err(Refusal("a parenthesis stands in the middle of a command")),
        }
    }

    /// The name of the assignment that begins here, and how far it is to its value.
    fn assignment_name(&self) -> Option<(&str, usize)> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let name = rest.get(..end).filter(|name| is_name(name))?;
        let after = rest.get(end..)?;
        let operator = if after.starts_with("+=") { 2 } else { usize::from(after.starts_with('=')) };
        (operator > 0).then_some((name, end + operator))
    }

    fn assignment(&mut self) -> Parsed<Assignment> {
        let (name, length) = self.assignment_name().map(|(name, length)| (name.to_owned(), length)).unwrap_or_default();
        let adds = self.rest().get(..length).is_some_and(|head| head.ends_with("+="));
        self.at += length;
        self.notes.assigned.push(name.clone());
        if self.peek() != Some(b'(') {
            return Ok(Assignment { name, value: self.word()?, partial: adds });
        }
        let value = self.array()?;
        Ok(Assignment { name, value, partial: true })
    }

    /// The values of an array as one word: nobody asks which of them is used.
    fn array(&mut self) -> Parsed<Word> {
        self.at += 1;
        let mut value = Word::default();
        loop {
            self.skip_lines()?;
            if self.eat(")") {
                return Ok(value);
            }
            value.pieces.append(&mut self.non_empty_word()?.pieces);
            value.pieces.push(Piece::Plain(" ".into()));
        }
    }

    fn declared_word(&mut self) -> Parsed<Word> {
        let assignment = self.assignment()?;
        let mut word = Word { pieces: vec![Piece::Plain(format!("{}=", assignment.name))] };
        if assignment.partial {
            word.pieces.push(Piece::Touched(assignment.name));
        }
        word.pieces.extend(assignment.value.pieces);
        Ok(word)
    }
}

fn once(scripts: Vec<Script>) -> Compound {
    Compound { scripts, ..Compound::default() }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
