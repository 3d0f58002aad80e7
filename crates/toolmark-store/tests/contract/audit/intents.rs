//! What is known of calls that were about to run.

use toolmark_store::audit::{AuditFilter, Order, Outcome};
use toolmark_store::{Micros, Store};

use crate::audit_samples::{full, intent, record, whole, write};
use crate::place::Place;

/// What is known of each call, in words.
async fn ends(store: &Store, filter: AuditFilter) -> Vec<(u128, Outcome)> {
    let found = store.audit(filter, Order::Oldest).all().await.expect("records");
    found.iter().map(|entry| (entry.record.id.as_u128(), entry.record.outcome)).collect()
}

pub(crate) async fn an_intent_and_what_became_of_it_are_one_record(place: &impl Place) {
    let store = place.open().await;
    // In one batch, in two, and one that has not ended.
    write(&store, [intent(1), full(1), intent(2)]).await;
    write(&store, [full(2), intent(3), record(4)]).await;
    let all = [(1, Outcome::Ok), (2, Outcome::Ok), (3, Outcome::Intent), (4, Outcome::Ok)];
    assert_eq!(ends(&store, AuditFilter::default()).await, all);
    let open = AuditFilter { outcome: Some(Outcome::Intent), ..AuditFilter::default() };
    assert_eq!(ends(&store, open.clone()).await, [(3, Outcome::Intent)]);
    assert_eq!(ends(&store, AuditFilter { rows: true, ..open }).await.len(), 3);
    assert_eq!(ends(&store, AuditFilter { rows: true, ..AuditFilter::default() }).await.len(), 6);
    assert_eq!(whole(&store).await, 6, "every row is in the chain");
}

pub(crate) async fn a_call_that_was_under_way_when_its_process_ended_was_interrupted(place: &impl Place) {
    let store = place.open().await;
    let claim = store.claim_node("node-a").await.expect("a node");
    assert_eq!(&**claim.node(), "node-a");
    write(&store, [intent(1), intent(2), full(1)]).await;
    assert_eq!(store.recover_audit(&claim).await.expect("recovered"), 1);
    assert_eq!(store.recover_audit(&claim).await.expect("recovered"), 0, "once is enough");
    let found = store
        .audit(AuditFilter { bodies: true, ..AuditFilter::default() }, Order::Oldest)
        .all()
        .await
        .expect("records");
    let ended = found.iter().find(|entry| entry.record.id.as_u128() == 2).expect("the second");
    assert_eq!((ended.record.outcome, ended.record.code.as_deref()), (Outcome::Interrupted, Some("call-interrupted")));
    assert_eq!(ended.record.bodies, full(2).bodies);
    assert_eq!(found.len(), 2);
    assert_eq!(whole(&store).await, 4);
}

pub(crate) async fn old_intents_go_with_their_time(place: &impl Place) {
    let store = place.open().await;
    write(&store, [intent(1), record(2)]).await;
    assert_eq!(store.trim_audit(Micros::new(2)).await.expect("trimmed"), 1);
    let claim = store.claim_node("node-a").await.expect("a node");
    assert_eq!(store.recover_audit(&claim).await.expect("recovered"), 0);
    assert_eq!(ends(&store, AuditFilter::default()).await, [(2, Outcome::Ok)]);
}
