//! Threads: held for a while, and what waits in them is taken up by one.

use toolmark_runtime::sessions::SessionKeeper as _;
use toolmark_store::{Micros, Store, TakenThread, ThreadClaim, TrimmedThreads};

use crate::place::Place;

/// After every moment of a store in tests.
const LATER: Micros = Micros::new(i64::MAX);
/// Before every one.
const GONE: Micros = Micros::new(-1);

/// Takes a thread of somebody who may have many; what waits in it, unless somebody else has it.
async fn take(store: &Store, thread: &str, holder: &str, until: Micros) -> Option<Option<String>> {
    match store.take_thread(ThreadClaim { thread, owner: "me", most: 99, holder, until }).await.expect("asked") {
        TakenThread::Ours { waits, forgotten: 0 } => Some(waits),
        TakenThread::Held => None,
        other => panic!("{other:?}"),
    }
}

/// Begins a thread of an owner who may have so many.
async fn begin(store: &Store, thread: &str, owner: &str, most: u32) -> TakenThread {
    store.take_thread(ThreadClaim { thread, owner, most, holder: "h", until: LATER }).await.expect("asked")
}

/// The same, and gives it back with what was said and what waits.
async fn said(store: &Store, thread: &str, owner: &str, most: u32, waits: Option<&str>) -> TakenThread {
    let taken = begin(store, thread, owner, most).await;
    if matches!(taken, TakenThread::Ours { .. }) {
        assert!(store.leave_thread(thread, "h", &texts(&[thread]), waits).await.expect("left"));
    }
    taken
}

async fn threads(store: &Store) -> Vec<String> {
    let kept = store.sessions(None).await.expect("sessions");
    let mut names: Vec<String> = kept.into_iter().map(|kept| kept.name).collect();
    names.sort();
    names
}

const fn new(forgotten: u64) -> TakenThread {
    TakenThread::Ours { waits: None, forgotten }
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| format!("{{\"text\":\"{text}\u{0}\"}}")).collect()
}

pub(crate) async fn a_thread_is_held_by_one_until_it_is_given_back(place: &impl Place) {
    let store = place.open().await;
    assert_eq!(take(&store, "t", "one", LATER).await, Some(None));
    assert_eq!(take(&store, "t", "two", LATER).await, None);
    let other = place.open().await;
    assert_eq!(take(&other, "t", "two", LATER).await, None, "in another process too");
    assert_eq!(take(&other, "t", "one", LATER).await, Some(None), "whoever has it has it");
    assert!(!other.leave_thread("t", "two", &texts(&["x"]), Some("w")).await.expect("asked"));
    assert!(store.leave_thread("t", "one", &texts(&["a", "b"]), Some("waiting\u{0}")).await.expect("left"));
    assert!(!store.leave_thread("t", "one", &texts(&["c"]), None).await.expect("asked"), "once");
    assert_eq!(other.items("t", None).await.expect("read"), texts(&["a", "b"]));
    assert_eq!(take(&other, "t", "two", LATER).await, Some(Some("waiting\u{0}".into())));
    assert!(other.leave_thread("t", "two", &texts(&["c"]), None).await.expect("left"));
    assert_eq!(take(&store, "t", "three", LATER).await, Some(None), "nothing waits any more");
    assert_eq!(store.items("t", None).await.expect("read"), texts(&["a", "b", "c"]));
}

pub(crate) async fn whoever_does_not_keep_a_thread_loses_it_and_what_waits_stays(place: &impl Place) {
    let store = place.open().await;
    assert_eq!(take(&store, "t", "one", LATER).await, Some(None));
    assert!(store.leave_thread("t", "one", &[], Some("w")).await.expect("left"));
    assert_eq!(take(&store, "t", "two", GONE).await, Some(Some("w".into())));
    // Its process ended: the next has what it was given.
    assert_eq!(take(&store, "t", "three", LATER).await, Some(Some("w".into())));
    assert!(!store.keep_thread("t", "two", LATER).await.expect("asked"));
    assert!(!store.leave_thread("t", "two", &texts(&["late"]), None).await.expect("asked"));
    assert!(store.keep_thread("t", "three", LATER).await.expect("kept"));
    assert_eq!(take(&store, "t", "four", LATER).await, None);
    assert!(store.items("t", None).await.expect("read").is_empty());
}

pub(crate) async fn whoever_has_as_many_threads_as_may_be_loses_the_oldest_that_waits_for_nobody(place: &impl Place) {
    let (store, other) = (place.open().await, place.open().await);
    let at = |micros| place.clock().set(micros);
    store.add("notes", &texts(&["kept"])).await.expect("added");
    for (time, thread) in [(10, "a"), (20, "b"), (30, "c")] {
        at(time);
        assert_eq!(said(&store, thread, "me\u{0}", 3, None).await, new(0));
    }
    assert_eq!(said(&store, "z", "you", 3, None).await, new(0), "everybody has threads of their own");
    at(40);
    assert_eq!(said(&store, "a", "me\u{0}", 3, Some("w")).await, new(0), "one that is there takes no room");
    at(50);
    assert_eq!(said(&other, "d", "me\u{0}", 3, None).await, new(1));
    assert_eq!(threads(&store).await, ["a", "c", "d", "notes", "z"], "`b` was not used for longest");
    assert!(store.items("b", None).await.expect("read").is_empty(), "what was said went with it");
    at(60);
    assert_eq!(begin(&store, "c", "me\u{0}", 3).await, new(0));
    assert_eq!(said(&store, "e", "me\u{0}", 3, Some("w")).await, new(1), "`d`, since somebody has `c`");
    assert_eq!(said(&other, "f", "me\u{0}", 3, None).await, TakenThread::Full, "two wait, and somebody has the third");
    assert_eq!(threads(&store).await, ["a", "c", "e", "notes", "z"], "nothing was changed");
    assert_eq!(
        said(&store, "a", "me\u{0}", 3, None).await,
        TakenThread::Ours { waits: Some("w".into()), forgotten: 0 }
    );
    assert_eq!(said(&store, "f", "me\u{0}", 3, None).await, new(1), "nothing waits in `a` any more");
    // Whoever may have fewer than before has fewer from the next new one on.
    assert!(store.leave_thread("c", "h", &[], None).await.expect("left"));
    assert_eq!(said(&store, "g", "me\u{0}", 2, None).await, new(2));
    assert_eq!(threads(&store).await, ["e", "g", "notes", "z"]);
    assert_eq!(store.items("notes", None).await.expect("read"), texts(&["kept"]));
}

pub(crate) async fn many_who_begin_threads_at_once_have_no_more_than_may_be(place: &impl Place) {
    let store = place.open().await;
    let others = [place.open().await, place.open().await];
    let all = (0..24).map(|number| {
        let store = others[number % 2].clone();
        tokio::spawn(async move { said(&store, &format!("t{number}"), "me", 5, None).await })
    });
    for one in all.collect::<Vec<_>>() {
        // All five may be held at one moment.
        assert!(matches!(one.await.expect("no panic"), TakenThread::Ours { waits: None, .. } | TakenThread::Full));
    }
    assert!(threads(&store).await.len() <= 5, "{:?}", threads(&store).await);
}

pub(crate) async fn threads_that_nobody_used_go_and_what_is_held_or_waits_stays(place: &impl Place) {
    let (store, other) = (place.open().await, place.open().await);
    place.clock().set(100);
    store.add("notes", &texts(&["kept"])).await.expect("added");
    for thread in ["idle", "held", "lost"] {
        assert_eq!(said(&store, thread, "me", 99, None).await, new(0));
    }
    assert_eq!(said(&store, "waits", "me", 99, Some("w")).await, new(0));
    assert_eq!(begin(&store, "held", "me", 99).await, new(0));
    assert_eq!(take(&store, "lost", "somebody", Micros::new(150)).await, Some(None));
    place.clock().set(200);
    assert_eq!(said(&store, "new", "me", 99, None).await, new(0));
    let step =
        async |idle, waiting| store.trim_threads_step(Micros::new(idle), Micros::new(waiting)).await.expect("trimmed");
    assert_eq!(step(100, 100).await, TrimmedThreads::default(), "from before that moment, not of it");
    assert_eq!(step(101, 100).await, TrimmedThreads { idle: 2, waiting: 0 });
    assert_eq!(threads(&other).await, ["held", "new", "notes", "waits"], "whoever gave no sign of life has lost it");
    assert!(store.items("idle", None).await.expect("read").is_empty());
    assert_eq!(step(101, 101).await, TrimmedThreads { idle: 0, waiting: 1 });
    assert!(store.leave_thread("held", "h", &texts(&["on"]), None).await.expect("left"), "who has it goes on");
    assert_eq!(step(101, 101).await, TrimmedThreads::default(), "it was just used");
    // A thread that is gone can be begun again, in any process.
    assert_eq!(said(&other, "idle", "me", 99, None).await, new(0));
    assert_eq!(store.items("idle", None).await.expect("read"), texts(&["idle"]));
    assert_eq!(store.items("notes", None).await.expect("read"), texts(&["kept"]), "no thread, and nobody's to forget");
}

pub(crate) async fn old_threads_go_a_few_at_a_time_in_several_processes(place: &impl Place) {
    let (store, other) = (place.open().await, place.open().await);
    for number in 0..120 {
        assert_eq!(said(&store, &format!("t{number:03}"), "me", 1_000, None).await, new(0));
    }
    let mut gone = Vec::new();
    loop {
        let later = Micros::new(1);
        let (one, two) = tokio::join!(store.trim_threads_step(later, later), other.trim_threads_step(later, later));
        let both = [one.expect("trimmed").idle, two.expect("trimmed").idle];
        gone.extend(both);
        if both == [0, 0] {
            break;
        }
    }
    assert_eq!(gone.iter().sum::<u64>(), 120, "each went once: {gone:?}");
    assert!(gone.iter().all(|step| *step <= 50), "{gone:?}");
    assert!(threads(&store).await.is_empty());
}
