//! Pages of other origins: those that the configuration names may call and read, and no others.

use http::{Method, StatusCode};
use serde_json::Value;

use crate::support::{Recorded, Running, echo, named, send};

const CONFIG: &str = "[gateway]\nallowed_origins = [\"https://app.example.com\"]\n[gateway.auth]\ntokens = true\n";
const PAGE: &str = "https://app.example.com";
const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

#[tokio::test]
async fn a_browser_may_ask_before_it_sends_a_request_of_a_page_that_is_named() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("{CONFIG}{}", upstream.config())).await;
    let asks = [
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type,mcp-param-query"),
    ];
    for path in ["/mcp", "/mcp/read-only", METADATA] {
        let headers = [&asks[..], &[("origin", PAGE)]].concat();
        let answer = send(&gateway, Method::OPTIONS, path, &headers, &Value::Null).await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{path}: {}", answer.body);
        assert_eq!(answer.header("access-control-allow-origin"), PAGE);
        assert_eq!(answer.header("access-control-allow-headers"), "authorization,content-type,mcp-param-query");
        assert!(answer.header("access-control-allow-methods").contains("DELETE"), "{answer:?}");
        assert!(!answer.headers.contains_key("access-control-allow-credentials"), "{answer:?}");
        assert!(answer.headers.get_all("vary").iter().any(|vary| vary == "Origin"), "{answer:?}");
        for (origin, status) in [("https://evil.example", Some(403)), ("http://localhost:3000", Some(403))] {
            let headers = [&asks[..], &[("origin", origin)]].concat();
            let answer = send(&gateway, Method::OPTIONS, path, &headers, &Value::Null).await;
            assert!(status.is_none_or(|status| answer.status == status) && !answer.status.is_success(), "{answer:?}");
            assert!(!answer.headers.contains_key("access-control-allow-origin"), "{path} from {origin}: {answer:?}");
        }
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_page_that_is_named_reads_answers_refusals_and_where_to_get_a_token() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("{CONFIG}{}", upstream.config())).await;
    let shown = format!("Bearer {}", gateway.token(named("page")).await);
    let call = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "echo")];
    let called = [&call[..], &[("authorization", &shown), ("origin", PAGE)]].concat();
    let refused = [&call[..], &[("origin", PAGE)]].concat();
    for (what, answer, status) in [
        ("a call", send(&gateway, Method::POST, "/mcp", &called, &echo()).await, StatusCode::OK),
        ("a refusal", send(&gateway, Method::POST, "/mcp", &refused, &echo()).await, StatusCode::UNAUTHORIZED),
        ("metadata", send(&gateway, Method::GET, METADATA, &[("origin", PAGE)], &Value::Null).await, StatusCode::OK),
    ] {
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
        assert_eq!(answer.header("access-control-allow-origin"), PAGE, "{what}");
        let exposed = answer.header("access-control-expose-headers");
        assert!(exposed.contains("Mcp-Session-Id") && exposed.contains("WWW-Authenticate"), "{what}: {exposed}");
        assert!(!answer.headers.contains_key("access-control-allow-credentials"), "{what}");
    }
    let alone = send(&gateway, Method::GET, METADATA, &[], &Value::Null).await;
    assert!(!alone.headers.contains_key("access-control-allow-origin"), "without an origin nothing is said");
    gateway.stop().await;
}
