//! How records get into the audit: through sinks that lose nothing in silence.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use toolmark_core::explain::Explain as _;
use toolmark_store::audit::{AuditFilter, AuditRecord, Bodies, Durability, Order, RecordError, SinkSettings};

use crate::audit_samples::{find, record, sink, whole};
use crate::place::Place;

pub(crate) async fn a_strict_record_is_there_when_the_call_returns(place: &impl Place) {
    let store = place.open().await;
    let settings = SinkSettings { linger: Duration::from_secs(3600), ..SinkSettings::new("node-a") };
    let strict = store.audit_sink(SinkSettings { durability: Durability::Strict, ..settings.clone() });
    strict.record(record(1)).await.expect("written");
    assert_eq!(find(&place.open().await, AuditFilter::default()).await, [1]);
    let batched = store.audit_sink(settings);
    batched.record(record(2)).await.expect("taken");
    batched.record_strictly(record(3)).await.expect("written");
    assert_eq!(find(&place.open().await, AuditFilter::default()).await, [1, 2, 3]);
    batched.record(record(4)).await.expect("taken");
    batched.flush().await.expect("written");
    assert_eq!(find(&place.open().await, AuditFilter::default()).await, [1, 2, 3, 4]);
    batched.flush().await.expect("nothing to write is no reason to wait");
}

pub(crate) async fn closing_loses_nothing_and_takes_nothing_more(place: &impl Place) {
    let store = place.open().await;
    let settings = SinkSettings { linger: Duration::from_secs(3600), ..SinkSettings::new("node-a") };
    let sink = store.audit_sink(settings);
    for at in 0..5000 {
        sink.offer(record(at)).expect("a place");
    }
    sink.close().await.expect("written");
    sink.close().await.expect("closing twice does no harm");
    assert_eq!(whole(&place.open().await).await, 5000);
    assert_eq!(sink.record(record(5000)).await, Err(RecordError::Closed));
    assert!(sink.offer(record(5000)).is_err());
    let error = sink.flush().await.expect_err("closed");
    assert_eq!(error.code().as_str(), "audit-closed");
    let stats = sink.stats();
    assert_eq!((stats.accepted, stats.written, stats.lost), (5000, 5000, 1));
}

pub(crate) async fn dropping_the_last_sink_writes_what_is_left(place: &impl Place) {
    let store = place.open().await;
    let sink = sink(&store);
    for at in 0..10 {
        sink.offer(record(at)).expect("a place");
    }
    drop(sink);
    while find(&store, AuditFilter::default()).await.len() < 10 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(whole(&store).await, 10);
}

pub(crate) async fn several_sinks_share_one_chain(place: &impl Place) {
    let mut tasks = Vec::new();
    for part in 0..4u64 {
        let store = place.open().await;
        tasks.push(tokio::spawn(async move {
            let settings = SinkSettings { batch: 7, linger: Duration::from_millis(1), ..SinkSettings::new("node-a") };
            let sink = store.audit_sink(settings);
            for at in 0..100 {
                sink.record(record(part * 100 + at)).await.expect("taken");
                tokio::task::yield_now().await;
            }
            sink.close().await.expect("written");
        }));
    }
    for task in tasks {
        task.await.expect("no panic");
    }
    let store = place.open().await;
    assert_eq!(whole(&store).await, 400);
    let numbers: BTreeSet<u64> = find(&store, AuditFilter::default()).await.into_iter().collect();
    assert!(numbers.into_iter().eq(0..400));
}

/// More callers than places, half of them strict: each waits its turn, none is lost.
pub(crate) async fn many_callers_at_once_lose_nothing(place: &impl Place) {
    let store = place.open().await;
    let settings =
        SinkSettings { queue: 16, batch: 8, patience: Duration::from_secs(600), ..SinkSettings::new("node-a") };
    let sink = store.audit_sink(settings);
    let mut tasks = Vec::new();
    for caller in 0..20u64 {
        let sink = sink.clone();
        tasks.push(tokio::spawn(async move {
            for at in 0..25 {
                let record = record(caller * 25 + at);
                let kept = if caller % 2 == 0 { sink.record(record).await } else { sink.record_strictly(record).await };
                kept.expect("kept");
            }
        }));
    }
    for task in tasks {
        task.await.expect("no panic");
    }
    sink.close().await.expect("written");
    assert_eq!(whole(&store).await, 500);
    let ids: HashSet<uuid::Uuid> = {
        let found = store.audit(AuditFilter::default(), Order::Newest).all().await.expect("records");
        found.iter().map(|entry| entry.record.id).collect()
    };
    assert_eq!(ids.len(), 500);
    assert_eq!(sink.stats().lost, 0);
}

pub(crate) async fn a_queue_that_is_full_says_so_and_counts(place: &impl Place) {
    let store = place.open().await;
    let settings = SinkSettings {
        queue_bytes: 10_000,
        linger: Duration::from_secs(3600),
        patience: Duration::from_millis(1),
        ..SinkSettings::new("node-a")
    };
    let sink = store.audit_sink(settings);
    let heavy = AuditRecord {
        bodies: Some(Box::new(Bodies { arguments: Some("x".repeat(20_000).into()), result: None })),
        ..record(1)
    };
    assert_eq!(*sink.offer(heavy.clone()).expect_err("too heavy for this queue"), heavy);
    let error = sink.record(heavy).await.expect_err("too heavy for this queue");
    assert_eq!(error.code().as_str(), "audit-queue-full");
    assert_eq!(sink.stats().lost, 1);
    sink.ready().await.expect("there is room for others");
    for at in 0..1000 {
        sink.note(record(at));
    }
    let stats = sink.stats();
    assert!(stats.lost > 500, "{stats:?}");
    assert_eq!(stats.accepted + stats.lost, 1001, "each is either taken or counted");
    sink.close().await.expect("written");
    assert_eq!(sink.ready().await, Err(RecordError::Closed));
    assert_eq!(whole(&store).await, stats.accepted);
}

pub(crate) async fn whoever_asks_for_room_before_loses_nothing(place: &impl Place) {
    let store = place.open().await;
    let settings = SinkSettings { queue: 16, patience: Duration::from_secs(600), ..SinkSettings::new("node-a") };
    let sink = store.audit_sink(settings);
    for at in 0..300 {
        sink.ready().await.expect("room, sooner or later");
        sink.note(record(at));
    }
    sink.close().await.expect("written");
    assert_eq!((sink.stats().lost, whole(&store).await), (0, 300));
}

pub(crate) async fn a_closed_store_says_so(place: &impl Place) {
    let store = place.open().await;
    let settings = SinkSettings { linger: Duration::from_secs(3600), ..SinkSettings::new("node-a") };
    let sink = store.audit_sink(settings);
    sink.offer(record(1)).expect("a place");
    store.close().await.expect("closed");
    store.close().await.expect("closing twice does no harm");
    let error = store.tokens_version().await.expect_err("closed");
    assert_eq!(error.code().as_str(), "store-closed");
    let error = sink.close().await.expect_err("nothing can be written");
    assert_eq!(error.code().as_str(), "store-closed");
    assert_eq!(sink.stats().lost, 1, "what was lost is counted");
}
