use proptest::prelude::*;

use super::*;

fn wanted(text: &str) -> Vec<String> {
    let languages = Languages::accept(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    languages.wanted().iter().map(ToString::to_string).collect()
}

fn tags(texts: &[&str]) -> Vec<LanguageTag> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn found(accept: &str, available: &[&str]) -> Option<String> {
    let available = tags(available);
    Languages::accept(accept).unwrap().lookup(&available).map(ToString::to_string)
}

#[test]
fn weights_order_languages_and_equal_ones_stay_as_written() {
    assert_eq!(wanted("nl-BE, nl;q=0.9, en;q=0.5"), ["nl-BE", "nl", "en"]);
    assert_eq!(wanted("en;q=0.5,nl"), ["nl", "en"]);
    assert_eq!(wanted("da, en-gb;q=0.8, en;q=0.7"), ["da", "en-GB", "en"]);
    assert_eq!(wanted("de;q=0.001,fr;Q = 0.01 , it;q=1.000"), ["it", "fr", "de"]);
    assert_eq!(wanted(""), Vec::<String>::new());
    assert_eq!(wanted(" , ,nl,"), ["nl"]);
    assert_eq!(wanted("nl,nl;q=0.1"), ["nl"]);
}

#[test]
fn a_star_wants_nothing_in_particular() {
    assert!(Languages::accept("*").unwrap().is_any());
    assert_eq!(wanted("nl, *;q=0.1"), ["nl"]);
    assert_eq!(found("*", &["nl"]), None);
}

#[test]
fn what_has_no_weight_is_never_chosen() {
    assert_eq!(found("nl, nl-BE;q=0", &["nl-BE", "nl"]), Some("nl".into()));
    assert_eq!(found("nl-BE, nl;q=0", &["nl"]), None, "Dutch is refused, and shortening leads to Dutch");
    assert_eq!(found("nl-BE, nl;q=0", &["nl", "nl-BE"]), Some("nl-BE".into()));
    let closed = Languages::accept("nl, *;q=0").unwrap();
    assert!(closed.refuses(&"en".parse().unwrap()));
    assert!(!closed.refuses(&"nl".parse().unwrap()));
    assert!(!Languages::accept("nl").unwrap().refuses(&"en".parse().unwrap()));
    assert_eq!(found("nl;q=0, en", &["nl-BE", "en"]), Some("en".into()));
}

#[test]
fn languages_are_looked_up_in_order_of_preference() {
    assert_eq!(found("nl-BE, en;q=0.5", &["en", "nl"]), Some("nl".into()));
    assert_eq!(found("fr, en-US;q=0.8", &["nl", "en"]), Some("en".into()));
    assert_eq!(found("zh-Hant-TW, en;q=0.2", &["zh-Hans", "zh", "en"]), Some("en".into()));
    assert_eq!(found("zh-Hant-TW", &["zh-Hans", "zh-Hant"]), Some("zh-Hant".into()));
    assert_eq!(found("fr", &["nl", "en"]), None);
}

#[test]
fn what_is_malformed_is_an_error() {
    let many = vec!["nl"; Languages::MAX + 1].join(",");
    let long = " ".repeat(Languages::MAX_BYTES + 1);
    for text in [
        "nl;q=2",
        "nl;q=1.001",
        "nl;q=0.1234",
        "nl;q=-1",
        "nl;q=",
        "nl;q",
        "nl;level=1",
        "nl;q=0.5;q=0.4",
        "nl en",
        "nl/en",
        "\u{0}",
        "é",
        "nl;q=0.٣",
        "**",
        "nl-*",
        many.as_str(),
        long.as_str(),
    ] {
        assert!(Languages::accept(text).is_err(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn reading_never_panics(text in "\\PC{0,80}|([a-zA-Z*-]{1,5}(;q=[0-9.]{1,6})?, ?){0,40}") {
        let _ = Languages::accept(&text);
    }
}
