use super::*;

#[test]
fn the_separators_of_ascii_are_white_space_and_zero_width_characters_are_not() {
    for space in ['\t', '\u{b}', '\u{1c}', '\u{1f}', ' ', '\u{85}', '\u{a0}', '\u{3000}'] {
        assert!(is_space(space), "{space:?}");
    }
    for other in ['\u{200b}', '\u{180e}', '\u{feff}', '\u{2060}', 'x', '\0'] {
        assert!(!is_space(other), "{other:?}");
    }
    assert_eq!(trim("\u{1c}\u{3000} a b \u{1f}"), "a b");
}

#[test]
fn lower_case_is_that_of_whole_words() {
    assert_eq!(lower("ΟΔΟΣ İK ẞ"), "οδος i\u{307}k ß");
}

#[test]
fn capitals_that_unicode_14_does_not_know_stay() {
    // U+A7DC is of Unicode 16.
    assert_eq!(lower("A\u{A7DC}B"), "a\u{A7DC}b");
    assert_eq!(lower("ΑΣ\u{A7DC}Σ"), "ας\u{A7DC}σ");
}

#[test]
fn quotes_follow_what_the_text_holds() {
    assert_eq!(repr("a"), "'a'");
    assert_eq!(repr("it's"), "\"it's\"");
    assert_eq!(repr("\"it's\""), "'\"it\\'s\"'");
}

#[test]
fn what_cannot_be_seen_is_escaped_with_the_shortest_form() {
    assert_eq!(repr("\\\n\r\t\0\u{7f}"), "'\\\\\\n\\r\\t\\x00\\x7f'");
    assert_eq!(repr("\u{a0}\u{85}\u{3000}\u{200d}\u{202e}"), "'\\xa0\\x85\\u3000\\u200d\\u202e'");
    assert_eq!(repr("é風🤖 \u{e000}\u{10ffff}"), "'é風🤖 \\ue000\\U0010ffff'");
}
