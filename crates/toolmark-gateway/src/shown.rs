//! How does the text of a stranger look that a model or its client reads? As it is, line by line, but with nothing hidden and with an end.

use toolmark_core::text::is_hidden;

/// A stranger's text for a model: what is invisible is written out, except for the ends of lines, and what is endless gets an end.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    let mut characters = text.chars();
    for character in characters.by_ref().take(most) {
        if is_hidden(character) && !matches!(character, '\n' | '\t') {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    let left = characters.count();
    if left > 0 {
        out.push_str(&format!("… ({left} more characters)"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_nothing_else_is_hidden() {
        assert_eq!(shown("a\n\tb\u{202e}c\u{0}", 99), "a\n\tb\\u{202e}c\\u{0}");
        assert_eq!(shown("abcdef", 2), "ab… (4 more characters)");
        assert_eq!(shown("ab", 2), "ab");
    }
}
