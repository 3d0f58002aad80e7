//! Spans of calls, as a receiver of OpenTelemetry data gets them, and the trace as servers see it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use rmcp::model::{CallToolRequestParams, MetaObject, RequestMetaObject};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use toolmark_gateway::Front;
use toolmark_mcp::downstream::{Caller, Endpoint, Settings};

use crate::addresses::send;
use crate::support::{ERAS, Era, Running, by_http, by_stdio, call, http_fixture, request, text};

pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub(crate) const PARENT: &str = "00f067aa0ba902b7";

/// A receiver that takes what it is sent, or answers with a status of its choice.
pub(crate) struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<(HeaderMap, ExportTraceServiceRequest)>>>,
}

impl Receiver {
    pub(crate) async fn start(status: StatusCode) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let got = Arc::<Mutex<Vec<_>>>::default();
        let kept = Arc::clone(&got);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                let service = service_fn(move |request: Request<Incoming>| {
                    let kept = Arc::clone(&kept);
                    async move {
                        let (head, body) = request.into_parts();
                        assert_eq!((head.method, head.uri.path()), (Method::POST, "/v1/traces"));
                        let body = body.collect().await.expect("a body").to_bytes();
                        let spans = ExportTraceServiceRequest::decode(body).expect("spans in protobuf");
                        kept.lock().expect("no test panics with it").push((head.headers, spans));
                        let mut response = Response::new(Full::new(Bytes::new()));
                        *response.status_mut() = status;
                        Ok::<_, Infallible>(response)
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

    pub(crate) fn config(&self) -> String {
        format!(
            "[telemetry.otlp]\nendpoint = \"http://{}\"\nservice_name = \"a-gateway\"\nheaders = {{ x-key = \"s3cret\" }}\n",
            self.address
        )
    }

    /// Everything so far.
    fn spans(&self) -> Vec<Span> {
        let got = self.got.lock().expect("no test panics with it");
        let scopes = got.iter().flat_map(|(_, request)| &request.resource_spans).flat_map(|all| &all.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }

    /// The only span with a name that is not the one of a request to a server.
    pub(crate) fn span(&self, name: &str) -> Span {
        self.only(name, |span| span.kind != SpanKind::Client as i32)
    }

    /// The only span of a request to a server with a name.
    fn sent(&self, name: &str) -> Span {
        self.only(name, |span| span.kind == SpanKind::Client as i32)
    }

    fn only(&self, name: &str, is_meant: impl Fn(&Span) -> bool) -> Span {
        let spans = self.spans();
        let mut found = spans.iter().filter(|span| span.name == name && is_meant(span));
        let (first, second) = (found.next(), found.next());
        let all: Vec<&String> = spans.iter().map(|span| &span.name).collect();
        assert!(second.is_none(), "`{name}` is there more than once: {all:?}");
        first.cloned().unwrap_or_else(|| panic!("no `{name}` in {all:?}"))
    }
}

fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Option<AnyValue>| match value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Any::StringValue(text)) => text.clone(),
        Some(Any::IntValue(number)) => number.to_string(),
        other => panic!("{other:?} is no text"),
    };
    attributes.iter().map(|pair| (pair.key.clone(), text(&pair.value))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A call of the tool that tells its metadata, within a span of the client.
pub(crate) fn within(flags: &str) -> CallToolRequestParams {
    let Value::Object(meta) = json!({
        "traceparent": format!("00-{TRACE}-{PARENT}-{flags}"),
        "tracestate": "vendor=1",
        "baggage": "team=blue",
    }) else {
        panic!("an object")
    };
    let mut params = request("meta", json!({}));
    params.meta = Some(RequestMetaObject(MetaObject(meta)));
    params
}

#[tokio::test]
async fn a_call_is_part_of_its_clients_trace_and_the_server_of_ours() {
    for server in ERAS {
        let fixture = http_fixture(server.of_fixture()).await;
        for (transport, pack) in
            [("HTTP", by_http("fixture", &fixture)), ("stdio", by_stdio("fixture", &["--era", server.word()]))]
        {
            for era in ERAS {
                let who = format!("{era:?} client, {server:?} server over {transport}");
                let receiver = Receiver::start(StatusCode::OK).await;
                let gateway = Running::start(&format!("{}{pack}", receiver.config())).await;
                let client = gateway.client(era).await;
                let called = client.call_tool(within("01")).await.expect("a result");
                let seen: Value = serde_json::from_str(&text(&called)).expect("metadata");
                drop(client);
                gateway.stop().await;

                let whole = receiver.span("tools/call fixture.meta");
                assert_eq!((hex(&whole.trace_id), hex(&whole.parent_span_id)), (TRACE.into(), PARENT.into()), "{who}");
                assert_eq!((whole.trace_state.as_str(), whole.kind), ("vendor=1", SpanKind::Server as i32), "{who}");
                let (examine, sent) = (receiver.span("examine"), receiver.sent("tools/call fixture.meta"));
                for stage in [&examine, &sent] {
                    assert_eq!(stage.parent_span_id, whole.span_id, "{who}: {}", stage.name);
                    assert_eq!(stage.trace_id, whole.trace_id, "{who}: {}", stage.name);
                    assert!(stage.start_time_unix_nano >= whole.start_time_unix_nano, "{who}: {}", stage.name);
                    assert!(stage.end_time_unix_nano <= whole.end_time_unix_nano, "{who}: {}", stage.name);
                    assert!(stage.start_time_unix_nano <= stage.end_time_unix_nano, "{who}: {}", stage.name);
                }
                assert!(examine.end_time_unix_nano <= sent.start_time_unix_nano, "{who}");
                assert_eq!(sent.kind, SpanKind::Client as i32, "{who}");
                assert_eq!(receiver.spans().len(), 3, "{who}: nobody was asked");

                let parent = format!("00-{TRACE}-{}-01", hex(&sent.span_id));
                assert_eq!(seen["traceparent"], parent, "{who}: the server is part of what we do");
                assert_eq!((&seen["tracestate"], &seen["baggage"]), (&json!("vendor=1"), &json!("team=blue")), "{who}");

                let (asked, over_http) = (attributes(&sent.attributes), transport == "HTTP");
                let version = if server == Era::New { "2026-07-28" } else { "2025-11-25" };
                for (key, value) in [
                    ("gen_ai.operation.name", "execute_tool"),
                    ("gen_ai.tool.name", "fixture.meta"),
                    ("mcp.method.name", "tools/call"),
                    ("mcp.protocol.version", version),
                    ("network.transport", if over_http { "tcp" } else { "pipe" }),
                    ("toolmark.raw", "meta"),
                    ("toolmark.pack", "fixture"),
                ] {
                    assert_eq!(asked.get(key).map(String::as_str), Some(value), "{who}: {key}");
                }
                assert!(asked["jsonrpc.request.id"].parse::<u64>().is_ok_and(|id| id > 0), "{who}: {asked:?}");
                let address = over_http.then(|| ("127.0.0.1".to_owned(), fixture.address().port().to_string()));
                let told = asked.get("server.address").cloned().zip(asked.get("server.port").cloned());
                assert_eq!(told, address, "{who}");

                let said = attributes(&whole.attributes);
                let expected = [
                    ("gen_ai.operation.name", "execute_tool"),
                    ("gen_ai.tool.name", "fixture.meta"),
                    ("mcp.method.name", "tools/call"),
                    ("network.transport", "tcp"),
                    ("toolmark.canonical", "fixture.meta"),
                    ("toolmark.verdict", "allow"),
                    ("toolmark.outcome", "ok"),
                ];
                for (key, value) in expected {
                    assert_eq!(said.get(key).map(String::as_str), Some(value), "{who}: {key}");
                }
                let version = if era == Era::New { "2026-07-28" } else { "2025-11-25" };
                assert_eq!(said["mcp.protocol.version"], version, "{who}");
                assert_eq!(said.contains_key("mcp.session.id"), era == Era::Old, "{who}");
                assert!(
                    said["toolmark.mark"].len() > 10 && said.contains_key("gen_ai.tool.call.id"),
                    "{who}: {said:?}"
                );
                assert!(!said.contains_key("error.type") && whole.status.is_none(), "{who}: {said:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_receiver_is_told_who_sends_and_shown_its_headers() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = Running::start(&format!("{}{}", receiver.config(), by_http("fixture", &fixture))).await;
    call(&gateway.client(Era::New).await, "echo", json!({ "text": "never told" })).await;
    let state = Arc::clone(&gateway.gateway);
    gateway.stop().await;
    let stats = state.spans().expect("spans are sent");
    assert_eq!((stats.sent, stats.dropped), (3, 0));
    let got = receiver.got.lock().expect("no test panics with it").clone();
    let (headers, request) = got.first().expect("a request");
    assert_eq!(headers["x-key"], "s3cret");
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let resource = request.resource_spans[0].resource.as_ref().expect("a resource");
    assert_eq!(attributes(&resource.attributes)["service.name"], "a-gateway");
    assert!(!format!("{request:?}").contains("never told"), "arguments and results are not told");
}

#[tokio::test]
async fn without_metadata_the_headers_say_which_trace_it_is() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = Running::start(&format!("{}{}", receiver.config(), by_http("fixture", &fixture))).await;
    let parent = format!("00-{TRACE}-{PARENT}-01");
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "meta"),
        ("traceparent", parent.as_str()),
        ("tracestate", "vendor=1"),
        ("baggage", "team=blue"),
    ];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "meta", "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": "call-7", "method": "tools/call", "params": params });
    let (status, answer) = send(&gateway, Method::POST, "/mcp", &headers, body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    gateway.stop().await;
    let whole = receiver.span("tools/call fixture.meta");
    assert_eq!((hex(&whole.trace_id), hex(&whole.parent_span_id)), (TRACE.into(), PARENT.into()));
    assert_eq!(attributes(&whole.attributes)["gen_ai.tool.call.id"], "call-7");
    let sent = receiver.sent("tools/call fixture.meta");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let seen = answer["result"]["content"][0]["text"].as_str().expect("text");
    let seen: Value = serde_json::from_str(seen).expect("metadata");
    assert_eq!(seen["traceparent"], format!("00-{TRACE}-{}-01", hex(&sent.span_id)));
    assert_eq!((&seen["tracestate"], &seen["baggage"]), (&json!("vendor=1"), &json!("team=blue")));
}

#[tokio::test]
async fn a_client_at_the_other_end_of_a_pipe_is_told_apart() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = Running::start(&format!("{}{}", receiver.config(), by_http("fixture", &fixture))).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (heard, said) = tokio::io::split(theirs);
    let endpoint = Endpoint::new(Arc::new(Front::new(Arc::clone(&gateway.gateway))), Settings::default());
    let serving = tokio::spawn(async move { endpoint.stdio(heard, said, Caller::new("local")).await });
    let (read, mut write) = tokio::io::split(ours);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "echo", "arguments": { "text": "hello" }, "_meta": meta });
    let line = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params });
    write.write_all(format!("{line}\n").as_bytes()).await.expect("sent");
    let answer = BufReader::new(read).lines().next_line().await.expect("a line").expect("an answer");
    assert!(answer.contains("hello"), "{answer}");
    serving.abort();
    gateway.stop().await;
    let said = attributes(&receiver.span("tools/call fixture.echo").attributes);
    assert_eq!((said["network.transport"].as_str(), said["gen_ai.tool.call.id"].as_str()), ("pipe", "3"));
}

#[tokio::test]
async fn a_refused_call_is_an_error_that_reached_nobody() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = Running::start(&format!("{}{}", receiver.config(), by_http("fixture", &fixture))).await;
    let refused = call(&gateway.client_at(Era::New, "/mcp/read-only").await, "crash", json!({})).await;
    assert_eq!(refused.is_error, Some(true));
    gateway.stop().await;
    let whole = receiver.span("tools/call fixture.crash");
    let said = attributes(&whole.attributes);
    assert_eq!((said["toolmark.verdict"].as_str(), said["toolmark.outcome"].as_str()), ("deny", "denied"));
    assert_eq!(said["toolmark.task"], "read-only");
    let status = whole.status.expect("a status");
    assert_eq!((status.code, &status.message), (2, &said["error.type"]));
    let names: Vec<String> = receiver.spans().into_iter().map(|span| span.name).collect();
    assert_eq!(names, ["tools/call fixture.crash", "examine"]);
}

#[tokio::test]
async fn a_tool_that_fails_and_a_name_that_leads_nowhere_are_errors() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let config = format!("[policy]\npreset = \"observe\"\n{}{}", receiver.config(), by_http("fixture", &fixture));
    let gateway = Running::start(&config).await;
    call(&gateway.client(Era::New).await, "fail", json!({})).await;
    let strangers = ["a-name-from-a-stranger", "another-stranger"];
    for name in strangers {
        let refused = gateway.client(Era::New).await.call_tool(request(name, json!({}))).await;
        assert!(refused.is_err(), "{refused:?}");
    }
    gateway.stop().await;
    let failed = attributes(&receiver.span("tools/call fixture.fail").attributes);
    assert_eq!((failed["error.type"].as_str(), failed["toolmark.outcome"].as_str()), ("tool_error", "tool-error"));
    let unknown = |span: &Span| span.name == "tools/call";
    let unknown: Vec<Span> = receiver.spans().into_iter().filter(unknown).collect();
    assert_eq!(unknown.len(), strangers.len());
    for span in &unknown {
        let said = attributes(&span.attributes);
        assert_eq!((said["error.type"].as_str(), said["rpc.response.status_code"].as_str()), ("-32602", "-32602"));
        assert_eq!(said["toolmark.code"], "tool-not-found");
    }
    assert!(!format!("{:?}", receiver.spans()).contains("stranger"), "names of strangers are not told");
}

#[tokio::test]
async fn an_error_of_json_rpc_is_told_by_its_code() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let config = format!("[policy]\npreset = \"observe\"\n{}{}", receiver.config(), by_http("fixture", &fixture));
    let gateway = Running::start(&config).await;
    // The model reads it as a failure of the tool; whoever watches sees what it was.
    let failed = call(&gateway.client(Era::New).await, "blob", json!({ "bytes": 1_u64 << 40 })).await;
    assert_eq!(failed.is_error, Some(true), "{failed:?}");
    gateway.stop().await;
    for span in [receiver.span("tools/call fixture.blob"), receiver.sent("tools/call fixture.blob")] {
        let said = attributes(&span.attributes);
        assert!(said["error.type"].parse::<i64>().is_ok_and(|code| code < 0), "{said:?}");
        assert_eq!(said["rpc.response.status_code"], said["error.type"]);
        assert_eq!(span.status.expect("a status").code, 2);
    }
}

#[tokio::test]
async fn a_trace_that_nobody_records_goes_on_as_it_came() {
    let (receiver, fixture) = (Receiver::start(StatusCode::OK).await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = Running::start(&format!("{}{}", receiver.config(), by_http("fixture", &fixture))).await;
    let client = gateway.client(Era::New).await;
    let called = client.call_tool(within("00")).await.expect("a result");
    let seen: Value = serde_json::from_str(&text(&called)).expect("metadata");
    drop(client);
    gateway.stop().await;
    assert_eq!(seen["traceparent"], format!("00-{TRACE}-{PARENT}-00"));
    assert_eq!(receiver.spans(), []);
}

#[tokio::test]
async fn without_a_receiver_metadata_goes_on_as_it_came() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let gateway = Running::start(&by_http("fixture", &fixture)).await;
    let client = gateway.client(Era::Old).await;
    let called = client.call_tool(within("01")).await.expect("a result");
    let seen: Value = serde_json::from_str(&text(&called)).expect("metadata");
    assert_eq!(seen["traceparent"], format!("00-{TRACE}-{PARENT}-01"));
    assert!(gateway.gateway.spans().is_none());
}

#[tokio::test]
async fn a_receiver_that_is_away_or_refuses_costs_spans_and_no_call() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let away = Receiver { address: nobody.local_addr().expect("an address"), got: Arc::default() };
    drop(nobody);
    let refusing = Receiver::start(StatusCode::BAD_REQUEST).await;
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    for receiver in [away, refusing] {
        let gateway = Running::start(&format!("{}{}", receiver.config(), by_http("fixture", &fixture))).await;
        let client = gateway.client(Era::New).await;
        for number in 0..5 {
            let said = number.to_string();
            assert_eq!(text(&call(&client, "echo", json!({ "text": said })).await), said);
        }
        let state = Arc::clone(&gateway.gateway);
        drop(client);
        gateway.stop().await;
        let stats = state.spans().expect("spans are sent");
        assert_eq!((stats.sent, stats.dropped), (0, 15));
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_an_error_without_what_is_secret() {
    // One that is written out is refused when it is read.
    let config = "[telemetry.otlp]\nendpoint = \"${NO_SUCH_RECEIVER:-grpc://key:s3cret@localhost}\"\n";
    let config = toolmark_config::Config::read(config, "toolmark.toml").expect("it can be read");
    let error =
        toolmark_gateway::GatewayBuilder::new(config, std::path::PathBuf::new()).start().expect_err("no address");
    let problems = format!("{:?}", error.problems());
    assert!(problems.contains("otlp-unusable") && !problems.contains("s3cret"), "{problems}");
}
