use std::sync::atomic::AtomicUsize;

use super::*;

/// Counts how often it woke somebody.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Wakes itself so often, then is done.
fn restless(times: u32) -> impl Future<Output = u32> {
    let mut polled = 0;
    std::future::poll_fn(move |cx| {
        polled += 1;
        if polled > times {
            return Poll::Ready(polled);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}

#[test]
fn a_future_that_wakes_itself_is_polled_again_and_nobody_is_woken() {
    let counting = Arc::new(Counting::default());
    let waker = Waker::from(Arc::clone(&counting));
    let mut again = Again::new(restless(2));
    assert_eq!(Pin::new(&mut again).poll(&mut Context::from_waker(&waker)), Poll::Ready(3));
    assert_eq!(counting.0.load(Ordering::SeqCst), 0);
}

#[test]
fn one_that_goes_on_waking_itself_lets_others_have_their_turn_and_is_not_forgotten() {
    let counting = Arc::new(Counting::default());
    let waker = Waker::from(Arc::clone(&counting));
    let mut again = Again::new(restless(10));
    for turn in 1..=2 {
        assert_eq!(Pin::new(&mut again).poll(&mut Context::from_waker(&waker)), Poll::Pending);
        assert_eq!(counting.0.load(Ordering::SeqCst), turn);
    }
    assert_eq!(Pin::new(&mut again).poll(&mut Context::from_waker(&waker)), Poll::Ready(11));
}

#[test]
fn one_that_waits_is_woken_by_whoever_wakes_it_under_the_last_task_that_asked() {
    let (first, second) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
    let held = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&held);
    let mut again = Again::new(std::future::poll_fn(move |cx| {
        *kept.lock().unwrap() = Some(cx.waker().clone());
        Poll::<()>::Pending
    }));
    for task in [&first, &second] {
        let waker = Waker::from(Arc::clone(task));
        assert_eq!(Pin::new(&mut again).poll(&mut Context::from_waker(&waker)), Poll::Pending);
    }
    held.lock().unwrap().take().unwrap().wake();
    assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wake_from_another_thread_is_lost() {
    for _ in 0..2_000 {
        let (send, receive) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(Again::new(async move {
            tokio::task::yield_now().await;
            receive.await
        }));
        tokio::spawn(async move { send.send(7) });
        assert_eq!(waiting.await.unwrap().unwrap(), 7);
    }
}

#[test]
fn what_waits_for_an_answer_is_not_polled_while_nothing_has_happened() {
    let polls = Arc::new(AtomicUsize::new(0));
    let held = Arc::new(Mutex::new(None));
    let (counted, kept) = (Arc::clone(&polls), Arc::clone(&held));
    let mut heard = Heard::new(Box::pin(std::future::poll_fn(move |cx| {
        *kept.lock().unwrap() = Some(cx.waker().clone());
        match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Poll::Pending,
            _ => Poll::Ready("done"),
        }
    })));
    let (first, second) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
    for task in [&first, &second, &second] {
        let waker = Waker::from(Arc::clone(task));
        assert_eq!(Pin::new(&mut heard).poll(&mut Context::from_waker(&waker)), Poll::Pending);
    }
    assert_eq!(polls.load(Ordering::SeqCst), 1);
    let inner: Waker = held.lock().unwrap().take().unwrap();
    inner.wake();
    assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
    let waker = Waker::from(second);
    assert_eq!(Pin::new(&mut heard).poll(&mut Context::from_waker(&waker)), Poll::Ready("done"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wake_of_an_answer_is_lost_either() {
    for _ in 0..2_000 {
        let (send, receive) = tokio::sync::oneshot::channel();
        let answer = Heard::new(Box::pin(async move {
            tokio::task::yield_now().await;
            receive.await
        }));
        let waiting = tokio::spawn(Again::new(answer));
        tokio::spawn(async move { send.send(7) });
        assert_eq!(waiting.await.unwrap().unwrap(), 7);
    }
}
