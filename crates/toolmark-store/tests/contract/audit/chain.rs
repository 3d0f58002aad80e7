//! Whether the chain of records is whole, whatever is added and whatever is trimmed.

use toolmark_store::Micros;
use toolmark_store::audit::{AuditFilter, AuditRecord, BreakKind, Head, Order, SinkSettings};

use crate::audit_samples::{find, full, record, whole, write};
use crate::place::Place;

pub(crate) async fn a_batch_of_any_size_is_chained_whole(place: &impl Place) {
    let store = place.open().await;
    let mut total = 0;
    for size in [1u64, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 149, 1023, 1024, 1025] {
        write(&store, (0..size).map(|at| record(total + at))).await;
        total += size;
        assert_eq!(whole(&store).await, total);
    }
    let numbers = find(&store, AuditFilter::default()).await;
    assert!(numbers.into_iter().eq(0..total));
}

pub(crate) async fn old_records_go_and_the_chain_stays_whole(place: &impl Place) {
    let store = place.open().await;
    // More than one step removes; one old record stands behind a younger one.
    let mut records: Vec<_> = (0..2500).map(record).collect();
    records.insert(2300, AuditRecord { time: Micros::new(5), ..record(9_000) });
    write(&store, records).await;
    assert_eq!(store.trim_audit(Micros::new(0)).await.expect("trimmed"), 0);
    assert_eq!(store.trim_audit(Micros::new(2200)).await.expect("trimmed"), 2200);
    let found = store.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole(), "{:?}", found.breaks);
    assert_eq!((found.rows(), found.chains[0].checkpoint.seq, found.chains[0].head.seq), (301, 2200, 2501));
    assert_eq!(find(&store, AuditFilter { until: Some(Micros::new(2200)), ..AuditFilter::default() }).await, [5]);
    write(&store, [record(3000)]).await;
    assert_eq!(whole(&place.open().await).await, 302);
    assert_eq!(store.trim_audit(Micros::new(i64::MAX)).await.expect("trimmed"), 302);
    assert_eq!(whole(&store).await, 0);
    write(&store, [record(4000)]).await;
    assert_eq!(whole(&place.open().await).await, 1);
    assert_eq!(find(&store, AuditFilter::default()).await, [4000]);
}

pub(crate) async fn bodies_go_and_records_stay(place: &impl Place) {
    let store = place.open().await;
    write(&store, [full(1), full(2), record(3)]).await;
    assert_eq!(store.trim_bodies(Micros::new(2)).await.expect("trimmed"), 1);
    let found = store.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole(), "{:?}", found.breaks);
    assert_eq!((found.rows(), found.chains[0].bodies_gone), (3, 1));
    let filter = AuditFilter { bodies: true, ..AuditFilter::default() };
    let left = store.audit(filter, Order::Oldest).all().await.expect("records");
    let with: Vec<bool> = left.iter().map(|entry| entry.record.bodies.is_some()).collect();
    assert_eq!(with, [false, true, false]);
    assert_eq!(store.trim_audit(Micros::new(3)).await.expect("trimmed"), 2, "records with bodies go with them");
}

pub(crate) async fn verifying_beside_writing_and_trimming_finds_nothing(place: &impl Place) {
    let writer = place.open().await;
    let writing = tokio::spawn(async move {
        let sink = writer.audit_sink(SinkSettings { batch: 50, ..SinkSettings::new("node-a") });
        for at in 0..3000 {
            sink.record(record(at)).await.expect("taken");
            if at % 500 == 499 {
                sink.flush().await.expect("written");
                writer.trim_audit(Micros::new(i64::try_from(at).expect("small") - 300)).await.expect("trimmed");
            }
        }
        sink.close().await.expect("written");
    });
    let store = place.open().await;
    while !writing.is_finished() {
        whole(&store).await;
    }
    writing.await.expect("no panic");
    assert_eq!(whole(&store).await, 301);
}

pub(crate) async fn a_noted_head_must_be_in_the_chain(place: &impl Place) {
    let store = place.open().await;
    write(&store, [record(1), record(2)]).await;
    let head = store.verify_audit(&[]).await.expect("verified").chains[0].head;
    write(&store, [record(3)]).await;
    let noted = |node: &str, head: Head| [(node.to_owned(), head)];
    assert!(store.verify_audit(&noted("node-a", head)).await.expect("verified").is_whole());
    let wrong = [
        noted("node-a", Head { hash: [7; 32], ..head }),
        noted("node-a", Head { seq: 99, ..head }),
        noted("node-b", head),
    ];
    for noted in wrong {
        let found = store.verify_audit(&noted).await.expect("verified");
        let kinds: Vec<_> = found.breaks.iter().map(|one| &one.kind).collect();
        assert_eq!(kinds, [&BreakKind::NotTheOneNoted], "{noted:?}");
    }
}
