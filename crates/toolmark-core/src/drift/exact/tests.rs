use super::*;
use crate::document::Document;
use crate::lock::Lock;
use crate::snapshot::Snapshot;

fn parts(old: &str, new: &str) -> Vec<(String, String, String)> {
    let catalog = |text: &str| {
        let text = format!("[{{\"name\":\"t\",{text}}}]");
        Snapshot::of(&Document::new("t.jsonl", text), "p").into_builder().build().unwrap()
    };
    let lock = Lock::with_definitions(&catalog(old));
    let new = catalog(new);
    let said = exactly(lock.get("p.t"), new.tools().next().unwrap());
    said.iter().map(|part| (part.part.clone(), part.was.to_string(), part.is.to_string())).collect()
}

fn texts(old: &str, new: &str) -> (String, String) {
    let all = parts(&format!("\"description\":{old}"), &format!("\"description\":{new}"));
    assert_eq!(all.len(), 1, "{all:?}");
    (all[0].1.clone(), all[0].2.clone())
}

#[test]
fn each_changed_part_is_shown_as_it_was_and_as_it_is() {
    let all = parts(r#""description":"Adds.","title":"A""#, r#""description":"Adds twice.","icons":[]"#);
    let expected = [("description", "Adds.", "Adds twice."), ("icons", "(nothing)", "[]"), ("title", "A", "(nothing)")];
    let expected: Vec<_> =
        expected.iter().map(|(part, was, is)| (part.to_string(), was.to_string(), is.to_string())).collect();
    assert_eq!(all, expected);
}

#[test]
fn what_nobody_sees_is_written_out() {
    assert_eq!(
        texts(r#""ab""#, r#""a\u{db40}\u{dc41}b""#.replace("u{db40}", "udb40").replace("u{dc41}", "udc41").as_str()).1,
        "a\\u{e0041}b"
    );
}

#[test]
fn one_word_in_a_long_text_is_shown_with_its_surroundings_and_the_rest_is_counted() {
    let text = |word: &str| format!("\"{}{word}{}\"", "a".repeat(500), "z".repeat(700));
    let (was, is) = texts(&text(" may "), &text(" must "));
    assert!(was.starts_with("[442 characters as before] …") && was.ends_with("… [641 characters as before]"), "{was}");
    assert!(was.contains(" may ") && is.contains(" must "), "{was} {is}");
    assert!(is.chars().count() < 220, "{is}");
}

#[test]
fn a_repeated_end_is_not_counted_twice() {
    assert_eq!(texts(r#""aa""#, r#""aaa""#), ("aa".into(), "aaa".into()));
    assert_eq!(texts(r#""aaa""#, r#""aa""#), ("aaa".into(), "aa".into()));
    assert_eq!(texts(r#""""#, r#""é""#), (String::new(), "é".into()));
}

#[test]
fn a_lock_without_texts_says_that_it_kept_none() {
    let catalog =
        |text: &str| Snapshot::of(&Document::new("t.jsonl", text.to_owned()), "p").into_builder().build().unwrap();
    let lock = Lock::of(&catalog(r#"[{"name":"t","description":"old"}]"#));
    let new = catalog(r#"[{"name":"t","description":"new"}]"#);
    let said = exactly(lock.get("p.t"), new.tools().next().unwrap());
    assert_eq!(said.len(), 1);
    assert_eq!((said[0].was(), said[0].is()), (&Said::NotKept, &Said::Text("new".into())));
}

#[test]
fn of_a_tool_that_nobody_pinned_everything_is_shown() {
    let catalog = Snapshot::of(&Document::new("t.jsonl", r#"[{"name":"t","description":"d"}]"#.to_owned()), "p");
    let catalog = catalog.into_builder().build().unwrap();
    let said = exactly(None, catalog.tools().next().unwrap());
    let parts: Vec<&str> = said.iter().map(PartTexts::part).collect();
    assert_eq!(parts, ["source", "description"]);
}
