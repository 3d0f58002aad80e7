//! The audit.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use toolmark_core::explain::Explain as _;
use toolmark_core::verdict::Decision;
use toolmark_store::audit::{
    AuditCursor, AuditEntry, AuditFilter, AuditRecord, AuditSink, AuditTool, Bodies, BreakKind, Durability, Head,
    Order, Outcome, RecordError, SinkSettings, Timings,
};
use toolmark_store::{Micros, Store};

use crate::place::Place;

fn text(text: &str) -> Option<Arc<str>> {
    Some(text.into())
}

fn digest(prefix: &str, byte: u8) -> String {
    format!("{prefix}{}", format!("{byte:02x}").repeat(32))
}

fn tool(canonical: &str) -> AuditTool {
    AuditTool {
        canonical: canonical.into(),
        mark: digest("tm1:", 0x1a).parse().expect("a mark"),
        definition: digest("sha256:", 0x2b).parse().expect("a digest"),
    }
}

fn record(number: u64) -> AuditRecord {
    let id = uuid::Uuid::from_u128(u128::from(number));
    AuditRecord::new(id, Micros::new(i64::try_from(number).expect("small")), "create_issue".into(), Outcome::Ok)
}

fn full(number: u64) -> AuditRecord {
    AuditRecord {
        caller: text("me"),
        session: text("session \u{0} with a NUL"),
        era: Some("2026-07-28".into()),
        transport: Some("http".into()),
        called: "créate \u{202e} issue\n".into(),
        tool: Some(tool("github.create.issue")),
        task: text("tidy up"),
        verdict: Some(Decision::Ask),
        reasons: text("[{\"code\":\"rule-asks\"}]"),
        rules: text("[\"r1\"]"),
        policy: text("policy1:00"),
        grant: text("grant"),
        judged: text("{\"v\":1,\"o\":\"run\"}"),
        arguments: Some(digest("args1:", 0x3c).parse().expect("a digest")),
        arguments_size: Some(u64::MAX),
        result: Some([0xff; 32]),
        result_size: Some(0),
        code: text("rule-asks"),
        timings: Timings {
            identify: 1,
            validate: 2,
            analyze: 3,
            judge: 4,
            approve: 5,
            dispatch: u64::MAX,
            shape: 7,
            total: u64::MAX,
        },
        trace: Some([9; 16]),
        bodies: Some(Box::new(Bodies { arguments: text("{\"a\":1}"), result: text("") })),
        ..record(number)
    }
}

fn sink(store: &Store) -> AuditSink {
    store.audit_sink(SinkSettings::new("node-a"))
}

async fn write(store: &Store, records: impl IntoIterator<Item = AuditRecord>) {
    let sink = sink(store);
    for record in records {
        sink.record(record).await.expect("taken");
    }
    sink.close().await.expect("written");
}

async fn find(store: &Store, filter: AuditFilter) -> Vec<u64> {
    let found = store.audit(filter, Order::Oldest).all().await.expect("records");
    found.iter().map(number).collect()
}

fn number(entry: &AuditEntry) -> u64 {
    u64::try_from(entry.record.time.get()).expect("positive")
}

async fn whole(store: &Store) -> u64 {
    let found = store.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole(), "{:?}", found.breaks);
    found.rows()
}

pub(crate) async fn a_record_comes_back_as_it_was(place: &impl Place) {
    let records = [record(1), full(2), AuditRecord { time: Micros::new(-5), ..record(3) }];
    write(&place.open().await, records.clone()).await;
    let store = place.open().await;
    let filter = AuditFilter { bodies: true, ..AuditFilter::default() };
    let found = store.audit(filter, Order::Oldest).all().await.expect("records");
    let read: Vec<AuditRecord> = found.iter().map(|entry| entry.record.clone()).collect();
    assert_eq!(read, [records[2].clone(), records[0].clone(), records[1].clone()]);
    let places: Vec<_> = found.iter().map(|entry| (&*entry.node, entry.link.seq)).collect();
    assert_eq!(places, [("node-a", 3), ("node-a", 1), ("node-a", 2)]);
    let without = store.audit(AuditFilter::default(), Order::Newest).all().await.expect("records");
    assert!(without.iter().all(|entry| entry.record.bodies.is_none()));
    assert_eq!(whole(&store).await, 3);
}

pub(crate) async fn records_are_found_by_whatever_the_filter_names(place: &impl Place) {
    let store = place.open().await;
    let with = |number: u64, canonical: &str| AuditRecord { tool: Some(tool(canonical)), ..record(number) };
    write(
        &store,
        [
            AuditRecord { caller: text("me"), verdict: Some(Decision::Allow), ..with(1, "github.create") },
            AuditRecord {
                caller: text("you"),
                verdict: Some(Decision::Deny),
                outcome: Outcome::Denied,
                ..with(2, "github.create")
            },
            AuditRecord {
                caller: text("me"),
                verdict: Some(Decision::Ask),
                outcome: Outcome::Asked,
                ..with(3, "github.delete")
            },
            AuditRecord { outcome: Outcome::UnknownTool, ..record(4) },
            AuditRecord { session: text("s"), ..with(5, "git.create") },
            AuditRecord { task: text("t"), ..with(6, "github-enterprise.create") },
        ],
    )
    .await;
    let other = store.audit_sink(SinkSettings::new("node-b"));
    other.record(record(7)).await.expect("taken");
    other.close().await.expect("written");
    let none = AuditFilter::default;
    let cases = [
        (none(), vec![1, 2, 3, 4, 5, 6, 7]),
        (AuditFilter { since: Some(Micros::new(3)), until: Some(Micros::new(5)), ..none() }, vec![3, 4]),
        (AuditFilter { id: Some(uuid::Uuid::from_u128(4)), ..none() }, vec![4]),
        (AuditFilter { node: Some("node-b".into()), ..none() }, vec![7]),
        (AuditFilter { node: Some("nobody".into()), ..none() }, vec![]),
        (AuditFilter { tool: Some("github.create".into()), ..none() }, vec![1, 2]),
        (AuditFilter { tool: Some("github.%".into()), ..none() }, vec![]),
        (AuditFilter { pack: Some("github".into()), ..none() }, vec![1, 2, 3]),
        (AuditFilter { pack: Some("git".into()), ..none() }, vec![5]),
        (AuditFilter { caller: Some("me".into()), ..none() }, vec![1, 3]),
        (AuditFilter { session: Some("s".into()), ..none() }, vec![5]),
        (AuditFilter { task: Some("t".into()), ..none() }, vec![6]),
        (AuditFilter { verdict: Some(Decision::Allow), ..none() }, vec![1]),
        (AuditFilter { verdict: Some(Decision::Deny), ..none() }, vec![2]),
        (AuditFilter { verdict: Some(Decision::Ask), ..none() }, vec![3]),
        (AuditFilter { outcome: Some(Outcome::UnknownTool), ..none() }, vec![4]),
        (AuditFilter { caller: Some("me".into()), verdict: Some(Decision::Ask), ..none() }, vec![3]),
    ];
    for (filter, expected) in cases {
        assert_eq!(find(&store, filter.clone()).await, expected, "{filter:?}");
    }
}

pub(crate) async fn pages_go_on_where_they_stopped_in_both_orders(place: &impl Place) {
    let store = place.open().await;
    // Many with the same time, so that time alone is no place to go on from; more than are fetched at once.
    let records: Vec<_> =
        (0..1300u64).map(|at| AuditRecord { time: Micros::new((at / 400) as i64), ..record(at) }).collect();
    write(&store, records).await;
    for order in [Order::Oldest, Order::Newest] {
        let everything = store.audit(AuditFilter::default(), order).all().await.expect("records");
        assert_eq!(everything.len(), 1300);
        let mut seen = Vec::new();
        let mut cursor: Option<AuditCursor> = None;
        loop {
            let mut reader = store.audit(AuditFilter::default(), order).limit(97);
            if let Some(cursor) = cursor {
                reader = reader.after(cursor);
            }
            let mut count = 0;
            while let Some(entry) = reader.next().await.expect("a record") {
                seen.push(entry);
                count += 1;
            }
            if count == 0 {
                break;
            }
            assert!(count <= 97);
            let spelled = reader.cursor().expect("a place").to_string();
            cursor = Some(spelled.parse().expect("our own cursor"));
        }
        assert!(seen == everything, "{order:?}");
    }
    for forged in ["", "1", "1.", ".1", "1.x", "1.2.3", "+1.2", " 1.2", "99999999999999999999.1"] {
        let error = forged.parse::<AuditCursor>().expect_err("no cursor");
        assert_eq!(error.code().as_str(), "audit-cursor");
    }
}

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

pub(crate) async fn an_export_is_one_object_a_line(place: &impl Place) {
    let store = place.open().await;
    write(&store, [full(1), record(2)]).await;
    let mut out = Vec::new();
    let filter = AuditFilter { bodies: true, ..AuditFilter::default() };
    assert_eq!(store.audit(filter, Order::Oldest).export(&mut out).await.expect("exported"), 2);
    let text = String::from_utf8(out).expect("text");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(lines.len(), 2);
    let one = &lines[0];
    assert_eq!(one["tool"]["pack"], "github");
    assert_eq!(one["tool"]["raw"], "create.issue");
    assert_eq!(one["tool"]["mark"], digest("tm1:", 0x1a));
    assert_eq!(one["verdict"], "ask");
    assert_eq!(one["reasons"][0]["code"], "rule-asks");
    assert_eq!(one["time"], "1970-01-01T00:00:00.000001Z");
    assert_eq!(one["time_us"], 1);
    assert_eq!(one["node"], "node-a");
    assert_eq!(one["chain"]["seq"], 1);
    assert_eq!(one["bodies"]["arguments"], "{\"a\":1}");
    assert_eq!(lines[1]["chain"]["prev"], one["chain"]["hash"]);
    assert_eq!(lines[1]["tool"], serde_json::Value::Null);
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

fn intent(number: u64) -> AuditRecord {
    AuditRecord { outcome: Outcome::Intent, ..full(number) }
}

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

pub(crate) async fn calls_are_read_in_the_order_of_time_without_what_judging_does_not_need(place: &impl Place) {
    let store = place.open().await;
    write(&store, (1..=5_000).map(|number| if number % 2 == 0 { full(number) } else { record(number) })).await;
    write(&store, [intent(5_001), AuditRecord { time: Micros::new(-1), ..full(5_002) }]).await;
    let filter = AuditFilter { bodies: true, ..AuditFilter::default() };
    let (mut narrow, mut whole) = (store.calls(filter.clone()), store.audit(filter, Order::Oldest));
    let mut count = 0;
    while let Some(call) = narrow.next().await.expect("a call") {
        let entry = whole.next().await.expect("a record").expect("as many records");
        assert_eq!(call, entry.into());
        count += 1;
    }
    assert_eq!(count, 5_002);
    let few = AuditFilter { node: Some("node-a".into()), since: Some(Micros::new(4_999)), ..AuditFilter::default() };
    assert_eq!(store.audit_span(&few).await.expect("a span"), Some((Micros::new(4_999), Micros::new(5_001))));
    assert_eq!(store.calls(few).page().await.expect("calls").len(), 3);
}
