use super::*;

/// A connection that never ends by itself.
fn endless(open: &mut Open) -> (Arc<Line>, tokio::task::JoinHandle<()>) {
    let (line, counted) = (Arc::<Line>::default(), open.one_more());
    let task = tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop(counted);
    });
    open.keep(Arc::downgrade(&line), task.abort_handle());
    (line, task)
}

async fn is_closed(task: tokio::task::JoinHandle<()>) -> bool {
    tokio::time::timeout(Duration::from_secs(10), task).await.is_ok_and(|ended| ended.is_err())
}

#[tokio::test]
async fn the_first_to_go_is_the_oldest_that_never_said_anything() {
    let mut open = Open::default();
    let (spoken, first) = endless(&mut open);
    spoken.heard(false);
    let (_silent, second) = endless(&mut open);
    let (_later, third) = endless(&mut open);
    assert!(open.has_room(4), "one more fits");
    assert!(open.has_room(3), "one gives way");
    assert!(is_closed(second).await);
    assert!(!first.is_finished() && !third.is_finished());
    assert_eq!(open.count().load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn one_that_was_used_since_the_last_look_stays_and_one_in_use_always_does() {
    let mut open = Open::default();
    let (in_use, first) = endless(&mut open);
    let (used, second) = endless(&mut open);
    let (idle, third) = endless(&mut open);
    for line in [&in_use, &used, &idle] {
        line.heard(false);
    }
    let request = Arc::clone(&in_use);
    assert!(!open.make_room(), "all of them were used a moment ago");
    used.heard(false);
    assert!(open.make_room());
    assert!(is_closed(third).await);
    drop(idle);
    assert!(open.make_room(), "used once, and not again");
    assert!(is_closed(second).await);
    drop(used);
    assert!(!open.make_room() && !open.has_room(1), "what is in use is not closed");
    in_use.listens();
    assert!(open.make_room(), "unless somebody only listens");
    assert!(is_closed(first).await);
    drop(request);
}

#[tokio::test]
async fn what_is_over_is_not_remembered() {
    let mut open = Open::default();
    for _ in 0..1_000 {
        let (_line, task) = endless(&mut open);
        task.abort();
        let _ = task.await;
    }
    assert!(open.silent.len() + open.known.len() <= 2 * LOOKED_AT, "{}", open.silent.len());
}

#[test]
fn listening_says_nothing_where_several_requests_share_a_connection() {
    let line = Line::default();
    line.heard(true);
    line.listens();
    assert!(!line.listens.load(Ordering::Relaxed));
}

#[test]
fn there_is_always_room_for_some_and_never_for_all_files() {
    assert!((LEAST..=MOST).contains(&most()));
}
