//! HTTP servers that say exactly what a test wants, byte for byte.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolmark_mcp::upstream::ListKind;
use toolmark_mcp::upstream::{
    Answer, CallObserver, ConnectError, Delivery, EventSender, Question, Reply, Target, Upstream, UpstreamErrorKind,
    UpstreamEvent, UpstreamLimits, UpstreamRequest,
};
use toolmark_mcp::wire::version::{Era, ProtocolVersion};

use super::{call, connect, object, observed, observed_for, options, parsed};

/// One request as the server saw it.
#[derive(Clone, Debug)]
struct Seen {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Value,
}

impl Seen {
    fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

type Body = BoxBody<Bytes, Infallible>;

struct Server {
    url: String,
    connections: Arc<AtomicUsize>,
    seen: mpsc::UnboundedReceiver<Seen>,
}

impl Server {
    fn target(&self) -> Target {
        Target::Http { url: self.url.parse().expect("an address"), headers: HeaderMap::new() }
    }

    /// The requests so far.
    fn seen(&mut self) -> Vec<Seen> {
        let mut all = Vec::new();
        while let Ok(seen) = self.seen.try_recv() {
            all.push(seen);
        }
        all
    }

    /// The next request with this JSON-RPC method.
    async fn sees(&mut self, rpc: &str) -> Seen {
        loop {
            let seen = self.seen.recv().await.expect("a request");
            if seen.rpc() == rpc {
                return seen;
            }
        }
    }
}

/// Starts a server whose answers are what `script` says.
async fn serve(script: impl Fn(&Seen) -> Response<Body> + Send + Sync + 'static) -> Server {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let (sender, seen) = mpsc::unbounded_channel();
    let script = Arc::new(script);
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let (script, sender) = (script.clone(), sender.clone());
            tokio::spawn(async move {
                let answer = service_fn(move |request: Request<Incoming>| {
                    let (script, sender) = (script.clone(), sender.clone());
                    async move {
                        let (parts, body) = request.into_parts();
                        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
                        let body = serde_json::from_slice(&body).unwrap_or_default();
                        let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
                        let seen = Seen { method: parts.method, path, headers: parts.headers, body };
                        let response = script(&seen);
                        let _ = sender.send(seen);
                        Ok::<_, Infallible>(response)
                    }
                });
                let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    Server { url, connections, seen }
}

fn with(status: u16, kind: &str, body: impl Into<Bytes>) -> Response<Body> {
    let response = Response::builder().status(status).header("content-type", kind);
    response.body(Full::new(body.into()).boxed()).expect("a response")
}

fn json_answer(seen: &Seen, result: &Value) -> Response<Body> {
    with(200, "application/json", json!({"jsonrpc":"2.0","id":seen.body["id"],"result":result}).to_string())
}

fn events(parts: Vec<String>) -> Response<Body> {
    let frames = parts.into_iter().map(|part| Ok::<_, Infallible>(Frame::data(Bytes::from(part))));
    let body = StreamBody::new(stream::iter(frames)).boxed();
    Response::builder().header("content-type", "text/event-stream").body(body).expect("a response")
}

/// A stream that says this and then stays open for ever.
fn open_stream(said: String) -> Response<Body> {
    let said = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from(said)))]);
    let body = StreamBody::new(futures_util::StreamExt::chain(said, stream::pending())).boxed();
    Response::builder().header("content-type", "text/event-stream").body(body).expect("a response")
}

/// A stream that says what comes through a channel.
fn spoken(texts: mpsc::UnboundedReceiver<String>) -> Response<Body> {
    let frames = stream::unfold(texts, |mut texts| async {
        texts.recv().await.map(|text| (Ok::<_, Infallible>(Frame::data(Bytes::from(text))), texts))
    });
    let body = StreamBody::new(SyncStream(std::sync::Mutex::new(Box::pin(frames)))).boxed();
    Response::builder().header("content-type", "text/event-stream").body(body).expect("a response")
}

fn modern(seen: &Seen) -> Option<Response<Body>> {
    (seen.rpc() == "server/discover")
        .then(|| json_answer(seen, &json!({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})))
}

/// The handshake of 2025-11-25 with sessions `s0`, `s1`, …; `None` for everything else.
fn old(seen: &Seen, sessions: &AtomicUsize) -> Option<Response<Body>> {
    match (seen.method.clone(), seen.rpc()) {
        (Method::POST, "server/discover") => Some(with(400, "text/plain", "no session")),
        (Method::POST, "initialize") => {
            let result = json!({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"old"}});
            let mut response = json_answer(seen, &result);
            let session = format!("s{}", sessions.fetch_add(1, Ordering::SeqCst));
            response.headers_mut().insert("mcp-session-id", HeaderValue::from_str(&session).expect("a header"));
            Some(response)
        }
        (Method::POST, notification) if notification.starts_with("notifications/") => Some(with(202, "", "")),
        (Method::GET, _) if seen.header("last-event-id").is_none() => Some(with(405, "", "")),
        (Method::DELETE, _) => Some(with(200, "", "")),
        _ => None,
    }
}

#[tokio::test]
async fn a_call_to_a_new_server_is_one_post_whose_headers_say_what_the_body_says() {
    let mut server = serve(|seen| modern(seen).unwrap_or_else(|| json_answer(seen, &json!({"content":[]})))).await;
    let (upstream, _events) = connect(server.target()).await;
    assert_eq!(upstream.era(), Era::Stateless);
    server.seen();
    let mut request = call(r#"{"name":"pack__w","arguments":{"region":"eu"}}"#);
    request.name = Some("weer \u{e9}");
    request.headers = vec![(HeaderName::from_static("mcp-param-region"), HeaderValue::from_static("eu"))];
    parsed(upstream.request(request).await);
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(seen[0].header("mcp-method"), Some("tools/call"));
    assert_eq!(seen[0].header("mcp-name"), Some("=?base64?d2VlciDDqQ==?="));
    assert_eq!(seen[0].header("mcp-param-region"), Some("eu"));
    assert_eq!(seen[0].header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(seen[0].header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(seen[0].body["params"]["name"], "weer \u{e9}");
    assert_eq!(seen[0].body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
}

#[tokio::test]
async fn a_forgotten_session_fails_one_request_without_effect_and_is_opened_anew_by_the_next() {
    let sessions = AtomicUsize::new(0);
    let mut server = serve(move |seen| {
        old(seen, &sessions).unwrap_or_else(|| match seen.header("mcp-session-id") {
            Some("s0") => {
                with(404, "application/json", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"gone"}}"#)
            }
            _ => json_answer(seen, &json!({"fine":true})),
        })
    })
    .await;
    let (upstream, mut events) = connect(server.target()).await;
    assert_eq!(upstream.version(), ProtocolVersion::V2025_11_25);
    let error = upstream.request(call(r#"{"name":"a"}"#)).await.expect_err("forgotten");
    assert_eq!((error.kind(), error.delivery()), (&UpstreamErrorKind::SessionLost, Delivery::Never));
    let both = tokio::join!(upstream.request(call(r#"{"name":"b"}"#)), upstream.request(call(r#"{"name":"c"}"#)));
    assert_eq!((&parsed(both.0)["fine"], &parsed(both.1)["fine"]), (&json!(true), &json!(true)));
    assert!(matches!(events.recv().await, Some(UpstreamEvent::Unreached(why)) if why.contains("session")));
    assert!(matches!(events.recv().await, Some(UpstreamEvent::Reconnected)));
    upstream.close().await;
    let seen = server.seen();
    assert_eq!(seen.iter().filter(|seen| seen.rpc() == "initialize").count(), 2, "two requests open one session");
    let last = seen.last().expect("requests");
    assert_eq!((&last.method, last.header("mcp-session-id")), (&Method::DELETE, Some("s1")));
    assert_eq!(last.header("mcp-protocol-version"), Some("2025-11-25"));
    let names: Vec<_> =
        seen.iter().filter(|seen| seen.rpc() == "tools/call").map(|seen| seen.body["params"]["name"].clone()).collect();
    assert_eq!(names.iter().filter(|name| *name == "a").count(), 1, "nothing is sent twice: {names:?}");
}

#[tokio::test]
async fn a_stream_that_breaks_after_an_id_is_taken_up_again() {
    let sessions = AtomicUsize::new(0);
    let mut server = serve(move |seen| {
        old(seen, &sessions).unwrap_or_else(|| match seen.header("last-event-id") {
            None => {
                events(vec!["id: 7\nretry: 1\nda".to_owned(), "ta: \n\n".to_owned(), "id: 8\ndata: {\"half".to_owned()])
            }
            Some("7") => events(vec![
                r#"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"m"}}"#.to_owned()
                    + "\n\nid: 9\ndata:\n\n",
            ]),
            Some(_) => events(vec![
                "data: {\"jsonrpc\":\"2.0\",\"id\":3,\ndata: \"result\":{\"resumed\":true}}\n\n".to_owned(),
            ]),
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    let (request, listener) = observed(call(r#"{"name":"a"}"#));
    assert_eq!(parsed(upstream.request(request).await), json!({"resumed":true}));
    assert_eq!(listener.heard(), [r#"message {"data":"m"}"#]);
    assert_eq!(server.seen().iter().filter(|seen| seen.rpc() == "tools/call").count(), 1);
}

#[tokio::test]
async fn a_stream_that_ends_without_an_answer_may_have_had_an_effect() {
    let server = serve(|seen| modern(seen).unwrap_or_else(|| events(vec!["id: 1\ndata:\n\n".to_owned()]))).await;
    let (upstream, _events) = connect(server.target()).await;
    let error = upstream.request(call(r#"{"name":"a"}"#)).await.expect_err("no answer");
    assert!(matches!(error.kind(), UpstreamErrorKind::Protocol { .. }));
    assert_eq!(error.delivery(), Delivery::Perhaps);
}

#[tokio::test]
async fn statuses_say_whether_something_may_have_happened() {
    let server = serve(|seen| {
        modern(seen).unwrap_or_else(|| match seen.body["params"]["name"].as_str() {
            Some("401") => {
                let mut response = with(
                    401,
                    "application/json",
                    r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"secret"}}"#,
                );
                response.headers_mut().insert("www-authenticate", HeaderValue::from_static("Bearer scope=\"x\""));
                response
            }
            Some("500") => with(500, "text/html", "<h1>no</h1>"),
            Some("302") => {
                let mut response = with(302, "", "");
                response.headers_mut().insert("location", HeaderValue::from_static("http://127.0.0.1:9/steal"));
                response
            }
            Some("404") => with(
                404,
                "application/json",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"unknown"}}"#,
            ),
            Some("html") => with(200, "text/html", "<h1>hi</h1>"),
            Some("other") => with(200, "application/json", r#"{"jsonrpc":"2.0","id":999,"result":{}}"#),
            _ => with(200, "application/json", "[]"),
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    let fail =
        async |name: &str| upstream.request(call(&format!(r#"{{"name":"{name}"}}"#))).await.expect_err("a failure");
    let error = fail("401").await;
    let UpstreamErrorKind::Status { status: 401, challenge: Some(challenge), .. } = error.kind() else {
        panic!("{error:?}")
    };
    assert_eq!((challenge.as_str(), error.delivery()), ("Bearer scope=\"x\"", Delivery::Never));
    let error = fail("500").await;
    assert!(
        matches!(error.kind(), UpstreamErrorKind::Status { status: 500, .. }) && error.delivery() == Delivery::Perhaps
    );
    assert!(matches!(fail("302").await.kind(), UpstreamErrorKind::Status { status: 302, .. }));
    for name in ["html", "other", "batch"] {
        let error = fail(name).await;
        assert!(
            matches!(error.kind(), UpstreamErrorKind::Protocol { .. }) && error.delivery() == Delivery::Perhaps,
            "{name}"
        );
    }
    let Ok(Reply::Error(error)) = upstream.request(call(r#"{"name":"404"}"#)).await else {
        panic!("an error of the protocol")
    };
    assert_eq!(error.code(), Some(-32601));
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_not_read_to_its_end() {
    let large = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"t":"{}"}}}}"#, "x".repeat(200_000));
    let server = serve(move |seen| {
        modern(seen).unwrap_or_else(|| match seen.body["params"]["name"].as_str() {
            Some("json") => with(200, "application/json", large.clone()),
            Some("chunks") => {
                let mut response = events(
                    large.as_bytes().chunks(9000).map(|part| String::from_utf8_lossy(part).into_owned()).collect(),
                );
                response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
                response
            }
            Some("events") => events(vec![format!("data: {large}\n\n")]),
            _ => json_answer(seen, &json!({})),
        })
    })
    .await;
    let (sender, _events) = EventSender::channel(8);
    let mut options = options();
    options.limits = UpstreamLimits { bytes: 100_000, ..options.limits };
    let upstream = Upstream::connect(server.target(), options, sender).await.expect("connected");
    for name in ["json", "chunks", "events"] {
        let error = upstream.request(call(&format!(r#"{{"name":"{name}"}}"#))).await.expect_err("too large");
        assert_eq!(error.kind(), &UpstreamErrorKind::TooLarge { limit: 100_000 }, "{name}");
    }
    parsed(upstream.request(call(r#"{"name":"small"}"#)).await);
}

#[tokio::test]
async fn a_redirect_is_followed_while_connecting_and_only_on_the_same_server() {
    let sessions = AtomicUsize::new(0);
    let mut server = serve(move |seen| {
        if seen.path == "/mcp" {
            let mut response = with(307, "", "");
            response.headers_mut().insert("location", HeaderValue::from_static("/mcp/"));
            return response;
        }
        old(seen, &sessions).unwrap_or_else(|| json_answer(seen, &json!({})))
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    server.seen();
    parsed(upstream.request(call(r#"{"name":"a"}"#)).await);
    assert!(server.seen().iter().filter(|seen| seen.rpc() == "tools/call").all(|seen| seen.path == "/mcp/"));

    let mut elsewhere = serve(|seen| json_answer(seen, &json!({}))).await;
    let location = HeaderValue::from_str(&elsewhere.url).expect("a header");
    let server = serve(move |_| {
        let mut response = with(307, "", "");
        response.headers_mut().insert("location", location.clone());
        response
    })
    .await;
    let (sender, _events) = EventSender::channel(8);
    let error = Upstream::connect(server.target(), options(), sender).await.expect_err("another server");
    assert!(
        matches!(&error, ConnectError::Request(error) if matches!(error.kind(), UpstreamErrorKind::Status { status: 307, .. }))
    );
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_has_surely_not_acted() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    let (sender, _events) = EventSender::channel(8);
    let target = Target::Http { url: url.parse().expect("an address"), headers: HeaderMap::new() };
    let Err(ConnectError::Request(error)) = Upstream::connect(target, options(), sender).await else {
        panic!("not there")
    };
    assert_eq!(error.delivery(), Delivery::Never);
}

#[tokio::test]
async fn a_cancelled_request_is_taken_back_in_words_from_an_old_server_only() {
    let sessions = AtomicUsize::new(0);
    let mut old_server =
        serve(move |seen| old(seen, &sessions).unwrap_or_else(|| open_stream(": \n\n".to_owned()))).await;
    let mut new_server = serve(|seen| modern(seen).unwrap_or_else(|| open_stream(": \n\n".to_owned()))).await;
    for (server, in_words) in [(&mut old_server, true), (&mut new_server, false)] {
        let (upstream, _events) = connect(server.target()).await;
        let mut request = call(r#"{"name":"a"}"#);
        let cancel = request.cancel.insert(tokio_util::sync::CancellationToken::new()).clone();
        let (result, id) = tokio::join!(upstream.request(request), async {
            let id = server.sees("tools/call").await.body["id"].clone();
            cancel.cancel();
            id
        });
        let error = result.expect_err("cancelled");
        assert_eq!((error.kind(), error.delivery()), (&UpstreamErrorKind::Cancelled, Delivery::Perhaps));
        if in_words {
            assert_eq!(server.sees("notifications/cancelled").await.body["params"]["requestId"], id);
        } else {
            let mut slow = call(r#"{"name":"b"}"#);
            slow.timeout = Some(Duration::from_millis(30));
            let error = upstream.request(slow).await.expect_err("too slow");
            assert!(matches!(error.kind(), UpstreamErrorKind::Timeout { .. }));
            assert!(server.seen().iter().all(|seen| seen.rpc() != "notifications/cancelled"));
        }
    }
}

#[tokio::test]
async fn a_question_inside_the_answer_stream_belongs_to_its_request_however_many_there_are() {
    let sessions = AtomicUsize::new(0);
    let mut server = serve(move |seen| {
        if seen.body.get("result").is_some() {
            return with(202, "", "");
        }
        old(seen, &sessions).unwrap_or_else(|| match seen.body["params"]["name"].as_str() {
            Some("ask") => open_stream(
                "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{}}\n\n"
                    .to_owned(),
            ),
            _ => open_stream(": \n\n".to_owned()),
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    let (first, silent) = observed(call(r#"{"name":"wait"}"#));
    let (second, asked) = observed(call(r#"{"name":"ask"}"#));
    let answer = tokio::select! {
        reply = upstream.request(first) => panic!("{reply:?}"),
        reply = upstream.request(second) => panic!("{reply:?}"),
        seen = async {
            loop {
                let seen = server.sees("").await;
                if seen.method == Method::POST { break seen.body }
            }
        } => seen,
    };
    assert_eq!(answer, json!({"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"name":"Ada"}}}));
    assert_eq!((asked.heard().len(), silent.heard().len()), (1, 0));
}

/// A server of 2024-11-05: one stream for all answers, which here says them as they are posted.
async fn oldest(endpoint: &'static str) -> Server {
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    let receiver = std::sync::Mutex::new(Some(receiver));
    serve(move |seen| match (&seen.method, seen.rpc()) {
        (&Method::GET, _) => {
            let Some(receiver) = receiver.lock().expect("a lock").take() else { return with(409, "", "") };
            let _ = sender.send(format!("event: endpoint\ndata: {endpoint}\n\n"));
            spoken(receiver)
        }
        (&Method::POST, _) if !seen.path.starts_with("/messages") => with(405, "", ""),
        (_, "initialize") => {
            let result = json!({"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"oldest"}});
            say(&sender, seen, &result);
            with(202, "", "")
        }
        (_, "tools/call") => {
            say(&sender, seen, &json!({"session": seen.path}));
            with(202, "", "")
        }
        _ => with(202, "", ""),
    })
    .await
}

fn say(sender: &mpsc::UnboundedSender<String>, seen: &Seen, result: &Value) {
    let message = json!({"jsonrpc":"2.0","id":seen.body["id"],"result":result});
    let _ = sender.send(format!("event: message\r\ndata: {message}\r\n\r\n"));
}

type Texts = std::pin::Pin<Box<dyn futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

/// A stream that may be shared between threads, as bodies have to be.
struct SyncStream(std::sync::Mutex<Texts>);

impl futures_util::Stream for SyncStream {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.lock().expect("a lock").as_mut().poll_next(context)
    }
}

#[tokio::test]
async fn the_oldest_transport_is_found_by_itself_and_by_its_name() {
    for named in [true, false] {
        let server = oldest("/messages?session=1").await;
        let url = server.url.parse().expect("an address");
        let target = if named { Target::Sse { url, headers: HeaderMap::new() } } else { server.target() };
        let (upstream, _events) = connect(target).await;
        assert_eq!(upstream.version(), ProtocolVersion::V2024_11_05);
        let result = parsed(upstream.request(call(r#"{"name":"a"}"#)).await);
        assert_eq!(result["session"], "/messages?session=1");
    }
}

#[tokio::test]
async fn the_oldest_transport_posts_to_no_other_server() {
    let server = oldest("http://127.0.0.1:9/messages").await;
    let (sender, _events) = EventSender::channel(8);
    let target = Target::Sse { url: server.url.parse().expect("an address"), headers: HeaderMap::new() };
    let error = Upstream::connect(target, options(), sender).await.expect_err("another server");
    assert!(error.to_string().contains("another server"), "{error}");
}

#[tokio::test]
async fn headers_of_the_operator_go_along_and_a_fixed_era_is_not_asked_for() {
    let sessions = AtomicUsize::new(0);
    let mut server = serve(move |seen| old(seen, &sessions).unwrap_or_else(|| json_answer(seen, &json!({})))).await;
    let (sender, _events) = EventSender::channel(8);
    let headers = HeaderMap::from_iter([(::http::header::AUTHORIZATION, HeaderValue::from_static("Bearer ours"))]);
    let target = Target::Http { url: server.url.parse().expect("an address"), headers };
    assert!(!format!("{target:?}").contains("ours"), "no secret in a log");
    let mut options = options();
    options.era = Some(Era::Session);
    let upstream = Upstream::connect(target, options, sender).await.expect("connected");
    let params = object(r#"{"name":"a"}"#);
    parsed(upstream.request(toolmark_mcp::upstream::UpstreamRequest::new("prompts/get", params)).await);
    let seen = server.seen();
    assert!(
        seen.iter().all(|seen| seen.rpc() != "server/discover" && seen.header("authorization") == Some("Bearer ours"))
    );
}

#[tokio::test]
async fn a_server_that_forgets_a_session_in_its_own_words_gets_a_new_one_all_the_same() {
    let sessions = AtomicUsize::new(0);
    let server = serve(move |seen| {
        old(seen, &sessions).unwrap_or_else(|| match seen.header("mcp-session-id") {
            Some("s0") => {
                let error = json!({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no valid session"}});
                with(400, "application/json", error.to_string())
            }
            _ => json_answer(seen, &json!({"fine":true})),
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    assert!(matches!(upstream.request(call(r#"{"name":"a"}"#)).await, Ok(Reply::Error(_))));
    assert_eq!(parsed(upstream.request(call(r#"{"name":"a"}"#)).await)["fine"], true);
}

#[tokio::test]
async fn a_server_that_closes_its_stream_on_purpose_is_asked_again_until_it_answers() {
    let sessions = AtomicUsize::new(0);
    let visits = AtomicUsize::new(0);
    let server = serve(move |seen| {
        old(seen, &sessions).unwrap_or_else(|| match visits.fetch_add(1, Ordering::SeqCst) {
            visit @ 0..9 => events(vec![format!("id: {visit}\nretry: 0\ndata: \n\n")]),
            _ => events(vec!["data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"n\":9}}\n\n".to_owned()]),
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    assert_eq!(parsed(upstream.request(call(r#"{"name":"a"}"#)).await), json!({"n":9}));
}

#[tokio::test]
async fn a_question_in_the_stream_of_the_session_goes_to_the_only_request_there_is() {
    let sessions = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    let receiver = std::sync::Mutex::new(Some(receiver));
    let mut server = serve(move |seen| {
        if seen.body.get("result").is_some() || seen.body.get("error").is_some() {
            return with(202, "", "");
        }
        if seen.method == Method::GET
            && let Some(receiver) = receiver.lock().expect("a lock").take()
        {
            return spoken(receiver);
        }
        old(seen, &sessions).unwrap_or_else(|| {
            let question = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#;
            let _ = sender.send(format!("data: {question}\n\n"));
            open_stream(": \n\n".to_owned())
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    let (first, asked) = observed(call(r#"{"name":"one"}"#));
    let answered = async |server: &mut Server| loop {
        let seen = server.sees("").await;
        if seen.method == Method::POST {
            break seen.body;
        }
    };
    let waiting = upstream.request(first);
    tokio::pin!(waiting);
    let answer = tokio::select! {
        reply = &mut waiting => panic!("{reply:?}"),
        answer = answered(&mut server) => answer,
    };
    assert_eq!((&answer["result"]["action"], asked.heard().len()), (&json!("accept"), 1));
    let (second, other) = observed(call(r#"{"name":"two"}"#));
    let answer = tokio::select! {
        reply = &mut waiting => panic!("{reply:?}"),
        reply = upstream.request(second) => panic!("{reply:?}"),
        answer = answered(&mut server) => answer,
    };
    assert_eq!(answer["error"]["code"], -32600, "two could be meant");
    assert_eq!((asked.heard().len(), other.heard().len()), (1, 0));
}

#[tokio::test]
async fn a_question_in_the_stream_of_the_session_goes_to_a_caller_only_if_all_requests_are_theirs() {
    for (callers, expected) in [(["alice", "alice"], "result"), (["alice", "bob"], "error")] {
        let sessions = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::unbounded_channel::<String>();
        let receiver = std::sync::Mutex::new(Some(receiver));
        let mut server = serve(move |seen| {
            if seen.body.get("result").is_some() || seen.body.get("error").is_some() {
                return with(202, "", "");
            }
            if seen.method == Method::GET
                && let Some(receiver) = receiver.lock().expect("a lock").take()
            {
                return spoken(receiver);
            }
            old(seen, &sessions).unwrap_or_else(|| open_stream(": \n\n".to_owned()))
        })
        .await;
        let (upstream, _events) = connect(server.target()).await;
        let (first, one) = observed_for(callers[0], call(r#"{"name":"one"}"#));
        let (second, two) = observed_for(callers[1], call(r#"{"name":"two"}"#));
        let answer = async {
            for _ in 0..2 {
                server.sees("tools/call").await;
            }
            let question = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#;
            sender.send(format!("data: {question}\n\n")).expect("the stream is open");
            loop {
                let seen = server.sees("").await;
                if seen.method == Method::POST {
                    break seen.body;
                }
            }
        };
        let answer = tokio::select! {
            reply = upstream.request(first) => panic!("{reply:?}"),
            reply = upstream.request(second) => panic!("{reply:?}"),
            answer = answer => answer,
        };
        assert!(answer["id"] == "q" && answer.get(expected).is_some(), "{callers:?}: {answer}");
        let asked = one.heard().len() + two.heard().len();
        assert_eq!(asked, usize::from(expected == "result"), "{callers:?}");
    }
}

/// Somebody who answers only when told to.
struct Thinker(std::sync::Mutex<Option<tokio::sync::oneshot::Receiver<()>>>);

impl CallObserver for Thinker {
    fn progress(&self, _params: Bytes) {}
    fn message(&self, _params: Bytes) {}
    fn ask(&self, _question: Question) -> futures_util::future::BoxFuture<'static, Answer> {
        let told = self.0.lock().expect("a lock").take().expect("one question");
        Box::pin(async {
            told.await.expect("a word");
            Answer::Result(Bytes::from_static(br#"{"action":"accept"}"#))
        })
    }
}

#[tokio::test]
async fn a_call_over_http_has_no_less_time_because_a_person_takes_theirs() {
    let sessions = AtomicUsize::new(0);
    let (words, texts) = mpsc::unbounded_channel::<String>();
    let texts = std::sync::Mutex::new(Some(texts));
    let mut server = serve(move |seen| {
        old(seen, &sessions).unwrap_or_else(|| match seen.rpc() {
            "tools/call" => spoken(texts.lock().expect("a lock").take().expect("one call")),
            // The answer to the question.
            _ => with(202, "", ""),
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    let (tell, told) = tokio::sync::oneshot::channel();
    let after = Duration::from_millis(1_500);
    let request = UpstreamRequest {
        timeout: Some(after),
        observer: Some(Arc::new(Thinker(std::sync::Mutex::new(Some(told))))),
        ..call(r#"{"name":"ask"}"#)
    };
    let calling = tokio::spawn({
        let upstream = upstream.clone();
        async move { upstream.request(request).await }
    });
    server.sees("tools/call").await;
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#;
    words.send(format!("data: {question}\n\n")).expect("heard");
    tokio::time::sleep(after + after / 2).await;
    assert!(!calling.is_finished(), "a person is being asked");
    assert!(upstream.is_asking());
    tell.send(()).expect("somebody thinks");
    while server.seen.recv().await.expect("a request").body["result"]["action"] != "accept" {}
    let error = calling.await.expect("no panic").expect_err("the server says nothing more");
    assert_eq!(error.kind(), &UpstreamErrorKind::Timeout { after }, "its own time still runs out");
    assert!(!upstream.is_asking());
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_any_more_and_one_that_is_listened_to_again_are_told_of() {
    let streams = Arc::new(AtomicUsize::new(0));
    let counter = streams.clone();
    let server = serve(move |seen| match seen.rpc() {
        "server/discover" => {
            let capabilities = json!({"tools":{"listChanged":true}});
            json_answer(seen, &json!({"supportedVersions":["2026-07-28"],"capabilities":capabilities}))
        }
        // The first stream ends at once.
        "subscriptions/listen" if counter.fetch_add(1, Ordering::SeqCst) == 0 => events(vec![": hello\n\n".to_owned()]),
        "subscriptions/listen" => open_stream(": hello\n\n".to_owned()),
        _ => with(503, "text/plain", "gone"),
    })
    .await;
    let (upstream, mut events) = connect(server.target()).await;
    assert!(matches!(events.recv().await, Some(UpstreamEvent::ListeningAgain)));
    assert_eq!(streams.load(Ordering::SeqCst), 2, "the first time is no again");
    upstream.request(call(r#"{"name":"a"}"#)).await.expect_err("it is gone");
    assert!(matches!(events.recv().await, Some(UpstreamEvent::Unreached(_))));
}

#[tokio::test]
async fn a_resource_is_watched_when_the_server_has_said_so_and_only_then() {
    let (kept, plain) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counter, streams) = (kept.clone(), plain.clone());
    let server = serve(move |seen| match seen.rpc() {
        "server/discover" => {
            let capabilities = json!({"tools":{"listChanged":true},"resources":{"subscribe":true}});
            json_answer(seen, &json!({"supportedVersions":["2026-07-28"],"capabilities":capabilities}))
        }
        "subscriptions/listen" => {
            let wanted = seen.body["params"]["notifications"]["resourceSubscriptions"].as_array().cloned();
            if wanted.iter().flatten().any(|uri| uri == "test://refused") {
                let error = json!({"code": -32602, "message": "no"});
                return with(
                    400,
                    "application/json",
                    json!({"jsonrpc":"2.0","id":seen.body["id"],"error":error}).to_string(),
                );
            }
            match &wanted {
                Some(_) => counter.fetch_add(1, Ordering::SeqCst),
                None => streams.fetch_add(1, Ordering::SeqCst),
            };
            let told: Vec<_> = wanted.into_iter().flatten().filter(|uri| uri != "test://ignored").collect();
            let message = json!({
                "jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {
                    "notifications": {"toolsListChanged": true, "resourceSubscriptions": told},
                    "_meta": {"io.modelcontextprotocol/subscriptionId": seen.body["id"]},
                },
            });
            open_stream(format!("data: {message}\n\n"))
        }
        _ => with(404, "", ""),
    })
    .await;
    let (upstream, mut events) = connect(server.target()).await;
    let watched = |uris: &[&str]| upstream.watch_resources(uris.iter().map(ToString::to_string).collect());
    watched(&["test://a"]).granted("test://a").await.expect("it is watched");
    assert_eq!(kept.load(Ordering::SeqCst), 1, "the server has heard of it");
    let why = watched(&["test://a", "test://ignored"]).granted("test://ignored").await.expect_err("it was left out");
    assert!(why.to_string().contains("does not tell about changes"), "{why}");
    watched(&["test://a", "test://ignored"]).granted("test://a").await.expect("others still are");
    watched(&["test://a", "test://refused"]).granted("test://refused").await.expect_err("it was refused");
    watched(&["test://a"]).granted("test://a").await.expect("a refusal is not the end");
    assert!(plain.load(Ordering::SeqCst) <= 1);
    // One takes the place of the other when it stands, so nothing was missed that would have to be looked for.
    assert!(events.try_recv().is_err());
    upstream.close().await;
    watched(&["test://b"]).granted("test://b").await.expect_err("nobody is there");
}

#[tokio::test]
async fn until_a_new_subscription_stands_the_one_before_it_is_listened_to() {
    let (first, first_stream) = mpsc::unbounded_channel();
    let (second, second_stream) = mpsc::unbounded_channel();
    let streams = std::sync::Mutex::new(vec![second_stream, first_stream]);
    let (asked, mut requests) = mpsc::unbounded_channel();
    let server = serve(move |seen| match seen.rpc() {
        "server/discover" => {
            let capabilities = json!({"tools":{"listChanged":true},"resources":{"subscribe":true}});
            json_answer(seen, &json!({"supportedVersions":["2026-07-28"],"capabilities":capabilities}))
        }
        "subscriptions/listen" => {
            asked.send(seen.body["id"].clone()).expect("the test listens");
            spoken(streams.lock().expect("a lock").pop().expect("a stream"))
        }
        _ => with(404, "", ""),
    })
    .await;
    let says = |method: &str, params: Value| {
        format!(
            "data: {}\n\n",
            json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params})
        )
    };
    let stands = |id: &Value| {
        says("subscriptions/acknowledged", json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}}))
    };
    let (upstream, mut events) = connect(server.target()).await;
    first.send(stands(&requests.recv().await.expect("a subscription"))).expect("it is open");
    let wish = upstream.watch_resources(vec!["test://a".to_owned()]);
    let id = requests.recv().await.expect("another subscription");
    let granted = tokio::spawn(async move { wish.granted("test://a").await });
    first.send(says("tools/list_changed", json!({}))).expect("it is still open");
    assert!(matches!(events.recv().await, Some(UpstreamEvent::ListChanged(ListKind::Tools))));
    assert!(!granted.is_finished(), "the server has not said so");
    second.send(stands(&id)).expect("it is open");
    granted.await.expect("no panic").expect("it is watched");
    second.send(says("resources/updated", json!({"uri": "test://a"}))).expect("it is open");
    assert!(matches!(events.recv().await, Some(UpstreamEvent::ResourceUpdated(_))), "and nothing was missed before it");
    first.closed().await;
}

#[tokio::test]
async fn a_server_without_sessions_that_was_replaced_is_known_anew() {
    let asked = AtomicUsize::new(0);
    let server = serve(move |seen| match (seen.rpc(), asked.load(Ordering::SeqCst)) {
        ("server/discover", 2) => with(400, "text/plain", "no session"),
        ("server/discover", times) => {
            asked.fetch_add(1, Ordering::SeqCst);
            let capabilities = if times == 0 { json!({"tools":{}}) } else { json!({"prompts":{}}) };
            json_answer(seen, &json!({"supportedVersions":["2026-07-28"],"capabilities":capabilities}))
        }
        _ => with(404, "", ""),
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    assert!(upstream.capabilities().get("prompts").is_none());
    upstream.renew_acquaintance().await.expect("it is there");
    assert!(upstream.capabilities().get("prompts").is_some());
    upstream.renew_acquaintance().await.expect_err("it is another one");
    assert!(upstream.capabilities().get("prompts").is_some(), "what was known is still known");
}

#[tokio::test]
async fn connections_are_used_again_whether_the_answer_is_json_or_a_stream() {
    for stream in [false, true] {
        let server = serve(move |seen| {
            modern(seen).unwrap_or_else(|| {
                let message = json!({"jsonrpc":"2.0","id":seen.body["id"],"result":{}});
                if stream { events(vec![format!("data: {message}\n\n")]) } else { json_answer(seen, &json!({})) }
            })
        })
        .await;
        let (upstream, _events) = connect(server.target()).await;
        for _ in 0..20 {
            parsed(upstream.request(call(r#"{"name":"a"}"#)).await);
            // The end of a stream may come a moment after the answer in it.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let connections = server.connections.load(Ordering::SeqCst);
        assert!(connections < 10, "{connections} connections for 20 calls, in a stream: {stream}");
    }
}

#[tokio::test]
async fn events_that_are_no_messages_do_not_hide_the_answer() {
    let server = serve(|seen| {
        modern(seen).unwrap_or_else(|| {
            let answer = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"n": 1}});
            events(vec![format!("data: keepalive\n\ndata: {{}}\n\ndata: [1]\n\ndata: {answer}\n\n")])
        })
    })
    .await;
    let (upstream, _events) = connect(server.target()).await;
    assert_eq!(parsed(upstream.request(call(r#"{"name":"w"}"#)).await)["n"], 1);
}
