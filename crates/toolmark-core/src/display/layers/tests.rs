use proptest::prelude::*;

use super::*;

const LAYERS: [Layer; 3] = [Layer::Config, Layer::Locale, Layer::Declared];

fn names(texts: &[(Layer, &str, &str)]) -> Names {
    let mut names = Names::of("merge_pull_request");
    for (layer, lang, text) in texts {
        let lang = (!lang.is_empty()).then(|| lang.parse().unwrap());
        names.put(*layer, Kind::Name, lang, text);
    }
    names
}

fn shown(names: &Names, accept: &str) -> (String, Layer, Option<String>) {
    let shown = names.shown(&Languages::accept(accept).unwrap(), &"en".parse().unwrap());
    (shown.name.to_string(), shown.layer, shown.lang.map(|lang| lang.to_string()))
}

#[test]
fn of_one_language_the_strongest_layer_is_shown() {
    let all = names(&[(Layer::Declared, "nl", "c"), (Layer::Locale, "nl", "b"), (Layer::Config, "nl", "a")]);
    assert_eq!(shown(&all, "nl"), ("a".into(), Layer::Config, Some("nl".into())));
    let all = names(&[(Layer::Declared, "nl", "c"), (Layer::Locale, "nl", "b")]);
    assert_eq!(shown(&all, "nl-BE"), ("b".into(), Layer::Locale, Some("nl".into())));
    assert_eq!(shown(&names(&[]), "nl"), ("Merge pull request".into(), Layer::Humanized, None));
}

#[test]
fn a_language_that_was_asked_for_goes_before_a_stronger_layer() {
    let all = names(&[(Layer::Config, "en", "Merge"), (Layer::Locale, "nl", "Samenvoegen")]);
    assert_eq!(shown(&all, "nl, en;q=0.5").0, "Samenvoegen");
    assert_eq!(shown(&all, "en, nl;q=0.5").0, "Merge");
    assert_eq!(shown(&all, "").0, "Merge", "the default language");
    assert_eq!(shown(&all, "fr").0, "Merge");
}

#[test]
fn what_the_operator_says_without_a_language_is_for_everybody() {
    let all =
        names(&[(Layer::Config, "", "Ours"), (Layer::Locale, "nl", "Samenvoegen"), (Layer::Declared, "en", "Merge")]);
    for accept in ["", "nl", "en"] {
        assert_eq!(shown(&all, accept), ("Ours".into(), Layer::Config, None));
    }
    let all = names(&[(Layer::Config, "und", "Ours"), (Layer::Config, "nl", "Onze"), (Layer::Declared, "en", "Merge")]);
    assert_eq!(shown(&all, "nl").0, "Onze");
    assert_eq!(shown(&all, "en").0, "Ours");
}

#[test]
fn the_chain_ends_at_the_title() {
    let all = names(&[(Layer::Declared, "", "Title"), (Layer::Declared, "de", "Zusammenführen")]);
    assert_eq!(shown(&all, "nl, de;q=0.1").0, "Zusammenführen", "the next preferred language");
    assert_eq!(shown(&all, "nl"), ("Title".into(), Layer::Declared, None));
    let all = names(&[(Layer::Declared, "", "Title"), (Layer::Declared, "en", "English")]);
    assert_eq!(shown(&all, "nl").0, "English", "the default language goes before what has none");
    assert_eq!(shown(&all, "en;q=0").0, "Title");
}

#[test]
fn blank_texts_count_as_absent() {
    let mut all = names(&[(Layer::Config, "nl", "\u{200b} \n"), (Layer::Locale, "nl", "Samenvoegen")]);
    assert_eq!(shown(&all, "nl").0, "Samenvoegen");
    assert!(!all.put(Layer::Config, Kind::Name, None, ""));
}

#[test]
fn traditional_chinese_is_never_answered_with_simplified() {
    let all = names(&[(Layer::Config, "zh", "合并"), (Layer::Declared, "", "Merge")]);
    assert_eq!(shown(&all, "zh-TW").0, "Merge");
    assert_eq!(shown(&all, "zh-CN").0, "合并");
}

#[test]
fn spoken_texts_icons_and_categories_have_layers_of_their_own() {
    let mut all = names(&[(Layer::Config, "nl", "Zoeken")]);
    all.put(Layer::Declared, Kind::Spoken, Some("en".parse().unwrap()), "Searching");
    all.put(Layer::Locale, Kind::Category, Some("ar".parse().unwrap()), "تفتيش");
    all.put_icon(Layer::Declared, "🔎".parse().unwrap());
    all.put_icon(Layer::Config, "⚖️".parse().unwrap());
    all.put_icon(Layer::Locale, "❤️".parse().unwrap());
    let shown = all.shown(&Languages::accept("nl, ar;q=0.1").unwrap(), &"en".parse().unwrap());
    let spoken = shown.spoken.clone().unwrap();
    assert_eq!((spoken.text.as_str(), spoken.layer, spoken.dir), ("Searching", Layer::Declared, Direction::Ltr));
    assert_eq!(shown.category.as_ref().unwrap().as_str(), "تفتيش");
    assert_eq!(shown.icon.as_ref().unwrap().as_str(), "⚖️");
    let json = Value::from(shown.to_json()).to_string();
    assert!(json.starts_with(r#"{"category":"#) || json.contains(r#""lang":"nl""#), "{json}");
}

#[test]
fn a_name_for_each_language_is_that_of_the_strongest_layer() {
    let all = names(&[
        (Layer::Declared, "nl", "x"),
        (Layer::Locale, "nl", "y"),
        (Layer::Declared, "", "Title"),
        (Layer::Declared, "de", "z"),
    ]);
    assert_eq!(all.by_language(), BTreeMap::from([("de", "z"), ("nl", "y")]));
    assert_eq!(
        names(&[(Layer::Config, "", "o"), (Layer::Locale, "nl", "y")]).by_language(),
        BTreeMap::from([("und", "o")])
    );
}

proptest! {
    /// Adding a text of a weaker layer never changes what is shown in a language that a stronger one has.
    #[test]
    fn a_weaker_layer_never_wins_over_a_stronger_one_in_the_same_language(
        texts in prop::collection::vec((0_usize..3, prop::sample::select(vec!["nl", "nl-BE", "en", "zh-Hant", "zh", "ar"])), 0..12),
        wanted in prop::sample::select(vec!["nl", "nl-BE", "en", "zh-TW", "zh", "ar", "fr"]),
    ) {
        let texts: Vec<_> = texts.into_iter().map(|(layer, lang)| (LAYERS[layer], lang, format!("{layer} {lang}"))).collect();
        let list: Vec<_> = texts.iter().map(|(layer, lang, text)| (*layer, *lang, text.as_str())).collect();
        let (_, layer, lang) = shown(&names(&list), wanted);
        let asked: LanguageTag = wanted.parse().unwrap();
        let fitting = |lang: &str| lang.parse::<LanguageTag>().unwrap().answers(&asked).is_some();
        let strongest = texts.iter().filter(|(_, lang, _)| fitting(lang)).map(|(layer, ..)| *layer).min();
        match strongest {
            Some(strongest) => {
                prop_assert_eq!(layer, strongest);
                prop_assert!(fitting(&lang.unwrap()));
            }
            None => prop_assert!(lang.is_none_or(|lang| lang == "en")),
        }
    }
}
