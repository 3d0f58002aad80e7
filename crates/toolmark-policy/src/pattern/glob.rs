//! Text in which `*` stands for anything: the one wildcard of all rules, matched in linear time.

use std::fmt;

/// A text to compare with, where `*` stands for any run of characters, `\*` for a star and `\\` for a backslash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Glob {
    written: Box<str>,
    /// What stands before, between and after the stars; never empty.
    pieces: Box<[Box<str>]>,
}

impl Glob {
    /// Reads a glob. Every text is one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '*' => pieces.push(std::mem::take(&mut piece).into()),
                '\\' => piece.push(characters.next_if(|next| matches!(next, '*' | '\\')).unwrap_or('\\')),
                _ => piece.push(character),
            }
        }
        pieces.push(piece.into());
        Self { written: text.into(), pieces: pieces.into() }
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// True for `*` alone.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.pieces.len() > 1 && self.pieces.iter().all(|piece| piece.is_empty())
    }

    /// The only text that it matches, if it holds no star.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        match &*self.pieces {
            [only] => Some(only),
            _ => None,
        }
    }

    /// True when it matches the whole of `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        let Some((last, between)) = rest.split_last() else { return **first == *text };
        let Some(mut left) = text.strip_prefix(&**first).and_then(|left| left.strip_suffix(&**last)) else {
            return false;
        };
        // The leftmost place of each piece leaves the most room for the next, so no choice has to be taken back.
        for piece in between {
            match left.find(&**piece) {
                Some(at) => left = left.get(at + piece.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        true
    }

    /// The same with every literal piece changed.
    pub(crate) fn map(&self, change: impl Fn(&str) -> String) -> Self {
        Self {
            written: self.written.clone(),
            pieces: self.pieces.iter().map(|piece| change(piece).into_boxed_str()).collect(),
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run_and_nothing_else_is_special() {
        for (glob, text, expected) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "A", false),
            ("*", "", true),
            ("*", "anything/at all", true),
            ("a*", "a", true),
            ("*a", "ba", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("delete_*", "delete_repo", true),
            ("delete_*", "undelete_repo", false),
            ("*b*b*", "abcb", true),
            ("*bb*", "abcb", false),
            ("a**c", "abc", true),
            ("a?c", "abc", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            (r"a\\*", r"a\b", true),
            (r"C:\x", r"C:\x", true),
        ] {
            assert_eq!(Glob::new(glob).matches(text), expected, "`{glob}` on `{text}`");
        }
    }

    #[test]
    fn only_a_glob_without_stars_is_exact() {
        assert_eq!(Glob::new(r"a\*b").exact(), Some("a*b"));
        assert_eq!(Glob::new("a*b").exact(), None);
        assert!(Glob::new("**").is_any() && !Glob::new("*a").is_any() && !Glob::new("").is_any());
    }

    #[test]
    fn many_stars_on_a_long_text_take_linear_time() {
        let glob = Glob::new(&"a*".repeat(1_000));
        assert!(!glob.matches(&format!("{}b", "c".repeat(1_000_000))));
        assert!(glob.matches(&"a".repeat(100_000)));
    }
}
