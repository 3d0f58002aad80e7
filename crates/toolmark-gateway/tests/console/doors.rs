//! Who is let in: bearers of the key or of an approver's token, on every route; nobody else, whatever they try.

use http::{Method, StatusCode};
use serde_json::json;

use crate::support::Running;

const READ: [&str; 10] = [
    "/api/me",
    "/api/live",
    "/api/calls",
    "/api/calls/01a1e33b-9d7b-746c-9bd1-3160ee6f0e20",
    "/api/catalog",
    "/api/catalog/shop.search",
    "/api/confusables",
    "/api/policy",
    "/api/health",
    "/api/agents",
];

#[tokio::test]
async fn no_route_answers_without_a_key_or_with_a_wrong_one() {
    let running = Running::start("").await;
    let client = running.token("claude", false).await;
    let wrong = format!("tmc_{}", "0".repeat(64));
    for path in READ.iter().chain(&["/api/replay", "/api/approvals", "/api/grants", "/api", "/api/nowhere"]) {
        let method = if *path == "/api/replay" { Method::POST } else { Method::GET };
        let bare = running.send(method.clone(), path, &[], String::new()).await;
        assert_eq!((bare.status, bare.code().as_str()), (StatusCode::UNAUTHORIZED, "approver-token-missing"), "{path}");
        assert!(bare.header("www-authenticate").starts_with("Bearer"), "{path}");
        for (shown, status) in [
            (format!("Bearer {wrong}"), StatusCode::UNAUTHORIZED),
            (format!("Basic {}", running.key), StatusCode::UNAUTHORIZED),
            (format!("Bearer {}", &running.key[..60]), StatusCode::UNAUTHORIZED),
            (format!("Bearer {client}"), StatusCode::FORBIDDEN),
        ] {
            let answer = running.send(method.clone(), path, &[("authorization", &shown)], String::new()).await;
            assert_eq!(answer.status, status, "{path} {shown}");
        }
        // Neither in the address nor in a cookie: what others can make a browser send is nothing.
        let path_with = format!("{path}?key={}&access_token={}", running.key, running.key);
        let answer =
            running.send(method, &path_with, &[("cookie", &format!("key={}", running.key))], String::new()).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    running.stop().await;
}

#[tokio::test]
async fn an_approver_s_token_and_the_key_see_the_same_and_are_told_who_they_are() {
    let running = Running::start("").await;
    let me = running.shown("/api/me").await;
    assert_eq!(
        (me["name"].as_str(), me["by"].as_str(), me["user"].as_str()),
        (Some("console"), Some("key"), Some("ann"))
    );
    let token = running.token("bob", true).await;
    let shown = format!("Bearer {token}");
    let me = running.send(Method::GET, "/api/me", &[("authorization", &shown)], String::new()).await.json();
    assert_eq!((me["name"].as_str(), me["by"].as_str(), me["user"].as_str()), (Some("bob"), Some("token"), None));
    // The key opens the console; it calls no tools where callers need a token.
    running.stop().await;
    let running = Running::start("[gateway.auth]\ntokens = true\n").await;
    assert_eq!(running.get("/api/me").await.status, StatusCode::OK);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let answer = running.ask(Method::POST, "/mcp", &headers, call.to_string()).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{answer:?}");
    running.stop().await;
}

#[tokio::test]
async fn other_origins_and_other_hosts_are_refused_before_anything_is_looked_at() {
    let running = Running::start("").await;
    for path in READ.iter().chain(&["/", "/console/index.html"]) {
        for header in [("origin", "https://evil.example"), ("origin", "null"), ("host", "evil.example")] {
            let answer = running.ask(Method::GET, path, &[header], String::new()).await;
            assert!(answer.status.is_client_error() && answer.status != StatusCode::UNAUTHORIZED, "{path} {answer:?}");
        }
    }
    let own = format!("http://{}", running.address);
    assert_eq!(running.ask(Method::GET, "/api/me", &[("origin", &own)], String::new()).await.status, StatusCode::OK);
    running.stop().await;
}

#[tokio::test]
async fn what_other_pages_can_send_changes_nothing() {
    let running = Running::start("").await;
    let id = "01a1e33b-9d7b-746c-9bd1-3160ee6f0e20";
    for path in ["/api/replay", &format!("/api/approvals/{id}/decision")] {
        for kind in
            ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "text/plain; a=application/json"]
        {
            let answer = running.ask(Method::POST, path, &[("content-type", kind)], "{}".into()).await;
            assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path} {kind}");
        }
        let answer = running.ask(Method::POST, path, &[], "{}".into()).await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path}");
    }
    for path in READ {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            let answer = running.ask(method, path, &[("content-type", "application/json")], "{}".into()).await;
            assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        }
    }
    // There is no way to add, start, stop or change a server.
    for path in ["/api/packs", "/api/config", "/api/servers", "/api/catalog/shop.search/enable", "/api/reload"] {
        assert_eq!(running.post(path, &json!({})).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    running.stop().await;
}

#[tokio::test]
async fn every_answer_keeps_to_itself() {
    let running = Running::start("").await;
    for path in ["/", "/api/me", "/api/catalog", "/api/nowhere", "/console/nothing.js", "/api/approvals"] {
        let answer = running.get(path).await;
        assert!(answer.header("content-security-policy").contains("default-src 'none'"), "{path}");
        assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
        assert!(!answer.header("content-security-policy").contains("unsafe"), "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert!(answer.headers.get("access-control-allow-origin").is_none(), "{path}");
        assert!(answer.headers.get("set-cookie").is_none(), "{path}");
    }
    running.stop().await;
}
