//! Programs in general languages: nobody can tell what they do, unless there is nothing in them.

use toolmark_core::facts::Reading;

/// Reads a program in Python, JavaScript or any other general language.
#[must_use]
pub fn read(text: &str) -> Reading {
    if is_empty(text) {
        return Reading::Understood(Vec::new());
    }
    Reading::CannotTell { reason: "it is a program in a general language".into() }
}

/// True when a text holds nothing but blanks and comments. A comment with a quote or a line end that languages read differently
/// is not taken for one.
fn is_empty(text: &str) -> bool {
    text.len() <= 10_000
        && text.lines().map(str::trim).all(|line| {
            let comment = line.strip_prefix("//").or_else(|| line.strip_prefix('#'));
            line.is_empty()
                || comment
                    .is_some_and(|rest| rest.chars().all(|c| c.is_ascii() && !c.is_control() && !"*!?".contains(c)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_does_nothing() {
        for text in ["", "  \n\t", "# a comment", "// a comment\n  // another"] {
            assert_eq!(read(text), Reading::Understood(Vec::new()), "{text}");
        }
    }

    #[test]
    fn whatever_does_something_cannot_be_told() {
        for text in
            ["1", "print(1)", "# c\nimport os", "//a\u{2028}b()", "#!/bin/sh", "() => document.title", "/* a */"]
        {
            assert!(matches!(read(text), Reading::CannotTell { .. }), "{text}");
        }
    }
}
