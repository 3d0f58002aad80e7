use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::*;

#[test]
fn what_hides_or_reorders_is_taken_out() {
    assert_eq!(safe("a\u{202e}b\u{200b}\u{feff}c\u{2066}d\u{e0041}", NAME), "abcd");
    assert_eq!(safe("a\nb\r\n\tc\u{2028}d\u{85}e", NAME), "a b c d e");
    assert_eq!(safe("a\u{0}\u{1b}[31mb\u{7f}", NAME), "a[31mb");
    assert_eq!(safe("\u{fdd0}\u{10ffff}\u{e000}x\u{fffc}", NAME), "x");
}

#[test]
fn nothing_to_see_is_nothing() {
    for text in ["", " ", "\u{200b}", "\u{3164}\u{2800}", "\u{a0}\u{3000}", "\u{202e}\n"] {
        assert_eq!(safe(text, NAME), "", "{text:?}");
    }
}

#[test]
fn markup_stays_text() {
    assert_eq!(safe("<img src=x onerror=alert(1)> & [a](b)", NAME), "<img src=x onerror=alert(1)> & [a](b)");
}

#[test]
fn letters_are_composed_and_piles_of_marks_are_cut() {
    assert_eq!(safe("cafe\u{301}", NAME), "café");
    assert!(safe(&format!("z{}", "\u{335}".repeat(500)), NAME).chars().count() <= 1 + MARKS);
    assert_eq!(safe("नमस्ते", NAME), "नमस्ते");
}

#[test]
fn length_is_counted_as_people_count() {
    let family = "👍🏽".repeat(80);
    assert_eq!(safe(&family, NAME), family);
    assert_eq!(safe(&"é".repeat(81), NAME), format!("{}…", "é".repeat(80)));
    assert!(is_safe("Zoeken in regelgeving", NAME));
    assert!(!is_safe("Zoeken  in", NAME));
    assert!(!is_safe("", NAME));
}

#[test]
fn a_name_in_a_sentence_is_isolated() {
    assert_eq!(isolated("חיפוש"), "\u{2068}חיפוש\u{2069}");
    assert_eq!(isolated("a\u{2069}b"), "\u{2068}ab\u{2069}");
}

proptest! {
    #[test]
    fn making_safe_twice_changes_nothing(
        text in "(\\PC|\\p{C}|\\p{M}|\\p{Z}|[\u{200c}\u{200d}]|[بیاकष\u{94d}\u{93c}\u{64e}👩🏽⚕a ]){0,120}",
        limit in 1_usize..40,
    ) {
        let once = safe(&text, limit);
        prop_assert_eq!(&safe(&once, limit), &once);
        prop_assert!(once.graphemes(true).count() <= limit + 1);
        prop_assert!(!once.chars().any(|c| is_hidden(c) && !joiner::is_joiner(c) || c == '\n' || c == '\r'));
        let twice = once.contains("\u{200c}\u{200d}");
        prop_assert!(!once.starts_with(joiner::is_joiner) && !twice);
        prop_assert_eq!(once.trim(), &once);
    }
}
