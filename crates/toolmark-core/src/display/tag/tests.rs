use proptest::prelude::*;

use super::*;

fn tag(text: &str) -> LanguageTag {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn tags_are_read_in_any_case_and_written_in_canonical_case() {
    for (written, canonical) in [
        ("NL", "nl"),
        ("pt-br", "pt-BR"),
        ("ZH-hANT-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("sl-rozaj-BISKE", "sl-rozaj-biske"),
        ("de-CH-1996", "de-CH-1996"),
        ("zh-cmn-hans-cn", "zh-cmn-Hans-CN"),
        ("en-a-BBB-x-A-ccccc", "en-a-bbb-x-a-ccccc"),
        ("x-Whatever-AB", "x-whatever-ab"),
        ("i-KLINGON", "i-klingon"),
        ("EN-gb-OED", "en-GB-oed"),
        ("de-u-CO-phonebk", "de-u-co-phonebk"),
    ] {
        assert_eq!(tag(written).as_str(), canonical, "{written}");
        assert_eq!(tag(written), tag(canonical));
    }
}

#[test]
fn what_bcp_47_does_not_know_is_refused() {
    let long = format!("en-x-{}", "a-".repeat(40));
    for text in [
        "",
        "-",
        "n",
        "nl-",
        "-nl",
        "nl--BE",
        "nl_BE",
        "dutch language",
        "123",
        "en-x",
        "en-u",
        "toolonglanguage",
        "nl-toolongpart1",
        "de-1996-1996",
        "en-a-bb-a-cc",
        "nl\u{200b}",
        "né",
        "en-US-GB",
        "a-DE",
        long.as_str(),
    ] {
        assert!(text.parse::<LanguageTag>().is_err(), "{text:?}");
    }
}

#[test]
fn a_wish_is_shortened_from_its_end() {
    let answers = |own: &str, wanted: &str| tag(own).answers(&tag(wanted)).is_some();
    assert!(answers("nl", "nl-BE"));
    assert!(answers("nl-BE", "nl-be"));
    assert!(answers("de-CH", "de-CH-1996"));
    assert!(answers("zh-Hant", "zh-Hant-TW-x-private"));
    assert!(!answers("nl-BE", "nl"), "a wish is never made longer");
    assert!(!answers("nl-BE", "nl-NL"));
    assert!(!answers("de-1996", "de-CH-1996"));
    assert!(!answers("de-CH-1901", "de-CH-1996"));
    assert!(!answers("sl-rozaj-biske", "sl-rozaj"));
    assert!(!answers("en", "nl"));
}

#[test]
fn another_script_is_never_an_answer() {
    let answers = |own: &str, wanted: &str| tag(own).answers(&tag(wanted)).is_some();
    for (own, wanted) in [
        ("zh-Hant", "zh-Hant-TW"),
        ("zh-Hant", "zh-TW"),
        ("zh-Hant", "zh-HK"),
        ("zh-TW", "zh-Hant-TW"),
        ("zh-TW", "zh-Hant"),
        ("zh-Hant-TW", "zh-TW"),
        ("zh", "zh-CN"),
        ("zh", "zh-Hans-CN"),
        ("zh", "zh-SG"),
        ("zh-Hans", "zh"),
        ("zh-Hans", "zh-CN"),
        ("sr", "sr-RS"),
        ("sr-Cyrl", "sr"),
        ("sr-Latn", "sr-Latn-RS"),
        ("sr-Latn", "sr-ME"),
        ("en", "en-Latn-US"),
        ("zh", "cmn"),
        ("zh-Hans", "zh-cmn-Hans-CN"),
        ("he", "iw-IL"),
        ("no", "nb-NO"),
        ("yue", "zh-yue-HK"),
    ] {
        assert!(answers(own, wanted), "{own} for {wanted}");
    }
    for (own, wanted) in [
        ("zh", "zh-Hant"),
        ("zh", "zh-TW"),
        ("zh", "zh-HK"),
        ("zh", "zh-Hant-TW"),
        ("zh-Hans", "zh-Hant"),
        ("zh-Hans", "zh-TW"),
        ("zh-CN", "zh-TW"),
        ("zh-Hant", "zh"),
        ("zh-Hant", "zh-CN"),
        ("sr", "sr-Latn"),
        ("sr", "sr-Latn-RS"),
        ("sr-Latn", "sr"),
        ("sr-Latn", "sr-RS"),
        ("ja", "ja-Latn"),
        ("uz", "uz-AF"),
        ("zh", "yue"),
    ] {
        assert!(!answers(own, wanted), "{own} for {wanted}");
    }
}

#[test]
fn the_closest_tag_scores_most() {
    let score = |own: &str, wanted: &str| tag(own).answers(&tag(wanted)).unwrap();
    assert!(score("nl-BE", "nl-BE") > score("nl", "nl-BE"));
    assert!(score("zh-Hant-TW", "zh-Hant-TW") > score("zh-Hant", "zh-Hant-TW"));
    assert!(score("zh-TW", "zh-TW") > score("zh-Hant-TW", "zh-TW"));
    assert!(score("de-CH-1996", "de-CH-1996-x-a") > score("de-CH", "de-CH-1996-x-a"));
}

#[test]
fn well_formed_is_not_known() {
    for text in ["nl", "zh-Hant-TW", "x-ours", "und", "i-lux", "gsw", "fy", "no-nyn", "sr-Latn", "es-419"] {
        assert!(tag(text).known().is_ok(), "{text}");
    }
    for text in ["dutch", "names", "zz", "qq", "labels-NL"] {
        assert!(tag(text).known().is_err(), "{text}");
    }
}

#[test]
fn direction_follows_script_and_language() {
    for (text, direction) in [
        ("nl", Direction::Ltr),
        ("ar", Direction::Rtl),
        ("he-IL", Direction::Rtl),
        ("iw", Direction::Rtl),
        ("fa", Direction::Rtl),
        ("ur-PK", Direction::Rtl),
        ("az-Arab", Direction::Rtl),
        ("az", Direction::Ltr),
        ("ar-Latn", Direction::Ltr),
        ("yi", Direction::Rtl),
        ("zh-Hant", Direction::Ltr),
        ("dv", Direction::Rtl),
        ("und", Direction::Auto),
        ("x-ours", Direction::Auto),
    ] {
        assert_eq!(tag(text).direction(), direction, "{text}");
    }
}

proptest! {
    #[test]
    fn reading_never_panics_and_what_was_written_reads_the_same(text in "[a-zA-Z0-9-]{0,40}|\\PC{0,20}") {
        if let Ok(read) = text.parse::<LanguageTag>() {
            prop_assert!(read.as_str().eq_ignore_ascii_case(&text));
            let again: LanguageTag = read.as_str().parse().unwrap();
            prop_assert_eq!(again.as_str(), read.as_str());
            prop_assert_eq!(read.answers(&read), Some(u8::MAX));
        }
    }

    /// RFC 4647, section 3.4, word for word, for tags in their usual scripts.
    #[test]
    fn without_scripts_an_answer_is_a_beginning_of_the_wish(
        own in "(nl|en|de|pt|fr)(-(BE|NL|US|CH|BR|419))?(-(1996|oxendict))?",
        wanted in "(nl|en|de|pt|fr)(-(BE|NL|US|CH|BR|419))?(-(1996|oxendict))?(-x-a)?",
    ) {
        let expected = wanted == own || wanted.strip_prefix(own.as_str()).is_some_and(|more| more.starts_with('-'));
        prop_assert_eq!(tag(&own).answers(&tag(&wanted)).is_some(), expected);
    }
}
