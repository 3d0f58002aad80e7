//! What the audit says of calls: intents before effects, answers after records, no secret, and nothing that is too old.

use std::path::PathBuf;

use serde_json::json;
use toolmark_fixture::Listening;
use toolmark_gateway::GatewayBuilder;
use toolmark_store::audit::{AuditEntry, AuditFilter, AuditRecord, Durability, Order, Outcome, SinkSettings};
use toolmark_store::{Location, Micros, Settings, Store};

use crate::support::{Era, Running, by_http, call, client_of, http_fixture, read, store, text};

/// `echo` and `stats`, of which the operator says that one changes something and the other does not.
fn config(fixture: &Listening, audit: &str) -> String {
    let tools = "[packs.fixture.tools.echo]\nbehavior = \"MUTATES|CREATE|DATA\"\n[packs.fixture.tools.stats]\nbehavior = \"PURE|READ|DATA\"\n";
    format!("{}{tools}[audit]\n{audit}", by_http("fixture", fixture))
}

fn gateway(config: &str, store: &Store, durability: Durability) -> GatewayBuilder {
    let sink = store.audit_sink(SinkSettings { durability, ..SinkSettings::new("a-test") });
    GatewayBuilder::new(read(config), PathBuf::new()).store(store.clone()).audit(sink)
}

async fn rows(store: &Store) -> Vec<AuditEntry> {
    let filter = AuditFilter { rows: true, bodies: true, ..AuditFilter::default() };
    store.audit(filter, Order::Oldest).all().await.expect("rows")
}

fn ends(rows: &[AuditEntry]) -> Vec<(&str, Outcome)> {
    rows.iter().map(|row| (&*row.record.called, row.record.outcome)).collect()
}

/// How often the server itself ran a tool.
async fn ran(fixture: &Listening, tool: &str) -> u64 {
    let client = client_of(&fixture.url(), Era::New).await;
    let stats = call(&client, "stats", json!({})).await;
    let figures: serde_json::Value = serde_json::from_str(&text(&stats)).expect("figures");
    figures.pointer(&format!("/calls/{tool}")).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

#[tokio::test]
async fn with_strict_durability_the_record_is_there_when_the_answer_is() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let running = Running::of(gateway(&config(&fixture, ""), &store, Durability::Strict)).await;
    let client = running.client(Era::New).await;
    call(&client, "echo", json!({ "text": "a" })).await;
    let kept = rows(&store).await;
    assert_eq!(ends(&kept), [("echo", Outcome::Intent), ("echo", Outcome::Ok)]);
    let ids: Vec<_> = kept.iter().map(|row| row.record.id).collect();
    assert_eq!(ids[0], ids[1], "both are about one call");
    assert!(kept[1].record.result.is_some() && kept[1].record.result_size > Some(0));
    assert!(kept.iter().all(|row| row.record.judged.is_some() && row.record.bodies.is_none()));
    call(&client, "stats", json!({})).await;
    assert_eq!(ends(&rows(&store).await)[2..], [("stats", Outcome::Ok)], "what only reads is not announced");
    running.stop().await;
}

#[tokio::test]
async fn a_full_disk_stops_calls_before_they_have_an_effect() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let clock = || Micros::from(std::time::SystemTime::now());
    let settings = Settings { max_bytes: Some(600_000), ..Settings::new(clock) };
    let location = Location::File(folder.path().join("store.db"));
    let store = Store::open(&location, &settings).await.expect("a store");
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let strict = gateway(&config(&fixture, "bodies = \"all\"\n"), &store, Durability::Strict);
    let running = Running::of(strict).await;
    let client = running.client(Era::New).await;
    let mut withheld = 0;
    let refused = loop {
        let result = call(&client, "echo", json!({ "text": "x".repeat(8_000) })).await;
        if result.is_error != Some(true) {
            continue;
        }
        let said = text(&result);
        let place = folder.path().display().to_string();
        assert!(!serde_json::to_string(&result).expect("JSON").contains(&place), "where the store is: {result:?}");
        assert_eq!(result.meta.expect("metadata").0["dev.toolmark/call"]["code"], "audit-unwritable", "{said}");
        if said.contains("was not called") {
            break said;
        }
        assert!(said.contains("may have had an effect"), "{said}");
        withheld += 1;
    };
    assert!(refused.contains("its record cannot be kept"), "{refused}");
    let before = ran(&fixture, "echo").await;
    for _ in 0..3 {
        call(&client, "echo", json!({ "text": "x".repeat(8_000) })).await;
    }
    assert_eq!(ran(&fixture, "echo").await, before, "nothing ran that could not be recorded");
    running.stop().await;
    let kept = rows(&store).await;
    let count = |outcome| {
        kept.iter().filter(|row| &*row.record.called == "echo" && row.record.outcome == outcome).count() as u64
    };
    assert_eq!(count(Outcome::Ok) + withheld, before, "every effect has its record, or was announced and withheld");
    assert!(count(Outcome::Intent) >= before);
}

#[tokio::test]
async fn what_is_kept_of_a_call_holds_no_secret_and_is_cut_where_it_is_long() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let audit = "bodies = \"all\"\nbody_bytes = 200\nredact = [\"regex:[0-9]{16}\"]\n";
    let running = Running::of(gateway(&config(&fixture, audit), &store, Durability::Strict)).await;
    let client = running.client(Era::New).await;
    call(&client, "echo", json!({ "text": "card 1234567890123456, sk-abcdefghijklmnop0123" })).await;
    call(&client, "echo", json!({ "text": "y".repeat(500) })).await;
    running.stop().await;
    let kept = rows(&store).await;
    let bodies = |at: usize| kept[at].record.bodies.clone().expect("bodies");
    assert_eq!(bodies(1).arguments.as_deref(), Some(r#"{"text":"card [redacted], [redacted]"}"#));
    let result = bodies(1).result.expect("a result");
    assert!(result.contains("[redacted]") && !result.contains("1234567890123456"), "{result}");
    assert!(bodies(3).arguments.expect("arguments").ends_with("…[cut: 511 bytes]"));
    let found = store.verify_audit(&[]).await.expect("verified");
    assert!(found.is_whole(), "{:?}", found.breaks);
}

#[tokio::test]
async fn old_records_go_by_themselves() {
    let store = store().await;
    let sink = store.audit_sink(SinkSettings::new("a-test"));
    for age in [100, 10] {
        let time = Micros::from(std::time::SystemTime::now()).before(std::time::Duration::from_secs(age * 86_400));
        sink.record(AuditRecord::new(uuid::Uuid::nil(), time, "old".into(), Outcome::Ok)).await.expect("taken");
    }
    sink.flush().await.expect("written");
    let config = read("[audit]\nretention = \"30d\"\n");
    let builder = GatewayBuilder::new(config, PathBuf::new()).store(store.clone()).audit(sink);
    let gateway = builder.start().expect("the gateway starts");
    while rows(&store).await.len() > 1 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    drop(gateway);
    assert!(store.verify_audit(&[]).await.expect("verified").is_whole());
}
