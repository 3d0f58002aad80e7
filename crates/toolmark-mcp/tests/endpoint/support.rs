//! A client of a few lines, for both eras.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use toolmark_mcp::downstream::{Body, Caller, Endpoint, Settings};
use toolmark_mcp::wire::sse;

use crate::fixture::Fixture;

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Nothing in these tests should take this long; what does is broken.
pub(crate) const TOO_LONG: Duration = Duration::from_secs(60);

pub(crate) fn endpoint() -> Endpoint<Fixture> {
    endpoint_with(Settings::default())
}

pub(crate) fn endpoint_with(settings: Settings) -> Endpoint<Fixture> {
    let fixture = Arc::new(Fixture::default());
    let endpoint = Endpoint::new(Arc::clone(&fixture), settings);
    fixture.announce_through(&endpoint);
    endpoint
}

pub(crate) async fn send(
    endpoint: &Endpoint<Fixture>,
    who: &str,
    request: http::request::Builder,
    body: &[u8],
) -> Response<Body> {
    let request = request.body(Full::new(Bytes::copy_from_slice(body))).expect("a request");
    tokio::time::timeout(TOO_LONG, endpoint.http(request, Caller::new(who))).await.expect("an answer")
}

pub(crate) fn post() -> http::request::Builder {
    Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

/// The value of a response that is JSON.
pub(crate) async fn value(response: Response<Body>) -> Value {
    assert_eq!(response.headers().get("content-type").expect("a type"), "application/json");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    serde_json::from_slice(&body).expect("JSON")
}

/// Events of a response, read one by one.
pub(crate) struct Events {
    body: Body,
    reader: sse::Reader,
}

impl Events {
    pub(crate) fn of(response: Response<Body>) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers().get("content-type").expect("a type"), "text/event-stream");
        Self { body: response.into_body(), reader: sse::Reader::new(1 << 20) }
    }

    /// The next event, or `None` at the end.
    pub(crate) async fn event(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(event) = self.reader.next_event().expect("an event of modest size") {
                return Some(event);
            }
            let frame = tokio::time::timeout(TOO_LONG, self.body.frame()).await.expect("an event")?;
            self.reader.feed(&frame.expect("a frame").into_data().expect("data").join());
        }
    }

    /// The next message, or `None` at the end.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event().await?;
            if !event.data.is_empty() {
                return Some(serde_json::from_slice(&event.data).expect("JSON"));
            }
        }
    }
}

/// The parameters of a request of 2026-07-28 by a client that can answer everything.
pub(crate) fn modern(params: Value) -> Value {
    modern_with(params, &json!({"elicitation": {}, "sampling": {}, "roots": {}}))
}

pub(crate) fn modern_with(mut params: Value, capabilities: &Value) -> Value {
    let meta = params.as_object_mut().expect("an object").entry("_meta").or_insert_with(|| json!({}));
    meta[VERSION] = json!("2026-07-28");
    meta[CAPABILITIES] = capabilities.clone();
    params
}

/// A request of 2026-07-28 with the headers that belong to it.
pub(crate) async fn ask_modern(
    endpoint: &Endpoint<Fixture>,
    who: &str,
    method: &str,
    params: &Value,
) -> Response<Body> {
    let mut request = post().header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
    if let Some(name) = params.get("name").or(params.get("uri")).and_then(Value::as_str) {
        request = request.header("mcp-name", name);
    }
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    send(endpoint, who, request, body.to_string().as_bytes()).await
}

/// A call of 2026-07-28.
pub(crate) async fn call_modern(endpoint: &Endpoint<Fixture>, tool: &str, more: &Value) -> Response<Body> {
    let mut params = json!({"name": tool, "arguments": {}});
    for (key, value) in more.as_object().expect("an object") {
        params[key] = value.clone();
    }
    ask_modern(endpoint, "alice", "tools/call", &modern(params)).await
}

/// A client of 2025-11-25 with a session.
pub(crate) struct Old {
    pub(crate) endpoint: Endpoint<Fixture>,
    pub(crate) session: String,
}

impl Old {
    pub(crate) async fn open(endpoint: &Endpoint<Fixture>) -> Self {
        Self::open_with(endpoint, "2025-11-25", &json!({"elicitation": {}, "sampling": {}, "roots": {}})).await
    }

    pub(crate) async fn open_with(endpoint: &Endpoint<Fixture>, version: &str, capabilities: &Value) -> Self {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version,
            "capabilities": capabilities, "clientInfo": {"name": "test", "version": "0"}}});
        let response = send(endpoint, "alice", post(), body.to_string().as_bytes()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let session = response.headers().get("mcp-session-id").expect("a session").to_str().expect("text").to_owned();
        let old = Self { endpoint: endpoint.clone(), session };
        let done = old.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(done.status(), StatusCode::ACCEPTED);
        old
    }

    pub(crate) fn head(&self, request: http::request::Builder) -> http::request::Builder {
        request.header("mcp-session-id", &self.session).header("mcp-protocol-version", "2025-11-25")
    }

    pub(crate) async fn post(&self, body: &Value) -> Response<Body> {
        send(&self.endpoint, "alice", self.head(post()), body.to_string().as_bytes()).await
    }

    pub(crate) async fn request(&self, id: u64, method: &str, params: Value) -> Response<Body> {
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await
    }

    pub(crate) async fn call(&self, id: u64, tool: &str, arguments: Value) -> Response<Body> {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}});
        self.request(id, "tools/call", params).await
    }

    pub(crate) async fn get(&self, last: Option<&str>) -> Response<Body> {
        let mut request = self.head(Request::get("/mcp")).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        send(&self.endpoint, "alice", request, b"").await
    }
}

pub(crate) fn content(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {message}"))
}

/// Waits for something that is about to happen.
pub(crate) async fn until(mut done: impl FnMut() -> bool) {
    let waiting = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(TOO_LONG, waiting).await.expect("it to happen");
}

pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
