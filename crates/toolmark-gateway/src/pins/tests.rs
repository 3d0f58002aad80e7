use toolmark_core::catalog::Catalog;
use toolmark_core::document::Document;
use toolmark_core::pins::{FirstUse, Pins};
use toolmark_core::snapshot::Snapshot;
use toolmark_runtime::WorkspaceBuilder;

use super::*;

fn catalog(description: &str) -> Catalog {
    let text = format!(r#"[{{"name":"a","description":"{description}"}}]"#);
    Snapshot::of(&Document::new("t.jsonl", text), "p").into_builder().build().unwrap()
}

/// Lists a tool so, and says how it stands, and whether there is something to write.
fn listed(book: &PinBook, description: &str, first_use: FirstUse) -> (Standing, bool) {
    let pins = Pins::new(None).accepted(book.accepted()).first_use(first_use);
    let workspace = WorkspaceBuilder::new().pins(pins).build(catalog(description)).unwrap();
    let new = book.look(&workspace, workspace.catalog().tools());
    (workspace.standing(workspace.catalog().tools().next().unwrap()), new)
}

#[test]
fn what_is_seen_first_is_pinned_at_once_and_what_comes_after_is_held() {
    let book = PinBook::default();
    assert_eq!(listed(&book, "old", FirstUse::Trust), (Standing::New, true));
    assert_eq!(listed(&book, "old", FirstUse::Trust), (Standing::Pinned, false));
    assert_eq!(listed(&book, "new", FirstUse::Trust), (Standing::Changed, false), "before anything was written down");
    assert_eq!(listed(&book, "new", FirstUse::Trust), (Standing::Changed, false), "a change is not pinned by itself");
    assert!(book.is_unsaved());
}

#[test]
fn nothing_is_pinned_by_being_seen_unless_it_is_trusted() {
    let book = PinBook::default();
    assert_eq!(listed(&book, "old", FirstUse::Ask), (Standing::FirstUse, false));
    assert_eq!(listed(&book, "old", FirstUse::Locked), (Standing::NotInLock, false));
    assert!(!book.is_unsaved());
}

#[test]
fn what_another_node_pinned_first_stands() {
    let book = PinBook::default();
    listed(&book, "ours", FirstUse::Trust);
    assert!(book.take(Lock::with_definitions(&catalog("theirs"))), "something else is pinned now");
    assert!(!book.is_unsaved());
    assert_eq!(listed(&book, "ours", FirstUse::Trust), (Standing::Changed, false));
    assert_eq!(listed(&book, "theirs", FirstUse::Trust), (Standing::Pinned, false));
}

#[test]
fn a_pin_that_was_forgotten_is_made_anew_and_one_that_is_not_written_yet_is_kept() {
    let book = PinBook::default();
    listed(&book, "old", FirstUse::Trust);
    assert!(!book.take(Lock::default()), "the store does not have it yet");
    assert_eq!(listed(&book, "new", FirstUse::Trust), (Standing::Changed, false));
    book.take(Lock::with_definitions(&catalog("old")));
    assert!(book.take(Lock::default()), "it was there, and was forgotten");
    assert_eq!(listed(&book, "new", FirstUse::Trust), (Standing::New, true));
}
