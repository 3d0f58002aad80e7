use super::*;
use crate::definition::{Definition, Form};
use crate::document::Slice;

#[test]
fn a_title_wins_unless_nothing_of_it_can_be_seen() {
    let raw: RawName = "read_file".parse().unwrap();
    assert_eq!(name(Some("Read a file"), &raw).as_str(), "Read a file");
    assert_eq!(name(Some("\u{200b}\u{202e}"), &raw).as_str(), "Read file");
    assert_eq!(name(None, &raw).as_str(), "Read file");
}

#[test]
fn hostile_titles_are_made_safe() {
    let raw: RawName = "x".parse().unwrap();
    assert_eq!(name(Some("a\u{202e}b\nc"), &raw).as_str(), "ab c");
    assert_eq!(name(Some(&"y".repeat(500)), &raw).as_str().chars().count(), 81);
}

#[test]
fn a_name_of_separators_only_is_shown_as_it_is() {
    let raw: RawName = "__".parse().unwrap();
    assert_eq!(name(None, &raw).as_str(), "__");
}

fn declared(text: &str) -> Names {
    let definition = Definition::read(&Slice::of("test", text.to_owned()), Form::Tool).unwrap();
    let mut names = Names::of(definition.name().as_str());
    declare(&mut names, &definition.reading());
    names
}

#[test]
fn a_declaration_gives_titles_and_names_by_language() {
    let names = declared(
        r#"{"name":"search_regulations","title":" ","annotations":{"title":"Search"},"icons":[{"src":"https://x.example/a.png"},{"src":"data:image/png;base64,AAAA"}],
        "_meta":{"dev.toolmark/names":{"nl":"Zoeken","dutch language":"x","de":7,"und":"Any"},"dev.toolmark/spoken":{"nl":"Ik zoek"},"dev.toolmark/category":"Law"}}"#,
    );
    let english = "en".parse().unwrap();
    let dutch = names.shown(&Languages::accept("nl").unwrap(), &english);
    assert_eq!((dutch.name.as_str(), dutch.layer), ("Zoeken", Layer::Declared));
    assert_eq!(dutch.spoken.unwrap().text.as_str(), "Ik zoek");
    assert_eq!(dutch.category.unwrap().as_str(), "Law");
    assert_eq!(dutch.icon.unwrap().as_str(), "data:image/png;base64,AAAA");
    assert_eq!(names.shown(&Languages::default(), &english).name.as_str(), "Any");
    assert_eq!(
        declared(r#"{"name":"a_b","annotations":{"title":"Old"}}"#)
            .shown(&Languages::default(), &english)
            .name
            .as_str(),
        "Old"
    );
}

#[test]
fn names_of_the_wrong_type_say_nothing() {
    let names = declared(
        r#"{"name":"a_b","_meta":{"dev.toolmark/names":[1],"dev.toolmark/spoken":7,"dev.toolmark/icon":"x"}}"#,
    );
    let shown = names.shown(&Languages::default(), &"en".parse().unwrap());
    assert_eq!((shown.name.as_str(), shown.layer, shown.spoken, shown.icon), ("A b", Layer::Humanized, None, None));
}
