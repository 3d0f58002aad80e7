//! Conversations: in order, held by one run at a time, and added to once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolmark_runtime::sessions::{Claimed, SessionKeeper as _};
use toolmark_store::{Micros, TakenThread, ThreadClaim};

use crate::place::Place;

fn texts(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|number| format!("{{\"n\":{number},\"text\":\"ä\u{0}\"}}")).collect()
}

pub(crate) async fn what_was_said_comes_back_in_order(place: &impl Place) {
    let store = place.open().await;
    assert!(store.items("a", None).await.expect("read").is_empty(), "a session that nobody added to is empty");
    store.add("a", &texts(0, 12)).await.expect("kept");
    store.add("b", &texts(50, 51)).await.expect("kept");
    store.add("a", &texts(12, 14)).await.expect("kept");
    let store = place.open().await;
    assert_eq!(store.items("a", None).await.expect("read"), texts(0, 14));
    assert_eq!(store.items("a", Some(3)).await.expect("read"), texts(11, 14));
    assert_eq!(store.items("a", Some(0)).await.expect("read"), texts(0, 0));
    assert_eq!(store.items("a", Some(u64::MAX)).await.expect("read"), texts(0, 14));
    assert!(store.forget_session("a").await.expect("forgotten"));
    assert!(!store.forget_session("a").await.expect("forgotten"));
    assert!(store.items("a", None).await.expect("read").is_empty());
    assert_eq!(store.items("b", None).await.expect("read").len(), 1);
}

pub(crate) async fn sessions_are_listed_by_when_they_changed_with_who_has_them(place: &impl Place) {
    let store = place.open().await;
    assert!(store.sessions(None).await.expect("read").is_empty());
    for (moment, name, many) in [(10, "zero\u{0}", 0), (20, "a", 3), (30, "b", 1)] {
        place.clock().set(moment);
        store.add(name, &texts(0, many)).await.expect("kept");
    }
    assert!(matches!(store.claim("b", "one", None, false).await.expect("claimed"), Claimed::Ours(_)));
    let all = place.open().await.sessions(None).await.expect("read");
    let shown: Vec<_> = all.iter().map(|one| (one.name.as_str(), one.items, one.waits)).collect();
    assert_eq!(shown, [("b", 1, false), ("a", 3, false), ("zero\u{0}", 0, false)]);
    assert_eq!(store.sessions(Some(2)).await.expect("read"), all.get(..2).expect("three"));
    let b = store.session("b").await.expect("read").expect("there");
    assert_eq!(b.held.as_ref().map(|held| (held.run.as_str(), held.until)), Some(("one", None)));
    assert!(b.is_held(b.changed) && b.held.is_some_and(|held| held.since.is_some()));
    assert_eq!(store.session("zero\u{0}").await.expect("read").map(|one| one.items), Some(0));
    assert_eq!(store.session("c").await.expect("read"), None);
}

pub(crate) async fn only_a_session_that_nobody_has_and_nothing_waits_in_is_forgotten_as_idle(place: &impl Place) {
    let store = place.open().await;
    store.add("free", &texts(0, 2)).await.expect("kept");
    assert!(matches!(store.claim("held", "one", None, false).await.expect("claimed"), Claimed::Ours(_)));
    place.clock().set(1_000);
    let (past, future) = (Micros::new(1), Micros::new(i64::MAX / 2));
    for (name, until) in [("late", past), ("page", future), ("asks", future)] {
        let claim = ThreadClaim { thread: name, owner: "me", most: 99, holder: "one", until };
        assert!(matches!(store.take_thread(claim).await.expect("asked"), TakenThread::Ours { .. }));
    }
    assert!(store.leave_thread("asks", "one", &texts(0, 1), Some("a question")).await.expect("left"));
    assert!(store.session("asks").await.expect("read").expect("there").waits);
    for (name, gone) in
        [("free", true), ("late", true), ("held", false), ("page", false), ("asks", false), ("no", false)]
    {
        assert_eq!(store.forget_idle_session(name).await.expect("asked"), gone, "{name}");
        assert_eq!(store.session(name).await.expect("read").is_some(), !gone && name != "no", "{name}");
    }
    assert!(store.items("free", None).await.expect("read").is_empty());
    store.release("held", "one").await.expect("released");
    assert!(store.forget_idle_session("held").await.expect("forgotten"));
    assert!(store.forget_session("asks").await.expect("forgotten"), "whoever insists is obeyed");
}

pub(crate) async fn a_session_is_held_by_one_run_at_a_time(place: &impl Place) {
    let store = place.open().await;
    store.add("s", &texts(0, 2)).await.expect("kept");
    assert_eq!(store.claim("s", "one", Some(1), false).await.expect("claimed"), Claimed::Ours(texts(1, 2)));
    assert_eq!(store.claim("s", "two", None, false).await.expect("asked"), Claimed::Held);
    // In another process, and again for the run that has it: nothing changes.
    let other = place.open().await;
    assert_eq!(other.claim("s", "two", None, false).await.expect("asked"), Claimed::Held);
    assert_eq!(other.claim("s", "one", None, false).await.expect("claimed"), Claimed::Ours(texts(0, 2)));
    other.release("s", "two").await.expect("nothing to release");
    assert_eq!(store.claim("s", "two", None, false).await.expect("asked"), Claimed::Held);
    other.release("s", "one").await.expect("released");
    assert_eq!(store.claim("s", "two", None, false).await.expect("claimed"), Claimed::Ours(texts(0, 2)));
    assert_eq!(store.claim("elsewhere", "one", None, false).await.expect("claimed"), Claimed::Ours(Vec::new()));
}

pub(crate) async fn a_run_says_what_it_says_once(place: &impl Place) {
    let store = place.open().await;
    assert!(matches!(store.claim("s", "one", None, false).await.expect("claimed"), Claimed::Ours(_)));
    for _ in 0..3 {
        assert!(store.finish("s", "one", &texts(0, 3)).await.expect("finished"));
    }
    assert_eq!(store.items("s", None).await.expect("read"), texts(0, 3));
    // It was given back, so that the next can have it; the first still says nothing twice.
    assert!(matches!(store.claim("s", "two", None, false).await.expect("claimed"), Claimed::Ours(_)));
    assert!(store.finish("s", "one", &texts(0, 3)).await.expect("finished"));
    assert!(matches!(store.claim("s", "three", None, false).await.expect("asked"), Claimed::Held), "two still has it");
    assert!(store.finish("s", "two", &texts(3, 4)).await.expect("finished"));
    assert_eq!(store.items("s", None).await.expect("read"), texts(0, 4));
}

pub(crate) async fn whoever_lost_a_session_adds_nothing(place: &impl Place) {
    let store = place.open().await;
    assert!(!store.finish("s", "nobody", &texts(0, 1)).await.expect("asked"), "it was never claimed");
    assert!(matches!(store.claim("s", "one", None, false).await.expect("claimed"), Claimed::Ours(_)));
    assert!(matches!(store.claim("s", "two", None, true).await.expect("claimed"), Claimed::Ours(_)), "taken over");
    assert!(!store.finish("s", "one", &texts(0, 1)).await.expect("asked"));
    store.release("s", "one").await.expect("nothing to release");
    assert!(store.finish("s", "two", &texts(1, 2)).await.expect("finished"));
    assert!(!store.finish("s", "one", &texts(0, 1)).await.expect("asked"));
    assert_eq!(store.items("s", None).await.expect("read"), texts(1, 2));
}

pub(crate) async fn many_runs_that_want_one_session_get_it_one_by_one(place: &impl Place) {
    let store = place.open().await;
    let held = Arc::new(AtomicUsize::new(0));
    let runs: Vec<_> = (0..12)
        .map(|number| {
            let (store, held) = (store.clone(), Arc::clone(&held));
            tokio::spawn(async move {
                let run = format!("run-{number}");
                loop {
                    match store.claim("busy", &run, None, false).await.expect("asked") {
                        Claimed::Held => tokio::task::yield_now().await,
                        Claimed::Ours(before) => {
                            assert_eq!(held.fetch_add(1, Ordering::SeqCst) % 2, 0, "nobody else has it");
                            let pair = [format!("{run} asks after {}", before.len()), format!("{run} hears")];
                            assert_eq!(held.fetch_add(1, Ordering::SeqCst) % 2, 1);
                            assert!(store.finish("busy", &run, &pair).await.expect("finished"));
                            return;
                        }
                    }
                }
            })
        })
        .collect();
    for run in runs {
        run.await.expect("it had its turn");
    }
    let all = store.items("busy", None).await.expect("read");
    assert_eq!(all.len(), 24);
    for (at, pair) in all.chunks(2).enumerate() {
        let run = pair[0].split(' ').next().expect("a name");
        assert_eq!(pair, [format!("{run} asks after {}", at * 2), format!("{run} hears")]);
    }
}

pub(crate) async fn the_last_item_can_be_taken_back_and_everything_forgotten(place: &impl Place) {
    let store = place.open().await;
    assert_eq!(store.pop("s").await.expect("popped"), None);
    store.add("s", &texts(0, 3)).await.expect("kept");
    assert_eq!(store.pop("s").await.expect("popped"), texts(2, 3).pop());
    store.add("s", &texts(7, 8)).await.expect("kept");
    assert_eq!(store.items("s", None).await.expect("read"), [texts(0, 2), texts(7, 8)].concat());
    store.clear("s").await.expect("cleared");
    store.clear("s").await.expect("cleared");
    assert!(store.items("s", None).await.expect("read").is_empty());
    store.add("s", &texts(1, 2)).await.expect("kept");
    assert_eq!(store.items("s", None).await.expect("read"), texts(1, 2));
}

pub(crate) async fn the_oldest_items_make_room_for_fewer_in_one_step(place: &impl Place) {
    let store = place.open().await;
    store.add("s", &texts(0, 6)).await.expect("kept");
    store.add("other", &texts(0, 6)).await.expect("kept");
    assert!(!store.replace("s", "one", 2, &texts(90, 91)).await.expect("asked"), "nobody has it");
    assert!(matches!(store.claim("s", "one", None, false).await.expect("claimed"), Claimed::Ours(_)));
    assert!(!store.replace("s", "two", 2, &texts(90, 91)).await.expect("asked"), "another has it");
    assert!(!store.replace("s", "one", 7, &texts(90, 91)).await.expect("asked"), "there are not so many");
    assert!(!store.replace("s", "one", 1, &texts(90, 92)).await.expect("asked"), "there would be more");
    assert!(!store.replace("s", "one", 0, &[]).await.expect("asked"));
    assert_eq!(store.items("s", None).await.expect("read"), texts(0, 6));
    assert!(store.replace("s", "one", 4, &texts(90, 92)).await.expect("replaced"));
    let now: Vec<String> = texts(90, 92).into_iter().chain(texts(4, 6)).collect();
    assert_eq!(store.items("s", None).await.expect("read"), now);
    assert!(store.replace("s", "one", 4, &[]).await.expect("replaced"), "all of them");
    assert!(store.finish("s", "one", &texts(6, 8)).await.expect("finished"));
    let store = place.open().await;
    assert_eq!(store.items("s", None).await.expect("read"), texts(6, 8));
    assert_eq!(store.items("other", None).await.expect("read"), texts(0, 6));
}
