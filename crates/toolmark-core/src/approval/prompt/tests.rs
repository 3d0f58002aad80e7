use super::super::Scope;
use super::super::ask::samples::ask;

#[test]
fn what_the_person_sees_is_what_the_model_wrote_tag_characters_and_all() {
    let mut ask = ask(r#"{"to":"bob\u202Eexe.gpj\uDB40\uDC41"}"#);
    ask.arguments = "{\"to\":\"bob\u{202e}exe\u{e0041}\u{200b}\"}".into();
    let prompt = ask.prompt();
    assert!(prompt.text().contains(r"bob\u{202e}exe\u{e0041}\u{200b}"), "{}", prompt.text());
    assert!(!prompt.text().contains('\u{202e}'));
    assert!(prompt.is_whole(), "shown in full, only spelled out");
}

#[test]
fn what_cannot_be_shown_whole_says_so_and_offers_no_sticky_scope() {
    let ask = ask(&format!(r#"{{"text":"{}"}}"#, "x".repeat(5000)));
    let prompt = ask.prompt();
    assert!(!prompt.is_whole());
    assert!(prompt.text().contains("more characters are not shown"), "{}", prompt.text());
    assert_eq!(ask.offered(), [Scope::Once]);
}

#[test]
fn too_many_effects_are_counted_and_make_the_prompt_incomplete() {
    let mut ask = ask("{}");
    ask.effects = (0..40).map(|number| format!("DELETE {number}")).collect();
    assert!(ask.prompt().text().contains("28 more are not shown"));
    assert_eq!(ask.offered(), [Scope::Once]);
}

#[test]
fn every_line_of_a_cut_prompt_is_safe() {
    let ask = ask(&format!(r#"{{"a":"{}","b":"{}"}}"#, "y".repeat(3990), "\u{e0041}".repeat(50)));
    assert!(!ask.prompt().text().chars().any(|character| character == '\u{e0041}'));
}

#[test]
fn a_change_is_shown_in_full_when_a_person_can_read_it_and_once_only_when_not() {
    let mut ask = ask("{}");
    ask.changes = vec![format!("description was: {}", "x".repeat(900)), "description is:  short\u{e0041}".into()];
    let prompt = ask.prompt();
    assert!(prompt.text().contains(&"x".repeat(900)) && prompt.text().contains(r"short\u{e0041}"), "{}", prompt.text());
    assert!(prompt.is_whole() && ask.offered().contains(&Scope::Always));
    ask.changes.push(format!("title is: {}", "y".repeat(4000)));
    let prompt = ask.prompt();
    assert!(prompt.text().contains("more characters are not shown"), "{}", prompt.text());
    assert_eq!((prompt.is_whole(), ask.offered()), (false, vec![Scope::Once]));
}
