//! `sed`: prints, unless it edits in place or its script writes or runs something.

use toolmark_core::behavior::Action;

use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

/// What a script does beside printing.
#[derive(Debug, PartialEq, Eq)]
enum Does {
    Writes(String),
    Reads(String),
    Runs,
    Unknown,
}

pub(super) fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(call.args, Spec { short: "efl", long: &["expression", "file", "line-length"], stops: false });
    let mut scripts: Vec<&str> = Vec::new();
    scripts.extend(found.flags.iter().filter(|flag| flag.is("e", "expression")).filter_map(|flag| flag.value));
    let mut files = found.operands.as_slice();
    let from_file = found.has("f", "file");
    if scripts.is_empty()
        && !from_file
        && let Some((script, rest)) = files.split_first()
    {
        scripts.push(&script.text);
        files = rest;
    }
    // A script with a variable in it is whatever the variable makes of it.
    if from_file || found.uncertain || call.args.iter().any(|arg| !arg.exact && scripts.contains(&arg.text.as_str())) {
        walk.found.unclear("the script of `sed` is computed or stands in a file");
    }
    let in_place = found.has("iI", "in-place");
    for script in &scripts {
        for does in scan(script) {
            match does {
                Does::Writes(target) => walk.found.effect(redirect::write(&Arg::exact(target), Action::Overwrite)),
                Does::Reads(path) => walk.found.effect(call.reading(call.pure(Action::Read), [&Arg::exact(path)])),
                Does::Runs => walk.found.effect(call.runs()),
                Does::Unknown => walk.found.unclear("the script of `sed` is not understood"),
            }
        }
    }
    if in_place {
        walk.found.effect(call.changing(call.mutating(Action::Update), files.iter().copied()));
    } else {
        walk.found.effect(call.reading(call.pure(Action::Read), files.iter().copied()));
    }
    match call.input {
        Input::Remote => Input::Remote,
        Input::Decoded => Input::Decoded,
        _ => Input::Output,
    }
}

/// A position in a script.
struct Script<'s> {
    rest: std::str::Chars<'s>,
}

fn scan(script: &str) -> Vec<Does> {
    let mut found = Vec::new();
    let mut script = Script { rest: script.chars() };
    while let Some(next) = script.command() {
        match next {
            Ok(Some(does)) => found.push(does),
            Ok(None) => {}
            Err(()) => {
                found.push(Does::Unknown);
                break;
            }
        }
    }
    found
}

impl Script<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    /// Reads one command with its addresses; `None` at the end, an error when it is not understood.
    fn command(&mut self) -> Option<Result<Option<Does>, ()>> {
        loop {
            match self.rest.next()? {
                ' ' | '\t' | '\n' | ';' | '{' | '}' | '!' | ',' | '~' | '+' | '$' | '0'..='9' => {}
                '#' => {
                    self.line();
                }
                '/' => {
                    if self.delimited('/').is_err() {
                        return Some(Err(()));
                    }
                    while matches!(self.peek(), Some('I' | 'M')) {
                        self.rest.next();
                    }
                }
                '\\' => match self.rest.next() {
                    Some(delimiter) if self.delimited(delimiter).is_ok() => {}
                    _ => return Some(Err(())),
                },
                command => return Some(self.body(command)),
            }
        }
    }

    fn body(&mut self, command: char) -> Result<Option<Does>, ()> {
        match command {
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' | 'l' | 'q' | 'Q' => {
                Ok(None)
            }
            'a' | 'i' | 'c' => {
                self.text();
                Ok(None)
            }
            ':' | 'b' | 't' | 'T' => {
                while !matches!(self.peek(), None | Some(';' | '\n' | '}')) {
                    self.rest.next();
                }
                Ok(None)
            }
            'r' | 'R' => Ok(Some(Does::Reads(self.line()))),
            'w' | 'W' => Ok(writes(self.line())),
            'e' => {
                self.line();
                Ok(Some(Does::Runs))
            }
            's' => self.substitution(),
            'y' => {
                let delimiter = self.rest.next().ok_or(())?;
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
                Ok(None)
            }
            _ => Err(()),
        }
    }

    fn substitution(&mut self) -> Result<Option<Does>, ()> {
        let delimiter = self.rest.next().filter(|c| !matches!(c, '\\' | '\n')).ok_or(())?;
        self.delimited(delimiter)?;
        self.delimited(delimiter)?;
        let mut does = None;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.rest.next();
                }
                Some('e') => {
                    self.rest.next();
                    does = Some(Does::Runs);
                }
                Some('w') => {
                    self.rest.next();
                    return Ok(writes(self.line()).or(does));
                }
                None | Some(';' | '\n' | '}' | ' ' | '\t' | '#') => return Ok(does),
                Some(_) => return Err(()),
            }
        }
    }

    /// Reads up to an unescaped delimiter. A set of characters that is left open may hold one.
    fn delimited(&mut self, delimiter: char) -> Result<(), ()> {
        let mut open = false;
        loop {
            match self.rest.next() {
                None => return Err(()),
                Some('\\') => {
                    self.rest.next();
                }
                Some(character) if character == delimiter => return if open { Err(()) } else { Ok(()) },
                Some('[') => open = true,
                Some(']') => open = false,
                Some(_) => {}
            }
        }
    }

    fn line(&mut self) -> String {
        let text: String = self.rest.by_ref().take_while(|c| *c != '\n').collect();
        text.trim().to_owned()
    }

    /// The text of `a`, `i` and `c`: up to the end of a line that does not end with a backslash.
    fn text(&mut self) {
        let mut escaped = false;
        for character in self.rest.by_ref() {
            match character {
                '\\' => escaped = !escaped,
                '\n' if !escaped => return,
                _ => escaped = false,
            }
        }
    }
}

fn writes(target: String) -> Option<Does> {
    (!matches!(target.as_str(), "/dev/stdout" | "/dev/stderr")).then_some(Does::Writes(target))
}
