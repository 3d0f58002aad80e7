//! A gateway with the demo workspace and one pack of our own, somebody with the console's key, and a client that calls.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_gateway::{Gateway, GatewayBuilder, Serve, demo};
use toolmark_store::audit::{NodeClaim, SinkSettings};
use toolmark_store::{Location, Micros, NewToken, Settings, Store, TokenSecret};

/// What a stranger writes who wants a page to run it.
pub(crate) const SCRIPT: &str = "</script><img src=x onerror=alert(1)>\u{202E}gnp.exe\u{200B}";

/// Asks before anything is written to the wiki.
pub(crate) const ASK: &str = "[[rules]]\nid = \"careful\"\nverdict = \"ask\"\ntools = \"own.touch\"\n";

pub(crate) struct Running {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    pub(crate) key: String,
    stop: CancellationToken,
    task: JoinHandle<()>,
    _claim: NodeClaim,
    _folder: TempDir,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let line = self.body.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&self.body);
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Running {
    pub(crate) async fn start(more: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let config = Config::read(more, "toolmark.toml").expect("the configuration can be read");
        let settings = Settings::new(|| Micros::from(SystemTime::now()));
        let location = Location::File(folder.path().join("store.db"));
        let store = Store::open(&location, &settings).await.expect("a store");
        let claim = store.claim_node("n1").await.expect("a name");
        // Rules that name tools of packs in this process are settled once those are there.
        let mut bare = config.clone();
        bare.rules = Config::default().rules;
        let builder = GatewayBuilder::new(bare, PathBuf::new()).store(store.clone());
        let builder = builder.audit(store.audit_sink(SinkSettings::new(claim.node())));
        let builder = demo::attach(builder).built_in("own".parse().expect("a name"), own);
        let gateway = builder.recall().await.expect("a store").start().expect("the gateway starts");
        gateway.settled().await;
        gateway.reload(config, None).await.expect("the rules can be used");
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let serve = Serve::bind_for(Arc::clone(&gateway), address, "ann").await.expect("a free port");
        let key = serve.console_key().unwrap_or_default().to_owned();
        let (address, stop) = (serve.address(), CancellationToken::new());
        let task = tokio::spawn(serve.run(stop.clone()));
        Self { gateway, address, store, key, stop, task, _claim: claim, _folder: folder }
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the gateway ends in peace");
        self.store.close().await.expect("closed");
    }

    /// What somebody with the key is shown.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[], String::new()).await
    }

    /// The same, which must be there.
    pub(crate) async fn shown(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {answer:?}");
        answer.json()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(Method::POST, path, &[("content-type", "application/json")], body.to_string()).await
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let shown = format!("Bearer {}", self.key);
        let mut all = vec![("authorization", shown.as_str())];
        all.extend(headers);
        self.send(method, path, &all, body).await
    }

    /// One request as anybody can send it.
    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let (head, body) = self.begin(method, path, headers, body).await.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        Answer { status: head.status, headers: head.headers, body: String::from_utf8_lossy(&body).into_owned() }
    }

    /// The same; the body comes later.
    pub(crate) async fn begin(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> http::Response<Incoming> {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).expect("a request");
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        client.request(request).await.expect("an answer")
    }

    pub(crate) async fn token(&self, name: &str, approver: bool) -> String {
        use secrecy::ExposeSecret as _;
        let secret = TokenSecret::random().expect("random numbers");
        let new = NewToken { name: name.to_owned(), approver, ..NewToken::default() };
        self.store.create_token(&new, &secret).await.expect("a token");
        secret.reveal().expose_secret().to_owned()
    }

    /// Calls a tool as a client of 2026-07-28 that cannot ask its user.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        self.send(Method::POST, "/mcp", &headers, body.to_string()).await.json()
    }

    /// Looks on, from now.
    pub(crate) async fn live(&self, query: &str) -> Events {
        self.events(&format!("/api/live{query}")).await
    }

    /// What is told at an address, from now.
    pub(crate) async fn events(&self, path: &str) -> Events {
        let shown = format!("Bearer {}", self.key);
        let response = self.begin(Method::GET, path, &[("authorization", &shown)], String::new()).await;
        assert_eq!(response.status(), StatusCode::OK);
        Events { body: response.into_body(), text: String::new() }
    }
}

/// A stream of events.
pub(crate) struct Events {
    body: Incoming,
    text: String,
}

impl Events {
    /// The next event: its name and what it says.
    pub(crate) async fn next(&mut self) -> (String, Value) {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                match (field("event: "), field("data: ")) {
                    (Some(name), Some(data)) => return (name, serde_json::from_str(&data).expect("JSON")),
                    _ => continue,
                }
            }
            let frame = tokio::time::timeout(Duration::from_secs(20), self.body.frame()).await.expect("in time");
            let frame = frame.expect("the stream goes on").expect("a frame");
            self.text.push_str(&String::from_utf8_lossy(&frame.into_data().expect("data")));
        }
    }

    /// The next event of this name.
    pub(crate) async fn of(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next().await;
            if name == wanted {
                return data;
            }
        }
    }

    /// All that is left, until it ends.
    pub(crate) async fn rest(mut self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        while let Some(frame) = self.body.frame().await {
            let data = frame.expect("a frame").into_data().expect("data");
            self.text.push_str(&String::from_utf8_lossy(&data));
        }
        for event in self.text.split("\n\n") {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            if let (Some(name), Some(data)) = (field("event: "), field("data: ")) {
                all.push((name.to_owned(), serde_json::from_str(data).expect("JSON")));
            }
        }
        all
    }

    pub(crate) fn of_response(body: Incoming) -> Self {
        Self { body, text: String::new() }
    }
}

/// A server that says hostile things, and one that keeps its callers waiting: enough of MCP for that.
fn own() -> (tokio::io::DuplexStream, tokio::io::DuplexStream) {
    let (our_input, mut their_output) = tokio::io::duplex(1 << 16);
    let (their_input, our_output) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let mut lines = BufReader::new(their_input).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            let Some(id) = message.get("id").cloned() else { continue };
            let result = match message["method"].as_str().unwrap_or_default() {
                "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": SCRIPT, "version": "1"}}),
                "tools/list" => json!({"tools": tools()}),
                "tools/call" => {
                    if message["params"]["name"] == "slow" {
                        tokio::time::sleep(Duration::from_millis(400)).await;
                    }
                    json!({"content": [{"type": "text", "text": format!("done {SCRIPT}")}]})
                }
                _ => {
                    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}});
                    let _ = their_output.write_all(format!("{error}\n").as_bytes()).await;
                    continue;
                }
            };
            let reply = json!({"jsonrpc": "2.0", "id": id, "result": result});
            let _ = their_output.write_all(format!("{reply}\n").as_bytes()).await;
        }
    });
    (our_input, our_output)
}

fn tools() -> Value {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string", "description": SCRIPT}}});
    json!([
        {"name": "touch", "description": "Changes something.", "inputSchema": schema},
        {"name": "slow", "description": "Takes a while.", "inputSchema": schema, "annotations": {"readOnlyHint": true}},
        {"name": "<b>bold\u{202E}", "title": SCRIPT, "description": SCRIPT, "inputSchema": schema},
    ])
}
