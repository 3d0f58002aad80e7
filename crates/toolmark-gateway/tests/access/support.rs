//! A gateway on a free port, a fixture behind it that tells what it was sent, and requests as anybody can send them.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_fixture::{Fixture, Listening, Options, serve_http};
use toolmark_gateway::{ConnectionLimits, Gateway, GatewayBuilder, Serve};
use toolmark_store::audit::SinkSettings;
use toolmark_store::{Micros, NewToken, Settings, Store, TokenSecret};

/// A gateway that listens, until it is stopped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(config: &str) -> Self {
        Self::start_within(config, ConnectionLimits::default()).await
    }

    /// With other limits for connections.
    pub(crate) async fn start_within(config: &str, limits: ConnectionLimits) -> Self {
        Self::start_at(config, (Ipv4Addr::LOCALHOST, 0).into(), limits).await
    }

    /// At another address of this machine.
    pub(crate) async fn start_at(config: &str, address: SocketAddr, limits: ConnectionLimits) -> Self {
        let (gateway, store) = gateway(config).await;
        gateway.settled().await;
        let serve = Serve::bind_within(gateway, address, "ann", limits).await.expect("a free port");
        let (address, stop) = (serve.address(), CancellationToken::new());
        let task = tokio::spawn(serve.run(stop.clone()));
        Self { address, store, stop, task }
    }

    /// A new token; its secret.
    pub(crate) async fn token(&self, new: NewToken) -> String {
        use secrecy::ExposeSecret as _;
        let secret = TokenSecret::random().expect("random numbers");
        self.store.create_token(&new, &secret).await.expect("a token");
        secret.reveal().expose_secret().to_owned()
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the gateway ends in peace");
    }
}

/// A gateway that nobody reaches yet.
pub(crate) async fn gateway(config: &str) -> (Arc<Gateway>, Store) {
    let config = Config::read(config, "toolmark.toml").expect("the configuration can be read");
    let store = Store::in_memory(&Settings::new(|| Micros::from(SystemTime::now()))).await.expect("a store");
    let builder = GatewayBuilder::new(config, PathBuf::new()).store(store.clone());
    let builder = builder.audit(store.audit_sink(SinkSettings::new("local")));
    let builder = builder.recall().await.expect("a store");
    (builder.start().expect("the gateway starts"), store)
}

pub(crate) fn named(name: &str) -> NewToken {
    NewToken { name: name.to_owned(), ..NewToken::default() }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The stable code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["data"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// One request with these headers; `Host` is the gateway's own unless given.
pub(crate) async fn send(
    gateway: &Running,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    let mut request = Request::builder().method(method).uri(format!("http://{}{path}", gateway.address));
    request =
        request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = request.body(Full::new(Bytes::from(body))).expect("a request");
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let response = client.request(request).await.expect("an answer");
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    Answer { status: head.status, headers: head.headers, body: String::from_utf8_lossy(&body).into_owned() }
}

/// A call of the fixture's `echo`, by a client of 2026-07-28 that shows a token or none.
pub(crate) async fn call(gateway: &Running, path: &str, token: Option<&str>) -> Answer {
    let shown = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "echo")];
    headers.extend(shown.as_deref().map(|shown| ("authorization", shown)));
    send(gateway, Method::POST, path, &headers, &echo()).await
}

pub(crate) fn echo() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "echo", "arguments": { "text": "hello" }, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

/// A fixture behind a proxy that remembers every request and can hold calls back.
pub(crate) struct Recorded {
    url: String,
    seen: Arc<Mutex<Vec<(HeaderMap, String)>>>,
    open: watch::Sender<bool>,
    _fixture: Listening,
}

impl Recorded {
    pub(crate) async fn start() -> Self {
        let fixture = Fixture::new(Options::default()).expect("a fixture");
        let fixture = serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let target: http::Uri = fixture.url().parse().expect("an address");
        let url = format!("http://{}{}", listener.local_addr().expect("an address"), target.path());
        let seen: Arc<Mutex<Vec<(HeaderMap, String)>>> = Arc::default();
        let (open, opened) = watch::channel(true);
        let record = Arc::clone(&seen);
        tokio::spawn(async move {
            let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
            while let Ok((stream, _)) = listener.accept().await {
                let (client, target, record, opened) =
                    (client.clone(), target.clone(), Arc::clone(&record), opened.clone());
                let service = service_fn(move |request: Request<Incoming>| {
                    let (client, target, record, mut opened) =
                        (client.clone(), target.clone(), Arc::clone(&record), opened.clone());
                    async move {
                        let (mut head, body) = request.into_parts();
                        let body = body.collect().await.expect("a body").to_bytes();
                        let text = String::from_utf8_lossy(&body).into_owned();
                        let held = text.contains("tools/call");
                        record.lock().expect("no test panics with it").push((head.headers.clone(), text));
                        if held {
                            opened.wait_for(|open| *open).await.expect("the test goes on");
                        }
                        head.uri = target;
                        head.headers.remove(http::header::HOST);
                        let answer = client.request(Request::from_parts(head, Full::new(body))).await;
                        Ok::<_, Infallible>(answer.expect("the fixture answers"))
                    }
                });
                tokio::spawn(async move {
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { url, seen, open, _fixture: fixture }
    }

    pub(crate) fn config(&self) -> String {
        format!("[packs.fixture]\nurl = \"{}\"\n", self.url)
    }

    pub(crate) fn hold(&self) {
        self.open.send_replace(false);
    }

    pub(crate) fn let_go(&self) {
        self.open.send_replace(true);
    }

    pub(crate) fn seen(&self) -> Vec<(HeaderMap, String)> {
        self.seen.lock().expect("no test panics with it").clone()
    }

    /// How many calls have come. The gateway asks for lists too, whenever it likes.
    pub(crate) fn called(&self) -> usize {
        self.seen().iter().filter(|(_, body)| body.contains("tools/call")).count()
    }

    /// Waits until so many calls have come.
    pub(crate) async fn calls(&self, count: usize) {
        while self.called() < count {
            tokio::task::yield_now().await;
        }
    }
}
