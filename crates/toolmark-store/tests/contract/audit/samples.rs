//! Records to keep, and what most tests of the audit do with them.

use std::sync::Arc;

use toolmark_core::verdict::Decision;
use toolmark_store::audit::{
    AuditEntry, AuditFilter, AuditRecord, AuditSink, AuditTool, Bodies, Order, Outcome, ResultDigest, SinkSettings,
    Timings,
};
use toolmark_store::{Micros, Store};

pub(crate) fn text(text: &str) -> Option<Arc<str>> {
    Some(text.into())
}

pub(crate) fn digest(prefix: &str, byte: u8) -> String {
    format!("{prefix}{}", format!("{byte:02x}").repeat(32))
}

pub(crate) fn tool(canonical: &str) -> AuditTool {
    AuditTool {
        canonical: canonical.into(),
        mark: digest("tm1:", 0x1a).parse().expect("a mark"),
        definition: digest("sha256:", 0x2b).parse().expect("a digest"),
    }
}

pub(crate) fn record(number: u64) -> AuditRecord {
    let id = uuid::Uuid::from_u128(u128::from(number));
    AuditRecord::new(id, Micros::new(i64::try_from(number).expect("small")), "create_issue".into(), Outcome::Ok)
}

pub(crate) fn full(number: u64) -> AuditRecord {
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
        result: Some(if number.is_multiple_of(2) {
            ResultDigest::Blake3([0xff; 32])
        } else {
            ResultDigest::Sha256([0xff; 32])
        }),
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

pub(crate) fn intent(number: u64) -> AuditRecord {
    AuditRecord { outcome: Outcome::Intent, ..full(number) }
}

pub(crate) fn sink(store: &Store) -> AuditSink {
    store.audit_sink(SinkSettings::new("node-a"))
}

pub(crate) async fn write(store: &Store, records: impl IntoIterator<Item = AuditRecord>) {
    let sink = sink(store);
    for record in records {
        sink.record(record).await.expect("taken");
    }
    sink.close().await.expect("written");
}

pub(crate) async fn find(store: &Store, filter: AuditFilter) -> Vec<u64> {
    let found = store.audit(filter, Order::Oldest).all().await.expect("records");
    found.iter().map(number).collect()
}

pub(crate) fn number(entry: &AuditEntry) -> u64 {
    u64::try_from(entry.record.time.get()).expect("positive")
}

pub(crate) async fn whole(store: &Store) -> u64 {
    let found = store.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole(), "{:?}", found.breaks);
    found.rows()
}
