use super::*;
use crate::catalog::Catalog;
use crate::document::Document;
use crate::snapshot::Snapshot;

fn catalog(text: &str) -> Catalog {
    Snapshot::of(&Document::new("t.jsonl", text.to_owned()), "p").into_builder().build().unwrap()
}

const OLD: &str = r#"[{"name":"a","description":"Old."},{"name":"b"}]"#;
const NEW: &str = r#"[{"name":"a","description":"New."},{"name":"b"},{"name":"c"}]"#;

fn standings(pins: &Pins) -> Vec<&'static str> {
    catalog(NEW).tools().map(|tool| pins.standing(tool).as_str()).collect()
}

#[test]
fn a_tool_that_is_pinned_nowhere_stands_as_the_policy_says() {
    let accepted = Arc::new(Lock::with_definitions(&catalog(OLD)));
    let pins = Pins::new(None).accepted(accepted);
    assert_eq!(standings(&pins), ["changed", "pinned", "new"]);
    assert_eq!(standings(&pins.clone().first_use(FirstUse::Ask)), ["changed", "pinned", "first-use"]);
    assert_eq!(standings(&pins.first_use(FirstUse::Locked)), ["not-in-lock"; 3], "what was accepted does not count");
}

#[test]
fn the_lock_comes_before_what_was_accepted_where_it_names_a_tool() {
    let locked = Lock::of(&catalog(r#"[{"name":"a","description":"New."}]"#));
    let pins = Pins::new(Some(locked)).accepted(Arc::new(Lock::of(&catalog(OLD))));
    assert_eq!(standings(&pins), ["pinned", "pinned", "new"]);
    assert_eq!(standings(&pins.first_use(FirstUse::Locked)), ["pinned", "not-in-lock", "not-in-lock"]);
}

#[test]
fn what_changed_is_shown_with_its_words_and_a_new_tool_whole() {
    let pins = Pins::new(Some(Lock::with_definitions(&catalog(OLD)))).first_use(FirstUse::Ask);
    let new = catalog(NEW);
    let shown: Vec<Vec<String>> = new.tools().map(|tool| pins.shown(tool)).collect();
    assert_eq!(
        shown[0],
        ["description: the model now reads another text", "description was: Old.", "description is:  New."]
    );
    assert!(shown[1].is_empty());
    assert!(shown[2][0].starts_with("source: "), "{:?}", shown[2]);
}

#[test]
fn another_source_is_shown_as_such() {
    let row = |package: &str| format!(r#"{{"server":"s","package":"{package}","version":"1","name":"a"}}"#);
    let pins = Pins::new(Some(Lock::of(&catalog(&row("npm:good")))));
    let new = catalog(&row("npm:evil"));
    let shown = pins.shown(new.tools().next().unwrap()).join("\n");
    assert!(shown.contains("source was: npm:good") && shown.contains("source is:  npm:evil"), "{shown}");
}

#[test]
fn a_pin_is_read_as_it_was_written() {
    let old = catalog(OLD);
    let tool = old.tools().next().unwrap();
    let pinned = Pinned::whole(tool);
    let text = pinned.to_text("p.a");
    assert_eq!(Pinned::read_text(&text, "a pin").unwrap(), ("p.a".to_owned(), pinned));
    let tampered = text.replace("Old.", "Other.");
    assert!(Pinned::read_text(&tampered, "a pin").is_err(), "the digest is not that of the text");
}
