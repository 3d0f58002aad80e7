//! What is read of the audit: records as they were, by filter, in pages, as an export, as calls to be judged again.

use toolmark_core::explain::Explain as _;
use toolmark_core::verdict::Decision;
use toolmark_store::Micros;
use toolmark_store::audit::{AuditCursor, AuditFilter, AuditRecord, Order, Outcome, SinkSettings};

use crate::audit_samples::{digest, find, full, intent, record, text, tool, whole, write};
use crate::place::Place;

pub(crate) async fn a_record_comes_back_as_it_was(place: &impl Place) {
    let records = [record(1), full(2), AuditRecord { time: Micros::new(-5), ..record(3) }, full(5)];
    write(&place.open().await, records.clone()).await;
    let store = place.open().await;
    let filter = AuditFilter { bodies: true, ..AuditFilter::default() };
    let found = store.audit(filter, Order::Oldest).all().await.expect("records");
    let read: Vec<AuditRecord> = found.iter().map(|entry| entry.record.clone()).collect();
    assert_eq!(read, [2, 0, 1, 3].map(|at: usize| records[at].clone()));
    let places: Vec<_> = found.iter().map(|entry| (&*entry.node, entry.link.seq)).collect();
    assert_eq!(places, [("node-a", 3), ("node-a", 1), ("node-a", 2), ("node-a", 4)]);
    let without = store.audit(AuditFilter::default(), Order::Newest).all().await.expect("records");
    assert!(without.iter().all(|entry| entry.record.bodies.is_none()));
    assert_eq!(whole(&store).await, 4);
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
