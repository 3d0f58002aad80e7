//! Does a piece of JavaScript only look at a page? Every word in it has to be one that only looks: whatever is not known is not
//! understood, so nothing has to be known about what the others do.
//!
//! The language is not known for certain either, so nothing is accepted that another one would run: no backquotes, no texts that
//! are filled in.

use super::words::{LOOKS, SIGNS, WORDS};

/// What a program looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glimpse {
    /// The page.
    Page,
    /// Cookies, or what the page has stored.
    Storage,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Number(&'t str),
    Text,
    Pattern,
    Sign(&'t str),
}

/// The most tokens that are looked at.
const MAX_TOKENS: usize = 1_000;

/// Looks through a program; nothing when it may do more than look.
pub(super) fn look(text: &str) -> Option<Glimpse> {
    let tokens = tokens(text)?;
    let mut locals: Vec<&str> = Vec::new();
    collect(&tokens, &mut locals);
    let mut glimpse = Glimpse::Page;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let after = tokens.get(at + 1);
        match token {
            Token::Word(word) if matches!(before, Some(Token::Sign("." | "?."))) => {
                if *word == "cookie" {
                    glimpse = Glimpse::Storage;
                } else if !LOOKS.contains(word) {
                    return None;
                }
            }
            // A name in an object.
            Token::Word(_) if after == Some(&Token::Sign(":")) && matches!(before, Some(Token::Sign("{" | ","))) => {}
            Token::Word("localStorage" | "sessionStorage") => glimpse = Glimpse::Storage,
            Token::Word("new") if matches!(after, Some(Token::Word("Set" | "Map" | "Date" | "URL"))) => {}
            Token::Word("async") if at == 0 => {}
            // What a program calls by its own name may go on for ever.
            Token::Word(word) if locals.contains(word) && after != Some(&Token::Sign("(")) => {}
            Token::Word(word) if WORDS.contains(word) => {}
            Token::Word(_) => return None,
            // Large numbers make large things.
            Token::Number(digits) if digits.len() > 6 || digits.contains(['e', 'E', 'x', 'n']) => return None,
            // A name that is put together may be any.
            Token::Sign("[") if ends_a_value(before) => {
                let index = matches!(after, Some(Token::Number(_))) && tokens.get(at + 2) == Some(&Token::Sign("]"));
                if !index {
                    return None;
                }
            }
            Token::Sign("=") => {
                let declared = matches!(before, Some(Token::Word(word)) if locals.contains(word))
                    && matches!(at.checked_sub(2).and_then(|at| tokens.get(at)), Some(Token::Word("const" | "let")));
                if !declared {
                    return None;
                }
            }
            Token::Number(_) | Token::Text | Token::Pattern | Token::Sign(_) => {}
        }
    }
    Some(glimpse)
}

/// Names that the program itself gives: after `const` and `let`, and in front of `=>`.
fn collect<'t>(tokens: &[Token<'t>], locals: &mut Vec<&'t str>) {
    for (at, token) in tokens.iter().enumerate() {
        match (token, tokens.get(at + 1)) {
            (Token::Word("const" | "let"), Some(Token::Word(name))) => locals.push(name),
            (Token::Word(name), Some(Token::Sign("=>"))) => locals.push(name),
            (Token::Sign(")"), Some(Token::Sign("=>"))) => {
                let open = tokens.iter().take(at).rposition(|token| *token == Token::Sign("(")).unwrap_or(at);
                let inside = tokens.get(open + 1..at).unwrap_or_default();
                locals.extend(inside.iter().filter_map(|token| match token {
                    Token::Word(name) => Some(name),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    // A name of ours that hides a known one would make the known one mean something else.
    locals.retain(|name| !WORDS.contains(name));
}

fn ends_a_value(token: Option<&Token<'_>>) -> bool {
    match token {
        Some(Token::Word(word)) => !matches!(*word, "return" | "typeof" | "in" | "of"),
        Some(Token::Number(_) | Token::Text | Token::Pattern) => true,
        Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "}" | "?."),
        None => false,
    }
}

/// Cuts a program into tokens; nothing when it cannot be done for certain.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut out: Vec<Token<'_>> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if out.len() >= MAX_TOKENS {
            return None;
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let length = match first {
            'a'..='z' | 'A'..='Z' | '_' | '$' => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            '0'..='9' => rest.find(|c: char| !word(c) && c != '.').unwrap_or(rest.len()),
            '"' | '\'' => quoted(rest, first)?,
            '/' if rest.starts_with("//") => {
                let end = rest.find('\n').unwrap_or(rest.len());
                rest = rest.get(end..).filter(|_| plain(text))?.trim_start();
                continue;
            }
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/")? + 2;
                rest = rest.get(end..)?.trim_start();
                continue;
            }
            '/' => match out.last() {
                // Here a slash divides in some programs and opens a pattern in others.
                Some(Token::Sign(")" | "}")) => return None,
                last if ends_a_value(last) => 1,
                _ => pattern(rest)?,
            },
            _ => SIGNS.iter().find(|sign| rest.starts_with(**sign))?.len(),
        };
        let (token, tail) = rest.split_at_checked(length)?;
        out.push(match first {
            'a'..='z' | 'A'..='Z' | '_' | '$' => Token::Word(token),
            '0'..='9' => Token::Number(token),
            '"' | '\'' => Token::Text,
            '/' if length > 1 => Token::Pattern,
            _ => Token::Sign(token),
        });
        rest = tail.trim_start();
    }
    Some(out)
}

/// True when no line ends where only some languages see it.
fn plain(text: &str) -> bool {
    !text.contains(['\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'])
}

/// The length of a text in quotes; nothing when a language could fill something in.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => {
                let inside = rest.get(1..at)?;
                let filled = ["#{", "${", "@{", "{$", "$("].iter().any(|mark| inside.contains(mark));
                return (!filled && plain(inside)).then_some(at + 1);
            }
            _ => {}
        }
    }
    None
}

/// The length of a pattern that cannot take for ever.
fn pattern(rest: &str) -> Option<usize> {
    let end = rest
        .char_indices()
        .skip(1)
        .find(|(at, c)| *c == '/' && !rest.get(..*at).is_some_and(|head| head.ends_with('\\')))?
        .0;
    let inside = rest.get(1..end)?;
    let simple = inside.len() <= 60 && !inside.contains(['\n', '(', '{', '[', '`', '"', '\'']);
    let flags = rest.get(end + 1..)?;
    let flags = flags.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(flags.len());
    simple.then_some(end + 1 + flags)
}
