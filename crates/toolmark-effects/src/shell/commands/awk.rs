//! `awk`: prints, unless its program writes to files, pipes into commands or runs them.

use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Spec, options};
use crate::shell::redirect;
use crate::shell::walk::{Input, Walk};

/// What a program does beside printing.
#[derive(Debug, Default, PartialEq, Eq)]
struct Does {
    /// The files that it writes, and whether it adds to them.
    writes: Vec<(String, bool)>,
    runs: bool,
    environment: bool,
    unknown: bool,
    reads: Vec<String>,
}

pub(super) fn read(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let spec = Spec {
        short: "Fvfielo",
        long: &["field-separator", "assign", "file", "source", "include", "load"],
        stops: true,
    };
    let found = options(call.args, spec);
    let other = found
        .flags
        .iter()
        .any(|flag| !flag.is("Fv", "field-separator") && !flag.is("", "assign") && !flag.is("", "re-interval"));
    let Some((program, files)) = found.operands.split_first().filter(|_| !other) else {
        walk.found.unclear("the program of `awk` stands in a file or behind an option that is not known");
        return Input::Output;
    };
    if !program.exact {
        walk.found.unclear("the program of `awk` is computed");
        return Input::Output;
    }
    let does = scan(&program.text);
    if does.unknown {
        walk.found.unclear("the program of `awk` is not understood");
    }
    if does.runs {
        walk.found.effect(call.runs());
    }
    for (target, appends) in &does.writes {
        let action = if *appends { Action::Append } else { Action::Overwrite };
        let nowhere = matches!(target.as_str(), "/dev/null" | "/dev/stderr" | "/dev/stdout");
        if !nowhere {
            walk.found.effect(redirect::write(&Arg::exact(target.clone()), action));
        }
    }
    let read: Vec<Arg> = does.reads.iter().map(Arg::exact).collect();
    let effect = call.reading(call.pure(Action::Read), files.iter().copied().chain(&read));
    walk.found.effect(if does.environment { effect.with(Danger::Secret) } else { effect });
    match call.input {
        Input::Remote => Input::Remote,
        Input::Decoded => Input::Decoded,
        _ => Input::Output,
    }
}

/// One token of a program.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Pattern,
    Number,
    Sign(char),
}

fn scan(program: &str) -> Does {
    let mut does = Does::default();
    let Some(tokens) = tokens(program) else {
        return Does { unknown: true, ..does };
    };
    let mut prints = false;
    let mut open = 0_i32;
    let mut previous_reads = false;
    let mut rest = tokens.iter().peekable();
    while let Some(token) = rest.next() {
        let reads = previous_reads;
        previous_reads = false;
        match token {
            Token::Word(word) => match word.as_str() {
                "system" => does.runs = true,
                "print" | "printf" => {
                    prints = true;
                    open = 0;
                }
                "getline" => previous_reads = true,
                "ENVIRON" => does.environment = true,
                _ => {}
            },
            Token::Sign('@') => does.unknown = true,
            Token::Sign('|') => match rest.peek() {
                Some(Token::Sign('|')) => {
                    rest.next();
                }
                _ => does.runs = true,
            },
            Token::Sign('(' | '[') => open += 1,
            Token::Sign(')' | ']') => open -= 1,
            Token::Sign(';' | '\n' | '{' | '}') => prints = false,
            Token::Sign('>') if prints && open <= 0 => {
                let appends = matches!(rest.peek(), Some(Token::Sign('>')));
                if appends {
                    rest.next();
                }
                let target = match rest.peek() {
                    Some(Token::Text(text)) => text.clone(),
                    _ => "$(…)".into(),
                };
                does.writes.push((target, appends));
            }
            Token::Sign('<') if reads => {
                if let Some(Token::Text(text)) = rest.peek() {
                    does.reads.push(text.clone());
                }
            }
            _ => {}
        }
    }
    does
}

/// Splits a program into tokens; nothing when a text or pattern has no end.
fn tokens(program: &str) -> Option<Vec<Token>> {
    let mut out: Vec<Token> = Vec::new();
    let mut rest = program.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' => {}
            '#' => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '"' => out.push(Token::Text(text(&mut rest)?)),
            '/' if !after_operand(out.last()) => {
                pattern(&mut rest)?;
                out.push(Token::Pattern);
            }
            '\\' if rest.peek() == Some(&'\n') => {
                rest.next();
            }
            _ if character.is_ascii_digit() => {
                while rest.peek().is_some_and(|c| c.is_ascii_alphanumeric() || *c == '.') {
                    rest.next();
                }
                out.push(Token::Number);
            }
            _ if character.is_alphabetic() || character == '_' => {
                let mut word = String::from(character);
                while let Some(next) = rest.peek().filter(|c| c.is_alphanumeric() || **c == '_') {
                    word.push(*next);
                    rest.next();
                }
                out.push(Token::Word(word));
            }
            _ => out.push(Token::Sign(character)),
        }
    }
    Some(out)
}

/// True when a slash after this token divides.
fn after_operand(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Number | Token::Text(_) | Token::Sign(')' | ']' | '$')) => true,
        Some(Token::Word(word)) => {
            !matches!(word.as_str(), "print" | "printf" | "return" | "in" | "case" | "getline" | "if")
        }
        _ => false,
    }
}

fn text(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\n' => return None,
            '\\' => text.extend(rest.next()),
            character => text.push(character),
        }
    }
}

fn pattern(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<()> {
    let mut set = false;
    loop {
        match rest.next()? {
            '/' if !set => return Some(()),
            '/' => return None,
            '\n' => return None,
            '\\' => {
                rest.next();
            }
            '[' => set = true,
            ']' => set = false,
            _ => {}
        }
    }
}
