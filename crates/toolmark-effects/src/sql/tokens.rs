//! A run of tokens with the questions that readers ask of it: which word stands here, what is this name, where does it end.

use std::borrow::Cow;

use toolmark_core::text::visible;

use super::lex::{Kind, Token};
use super::lexis::Lexis;

/// Some tokens of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens<'a> {
    pub(super) text: &'a str,
    pub(super) all: &'a [Token],
    pub(super) lexis: Lexis,
    /// Whether comments stood between them.
    pub(super) comments: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn len(self) -> usize {
        self.all.len()
    }

    pub(super) fn kind(self, at: usize) -> Option<Kind> {
        self.all.get(at).map(|token| token.kind)
    }

    /// The text of a token as it is written; empty past the end.
    pub(super) fn raw(self, at: usize) -> &'a str {
        self.all
            .get(at)
            .and_then(|token| self.text.get(usize::try_from(token.start).ok()?..usize::try_from(token.end).ok()?))
            .unwrap_or_default()
    }

    /// The word at `at` as it is written; empty when something else stands there.
    pub(super) fn word(self, at: usize) -> &'a str {
        if self.kind(at) == Some(Kind::Word) { self.raw(at) } else { "" }
    }

    /// True when the bare word `word` stands at `at`.
    pub(super) fn is(self, at: usize, word: &str) -> bool {
        self.word(at).eq_ignore_ascii_case(word)
    }

    /// True when one of these words stands at `at`.
    pub(super) fn is_one_of(self, at: usize, words: &[&str]) -> bool {
        let found = self.word(at);
        !found.is_empty() && words.iter().any(|word| found.eq_ignore_ascii_case(word))
    }

    /// True when this symbol stands at `at`.
    pub(super) fn symbol(self, at: usize, symbol: &str) -> bool {
        !matches!(self.kind(at), None | Some(Kind::Word | Kind::Text | Kind::Quoted)) && self.raw(at) == symbol
    }

    /// True when it begins with these words.
    pub(super) fn starts(self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(at, word)| self.is(at, word))
    }

    /// What is left after the first `count`.
    pub(super) fn after(self, count: usize) -> Self {
        Self { all: self.all.get(count..).unwrap_or_default(), ..self }
    }

    /// The first `count`.
    pub(super) fn before(self, count: usize) -> Self {
        Self { all: self.all.get(..count).unwrap_or(self.all), ..self }
    }

    /// Whether any of these words stands outside parentheses, and where the first does.
    pub(super) fn find(self, words: &[&str]) -> Option<usize> {
        let mut depth = 0_usize;
        for at in 0..self.len() {
            match self.kind(at) {
                Some(Kind::Open) => depth += 1,
                Some(Kind::Close) => depth = depth.saturating_sub(1),
                Some(Kind::Word) if depth == 0 && self.is_one_of(at, words) => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// Where the group that opens at `open` closes; the end if it never does.
    pub(super) fn closing(self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.len() {
            match self.kind(at) {
                Some(Kind::Open) => depth += 1,
                Some(Kind::Close) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at;
                    }
                }
                _ => {}
            }
        }
        self.len()
    }

    /// What stands between the parenthesis at `open` and its partner.
    pub(super) fn inside(self, open: usize) -> Self {
        self.before(self.closing(open)).after(open + 1)
    }

    /// The parts between commas outside parentheses.
    pub(super) fn arguments(self) -> Vec<Self> {
        let mut parts = Vec::new();
        let (mut start, mut depth) = (0, 0_usize);
        for at in 0..self.len() {
            match self.kind(at) {
                Some(Kind::Open) => depth += 1,
                Some(Kind::Close) => depth = depth.saturating_sub(1),
                Some(Kind::Comma) if depth == 0 => {
                    parts.push(self.before(at).after(start));
                    start = at + 1;
                }
                _ => {}
            }
        }
        if start < self.len() {
            parts.push(self.after(start));
        }
        parts
    }

    /// The dotted name that begins at `at`, without quotes, and where it ends.
    pub(super) fn name(self, at: usize) -> Option<(String, usize)> {
        let part = |at: usize| match self.kind(at)? {
            Kind::Word => Some(self.raw(at)),
            Kind::Quoted | Kind::Text => Some(self.unquoted(at)),
            _ => None,
        };
        let mut name = String::from(part(at)?);
        let mut end = at + 1;
        while self.kind(end) == Some(Kind::Dot) {
            let Some(next) = part(end + 1) else { break };
            name.push('.');
            name.push_str(next);
            end += 2;
        }
        Some((visible(&name, 120), end))
    }

    /// A quoted name without its quotes; doubled quotes stay doubled.
    pub(super) fn unquoted(self, at: usize) -> &'a str {
        let raw = self.raw(at);
        let mut inner = raw.chars();
        inner.next();
        inner.next_back();
        if matches!(self.kind(at), Some(Kind::Quoted | Kind::Text)) { inner.as_str() } else { raw }
    }

    /// What the string at `at` says.
    pub(super) fn literal(self, at: usize) -> Option<Cow<'a, str>> {
        if self.kind(at) != Some(Kind::Text) {
            return None;
        }
        let raw = self.raw(at);
        if raw.starts_with('$') {
            let tag = raw.get(1..)?.find('$')? + 2;
            return raw.get(tag..raw.len().checked_sub(tag)?).map(Cow::Borrowed);
        }
        let escapes = raw.starts_with(['e', 'E']) || self.lexis.backslash;
        let quoted = raw.trim_start_matches(|first: char| first.is_ascii_alphabetic());
        let quote = quoted.chars().next()?;
        let inner = quoted.get(1..quoted.len().checked_sub(1)?)?;
        if inner.contains(quote) || (escapes && inner.contains('\\')) {
            return Some(Cow::Owned(unescape(inner, quote, escapes)));
        }
        Some(Cow::Borrowed(inner))
    }

    /// The string that this is, if it is nothing else.
    pub(super) fn only_literal(self) -> Option<Cow<'a, str>> {
        if self.len() == 1 { self.literal(0) } else { None }
    }

    /// True for `1`, `1 = 1` and `true`.
    pub(super) fn is_tautology(self) -> bool {
        match self.len() {
            1 => self.raw(0) == "1" || self.is(0, "TRUE"),
            3 => self.symbol(1, "=") && self.raw(0) == self.raw(2),
            _ => false,
        }
    }

    /// The tokens as text without comments, for a parser that would read them differently.
    pub(super) fn source(self) -> Cow<'a, str> {
        let (Some(first), Some(last)) = (self.all.first(), self.all.last()) else { return Cow::Borrowed("") };
        let slice = |from: u32, to: u32| -> &'a str {
            usize::try_from(from)
                .ok()
                .zip(usize::try_from(to).ok())
                .and_then(|(from, to)| self.text.get(from..to))
                .unwrap_or_default()
        };
        if !self.comments {
            return Cow::Borrowed(slice(first.start, last.end));
        }
        let mut out = String::new();
        let mut end = first.start;
        for token in self.all {
            if token.start != end {
                out.push(' ');
            }
            out.push_str(slice(token.start, token.end));
            end = token.end;
        }
        Cow::Owned(out)
    }
}

fn unescape(inner: &str, quote: char, escapes: bool) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if escapes => match characters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            _ if character == quote => {
                characters.next();
                out.push(quote);
            }
            _ => out.push(character),
        }
    }
    out
}
