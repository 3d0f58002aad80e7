//! Origin and Host on every route, each by itself; and addresses that others reach.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Empty;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolmark_core::explain::Explain as _;
use toolmark_gateway::{ConnectionLimits, Serve, ServeError};
use toolmark_store::{NewToken, Scope};

use crate::support::{Recorded, Running, gateway, named, send};

const TOKENS: &str = "[gateway.auth]\ntokens = true\n";

/// What is there besides MCP.
const MORE: &str = "[agui]\nenabled = true\n[console]\nenabled = true\n";

/// Every route, with what it answers to somebody who may see it; with a client's token, which sees nothing of what is for people.
const ROUTES: [(Method, &str, StatusCode); 17] = [
    (Method::POST, "/mcp", StatusCode::BAD_REQUEST),
    (Method::GET, "/mcp", StatusCode::BAD_REQUEST),
    (Method::DELETE, "/mcp", StatusCode::BAD_REQUEST),
    (Method::POST, "/mcp/read-only", StatusCode::BAD_REQUEST),
    (Method::GET, "/mcp/claude-code", StatusCode::BAD_REQUEST),
    (Method::GET, "/metrics", StatusCode::OK),
    (Method::GET, "/healthz", StatusCode::OK),
    (Method::GET, "/readyz", StatusCode::OK),
    (Method::GET, "/.well-known/oauth-protected-resource", StatusCode::OK),
    (Method::GET, "/.well-known/oauth-protected-resource/mcp", StatusCode::OK),
    (Method::GET, "/anything-else", StatusCode::NOT_FOUND),
    (Method::GET, "/", StatusCode::OK),
    (Method::GET, "/agui", StatusCode::OK),
    (Method::POST, "/agui/nobody", StatusCode::NOT_FOUND),
    (Method::GET, "/agui/live", StatusCode::FORBIDDEN),
    (Method::GET, "/api/health", StatusCode::FORBIDDEN),
    (Method::GET, "/api/approvals", StatusCode::FORBIDDEN),
];

#[tokio::test]
async fn a_foreign_origin_alone_and_a_foreign_host_alone_are_refused_on_every_route() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("{TOKENS}{MORE}{}", upstream.config())).await;
    let shown = format!("Bearer {}", gateway.token(named("laptop")).await);
    let own = gateway.address.to_string();
    for (method, path, status) in ROUTES {
        let with = async |more: &[(&str, &str)]| {
            let headers = [&[("authorization", shown.as_str())], more].concat();
            send(&gateway, method.clone(), path, &headers, &Value::Null).await
        };
        let what = format!("{method} {path}");
        assert_eq!(with(&[]).await.status, status, "{what}");
        assert_eq!(with(&[("origin", &format!("http://{own}"))]).await.status, status, "{what} from its own page");
        assert_eq!(with(&[("host", "localhost:1")]).await.status, status, "{what} by another name of this machine");
        for origin in ["https://evil.example", "null", "http://127.0.0.1.evil.example", "http://evil.example@localhost"]
        {
            let answer = with(&[("origin", origin)]).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{what} from {origin}");
            assert!(!answer.headers.contains_key("www-authenticate"), "{what}: nothing is told");
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "localhost@evil.example"] {
            let answer = with(&[("host", host)]).await;
            let unreadable = host.contains('@');
            let wanted = if unreadable { StatusCode::BAD_REQUEST } else { StatusCode::FORBIDDEN };
            assert_eq!(answer.status, wanted, "{what} at {host}");
            assert!(
                answer.body.contains("host") && !answer.headers.contains_key("www-authenticate"),
                "{what}: {answer:?}"
            );
        }
    }
    gateway.stop().await;
}

/// The status of a request whose bytes are these.
async fn raw(gateway: &Running, head: &str) -> u16 {
    let mut stream = TcpStream::connect(gateway.address).await.expect("it listens");
    stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).await.expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("an answer");
    text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
}

#[tokio::test]
async fn a_request_names_exactly_one_host_of_ours() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&upstream.config()).await;
    for path in ["/mcp", "/mcp/read-only", "/metrics", "/healthz", "/readyz", "/.well-known/oauth-protected-resource"] {
        let own = gateway.address;
        for (head, what) in [
            (format!("GET {path} HTTP/1.1\r\nX-None: 1"), "no host"),
            (format!("GET {path} HTTP/1.0"), "no host, as old programs ask"),
            (format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nHost: evil.example"), "two hosts"),
            (format!("GET http://evil.example{path} HTTP/1.1\r\nHost: {own}"), "another host in the address"),
            (
                format!("GET {path} HTTP/1.1\r\nHost: {own}\r\nOrigin: http://{own}\r\nOrigin: http://evil.example"),
                "two origins",
            ),
        ] {
            let status = raw(&gateway, &head).await;
            assert!(matches!(status, 400 | 403 | 421), "{path}, {what}: {status}");
        }
    }
    gateway.stop().await;
}

#[tokio::test]
async fn the_host_of_a_request_over_http2_is_checked_too() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&upstream.config()).await;
    let stream = TokioIo::new(TcpStream::connect(gateway.address).await.expect("it listens"));
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("HTTP/2");
    let connection = tokio::spawn(connection);
    for (authority, status) in [("localhost", StatusCode::OK), ("evil.example", StatusCode::FORBIDDEN)] {
        let request = Request::get(format!("http://{authority}/healthz")).body(Empty::<Bytes>::new());
        let response = sender.send_request(request.expect("a request")).await.expect("an answer");
        assert_eq!(response.status(), status, "{authority}");
    }
    connection.abort();
    gateway.stop().await;
}

#[tokio::test]
async fn hosts_and_origins_of_the_configuration_are_let_in() {
    let upstream = Recorded::start().await;
    let config = format!(
        "[gateway]\npublic_url = \"https://tools.example.com\"\nallowed_hosts = [\"inside.example.com\"]\n\
         allowed_origins = [\"https://app.example.com\"]\n{TOKENS}{}",
        upstream.config()
    );
    let gateway = Running::start(&config).await;
    for host in ["tools.example.com", "inside.example.com"] {
        assert_eq!(send(&gateway, Method::GET, "/healthz", &[("host", host)], &Value::Null).await.status, 200);
    }
    for (origin, status) in [
        ("https://app.example.com", 200),
        ("http://app.example.com", 403),
        ("https://tools.example.com", 200),
        ("https://tools.example.com:8443", 403),
        ("http://tools.example.com", 403),
        ("https://inside.example.com", 403),
    ] {
        assert_eq!(send(&gateway, Method::GET, "/healthz", &[("origin", origin)], &Value::Null).await.status, status);
    }
    let place = "/.well-known/oauth-protected-resource/mcp";
    let document = send(&gateway, Method::GET, place, &[("host", "inside.example.com")], &Value::Null).await;
    assert_eq!(
        document.json()["resource"],
        "https://tools.example.com/mcp",
        "the operator's address, not the client's"
    );
    gateway.stop().await;
}

#[tokio::test]
async fn the_address_that_it_listens_on_is_a_host_of_ours() {
    let upstream = Recorded::start().await;
    for listen in ["127.0.0.2:0", "0.0.0.0:0"] {
        let listen = listen.parse().expect("an address");
        let config = format!("{TOKENS}{}", upstream.config());
        let mut gateway = Running::start_at(&config, listen, ConnectionLimits::default()).await;
        let port = gateway.address.port();
        // Where it listens on all addresses, this is one of them.
        gateway.address = format!("127.0.0.2:{port}").parse().expect("an address");
        let own = gateway.address.to_string();
        for (headers, status) in [
            (vec![], StatusCode::OK),
            (vec![("host", own.clone())], StatusCode::OK),
            (vec![("origin", format!("http://{own}"))], StatusCode::OK),
            (vec![("origin", "http://127.0.0.2:1".to_owned())], StatusCode::FORBIDDEN),
            (vec![("host", format!("127.0.0.3:{port}"))], StatusCode::FORBIDDEN),
            (vec![("host", format!("evil.example:{port}"))], StatusCode::FORBIDDEN),
            (vec![("origin", format!("http://evil.example:{port}"))], StatusCode::FORBIDDEN),
            (vec![("host", own.clone()), ("origin", "http://evil.example".to_owned())], StatusCode::FORBIDDEN),
            (vec![("host", "evil.example".to_owned()), ("origin", format!("http://{own}"))], StatusCode::FORBIDDEN),
        ] {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let answer = send(&gateway, Method::GET, "/healthz", &headers, &Value::Null).await;
            assert_eq!(answer.status, status, "{listen}, {headers:?}: {}", answer.body);
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn who_has_no_token_learns_how_many_packs_there_are_and_not_which() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("{TOKENS}{}", upstream.config())).await;
    let shown = format!("Bearer {}", gateway.token(named("laptop")).await);
    let some = NewToken { tasks: Scope::only(["read-only"]), ..named("some") };
    let limited = format!("Bearer {}", gateway.token(some).await);
    for headers in [vec![], vec![("authorization", "Bearer nonsense")], vec![("authorization", limited.as_str())]] {
        let answer = send(&gateway, Method::GET, "/readyz", &headers, &Value::Null).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.json(), json!({"ready": true, "states": {"ready": 1}}), "{headers:?}");
    }
    let answer = send(&gateway, Method::GET, "/readyz", &[("authorization", &shown)], &Value::Null).await;
    assert_eq!(answer.json()["packs"], json!({"fixture": "ready"}));
    gateway.stop().await;
}

#[tokio::test]
async fn whoever_tries_the_door_of_people_is_counted_and_an_approver_sees_no_figures() {
    let upstream = Recorded::start().await;
    let gateway = Running::start(&format!("{TOKENS}{MORE}{}", upstream.config())).await;
    let client = format!("Bearer {}", gateway.token(named("laptop")).await);
    let approver = NewToken { approver: true, ..named("ann") };
    let approver = format!("Bearer {}", gateway.token(approver).await);
    let guess = format!("Bearer tmk_{}", "0".repeat(64));
    let get = async |path: &str, shown: &str| {
        send(&gateway, Method::GET, path, &[("authorization", shown)], &Value::Null).await
    };
    for path in ["/api/health", "/api/approvals", "/agui/live"] {
        assert_eq!(get(path, &guess).await.status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(get(path, &client).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(get("/api/health", &approver).await.status, StatusCode::OK);
    let refused = get("/metrics", &approver).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "access-scope"));
    let figures = get("/metrics", &client).await.body;
    for (code, status) in [("approver-token-missing", 401), ("approver-token-wrong", 403)] {
        let counted = figures
            .lines()
            .find(|line| line.contains(&format!("code=\"{code}\"")) && line.contains(&format!("{status}")));
        assert!(counted.is_some_and(|line| line.ends_with(" 3")), "{code}: {figures}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn an_address_that_others_reach_needs_callers_who_say_who_they_are() {
    let (open, _store) = gateway("").await;
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
        let address = address.parse().expect("an address");
        let refused = Serve::bind(open.clone(), address).await.expect_err("nobody would be checked");
        assert!(matches!(refused, ServeError::Open { .. }), "{refused}");
        assert_eq!(refused.code().as_str(), "config-listen-without-auth");
    }
    assert!(Serve::bind(open.clone(), "127.0.0.1:0".parse().expect("an address")).await.is_ok());
    open.stop().await;
    let (closed, _store) = gateway(TOKENS).await;
    assert!(Serve::bind(closed.clone(), "0.0.0.0:0".parse().expect("an address")).await.is_ok());
    closed.stop().await;
}
