//! Tokens of the store at the door, and what of them goes further: nothing.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use toolmark_store::{Scope, TokenId};

use crate::issuer::{Issuer, Signer};
use crate::support::{Recorded, Running, call, echo, named, send};

const TOKENS: &str = "[gateway.auth]\ntokens = true\n";

#[tokio::test]
async fn the_clients_token_never_reaches_a_server() {
    let signer = Signer::new("one", jsonwebtoken::Algorithm::ES256);
    let (issuer, upstream) = (Issuer::start(&[&signer]).await, Recorded::start().await);
    let config = format!("{TOKENS}{}{}headers = {{ X-Ours = \"sent\" }}\n", issuer.config(), upstream.config());
    let gateway = Running::start(&config).await;
    let signed = signer.sign(&issuer.claims());
    let kept = gateway.token(named("laptop")).await;
    for token in [&signed, &kept] {
        let answer = call(&gateway, "/mcp", Some(token)).await;
        assert_eq!(answer.json()["result"]["isError"], json!(false), "{}", answer.body);
        // A client of the old era, whose session asks more of the server.
        let shown = format!("Bearer {token}");
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let hello = send(&gateway, Method::POST, "/mcp", &[("authorization", &shown)], &hello).await;
        let session = hello.header("mcp-session-id").to_owned();
        assert_eq!((hello.status, session.is_empty()), (StatusCode::OK, false), "{}", hello.body);
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "echo", "arguments": { "text": "x" } } });
        let headers = [("authorization", shown.as_str()), ("mcp-session-id", &session), ("cookie", "session=abc")];
        let answer = send(&gateway, Method::POST, "/mcp", &headers, &call).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    }
    let seen = upstream.seen();
    assert!(upstream.called() >= 4, "{}", seen.len());
    for (headers, body) in &seen {
        assert!(!headers.contains_key("authorization") && !headers.contains_key("cookie"), "{headers:?}");
        assert_eq!(headers.get("x-ours").map(http::HeaderValue::as_bytes), Some(&b"sent"[..]));
        for token in [&signed, &kept] {
            let text = format!("{headers:?}{body}");
            assert!(!text.contains(token.as_str()), "{text}");
        }
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_pack_with_a_token_of_its_own_shows_that_one_and_never_the_clients() {
    let upstream = Recorded::start().await;
    let config = format!("{TOKENS}{}auth.bearer = \"the-packs-own\"\n", upstream.config());
    let gateway = Running::start(&config).await;
    let token = gateway.token(named("laptop")).await;
    let answer = call(&gateway, "/mcp", Some(&token)).await;
    assert_eq!(answer.json()["result"]["isError"], json!(false), "{}", answer.body);
    let seen = upstream.seen();
    assert!(upstream.called() >= 1, "{}", seen.len());
    for (headers, body) in &seen {
        let shown: Vec<_> = headers.get_all("authorization").iter().map(http::HeaderValue::as_bytes).collect();
        assert_eq!(shown, [b"Bearer the-packs-own"], "{body}");
        assert!(!format!("{headers:?}{body}").contains(&token), "{body}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn tokens_of_the_store_let_in_where_they_are_for_until_they_are_revoked() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("{TOKENS}{}", upstream.config())).await;
    let all = gateway.token(named("all")).await;
    let some = gateway.token(toolmark_store::NewToken { tasks: Scope::only(["read-only"]), ..named("some") }).await;
    assert_eq!(call(&gateway, "/mcp", Some(&all)).await.status, StatusCode::OK);
    assert_eq!(call(&gateway, "/mcp/read-only", Some(&some)).await.status, StatusCode::OK);
    for path in ["/mcp", "/mcp/claude-code"] {
        let answer = call(&gateway, path, Some(&some)).await;
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::FORBIDDEN, "access-scope"), "{path}");
    }
    let missing = call(&gateway, "/mcp/no-such-task", Some(&all)).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);

    let rows = gateway.store.tokens().await.expect("tokens");
    let id: TokenId = rows.iter().find(|row| row.token.name == "all").expect("a token").token.id.clone();
    assert!(gateway.store.revoke_token(&id).await.expect("revoked"));
    // It is good for a second at most; the wait ends when it is refused, and never if it is not.
    while call(&gateway, "/mcp", Some(&all)).await.status != StatusCode::UNAUTHORIZED {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(call(&gateway, "/mcp", Some(&all)).await.code(), "token-revoked");
    gateway.stop().await;
}

#[tokio::test]
async fn a_token_that_is_not_where_it_belongs_does_not_count() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("{TOKENS}{}", upstream.config())).await;
    let token = gateway.token(named("laptop")).await;
    let shown = format!("Bearer {token}");
    let version = ("mcp-protocol-version", "2026-07-28");
    for (what, path, headers, code) in [
        ("in the address", format!("/mcp?access_token={token}"), vec![], "access-token-misplaced"),
        ("in both", format!("/mcp?a=b&access_token={token}"), vec![shown.as_str()], "access-token-misplaced"),
        ("twice", "/mcp".to_owned(), vec![shown.as_str(), shown.as_str()], "access-token-misplaced"),
        ("as a password", "/mcp".to_owned(), vec!["Basic dG1rOnRtaw=="], "access-token-missing"),
        ("without a scheme", "/mcp".to_owned(), vec![token.as_str()], "access-token-missing"),
        ("nothing", "/mcp".to_owned(), vec!["Bearer "], "access-token-missing"),
        ("half of it", "/mcp".to_owned(), vec![&shown[..shown.len() - 1]], "token-syntax"),
    ] {
        let mut all = vec![version, ("mcp-method", "tools/call"), ("mcp-name", "echo")];
        all.extend(headers.into_iter().map(|value| ("authorization", value)));
        let answer = send(&gateway, Method::POST, &path, &all, &echo()).await;
        assert!(matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST), "{what}: {answer:?}");
        assert_eq!(answer.code(), code, "{what}");
        assert!(!answer.body.contains(&token) && !answer.header("www-authenticate").contains(&token), "{what}");
    }
    let figures = send(&gateway, Method::GET, &format!("/metrics?access_token={token}"), &[], &Value::Null).await;
    assert_eq!(figures.status, StatusCode::BAD_REQUEST);
    gateway.stop().await;
}
