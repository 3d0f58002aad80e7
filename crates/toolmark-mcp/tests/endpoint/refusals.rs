//! What is refused, with which status and which code.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use hyper::body::Frame;
use serde_json::{Value, json};
use toolmark_mcp::downstream::{Caller, Settings};
use toolmark_mcp::wire::Limits;

use crate::support::*;

#[tokio::test]
async fn what_is_no_message_is_a_bad_request() {
    let endpoint = endpoint();
    let cases: [(&[u8], i64); 9] = [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (br#""text""#, -32600),
    ];
    for (body, code) in cases {
        let response = send(&endpoint, "alice", post(), body).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{}", String::from_utf8_lossy(body));
        let answer = value(response).await;
        assert_eq!(answer["error"]["code"], code, "{} {answer}", String::from_utf8_lossy(body));
        assert!(answer["error"]["data"]["code"].is_string(), "{answer}");
    }
}

#[tokio::test]
async fn other_methods_of_http_are_not_allowed() {
    let response = send(&endpoint(), "alice", Request::put("/mcp"), b"").await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(header(response.headers(), "allow"), Some("GET, POST, DELETE"));
}

#[tokio::test]
async fn a_body_that_is_not_json_or_an_answer_that_is_not_taken_is_refused() {
    let endpoint = endpoint();
    let plain = Request::post("/mcp").header("content-type", "text/plain");
    assert_eq!(send(&endpoint, "alice", plain, b"{}").await.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let html = Request::post("/mcp").header("content-type", "application/json").header("accept", "text/html");
    assert_eq!(send(&endpoint, "alice", html, b"{}").await.status(), StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn a_large_body_is_refused_whether_it_says_so_or_not() {
    let limits = Limits { bytes: 100, ..Limits::default() };
    let endpoint = endpoint_with(Settings { limits, ..Settings::default() });
    let says = post().header("content-length", "101");
    assert_eq!(send(&endpoint, "alice", says, b"{}").await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(send(&endpoint, "alice", post(), &[b' '; 101]).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let pieces = Pieces(vec![Bytes::from_static(&[b' '; 60]); 2]);
    let response = endpoint.http(post().body(pieces).expect("a request"), Caller::new("alice")).await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_body_in_pieces_is_put_together() {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#;
    let pieces = Pieces(body.chunks(5).rev().map(Bytes::from_static).collect());
    let response = endpoint().http(post().body(pieces).expect("a request"), Caller::new("alice")).await;
    assert_eq!(value(response).await["error"]["data"]["code"], "session-required");
}

#[tokio::test]
async fn a_body_that_never_comes_times_out() {
    let endpoint = endpoint_with(Settings { body_time: Duration::from_millis(5), ..Settings::default() });
    let response = endpoint.http(post().body(Never).expect("a request"), Caller::new("alice")).await;
    assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
    assert_eq!(value(response).await["error"]["data"]["code"], "body-too-slow");
}

#[tokio::test]
async fn a_request_of_2026_without_its_meta_is_refused() {
    let endpoint = endpoint();
    for meta in [
        json!({}),
        json!({VERSION: "2026-07-28"}),
        json!({VERSION: "2026-07-28", CAPABILITIES: 1}),
        json!({CAPABILITIES: {}}),
    ] {
        let response = ask_modern(&endpoint, "alice", "server/discover", &json!({"_meta": meta})).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{meta}");
        let answer = value(response).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32602), &json!(7)), "{meta}");
    }
    let none = ask_modern(&endpoint, "alice", "tools/list", &json!({})).await;
    assert_eq!(value(none).await["error"]["code"], -32602);
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let endpoint = endpoint();
    let cases: [(&[(&str, &str)], bool); 9] = [
        (&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "echo")], true),
        (
            &[
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", "=?base64?ZWNobw==?="),
            ],
            true,
        ),
        (&[("mcp-method", "tools/call"), ("mcp-name", "echo")], false),
        (&[("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/call"), ("mcp-name", "echo")], false),
        (&[("mcp-protocol-version", "2026-07-28"), ("mcp-name", "echo")], false),
        (&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "TOOLS/CALL"), ("mcp-name", "echo")], false),
        (&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")], false),
        (&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "other")], false),
        (
            &[
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", "echo"),
                ("mcp-name", "echo"),
            ],
            false,
        ),
    ];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": modern(json!({"name": "echo", "arguments": {}}))});
    for (headers, fine) in cases {
        let request = headers.iter().fold(post(), |request, (name, value)| request.header(*name, *value));
        let response = send(&endpoint, "alice", request, body.to_string().as_bytes()).await;
        assert_eq!(response.status(), if fine { StatusCode::OK } else { StatusCode::BAD_REQUEST }, "{headers:?}");
        let answer = value(response).await;
        assert_eq!(answer["error"]["code"], if fine { Value::Null } else { json!(-32020) }, "{headers:?}");
    }
}

#[tokio::test]
async fn what_an_old_client_says_in_headers_has_to_be_true() {
    let old = Old::open(&endpoint()).await;
    let cases: [(&[(&str, &str)], bool); 6] = [
        (&[], true),
        (&[("mcp-method", "tools/call"), ("mcp-name", "echo")], true),
        (&[("mcp-name", "=?base64?ZWNobw==?=")], true),
        (&[("mcp-method", "tools/list")], false),
        (&[("mcp-name", "other")], false),
        (&[("mcp-name", "echo"), ("mcp-name", "echo")], false),
    ];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}}});
    for (headers, fine) in cases {
        let request = headers.iter().fold(old.head(post()), |request, (name, value)| request.header(*name, *value));
        let response = send(&old.endpoint, "alice", request, body.to_string().as_bytes()).await;
        assert_eq!(response.status(), if fine { StatusCode::OK } else { StatusCode::BAD_REQUEST }, "{headers:?}");
        if !fine {
            assert_eq!(value(response).await["error"]["code"], -32020, "{headers:?}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_repeated_in_headers_must_agree() {
    let endpoint = endpoint();
    let params = modern(json!({"name": "test_header_tool", "arguments": {"region": "north"}}));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    for (region, status) in [
        (Some("north"), 200),
        (Some("south"), 400),
        (None, 400),
        (Some("=?base64?bm9ydGg=?="), 200),
        (Some("=?base64?!?="), 400),
    ] {
        let mut request = post().header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
        request = request.header("mcp-name", "test_header_tool");
        if let Some(region) = region {
            request = request.header("mcp-param-region", region);
        }
        assert_eq!(send(&endpoint, "alice", request, body.as_bytes()).await.status().as_u16(), status, "{region:?}");
    }
}

#[tokio::test]
async fn a_version_that_nobody_speaks_is_answered_with_those_we_speak() {
    let endpoint = endpoint();
    let mut params = modern(json!({}));
    params["_meta"][VERSION] = json!("v999");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    let request = post().header("mcp-protocol-version", "v999").header("mcp-method", "tools/list");
    for body in [body, json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})] {
        let request = request_like(&request);
        let response = send(&endpoint, "alice", request, body.to_string().as_bytes()).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let answer = value(response).await;
        assert_eq!(answer["error"]["code"], -32022);
        assert_eq!(answer["error"]["data"]["requested"], "v999");
        assert_eq!(answer["error"]["data"]["supported"][0], "2026-07-28");
    }
}

fn request_like(request: &http::request::Builder) -> http::request::Builder {
    let headers = request.headers_ref().expect("headers");
    headers.iter().fold(Request::post("/mcp"), |request, (name, value)| request.header(name, value))
}

#[tokio::test]
async fn what_is_gone_from_2026_or_never_was_is_not_found() {
    let endpoint = endpoint();
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"]
    {
        let response = ask_modern(&endpoint, "alice", method, &modern(json!({}))).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{method}");
        assert_eq!(value(response).await["error"]["code"], -32601, "{method}");
    }
    let old = Old::open(&endpoint).await;
    for method in ["server/discover", "subscriptions/listen", "no/such"] {
        let response = old.request(1, method, json!({})).await;
        assert_eq!(response.status(), StatusCode::OK, "{method}");
        assert_eq!(value(response).await["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn an_answer_to_nothing_is_refused_in_2026_and_ignored_before() {
    let endpoint = endpoint();
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let request = post().header("mcp-protocol-version", "2026-07-28");
    assert_eq!(
        send(&endpoint, "alice", request, answer.to_string().as_bytes()).await.status(),
        StatusCode::BAD_REQUEST
    );
    assert_eq!(Old::open(&endpoint).await.post(&answer).await.status(), StatusCode::ACCEPTED);
}

struct Pieces(Vec<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.pop().map(|piece| Ok(Frame::data(piece))))
    }
}

struct Never;

impl hyper::body::Body for Never {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Pending
    }
}
