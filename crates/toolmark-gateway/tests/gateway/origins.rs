//! What the audit says about how a call came in: over what, in which revision of the protocol, as part of which trace.

use std::path::PathBuf;
use std::sync::Arc;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use toolmark_gateway::{Front, GatewayBuilder};
use toolmark_mcp::downstream::{Caller, Endpoint, Settings};
use toolmark_store::Store;
use toolmark_store::audit::{AuditFilter, AuditRecord, Durability, Order, SinkSettings};

use crate::addresses::send;
use crate::spans::{PARENT, Receiver, TRACE, within};
use crate::support::{ERAS, Era, Running, by_http, call, http_fixture, read, store};

async fn start(config: &str, store: &Store) -> Running {
    let sink = store.audit_sink(SinkSettings { durability: Durability::Strict, ..SinkSettings::new("a-test") });
    Running::of(GatewayBuilder::new(read(config), PathBuf::new()).store(store.clone()).audit(sink)).await
}

/// What became of the last call.
async fn last(store: &Store) -> AuditRecord {
    // What names no tool is noted off the path of its call.
    loop {
        let mut newest = store.audit(AuditFilter::default(), Order::Newest);
        if let Some(entry) = newest.next().await.expect("read") {
            return entry.record;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

/// Over what, in which revision, as part of which trace.
fn came(record: &AuditRecord) -> (&str, &str, Option<String>) {
    let trace = record.trace.map(|trace| format!("{:032x}", u128::from_be_bytes(trace)));
    (record.transport.as_deref().unwrap_or_default(), record.era.as_deref().unwrap_or_default(), trace)
}

fn revision(era: Era) -> &'static str {
    if era == Era::New { "2026-07-28" } else { "2025-11-25" }
}

/// A call as a new client makes it.
fn raw(tool: &str, more: Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let (Some(meta), Value::Object(more)) = (meta.as_object_mut(), more) {
        meta.extend(more);
    }
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

#[tokio::test]
async fn a_call_over_http_is_recorded_with_its_revision_and_its_trace() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    for era in ERAS {
        let store = store().await;
        let gateway = start(&by_http("fixture", &fixture), &store).await;
        let client = gateway.client(era).await;
        client.call_tool(within("01")).await.expect("a result");
        assert_eq!(came(&last(&store).await), ("http", revision(era), Some(TRACE.to_owned())));
        client.call_tool(within("00")).await.expect("a result");
        assert_eq!(
            came(&last(&store).await).2,
            Some(TRACE.to_owned()),
            "a trace that nobody records is one all the same"
        );
        call(&client, "echo", json!({ "text": "traceparent" })).await;
        assert_eq!(came(&last(&store).await), ("http", revision(era), None), "without a trace");
        drop(client);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn headers_say_which_trace_it_is_where_the_call_does_not_and_nonsense_is_none() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = start(&by_http("fixture", &fixture), &store).await;
    let other = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let inside = json!({ "traceparent": format!("00-{other}-{PARENT}-01") });
    let good = format!("00-{TRACE}-{PARENT}-01");
    let cases = [
        (good.as_str(), json!({}), Some(TRACE)),
        (good.as_str(), inside, Some(other)),
        ("00-nonsense", json!({}), None),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", json!({}), None),
        ("00-nonsense", json!({ "traceparent": 7 }), None),
    ];
    for (header, inside, expected) in cases {
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "meta"),
            ("traceparent", header),
        ];
        let (status, answer) = send(&gateway, Method::POST, "/mcp", &headers, raw("meta", inside)).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let expected = expected.map(str::to_owned);
        assert_eq!(came(&last(&store).await), ("http", "2026-07-28", expected), "{header}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn what_names_no_tool_came_from_somewhere_too() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = start(&by_http("fixture", &fixture), &store).await;
    let client = gateway.client(Era::Old).await;
    let mut params = within("01");
    params.name = "nobody".into();
    assert!(client.call_tool(params).await.is_err());
    // It is noted off the path of the call.
    drop(client);
    gateway.stop().await;
    assert_eq!(came(&last(&store).await), ("http", "2025-11-25", Some(TRACE.to_owned())));
}

#[tokio::test]
async fn a_call_over_a_pipe_is_told_apart() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = start(&by_http("fixture", &fixture), &store).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (heard, said) = tokio::io::split(theirs);
    let endpoint = Endpoint::new(Arc::new(Front::new(Arc::clone(&gateway.gateway))), Settings::default());
    let serving = tokio::spawn(async move { endpoint.stdio(heard, said, Caller::new("local")).await });
    let (read, mut write) = tokio::io::split(ours);
    write.write_all(format!("{}\n", raw("meta", json!({}))).as_bytes()).await.expect("sent");
    BufReader::new(read).lines().next_line().await.expect("a line").expect("an answer");
    assert_eq!(came(&last(&store).await), ("stdio", "2026-07-28", None));
    serving.abort();
    gateway.stop().await;
}

#[tokio::test]
async fn the_record_and_the_span_of_a_call_are_of_the_same_trace() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let store = store().await;
    let gateway = start(&format!("{}{}", receiver.config(), by_http("fixture", &fixture)), &store).await;
    call(&gateway.client(Era::New).await, "echo", json!({ "text": "hello" })).await;
    let record = last(&store).await;
    gateway.stop().await;
    let span = receiver.span("tools/call fixture.echo");
    assert_eq!(record.trace.map(Vec::from), Some(span.trace_id), "the client named none, so it is ours");
}
