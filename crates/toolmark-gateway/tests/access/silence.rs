//! Connections on which nothing is said, or half of something: closed in time, and in nobody's way.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolmark_gateway::ConnectionLimits;

use crate::support::{Recorded, Running, echo, send};

/// What a client of HTTP/2 says first, with no settings of its own.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// How long a test waits for what must happen.
const DEADLINE: Duration = Duration::from_secs(20);

fn short() -> ConnectionLimits {
    let mut limits = ConnectionLimits::default();
    (limits.head, limits.idle, limits.body) =
        (Duration::from_millis(200), Duration::from_millis(200), Duration::from_millis(200));
    limits
}

/// A connection on which these bytes are sent.
async fn connected(gateway: &Running, said: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(gateway.address).await.expect("it listens");
    stream.write_all(said).await.expect("sent");
    stream
}

/// Reads until the other end closes.
async fn until_closed(mut stream: TcpStream, what: &str) -> Vec<u8> {
    let mut read = Vec::new();
    // A connection that is reset is over too.
    let _ = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut read))
        .await
        .unwrap_or_else(|_| panic!("{what} is open"));
    read
}

#[tokio::test]
async fn a_connection_without_a_whole_head_is_closed_in_time() {
    let upstream = Recorded::start().await;
    let gateway = Running::start_within(&upstream.config(), short()).await;
    for (what, said) in [
        ("nothing", &b""[..]),
        ("the beginning of either version", b"P"),
        ("half a preface", b"PRI * HTTP/2.0\r\n"),
        ("half a head", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"),
        ("a preface and settings", PREFACE),
    ] {
        until_closed(connected(&gateway, said).await, what).await;
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_connection_that_waits_for_its_next_request_is_closed_in_time() {
    let upstream = Recorded::start().await;
    let gateway = Running::start_within(&upstream.config(), short()).await;
    let stream = connected(&gateway, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let answer = until_closed(stream, "one that was answered").await;
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));

    let stream = TokioIo::new(connected(&gateway, b"").await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("HTTP/2");
    let connection = tokio::spawn(connection);
    let request = Request::get("http://localhost/healthz").body(Empty::<Bytes>::new()).expect("a request");
    let response = sender.send_request(request).await.expect("an answer");
    assert_eq!(response.into_body().collect().await.expect("a body").to_bytes(), "ok");
    let ended = tokio::time::timeout(DEADLINE, connection).await.expect("it ends").expect("no panic");
    ended.expect("in peace: a client that is about to send something is told");
    gateway.stop().await;
}

#[tokio::test]
async fn a_call_that_takes_long_keeps_its_connection() {
    let upstream = Recorded::start().await;
    let gateway = Running::start_within(&upstream.config(), short()).await;
    upstream.hold();
    let stream = TokioIo::new(connected(&gateway, b"").await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("HTTP/2");
    let connection = tokio::spawn(connection);
    let request = Request::post("http://localhost/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "echo")
        .body(Full::new(Bytes::from(echo().to_string())))
        .expect("a request");
    let old = crate::support::call(&gateway, "/mcp", None);
    let later = async {
        upstream.calls(2).await;
        // Longer than any of the limits.
        tokio::time::sleep(Duration::from_millis(1_000)).await;
        upstream.let_go();
    };
    let (old, new, ()) = tokio::join!(old, sender.send_request(request), later);
    assert_eq!(old.status, StatusCode::OK, "{}", old.body);
    assert_eq!(new.expect("an answer").status(), StatusCode::OK);
    connection.abort();
    gateway.stop().await;
}

#[tokio::test]
async fn whoever_holds_all_connections_keeps_nobody_out() {
    let upstream = Recorded::start().await;
    let mut limits = ConnectionLimits::default();
    limits.most = 8;
    let gateway = Running::start_within(&upstream.config(), limits).await;
    let mut held = Vec::new();
    for number in 0..40 {
        let said: &[u8] = match number % 4 {
            0 => b"",
            1 => b"P",
            2 => PREFACE,
            _ => b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        };
        held.push(connected(&gateway, said).await);
        let answer = send(&gateway, Method::GET, "/healthz", &[], &Value::Null);
        let answer = tokio::time::timeout(DEADLINE, answer).await.expect("somebody answers");
        assert_eq!(answer.status, StatusCode::OK, "after {number}");
    }
    // The first of them has long given way.
    until_closed(held.swap_remove(0), "the first").await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_body_that_never_comes_is_answered_everywhere() {
    let upstream = Recorded::start().await;
    let config = format!(
        "[agents.helper]\nmodel = \"scripted:nothing.json\"\n[agui]\nenabled = true\n[console]\nenabled = true\n{}",
        upstream.config()
    );
    let gateway = Running::start_within(&config, short()).await;
    let token = gateway.token(toolmark_store::NewToken { approver: true, ..crate::support::named("ann") }).await;
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    for path in ["/mcp", "/agui/helper", "/api/replay", &format!("/api/approvals/{id}/decision")] {
        let shown =
            if path.starts_with("/api/") { format!("Authorization: Bearer {token}\r\n") } else { String::new() };
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {shown}Content-Length: 10\r\n\r\n{{"
        );
        let mut stream = connected(&gateway, head.as_bytes()).await;
        let mut first = [0; 12];
        tokio::time::timeout(DEADLINE, stream.read_exact(&mut first)).await.expect("in time").expect("an answer");
        assert_eq!(&first, b"HTTP/1.1 408", "{path}: {}", String::from_utf8_lossy(&first));
    }
    gateway.stop().await;
}
