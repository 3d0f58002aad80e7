//! One caller who takes too much, and the others, who do not notice.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Recorded, Running, call, named, send};

#[tokio::test]
async fn a_caller_that_has_too_many_calls_under_way_waits_and_others_do_not() {
    let upstream = Recorded::start().await;
    let config = format!("[gateway.auth]\ntokens = true\n[gateway.limits]\nconcurrency = 2\n{}", upstream.config());
    let gateway = Running::start(&config).await;
    let (one, other) = (gateway.token(named("one")).await, gateway.token(named("other")).await);
    upstream.hold();
    let held = async { tokio::join!(call(&gateway, "/mcp", Some(&one)), call(&gateway, "/mcp", Some(&one))) };
    let rest = async {
        upstream.calls(2).await;
        let refused = call(&gateway, "/mcp", Some(&one)).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{}", refused.body);
        assert_eq!((refused.header("retry-after"), refused.code().as_str()), ("1", "caller-limit"));
        let unharmed = async {
            upstream.calls(3).await;
            upstream.let_go();
        };
        let (answer, ()) = tokio::join!(call(&gateway, "/mcp", Some(&other)), unharmed);
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    };
    let ((first, second), ()) = tokio::join!(held, rest);
    assert_eq!((first.status, second.status), (StatusCode::OK, StatusCode::OK));
    assert_eq!(call(&gateway, "/mcp", Some(&one)).await.status, StatusCode::OK, "its places are free again");
    gateway.stop().await;
}

#[tokio::test]
async fn a_caller_that_is_too_fast_is_told_when_to_come_again_and_others_are_served() {
    let upstream = Recorded::start().await;
    let config = format!("[gateway.auth]\ntokens = true\n[gateway.limits]\nrate = \"3/h\"\n{}", upstream.config());
    let gateway = Running::start(&config).await;
    let (one, other) = (gateway.token(named("one")).await, gateway.token(named("other")).await);
    for _ in 0..3 {
        assert_eq!(call(&gateway, "/mcp", Some(&one)).await.status, StatusCode::OK);
    }
    let before = upstream.called();
    for path in ["/mcp", "/mcp/read-only"] {
        let refused = call(&gateway, path, Some(&one)).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::TOO_MANY_REQUESTS, "caller-limit"));
        let wait: u64 = refused.header("retry-after").parse().expect("seconds");
        assert!((1..=1200).contains(&wait), "{wait}");
    }
    assert_eq!(upstream.called(), before, "nothing that was refused went on");
    assert_eq!(call(&gateway, "/mcp", Some(&other)).await.status, StatusCode::OK);
    // Somebody without a token takes nothing from those who have one.
    assert_eq!(call(&gateway, "/mcp", None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(call(&gateway, "/mcp", Some(&other)).await.status, StatusCode::OK);
    gateway.stop().await;
}

/// A stream that somebody listens on, once it has begun.
async fn listens(gateway: &Running, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(gateway.address).await.expect("it listens");
    let request = format!(
        "{head}\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut first = [0; 12];
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_exact(&mut first)).await;
    read.expect("in time").expect("an answer");
    assert_eq!(&first, b"HTTP/1.1 200", "{}", String::from_utf8_lossy(&first));
    stream
}

/// The answer to `initialize`, with the session that was opened, if any.
async fn initialize(gateway: &Running, token: &str) -> (StatusCode, String) {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let answer = send(gateway, Method::POST, "/mcp", &[("authorization", &format!("Bearer {token}"))], &body).await;
    (answer.status, answer.header("mcp-session-id").to_owned())
}

#[tokio::test]
async fn a_caller_that_holds_all_sessions_open_gives_way_to_another() {
    let upstream = Recorded::start().await;
    let limits = "[gateway.limits]\nsessions = 3\nconcurrency = 2\n";
    let gateway = Running::start(&format!("[gateway.auth]\ntokens = true\n{limits}{}", upstream.config())).await;
    let (one, other) = (gateway.token(named("one")).await, gateway.token(named("other")).await);
    let mut streams = Vec::new();
    for _ in 0..3 {
        let (status, session) = initialize(&gateway, &one).await;
        assert_eq!(status, StatusCode::OK);
        for _ in 0..5 {
            let head = format!("GET /mcp HTTP/1.1\r\nAuthorization: Bearer {one}\r\nMcp-Session-Id: {session}");
            streams.push(listens(&gateway, &head, "").await);
        }
    }
    assert_eq!(initialize(&gateway, &one).await.0, StatusCode::SERVICE_UNAVAILABLE, "who has all of them waits");
    let (status, session) = initialize(&gateway, &other).await;
    assert_eq!(status, StatusCode::OK, "who has none does not");
    assert!(!session.is_empty());
    gateway.stop().await;
}

#[tokio::test]
async fn whoever_listens_may_call_all_the_same() {
    let upstream = Recorded::start().await;
    let limits = "[gateway.limits]\nsessions = 3\nconcurrency = 2\n";
    let gateway = Running::start(&format!("[gateway.auth]\ntokens = true\n{limits}{}", upstream.config())).await;
    let (one, other) = (gateway.token(named("one")).await, gateway.token(named("other")).await);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).to_string();
    let head = |token: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nAuthorization: Bearer {token}\r\nMcp-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: subscriptions/listen"
        )
    };
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(listens(&gateway, &head(&one), &body).await);
    }
    assert_eq!(call(&gateway, "/mcp", Some(&one)).await.status, StatusCode::OK, "calls have places of their own");
    // There is room for three listeners; one of whoever has most gives way.
    streams.push(listens(&gateway, &head(&other), &body).await);
    let (mut first, mut said) = (streams.swap_remove(0), Vec::new());
    let ended = async {
        while !String::from_utf8_lossy(&said).contains("\"resultType\":\"complete\"") {
            assert_ne!(first.read_buf(&mut said).await.expect("more"), 0, "{}", String::from_utf8_lossy(&said));
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the oldest ends");
    gateway.stop().await;
}
