//! Text that PostgreSQL does not take as it is: it has no place for the character NUL, which names and sessions may hold.
//!
//! NUL is written as U+10FFFE and `0`, and that character, which stands for nothing in any text, as itself twice. So whatever was
//! kept comes back as it was, and all other text stays readable with `psql`.

use std::borrow::Cow;

const MARK: char = '\u{10fffe}';

/// As it is kept.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => kept.extend([MARK, '0']),
            MARK => kept.extend([MARK, MARK]),
            other => kept.push(other),
        }
    }
    kept.into()
}

/// As it was, or nothing when it is text that nobody here wrote.
pub(super) fn given(kept: &str) -> Option<Cow<'_, str>> {
    if !kept.contains(MARK) {
        return Some(kept.into());
    }
    let mut given = String::with_capacity(kept.len());
    let mut characters = kept.chars();
    while let Some(character) = characters.next() {
        given.push(match (character, (character == MARK).then(|| characters.next())) {
            (other, None) => other,
            (_, Some(Some('0'))) => '\0',
            (_, Some(Some(MARK))) => MARK,
            (_, Some(_)) => return None,
        });
    }
    Some(given.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_text_is_kept_as_it_is() {
        assert!(matches!(kept("naïve 🦀"), Cow::Borrowed("naïve 🦀")));
    }

    #[test]
    fn text_that_nobody_here_wrote_is_not_guessed_at() {
        for wrong in ["\u{10fffe}", "a\u{10fffe}b", "\u{10fffe}\u{10fffe}\u{10fffe}"] {
            assert_eq!(given(wrong), None, "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_kept_comes_back(text in "[\0\u{10fffe}0a🦀]{0,12}") {
            let kept = kept(&text);
            prop_assert!(!kept.contains('\0'));
            let again = given(&kept);
            prop_assert_eq!(again.as_deref(), Some(text.as_str()));
        }
    }
}
