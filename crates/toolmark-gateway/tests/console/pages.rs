//! The pages: in the binary, with their types and tags, for anybody; and nothing where the operator wants none.

use http::{Method, StatusCode};

use crate::support::Running;

#[tokio::test]
async fn pages_are_there_with_types_and_tags_and_are_sent_once() {
    let running = Running::start("").await;
    let page = running.send(Method::GET, "/", &[], String::new()).await;
    assert_eq!((page.status, page.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"));
    assert!(page.body.to_lowercase().starts_with("<!doctype html>"));
    let tag = page.header("etag").to_owned();
    assert!(tag.len() > 8);
    for path in ["/console", "/console/", "/console/index.html"] {
        let same = running.send(Method::GET, path, &[], String::new()).await;
        assert_eq!((same.status, same.header("etag")), (StatusCode::OK, tag.as_str()), "{path}");
    }
    let again = running.send(Method::GET, "/", &[("if-none-match", &tag)], String::new()).await;
    assert_eq!((again.status, again.body.as_str()), (StatusCode::NOT_MODIFIED, ""));
    let other = running.send(Method::GET, "/", &[("if-none-match", "\"x\"")], String::new()).await;
    assert_eq!(other.status, StatusCode::OK);
    let head = running.send(Method::HEAD, "/", &[], String::new()).await;
    assert_eq!((head.status, head.header("content-length")), (StatusCode::OK, page.body.len().to_string().as_str()));
    running.stop().await;
}

#[tokio::test]
async fn nothing_else_is_there() {
    let running = Running::start("").await;
    for path in [
        "/console/../Cargo.toml",
        "/console/%2e%2e/Cargo.toml",
        "/console/none.js",
        "/index.html",
        "/console//index.html",
    ] {
        let answer = running.send(Method::GET, path, &[], String::new()).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(running.send(Method::POST, "/", &[], String::new()).await.status, StatusCode::METHOD_NOT_ALLOWED);
    running.stop().await;
}

#[tokio::test]
async fn a_console_that_is_switched_off_is_not_there_and_approvals_are() {
    let running = Running::start("[console]\nenabled = false\n").await;
    assert_eq!(running.key, "", "there is no key");
    for path in ["/", "/console/index.html", "/api/me", "/api/live", "/api/catalog"] {
        assert_eq!(running.send(Method::GET, path, &[], String::new()).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let token = format!("Bearer {}", running.token("bob", true).await);
    let answer = running.send(Method::GET, "/api/approvals", &[("authorization", &token)], String::new()).await;
    assert_eq!(answer.status, StatusCode::OK);
    running.stop().await;
}
