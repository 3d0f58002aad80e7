//! Who hears what of calls, and what nobody hears.

use std::sync::Arc;

use toolmark_config::sections::Audit;
use toolmark_policy::Caller;
use toolmark_runtime::{NoRecords, Origin, Recorder as _, Stray, StrayKind};

use super::*;

fn stray(lookup: &str) -> Stray<'_> {
    Stray {
        lookup,
        tool: None,
        caller: Caller::new("ann"),
        origin: Origin::default(),
        task: None,
        arguments_size: 2,
        kind: StrayKind::Unknown,
    }
}

fn hub() -> (Arc<Hub>, Shown) {
    let hub = Arc::new(Hub::new(&Audit::default()));
    (Arc::clone(&hub), Shown::new(hub, Arc::new(NoRecords)))
}

fn name(heard: Option<Heard>) -> String {
    match heard {
        Some(Heard::Event(LiveEvent::Ended(call) | LiveEvent::Begun(call))) => call.called.to_string(),
        Some(Heard::Missed(missed)) => format!("missed {missed}"),
        None => "nothing".into(),
    }
}

#[test]
fn nothing_is_kept_while_nobody_looks() {
    let (hub, shown) = hub();
    assert!(!shown.is_watched());
    shown.stray(&stray("one"));
    assert_eq!(hub.seq(), 0);
    let mut listener = hub.subscribe();
    assert!(shown.is_watched());
    assert_eq!(name(listener.waiting()), "nothing");
    shown.stray(&stray("two"));
    assert_eq!(name(listener.waiting()), "two");
    assert_eq!(hub.recent().ended.len(), 1);
    drop(listener);
    assert!(!shown.is_watched());
    assert_eq!(hub.recent().ended.len(), 0, "what was seen is forgotten when the last one leaves");
}

#[test]
fn every_listener_hears_everything_in_order() {
    let (hub, shown) = hub();
    let (mut one, mut other) = (hub.subscribe(), hub.subscribe());
    for name in ["a", "b", "c"] {
        shown.stray(&stray(name));
    }
    for listener in [&mut one, &mut other] {
        assert_eq!([0; 3].map(|_| name(listener.waiting())), ["a", "b", "c"]);
    }
    drop(one);
    shown.stray(&stray("d"));
    assert_eq!(name(other.waiting()), "d");
}

#[test]
fn a_listener_that_is_too_slow_hears_how_much_it_missed_and_then_the_rest() {
    let (hub, shown) = hub();
    let mut slow = hub.subscribe();
    for _ in 0..BEHIND + 5 {
        shown.stray(&stray("x"));
    }
    assert_eq!(name(slow.waiting()), "missed 5");
    let rest = std::iter::from_fn(|| slow.waiting()).count();
    assert_eq!(rest, BEHIND);
    assert_eq!(hub.recent().ended.len(), KEPT);
}

#[test]
fn what_is_called_is_made_safe_to_show() {
    let (hub, shown) = hub();
    let mut listener = hub.subscribe();
    shown.stray(&stray("a\u{202E}b\n"));
    assert_eq!(name(listener.waiting()), "a\\u{202e}b\\u{a}");
    let long = "x".repeat(100_000);
    shown.stray(&stray(&long));
    assert!(name(listener.waiting()).len() < 1_000);
}

#[test]
fn a_text_is_cut_between_characters() {
    assert_eq!(shortened("aäb", 2), ("a".into(), true));
    assert_eq!(shortened("aäb", 4), ("aäb".into(), false));
    assert_eq!(shortened("a\u{200B}b", 99), ("a\\u{200b}b".into(), false));
}
