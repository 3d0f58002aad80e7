use super::*;
use crate::display::{NAME, is_safe, safe};

fn kept(text: &str) -> String {
    in_context(text.chars()).collect()
}

#[test]
fn writing_that_needs_them_keeps_them() {
    for text in [
        // Persian: "I want", "books", "this house's"; Urdu: "the king".
        "می\u{200c}خواهم",
        "کتاب\u{200c}ها",
        "خانه\u{200c}ی ما",
        "بادشاہ\u{200c}نامہ",
        // With a mark on the letter before it.
        "بَ\u{200c}ب",
        // Devanagari without a conjunct, and with half a letter; Sinhala "Sri"; Malayalam with a chillu of old; Bengali; Kannada.
        "क्\u{200c}ष",
        "क्\u{200d}ष",
        "ශ්\u{200d}රී",
        "അവന്\u{200d}",
        "র\u{9cd}\u{200d}য",
        "ರಾಜ್\u{200c}ಕುಮಾರ್",
        // Pictures that are one: a family, a doctor of some color, a flag, a heart on fire.
        "👨\u{200d}👩\u{200d}👧\u{200d}👦",
        "👩🏽\u{200d}⚕",
        "🏳\u{200d}🌈",
        "❤\u{200d}🔥",
    ] {
        assert_eq!(safe(text, NAME), text, "{text:?}");
        assert!(is_safe(text, NAME), "{text:?}");
    }
}

#[test]
fn where_nothing_is_joined_they_hide_and_go() {
    for (text, left) in [
        ("pay\u{200d}pal", "paypal"),
        ("pay\u{200c}pal", "paypal"),
        ("де\u{200d}лете", "делете"),
        ("\u{200d}a\u{200c}", "a"),
        ("a\u{200d}🔥", "a🔥"),
        ("🔥\u{200d}a", "🔥a"),
        ("1\u{200d}2", "12"),
        ("©\u{200d}®", "©®"),
        ("漢\u{200d}字", "漢字"),
        // After a letter that joins nothing behind it, and before a space or the end.
        ("ا\u{200c}ب", "اب"),
        ("ب\u{200c} ب", "ب ب"),
        ("ب\u{200c}", "ب"),
        ("\u{200c}ب", "ب"),
        ("ب\u{200c}a", "بa"),
        ("ب\u{200d}ب", "بب"),
        ("क\u{200d}ष", "कष"),
        ("क्\u{200c}", "क्"),
        // A virama on a letter that is none of its own writing still is one; on nothing, there is nothing to see.
        ("\u{200d}\u{200c}\u{200d}", ""),
    ] {
        assert_eq!(safe(text, NAME), left, "{text:?}");
    }
}

#[test]
fn of_many_in_a_row_one_stays() {
    assert_eq!(kept("ب\u{200c}\u{200c}\u{200c}ب"), "ب\u{200c}ب");
    assert_eq!(kept("ب\u{200d}\u{200c}\u{200d}ب"), "ب\u{200c}ب");
    assert_eq!(kept("क्\u{200d}\u{200d}\u{200c}ष"), "क्\u{200d}ष");
    assert_eq!(kept("👨\u{200d}\u{200d}👩"), "👨\u{200d}👩");
}

#[test]
fn marks_do_not_pile_up_behind_them() {
    let hostile = format!("z{}", "\u{335}\u{335}\u{335}\u{200d}".repeat(50));
    assert!(safe(&hostile, NAME).chars().count() <= 7, "{:?}", safe(&hostile, NAME));
    let hostile = format!("क{}", "\u{94d}\u{200d}".repeat(50));
    assert!(safe(&hostile, NAME).chars().count() <= 1 + 2 * 6, "{:?}", safe(&hostile, NAME));
}

#[test]
fn a_chain_without_end_is_cut() {
    let chain = vec!["👨"; 500].join("\u{200d}");
    assert!(safe(&chain, NAME).chars().count() < 200, "{}", safe(&chain, NAME).chars().count());
    let words = vec!["می\u{200c}خواهم"; 40].join(" ");
    let cut = safe(&words, 4);
    assert_eq!(cut, "می\u{200c}خو…");
    assert_eq!(safe(&words, 2), "می…", "no joiner is left behind");
    assert_eq!(safe(&safe(&words, 2), 2), "می…");
}
