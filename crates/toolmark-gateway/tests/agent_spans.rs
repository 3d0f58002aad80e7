//! Runs of agents for user interfaces as a receiver of OpenTelemetry data gets them, and the trace as the servers see it that they call.
//!
//! Alone in its process: whoever hears of spans hears of all of them.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

#[expect(dead_code, reason = "other tests need more of it")]
#[path = "agui/support.rs"]
mod support;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use tokio::net::TcpListener;
use toolmark_gateway::AgentSpans;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use support::{Stage, said};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

const AGENTS: &str = r#"
[packs.fixture.tools.meta]
behavior = "PURE|READ|DATA"

[agents.outer]
model = "scripted:outer.json"
agents = ["inner"]

[agents.inner]
model = "scripted:inner.json"
description = "Looks at what came along."
tools = ["fixture.meta"]
"#;

const OUTER: &str = r#"{"version": 1, "turns": [
  {"when": {"user": "look"}, "calls": [{"name": "inner", "arguments": {"input": "what came along?"}}]},
  {"when": {"output": ""}, "text": "It says: {output}"},
  {"when": {"user": ""}, "text": "You said: {user}"}
]}"#;

const INNER: &str = r#"{"version": 1, "turns": [
  {"when": {"user": ""}, "calls": [{"namespace": "fixture", "name": "meta", "arguments": {}}]},
  {"when": {"output": ""}, "text": "{output}"}
]}"#;

/// A receiver that takes what it is sent.
struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Span>>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let got = Arc::<Mutex<Vec<Span>>>::default();
        let kept = Arc::clone(&got);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                let service = service_fn(move |request: Request<Incoming>| {
                    let kept = Arc::clone(&kept);
                    async move {
                        assert_eq!(request.uri().path(), "/v1/traces");
                        let body = request.into_body().collect().await.expect("a body").to_bytes();
                        let sent = ExportTraceServiceRequest::decode(body).expect("spans in protobuf");
                        let scopes = sent.resource_spans.into_iter().flat_map(|all| all.scope_spans);
                        kept.lock().expect("a lock").extend(scopes.flat_map(|scope| scope.spans));
                        Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
                    }
                });
                tokio::spawn(async move {
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, got }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The only span of this name in a trace.
fn only<'s>(spans: &'s [Span], trace: &str, name: &str) -> &'s Span {
    let found: Vec<&Span> = spans.iter().filter(|span| hex(&span.trace_id) == trace && span.name == name).collect();
    let all: Vec<String> = spans.iter().map(|span| format!("{} {}", hex(&span.trace_id), span.name)).collect();
    assert_eq!(found.len(), 1, "`{name}` in {all:#?}");
    found[0]
}

#[tokio::test]
async fn a_run_is_told_with_all_it_does_within_the_trace_of_whoever_asked_for_it() {
    let spans = AgentSpans::new();
    let layer = spans.clone().with_filter(filter_fn(AgentSpans::takes));
    tracing_subscriber::registry().with(layer).try_init().expect("nobody else listens here");
    let (receiver, stage) = (Receiver::start().await, Stage::new().await);
    for (file, script) in [("outer.json", OUTER), ("inner.json", INNER)] {
        std::fs::write(stage.folder.path().join(file), script).expect("a script");
    }
    let otlp = format!("[telemetry.otlp]\nendpoint = \"http://{}\"\n", receiver.address);
    let gateway = stage.node("one", &format!("{otlp}{AGENTS}")).await;
    spans.connect(&gateway.gateway);

    let parent = format!("00-{TRACE}-{PARENT}-01");
    let headers = [("traceparent", parent.as_str()), ("tracestate", "vendor=1")];
    let within = gateway.run("outer", &said("t1", "look at a-secret"), &headers).await;
    assert_eq!(within.outcome(), "success", "{}", within.body);
    // Whoever does not record its own trace does not want it recorded here; the server still hears of it.
    let unrecorded = "00-11111111111111111111111111111111-2222222222222222-00";
    let quiet = gateway.run("outer", &said("t2", "look"), &[("traceparent", unrecorded)]).await;
    assert!(quiet.body.contains("00-11111111111111111111111111111111-"), "{}", quiet.body);
    // Without a trace, with two of them, and with something that is none, a new one begins.
    let two = [("traceparent", parent.as_str()), ("traceparent", parent.as_str())];
    for (thread, headers) in [("t3", &[][..]), ("t4", &two), ("t5", &[("traceparent", "00-zz-1-01")])] {
        let alone = gateway.run("outer", &said(thread, "hello"), headers).await;
        assert_eq!(alone.outcome(), "success", "{}", alone.body);
    }
    gateway.stop().await;

    let spans = receiver.got.lock().expect("a lock").clone();
    let chain = [
        ("POST /agui/{agent}", SpanKind::Server),
        ("invoke_agent outer", SpanKind::Internal),
        ("turn 1", SpanKind::Internal),
        ("execute_tool inner", SpanKind::Internal),
        ("invoke_agent inner", SpanKind::Internal),
    ];
    let mut above = PARENT.to_owned();
    for (name, kind) in chain {
        let below: Vec<&Span> =
            spans.iter().filter(|span| span.name == name && hex(&span.parent_span_id) == above).collect();
        let all: Vec<String> = spans.iter().map(|span| format!("{} {}", hex(&span.trace_id), span.name)).collect();
        assert_eq!(below.len(), 1, "`{name}` below {above} in {all:#?}");
        assert_eq!((hex(&below[0].trace_id).as_str(), below[0].trace_state.as_str()), (TRACE, "vendor=1"), "{name}");
        assert_eq!(below[0].kind, kind as i32, "{name}");
        above = hex(&below[0].span_id);
    }
    let models = spans.iter().filter(|span| hex(&span.trace_id) == TRACE && span.name.starts_with("chat ")).count();
    assert_eq!(models, 4, "two agents, two turns each");
    let call = only(&spans, TRACE, "execute_tool fixture.meta");
    let heard = format!("00-{TRACE}-{}-01", hex(&call.span_id));
    assert!(within.body.contains(&heard), "the server is part of the call: {heard} is not in {}", within.body);

    assert!(!spans.iter().any(|span| hex(&span.trace_id) == "1".repeat(32)), "{spans:#?}");
    let begun: Vec<&Span> = spans.iter().filter(|span| span.name == "POST /agui/{agent}").collect();
    assert_eq!(begun.len(), 4);
    assert_eq!(begun.iter().filter(|span| span.parent_span_id.is_empty()).count(), 3);
    assert!(!format!("{spans:?}").contains("a-secret"), "nothing that was said is told");
}
