use bytes::Bytes;

use super::*;
use crate::downstream::caller::{Binding, Client};
use crate::wire::version::ProtocolVersion;

fn session(caller: &Caller, now: u64) -> Arc<Session> {
    let client = Client::new(None, Bytes::from_static(b"{}"));
    Arc::new(Session::new(caller.clone(), client, ProtocolVersion::V2025_11_25, 1_000, now))
}

#[test]
fn a_session_is_found_by_its_owner_at_its_address_only() {
    let (table, alice) = (Table::default(), Caller::new("alice"));
    let opened = session(&alice, 0);
    table.add(&opened, 10, 0).unwrap();
    assert!(table.find(opened.id(), &alice).is_some());
    assert!(table.find(opened.id(), &Caller::new("bob")).is_none());
    let elsewhere = alice.clone().bound_to(Arc::new(Binding { task: Some("read-only".to_owned()), profile: None }));
    assert!(table.find(opened.id(), &elsewhere).is_none());
    assert!(table.remove(opened.id(), &elsewhere).is_none());
    assert!(table.remove(opened.id(), &alice).is_some());
    assert_eq!(table.len(), 0);
}

#[test]
fn a_newcomer_takes_the_place_of_the_longest_idle() {
    let (table, alice) = (Table::default(), Caller::new("alice"));
    let (first, second) = (session(&alice, 0), session(&alice, 10));
    table.add(&first, 2, 10).unwrap();
    table.add(&second, 2, 10).unwrap();
    assert!(table.add(&session(&alice, 20), 2, 20).is_err(), "nobody has been idle for long");
    first.touch(GRACE_MS);
    let evicted = table.add(&session(&alice, 0), 2, GRACE_MS + 10).unwrap().unwrap();
    assert_eq!(evicted.id(), second.id());
    assert_eq!(table.len(), 2);
}

#[test]
fn whoever_opens_session_after_session_keeps_nobody_else_out() {
    let (table, alice, bob) = (Table::default(), Caller::new("alice"), Caller::new("bob"));
    let of_bob = session(&bob, 0);
    table.add(&of_bob, 4, 0).unwrap();
    let flood: Vec<_> = (1..4).map(|now| session(&alice, now)).collect();
    for (now, one) in (1..4).zip(&flood) {
        table.add(one, 4, now).unwrap();
    }
    assert!(table.add(&session(&alice, 5), 4, 5).is_err(), "the flood waits for itself");
    let evicted = table.add(&session(&Caller::new("carol"), 6), 4, 6).unwrap().unwrap();
    assert_eq!(evicted.id(), flood[0].id(), "it gives way to others at once");
    let late = GRACE_MS + 10;
    let evicted = table.add(&session(&alice, late), 4, late).unwrap().unwrap();
    assert_eq!(evicted.id(), flood[1].id(), "though another session has been idle for longer");
    assert!(table.find(of_bob.id(), &bob).is_some());
}

#[test]
fn sessions_in_use_give_way_to_somebody_who_has_fewer_and_to_nobody_else() {
    let (table, alice, bob) = (Table::default(), Caller::new("alice"), Caller::new("bob"));
    let held: Vec<_> = (0..3).map(|now| session(&alice, now)).collect();
    let _streams: Vec<_> = held.iter().map(Session::open_stream).collect();
    for one in &held {
        table.add(one, 3, 3).unwrap();
    }
    held[0].touch(5);
    assert!(table.add(&session(&alice, 6), 3, GRACE_MS * 2).is_err(), "what it holds is in its own way only");
    let evicted = table.add(&session(&bob, 6), 3, 6).unwrap().unwrap();
    assert_eq!(evicted.id(), held[1].id(), "longest not heard of");
    assert!(table.add(&session(&bob, 7), 3, 7).is_err(), "who has as many as anybody waits");
}

#[test]
fn a_session_with_an_open_stream_is_not_idle() {
    let (table, alice) = (Table::default(), Caller::new("alice"));
    let opened = session(&alice, 0);
    table.add(&opened, 10, 0).unwrap();
    let stream = opened.open_stream();
    assert!(table.take_idle(1_000).is_empty());
    drop(stream);
    assert!(table.take_idle(0).is_empty());
    assert_eq!(table.take_idle(1_000).len(), 1);
    assert_eq!(table.len(), 0);
}
