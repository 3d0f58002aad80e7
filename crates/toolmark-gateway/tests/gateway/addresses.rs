//! What is at which address, and who is let in.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::support::{Era, Running, by_http, call, http_fixture};

/// One request with these headers; `Host` is the gateway's own unless given.
pub(crate) async fn send(
    gateway: &Running,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> (StatusCode, String) {
    let (status, _, body) = sent(gateway, method, path, headers, body).await;
    (status, body)
}

/// The same with the headers of the answer.
pub(crate) async fn sent(
    gateway: &Running,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> (StatusCode, http::HeaderMap, String) {
    let response = answered(gateway, method, path, headers, body).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, headers, String::from_utf8_lossy(&body).into_owned())
}

/// The body of an answer, while it comes.
pub(crate) async fn open(
    gateway: &Running,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> Incoming {
    answered(gateway, method, path, headers, body).await.into_body()
}

async fn answered(
    gateway: &Running,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> Response<Incoming> {
    let mut request = Request::builder().method(method).uri(format!("http://{}{path}", gateway.address));
    request =
        request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = request.body(Full::new(Bytes::from(body))).expect("a request");
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    client.request(request).await.expect("an answer")
}

/// A request of 2026-07-28.
async fn ask(gateway: &Running, path: &str, method: &str, mut params: Value) -> (StatusCode, String) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "a-test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params.as_object_mut().expect("an object").insert("_meta".to_owned(), meta);
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    send(gateway, Method::POST, path, &headers, body).await
}

async fn gateway() -> (Running, toolmark_fixture::Listening) {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    (Running::start(&by_http("fixture", &fixture)).await, fixture)
}

#[tokio::test]
async fn health_and_readiness_are_told() {
    let (gateway, _fixture) = gateway().await;
    let (status, body) = send(&gateway, Method::GET, "/healthz", &[], Value::Null).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "ok"));
    let (status, body) = send(&gateway, Method::GET, "/readyz", &[], Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(body, json!({ "ready": true, "states": { "ready": 1 }, "packs": { "fixture": "ready" } }));
    assert!(gateway.gateway.packs().len() == 1);
    for (path, wanted) in [
        ("/healthz", StatusCode::METHOD_NOT_ALLOWED),
        ("/readyz", StatusCode::METHOD_NOT_ALLOWED),
        ("/nothing", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(send(&gateway, Method::POST, path, &[], Value::Null).await.0, wanted, "{path}");
    }
}

#[tokio::test]
async fn a_pack_that_is_added_later_does_not_make_it_unready() {
    let (gateway, fixture) = gateway().await;
    // Accepts, and never says a word.
    let slow = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let more = format!("[packs.slow]\nurl = \"http://{}/mcp\"\n", slow.local_addr().expect("an address"));
    let changed = crate::support::read(&format!("{}{more}", by_http("fixture", &fixture)));
    // Known to have started before anything is added.
    while send(&gateway, Method::GET, "/readyz", &[], Value::Null).await.0 != StatusCode::OK {}
    gateway.gateway.settled().await;
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    gateway.gateway.reload(changed, None).await.expect("it is taken over");
    let (status, body) = send(&gateway, Method::GET, "/readyz", &[], Value::Null).await;
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, &body["ready"]), (StatusCode::OK, &json!(true)));
    assert_eq!(body["packs"]["slow"], json!("starting"), "{body}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_foreign_origin_or_host_is_refused_each_on_its_own() {
    let (gateway, _fixture) = gateway().await;
    for path in ["/mcp", "/healthz"] {
        let (status, _) = send(&gateway, Method::GET, path, &[("origin", "http://evil.example")], Value::Null).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
        let (status, _) = send(&gateway, Method::GET, path, &[("host", "evil.example")], Value::Null).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn a_cursor_that_was_never_given_out_is_an_error() {
    let (gateway, _fixture) = gateway().await;
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for cursor in [json!("nonsense"), json!("tm1.99"), json!(7)] {
            let (_, body) = ask(&gateway, "/mcp", method, json!({ "cursor": cursor })).await;
            let body: Value = serde_json::from_str(&body).expect("JSON");
            assert_eq!(body["error"]["code"], -32602, "{method} {cursor}: {body}");
        }
    }
}

#[tokio::test]
async fn an_address_stands_for_a_task_a_profile_or_nothing() {
    let (gateway, _fixture) = gateway().await;
    let (status, _) = ask(&gateway, "/mcp/nope", "tools/list", json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, body) = ask(&gateway, "/mcp/claude-code", "tools/list", json!({})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    for era in [Era::Old, Era::New] {
        let reader = gateway.client_at(era, "/mcp/read-only").await;
        let refused = call(&reader, "crash", json!({})).await;
        assert_eq!(refused.is_error, Some(true), "{era:?}");
        let meta = refused.meta.expect("metadata").0;
        assert_eq!(meta["dev.toolmark/call"]["verdict"], "deny", "{era:?}: {meta:?}");
        // Had it run, it would have ended this process.
        let allowed = call(&reader, "stats", json!({})).await;
        assert_ne!(allowed.is_error, Some(true), "{era:?}");
    }
}
