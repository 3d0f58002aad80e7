use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;

use super::*;
use crate::downstream::answer::Answer;
use crate::downstream::caller::{Caller, Client};
use crate::downstream::context::Context;
use crate::downstream::exchange::{Exchange, Way};
use crate::downstream::incoming::{Incoming, Input, Via};
use crate::downstream::service::{About, Service};
use crate::wire::version::ProtocolVersion;
use crate::wire::{Id, RawObject};

/// Never answers, and counts the calls that were dropped.
#[derive(Default)]
struct Endless(Arc<AtomicUsize>);

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Service for Endless {
    async fn call(&self, _: Incoming, _: Context) -> Answer {
        let _dropped = Dropped(Arc::clone(&self.0));
        std::future::pending().await
    }

    fn about(&self, _: &Caller) -> Arc<About> {
        let capabilities = RawObject::empty();
        Arc::new(About { server_info: Bytes::new(), capabilities, instructions: None, ttl_ms: 0, public: false })
    }
}

async fn run(service: &Arc<Endless>) -> Run {
    run_of(service, "alice").await
}

async fn run_of(service: &Arc<Endless>, name: &str) -> Run {
    let (version, client) = (ProtocolVersion::V2026_07_28, Client::new(None, Bytes::from_static(b"{}")));
    let exchange =
        Exchange::new(version, Caller::new(name), client.clone(), None, true, Duration::from_secs(1), Way::default());
    let request = Incoming {
        version,
        id: Id::number(1),
        method: "tools/call".into(),
        params: RawObject::empty(),
        caller: Caller::new(name),
        client,
        session: None,
        input: Input::default(),
        via: Via::Pipe,
    };
    let mut run = Run::start(Arc::clone(service), request, Arc::new(exchange), None);
    // Far enough to have begun.
    std::future::poll_fn(|cx| {
        assert!(run.poll(cx).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    run
}

async fn until_dropped(service: &Endless, count: usize) {
    while service.0.load(Ordering::SeqCst) < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_call_that_waits_too_long_is_cancelled() {
    let (lot, service) = (Lot::default(), Arc::new(Endless::default()));
    lot.park(run(&service).await, 10, 5).unwrap();
    lot.park(run(&service).await, 11, 5).unwrap();
    lot.sweep(9);
    assert_eq!(lot.len(), 2);
    lot.sweep(10);
    assert_eq!(lot.len(), 1);
    until_dropped(&service, 1).await;
    lot.clear();
    until_dropped(&service, 2).await;
}

#[tokio::test]
async fn a_call_that_finds_no_room_is_cancelled() {
    let (lot, service) = (Lot::default(), Arc::new(Endless::default()));
    assert!(lot.park(run(&service).await, 10, 0).is_none());
    until_dropped(&service, 1).await;
}

#[tokio::test]
async fn a_call_is_taken_out_once() {
    let (lot, service) = (Lot::default(), Arc::new(Endless::default()));
    let id = lot.park(run(&service).await, 10, 5).unwrap();
    assert!(lot.take(b"something else").is_none());
    assert!(lot.take(&id).is_some());
    assert!(lot.take(&id).is_none());
}

#[tokio::test]
async fn a_call_of_whoever_has_most_makes_room_for_somebody_who_has_fewer() {
    let (lot, service) = (Lot::default(), Arc::new(Endless::default()));
    let later = lot.park(run_of(&service, "alice").await, 11, 3).unwrap();
    let first = lot.park(run_of(&service, "alice").await, 10, 3).unwrap();
    let last = lot.park(run_of(&service, "alice").await, 12, 3).unwrap();
    assert!(lot.park(run_of(&service, "alice").await, 13, 3).is_none(), "who has all of them waits");
    until_dropped(&service, 1).await;
    let other = lot.park(run_of(&service, "bob").await, 13, 3).unwrap();
    until_dropped(&service, 2).await;
    assert!(lot.take(&first).is_none(), "the one that waited longest has gone");
    assert!(lot.park(run_of(&service, "bob").await, 14, 2).is_none(), "nobody takes more than the others have");
    for id in [later, last, other] {
        assert!(lot.take(&id).is_some());
    }
}
