use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use toolmark_config::Config;

use super::*;

/// The key of RFC 8037, A.2.
const SET: &str =
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"one","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

/// A server of keys that counts how often it is asked, and fails when told to.
#[derive(Default)]
struct Server {
    asked: AtomicUsize,
    down: AtomicBool,
}

async fn source() -> (Arc<KeySource>, Arc<Server>) {
    let server = Arc::new(Server::default());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let url = format!("http://{}/keys", listener.local_addr().expect("an address"));
    let told = Arc::clone(&server);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let told = Arc::clone(&told);
            let service = service_fn(move |_: Request<Incoming>| {
                told.asked.fetch_add(1, Ordering::SeqCst);
                let mut response = Response::new(Full::new(Bytes::from_static(SET.as_bytes())));
                if told.down.load(Ordering::SeqCst) {
                    *response.status_mut() = StatusCode::BAD_GATEWAY;
                }
                async move { Ok::<_, Infallible>(response) }
            });
            tokio::spawn(async move {
                auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
            });
        }
    });
    let config = format!("[gateway.auth.jwt]\nissuer = \"i\"\naudience = \"a\"\njwks_url = \"{url}\"\n");
    let config = Config::read(&config, "test").expect("a configuration");
    let source = KeySource::new(config.gateway.auth.jwt.as_ref().expect("a section")).expect("a source");
    (source, server)
}

#[tokio::test]
async fn while_nobody_answers_keys_are_believed_for_an_hour_and_no_longer() {
    let (source, server) = source().await;
    let start = Instant::now();
    assert!(source.keys_at(Some("one"), start).await.is_ok());
    server.down.store(true, Ordering::SeqCst);
    assert!(source.keys_at(Some("one"), start + BELIEVED - Duration::from_secs(1)).await.is_ok());
    assert_eq!(source.keys_at(Some("one"), start + BELIEVED).await.err(), Some(Why::Unavailable));
    server.down.store(false, Ordering::SeqCst);
    assert!(source.keys_at(Some("one"), start + BELIEVED + WINDOW).await.is_ok());
}

#[tokio::test]
async fn old_keys_are_asked_for_again_without_a_request_that_waits() {
    let (source, server) = source().await;
    let start = Instant::now();
    assert!(source.keys_at(Some("one"), start).await.is_ok());
    assert!(source.keys_at(Some("one"), start + OLD - Duration::from_secs(1)).await.is_ok());
    assert_eq!(server.asked.load(Ordering::SeqCst), 1);
    assert!(source.keys_at(Some("one"), start + OLD).await.is_ok());
    while server.asked.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn keys_that_do_not_exist_are_asked_for_only_so_often() {
    let (source, server) = source().await;
    let start = Instant::now();
    for _ in 0..50 {
        let keys = source.keys_at(Some("invented"), start).await.expect("keys");
        assert!(keys.find(Some("invented")).is_none());
    }
    assert_eq!(server.asked.load(Ordering::SeqCst), ASKS);
    source.keys_at(Some("invented"), start + WINDOW).await.expect("keys");
    assert_eq!(server.asked.load(Ordering::SeqCst), ASKS + 1);
}

#[tokio::test]
async fn whether_there_is_a_key_is_not_known_while_nobody_answers() {
    let (source, server) = source().await;
    let start = Instant::now();
    assert!(source.keys_at(Some("one"), start).await.is_ok());
    server.down.store(true, Ordering::SeqCst);
    assert_eq!(source.keys_at(Some("two"), start).await.err(), Some(Why::Unavailable));
}

#[tokio::test]
async fn an_issuer_that_answers_every_path_with_a_page_is_asked_at_the_other_place_too() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(move |request: Request<Incoming>| {
                let body = match request.uri().path() {
                    "/.well-known/openid-configuration" => {
                        format!(r#"{{"issuer":"http://{address}","jwks_uri":"http://{address}/keys"}}"#)
                    }
                    "/keys" => SET.to_owned(),
                    _ => "<!doctype html><title>Welcome</title>".to_owned(),
                };
                async move { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(body)))) }
            });
            tokio::spawn(async move {
                auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
            });
        }
    });
    let config = format!("[gateway.auth.jwt]\nissuer = \"http://{address}\"\naudience = \"a\"\n");
    let config = Config::read(&config, "test").expect("a configuration");
    let source = KeySource::new(config.gateway.auth.jwt.as_ref().expect("a section")).expect("a source");
    assert!(source.keys_at(Some("one"), Instant::now()).await.is_ok());
}
