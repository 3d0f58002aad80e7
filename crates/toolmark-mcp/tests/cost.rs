//! What does a client cost? Counted, not timed.
#![expect(clippy::expect_used, reason = "a test that cannot go on should say where")]

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, Response};
use http_body_util::Full;
use toolmark_mcp::downstream::{About, Answer, Body, Caller, Context, Endpoint, Incoming, Service, Settings};
use toolmark_mcp::wire::{Limits, RawObject};

/// Answers everything with one result, as a gateway does whose server has just answered.
struct Same(RawObject);

impl Service for Same {
    async fn call(&self, _: Incoming, _: Context) -> Answer {
        Answer::Result(self.0.clone())
    }

    fn about(&self, _: &Caller) -> Arc<About> {
        static ABOUT: OnceLock<Arc<About>> = OnceLock::new();
        Arc::clone(ABOUT.get_or_init(|| {
            Arc::new(About {
                server_info: Bytes::from_static(br#"{"name":"same","version":"0"}"#),
                capabilities: RawObject::empty(),
                instructions: None,
                ttl_ms: 0,
                public: false,
            })
        }))
    }
}

fn endpoint() -> Endpoint<Same> {
    let result = Bytes::from_static(br#"{"content":[{"type":"text","text":"hello"}]}"#);
    let result = RawObject::read(result, Limits::default()).expect("an object");
    Endpoint::new(Arc::new(Same(result)), Settings::default())
}

fn post() -> http::request::Builder {
    Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

fn send(endpoint: &Endpoint<Same>, caller: &Caller, request: Request<Full<Bytes>>) -> Response<Body> {
    endpoint.http(request, caller.clone()).now_or_never().expect("an answer without waiting")
}

/// Allocations between a request that has been read and a response that can be written.
fn cost(endpoint: &Endpoint<Same>, caller: &Caller, mut request: impl FnMut() -> Request<Full<Bytes>>) -> u64 {
    // Once before counting, for what is made once.
    drop(send(endpoint, caller, request()));
    let ready = request();
    let mut ready = Some(ready);
    let counted = allocation_counter::measure(|| {
        let response = send(endpoint, caller, ready.take().expect("a request"));
        assert_eq!(response.status(), 200);
    });
    // The request is freed in there too, so what is left may be less than nothing.
    assert!(counted.count_current <= 0, "nothing stays behind");
    counted.count_total
}

#[tokio::test(flavor = "current_thread")]
async fn a_call_that_only_answers_costs_a_handful_of_allocations() {
    let (endpoint, caller) = (endpoint(), Caller::new("alice"));
    let body = Bytes::from_static(
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    );
    let modern = cost(&endpoint, &caller, || {
        let request = post().header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
        request.header("mcp-name", "echo").body(Full::new(body.clone())).expect("a request")
    });
    assert!(modern <= 14, "{modern} allocations");
    let session = open(&endpoint, &caller);
    let body = Bytes::from_static(
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}"#,
    );
    let old = cost(&endpoint, &caller, || {
        let request = post().header("mcp-protocol-version", "2025-11-25").header("mcp-session-id", &session);
        request.body(Full::new(body.clone())).expect("a request")
    });
    assert!(old <= 10, "{old} allocations");
}

#[tokio::test(flavor = "current_thread")]
async fn a_session_costs_less_than_a_kilobyte() {
    let (endpoint, caller) = (endpoint(), Caller::new("alice"));
    drop(open(&endpoint, &caller));
    let counted = allocation_counter::measure(|| {
        for _ in 0..1_000 {
            drop(open(&endpoint, &caller));
        }
    });
    let each = counted.bytes_current / 1_000;
    assert!(each <= 1_000, "{each} bytes");
}

fn open(endpoint: &Endpoint<Same>, caller: &Caller) -> String {
    let body = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"some client","version":"1.2.3"}}}"#;
    let request = post().body(Full::new(Bytes::from_static(body))).expect("a request");
    let response = send(endpoint, caller, request);
    response.headers().get("mcp-session-id").expect("a session").to_str().expect("text").to_owned()
}
