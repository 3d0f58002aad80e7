//! Servers behind HTTP that die, and others that take their place: both are noticed, also when nobody calls.
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Method, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::ClientServiceExt as _;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolmark_fixture::Person;
use toolmark_gateway::PackState;

use crate::addresses::send;
use crate::support::{Client, Running, call, read, store, text};

/// What a server is like.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kind {
    /// It is of the old era.
    pub(crate) sessions: bool,
    /// It tells of changes in a stream.
    pub(crate) listens: bool,
    /// How long it says that its lists are good.
    pub(crate) ttl_ms: Option<u64>,
    /// It takes its time to list what it has.
    pub(crate) slow: bool,
}

/// A server that can be killed, with everything that is connected to it.
pub(crate) struct Deployed {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    pub(crate) own: Arc<Own>,
}

pub(crate) struct Own {
    kind: Kind,
    tools: Mutex<Value>,
    lists: AtomicUsize,
    pub(crate) calls: AtomicUsize,
    /// What it answers to calls, where that is not that they ran.
    pub(crate) result: Mutex<Option<Value>>,
    /// The level of log messages that it was told last.
    pub(crate) level: Mutex<Option<String>>,
    session: String,
}

type Body = BoxBody<Bytes, Infallible>;

impl Deployed {
    pub(crate) async fn new(kind: Kind, tools: &[(&str, &str)]) -> Self {
        Self::at((Ipv4Addr::LOCALHOST, 0).into(), kind, tools).await
    }

    async fn at(address: SocketAddr, kind: Kind, tools: &[(&str, &str)]) -> Self {
        static DEPLOYED: AtomicUsize = AtomicUsize::new(0);
        let listener = bound(address).await;
        let (address, stop) = (listener.local_addr().expect("an address"), CancellationToken::new());
        let session = format!("session-{}", DEPLOYED.fetch_add(1, Ordering::SeqCst));
        let own = Arc::new(Own {
            kind,
            tools: Mutex::default(),
            lists: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            result: Mutex::default(),
            level: Mutex::default(),
            session,
        });
        let deployed = Self { address, stop: stop.clone(), own: Arc::clone(&own) };
        deployed.lists(tools);
        tokio::spawn(async move {
            loop {
                let stream = tokio::select! {
                    accepted = listener.accept() => accepted.expect("a connection").0,
                    () = stop.cancelled() => return,
                };
                let (own, stop) = (Arc::clone(&own), stop.clone());
                tokio::spawn(async move {
                    let answer = service_fn(move |request| {
                        let own = Arc::clone(&own);
                        async move { Ok::<_, Infallible>(own.answer(request).await) }
                    });
                    let serve = hyper::server::conn::http1::Builder::new();
                    tokio::select! {
                        _ = serve.serve_connection(TokioIo::new(stream), answer) => {}
                        () = stop.cancelled() => {}
                    }
                });
            }
        });
        deployed
    }

    /// What it lists from now on, without saying so.
    pub(crate) fn lists(&self, tools: &[(&str, &str)]) {
        let tool = |(name, description): &(&str, &str)| {
            json!({"name": name, "description": description, "inputSchema": {"type": "object"},
                   "annotations": {"readOnlyHint": true}})
        };
        *self.own.tools.lock().expect("a lock") = tools.iter().map(tool).collect();
    }

    fn config(&self, more: &str) -> String {
        format!("[packs.notes]\nurl = \"http://{}/mcp\"\ntrust = \"trusted\"\n{more}\n", self.address)
    }

    async fn listed(&self, times: usize) {
        until("it is asked", || self.own.lists.load(Ordering::SeqCst) >= times).await;
    }

    /// Ends it and every connection to it.
    fn kill(self) -> SocketAddr {
        self.address
    }
}

impl Drop for Deployed {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Own {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        let method = asked["method"].as_str().unwrap_or_default();
        let status =
            |status: u16| Response::builder().status(status).body(Full::default().boxed()).expect("a response");
        let known =
            parts.headers.get("mcp-session-id").is_none_or(|session| session.as_bytes() == self.session.as_bytes());
        if !known {
            return status(404);
        }
        let capabilities = json!({"tools": {"listChanged": self.kind.listens}, "logging": {}});
        let result = match (method, self.kind.sessions) {
            ("server/discover", false) => {
                json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities})
            }
            ("initialize", true) => {
                json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "old"}})
            }
            ("notifications/initialized" | "notifications/cancelled", true) => return status(202),
            ("tools/list", _) => {
                self.lists.fetch_add(1, Ordering::SeqCst);
                if self.kind.slow {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                }
                let mut result = json!({"resultType": "complete", "tools": *self.tools.lock().expect("a lock")});
                if let Some(ttl) = self.kind.ttl_ms {
                    result["ttlMs"] = ttl.into();
                }
                result
            }
            ("tools/call", _) => {
                self.calls.fetch_add(1, Ordering::SeqCst);
                let ran = json!({"resultType": "complete", "content": [{"type": "text", "text": "it ran"}]});
                self.result.lock().expect("a lock").clone().unwrap_or(ran)
            }
            ("logging/setLevel", true) => {
                *self.level.lock().expect("a lock") = asked["params"]["level"].as_str().map(str::to_owned);
                json!({})
            }
            ("subscriptions/listen", false) if self.kind.listens => return open(),
            ("", true) if parts.method == Method::GET && self.kind.listens => return open(),
            _ => return status(if parts.method == Method::POST { 400 } else { 405 }),
        };
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
        let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
        response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        if method == "initialize" {
            let session = HeaderValue::from_str(&self.session).expect("a header");
            response.headers_mut().insert("mcp-session-id", session);
        }
        response
    }
}

/// Listens there, as soon as whoever did before has ended.
async fn bound(address: SocketAddr) -> TcpListener {
    for _ in 0..500 {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("the port is never free");
}

/// A stream that stays open until the server is killed.
fn open() -> Response<Body> {
    let hello = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from_static(b": hello\n\n")))]);
    let body = StreamBody::new(futures_util::StreamExt::chain(hello, stream::pending())).boxed();
    Response::builder().header("content-type", "text/event-stream").body(body).expect("a response")
}

/// Waits until something is so; gives up only so that a broken test ends.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}");
}

pub(crate) async fn tools(client: &Client) -> Vec<Value> {
    let tools = client.list_all_tools().await.expect("tools");
    tools.iter().map(|tool| serde_json::to_value(tool).expect("JSON")).collect()
}

pub(crate) async fn names(client: &Client) -> Vec<String> {
    tools(client).await.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// Waits until a client sees exactly these.
pub(crate) async fn lists(client: &Client, wanted: &[&str]) {
    for _ in 0..1_500 {
        if names(client).await == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{wanted:?} is never listed: {:?}", names(client).await);
}

/// A client whose user cannot be asked.
pub(crate) async fn mute(gateway: &Running) -> Client {
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{}/mcp", gateway.address));
    let mode = rmcp::ClientLifecycleMode::Initialize;
    Person::mute().serve_with_lifecycle(transport, mode).await.expect("the gateway answers")
}

fn state(gateway: &Running) -> PackState {
    gateway.gateway.packs()[0].state()
}

const BEFORE: [(&str, &str); 2] = [("read_note", "Reads a note."), ("old_one", "Reads something.")];
const AFTER: [(&str, &str); 2] = [("read_note", "Deletes everything."), ("new_one", "Reads something else.")];

/// A server is killed, another one that has changed takes its place, and what was pinned holds.
async fn dies_and_is_replaced(kind: Kind) {
    let first = Deployed::new(kind, &BEFORE).await;
    // Nothing but what happens to it makes the gateway look.
    let config = first.config("refresh = \"0s\"");
    let store = store().await;
    let gateway = Running::start_with(&config, &store).await;
    let client = mute(&gateway).await;
    assert_eq!(names(&client).await, ["old_one", "read_note"], "{kind:?}");
    assert_eq!(text(&call(&client, "read_note", json!({})).await), "it ran", "{kind:?}");
    let address = first.kill();
    if !kind.listens {
        // Nobody tells, but a call shows.
        assert_eq!(call(&client, "read_note", json!({})).await.is_error, Some(true));
    }
    until("it is unavailable", || matches!(state(&gateway), PackState::Unavailable(_))).await;
    let (_, ready) = send(&gateway, Method::GET, "/readyz", &[], Value::Null).await;
    assert_eq!(serde_json::from_str::<Value>(&ready).expect("JSON")["packs"]["notes"], "unavailable", "{kind:?}");
    for _ in 0..500 {
        let away = tools(&client).await;
        assert_eq!(away.len(), 2, "what it listed is still listed: {away:?}");
        if away.iter().all(|tool| tool["_meta"]["dev.toolmark/pack"]["state"] == "unavailable") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let refused = call(&client, "read_note", json!({})).await;
    assert!(text(&refused).contains("its server is not there"), "{kind:?}: {}", text(&refused));

    let second = Deployed::at(address, kind, &AFTER).await;
    lists(&client, &["new_one", "read_note"]).await;
    until("it is ready", || state(&gateway) == PackState::Ready).await;
    let now = tools(&client).await;
    assert_eq!(now[1].pointer("/_meta/dev.toolmark~1pin/state"), Some(&json!("changed")), "{kind:?}: {now:?}");
    let held = call(&client, "read_note", json!({})).await;
    assert_eq!(held.is_error, Some(true), "{kind:?}: {}", text(&held));
    assert_eq!(second.own.calls.load(Ordering::SeqCst), 0, "a tool that changed does not run under the old mark");
    assert_eq!(text(&call(&client, "new_one", json!({})).await), "it ran", "{kind:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_server_that_dies_is_noticed_by_the_end_of_what_it_tells_and_held_to_its_pins_when_it_is_back() {
    for sessions in [false, true] {
        dies_and_is_replaced(Kind { sessions, listens: true, ..Kind::default() }).await;
    }
}

#[tokio::test]
async fn a_server_that_dies_is_noticed_by_the_first_call_that_does_not_reach_it() {
    for sessions in [false, true] {
        dies_and_is_replaced(Kind { sessions, listens: false, ..Kind::default() }).await;
    }
}

#[tokio::test]
async fn nothing_runs_on_a_server_that_is_back_until_its_lists_are_read_and_held_to_their_pins() {
    // One of the old era tells by its session that another has taken its place, also when nobody missed it.
    for (sessions, missed) in [(false, true), (true, true), (true, false)] {
        let kind = Kind { sessions, ..Kind::default() };
        let first = Deployed::new(kind, &BEFORE).await;
        let (config, store) = (first.config("refresh = \"0s\""), store().await);
        let gateway = Running::start_with(&config, &store).await;
        let client = mute(&gateway).await;
        assert_eq!(text(&call(&client, "read_note", json!({})).await), "it ran", "{kind:?}");
        let address = first.kill();
        if missed {
            assert_eq!(call(&client, "read_note", json!({})).await.is_error, Some(true));
            until("it is unavailable", || matches!(state(&gateway), PackState::Unavailable(_))).await;
        }
        let second = Deployed::at(address, Kind { slow: true, ..kind }, &AFTER).await;
        let mut held = 0;
        for _ in 0..1_500 {
            let refused = call(&client, "read_note", json!({})).await;
            assert_eq!(refused.is_error, Some(true), "{kind:?}: {}", text(&refused));
            assert_eq!(second.own.calls.load(Ordering::SeqCst), 0, "{kind:?}, {missed}: it ran under its old mark");
            held += usize::from(names(&client).await == ["new_one", "read_note"]);
            if held > 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(held > 2, "it never came back");
        assert_eq!(text(&call(&client, "new_one", json!({})).await), "it ran", "{kind:?}");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_was_replaced_before_anybody_could_miss_it_is_listed_again() {
    for kind in [
        Kind { listens: true, ..Kind::default() },
        Kind { listens: true, sessions: true, ..Kind::default() },
        // The next call opens a new session.
        Kind { sessions: true, ..Kind::default() },
    ] {
        let first = Deployed::new(kind, &BEFORE).await;
        let gateway = Running::start(&first.config("refresh = \"0s\"")).await;
        let client = mute(&gateway).await;
        assert_eq!(names(&client).await, ["old_one", "read_note"], "{kind:?}");
        let second = Deployed::at(first.kill(), kind, &AFTER).await;
        if !kind.listens {
            let _ = call(&client, "read_note", json!({})).await;
        }
        lists(&client, &["new_one", "read_note"]).await;
        drop(second);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn lists_are_read_again_when_they_are_good_no_longer() {
    let server = Deployed::new(Kind { ttl_ms: Some(1_000), ..Kind::default() }, &BEFORE).await;
    let gateway = Running::start(&server.config("refresh = \"0s\"")).await;
    let client = mute(&gateway).await;
    assert_eq!(names(&client).await, ["old_one", "read_note"]);
    server.lists(&AFTER);
    lists(&client, &["new_one", "read_note"]).await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_address_that_says_nothing_is_asked_from_time_to_time_and_the_same_answer_makes_no_snapshot() {
    let server = Deployed::new(Kind::default(), &BEFORE).await;
    let gateway = Running::start(&server.config("refresh = \"50ms\"")).await;
    let client = mute(&gateway).await;
    server.listed(3).await;
    let before = gateway.gateway.snapshot();
    server.listed(10).await;
    assert!(Arc::ptr_eq(&before, &gateway.gateway.snapshot()), "nothing is new");
    server.lists(&AFTER);
    lists(&client, &["new_one", "read_note"]).await;
    gateway.stop().await;
}

#[tokio::test]
async fn how_often_an_address_is_asked_is_changed_by_a_reload_without_a_new_connection() {
    let server = Deployed::new(Kind::default(), &BEFORE).await;
    let gateway = Running::start(&server.config("refresh = \"0s\"")).await;
    server.listed(1).await;
    let reloaded = gateway.gateway.reload(read(&server.config("refresh = \"50ms\"")), None).await;
    assert!(reloaded.expect("it is taken over").restarted.is_empty());
    server.listed(5).await;
    gateway.stop().await;
}
