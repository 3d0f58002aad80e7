use super::*;

#[test]
fn one_emoji_is_an_icon() {
    for text in ["🔎", "❤️", "👩🏽‍🔬", "🇳🇱", "1️⃣", " ⚖️ ", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "✉", "⌛"]
    {
        let icon: Icon = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert!(icon.is_emoji());
        assert_eq!(icon.as_str(), text.trim());
    }
}

#[test]
fn a_small_picture_is_an_icon() {
    let icon: Icon = "data:image/png;base64,iVBORw0KGgo=".parse().unwrap();
    assert!(!icon.is_emoji());
}

#[test]
fn whatever_is_fetched_or_runs_is_none() {
    let large = format!("data:image/png;base64,{}", "A".repeat(Icon::MAX_BYTES));
    for text in [
        "",
        "a",
        "🔎🔎",
        "1",
        "#",
        "<b>",
        "🔎x",
        "https://example.com/a.png",
        "http://x",
        "javascript:alert(1)",
        "data:text/html;base64,AAAA",
        "data:image/svg+xml;base64,AAAA",
        "data:image/png,AAAA",
        "data:image/png;base64,",
        "data:image/png;base64,A A=",
        "data:image/png;base64,AA\"A",
        "DATA:image/png;base64,AAAA",
        "🇳",
        "\u{200d}",
        "\u{fe0f}",
        large.as_str(),
    ] {
        assert!(text.parse::<Icon>().is_err(), "{text:?}");
    }
}
