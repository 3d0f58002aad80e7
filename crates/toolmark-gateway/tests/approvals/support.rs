//! Gateways over one store in a file, a fixture behind them that counts, people at clients of both eras, and people who decide.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_fixture::{Fixture, Listening, Options, serve_http};
use toolmark_gateway::{Gateway, GatewayBuilder, Serve};
use toolmark_store::audit::{NodeClaim, SinkSettings};
use toolmark_store::{Location, Micros, NewToken, Settings, Store, TokenSecret};

/// A person is asked before anything is said back.
pub(crate) const ASK: &str =
    "[[rules]]\nid = \"careful\"\nverdict = \"ask\"\ntools = \"fixture.echo\"\nreason = \"words have effects\"\n";
pub(crate) const TOKENS: &str = "[gateway.auth]\ntokens = true\n";
/// What a client of 2026-07-28 finds our question under.
pub(crate) const KEY: &str = "dev.toolmark/approval";

/// A fixture, and a file in which everything is remembered.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) fixture: Listening,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::of(Options::default()).await
    }

    pub(crate) async fn of(options: Options) -> Self {
        Self { folder: TempDir::new().expect("a folder"), fixture: fixture(options).await }
    }

    /// The pack of the fixture, with what else the configuration is to say.
    pub(crate) fn config(&self, more: &str) -> String {
        format!("{more}\n[packs.fixture]\nurl = \"{}\"\n", self.fixture.url())
    }

    /// A handle of its own on the store, as another process would have.
    pub(crate) async fn store(&self) -> Store {
        let settings = Settings::new(|| Micros::from(SystemTime::now()));
        let location = Location::File(self.folder.path().join("store.db"));
        Store::open(&location, &settings).await.expect("a store")
    }

    pub(crate) async fn gateway(&self, more: &str) -> Running {
        self.node("n1", &self.config(more)).await
    }

    /// A gateway under a name of its own, with this configuration.
    pub(crate) async fn node(&self, name: &str, config: &str) -> Running {
        let config = Config::read(config, "toolmark.toml").expect("the configuration can be read");
        let store = self.store().await;
        let builder = GatewayBuilder::new(config, PathBuf::new()).store(store.clone());
        let claim = store.claim_node(name).await.expect("a name");
        let builder = builder.audit(store.audit_sink(SinkSettings::new(claim.node())));
        let gateway = builder.recall().await.expect("a store").start().expect("the gateway starts");
        gateway.settled().await;
        let serve = Serve::bind(Arc::clone(&gateway), (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        let (address, stop) = (serve.address(), CancellationToken::new());
        let task = tokio::spawn(serve.run(stop.clone()));
        Running { gateway, address, store, stop, task, _claim: claim }
    }
}

pub(crate) async fn fixture(options: Options) -> Listening {
    let fixture = Fixture::new(options).expect("a fixture");
    serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port")
}

/// A gateway that listens, until it is stopped.
pub(crate) struct Running {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    stop: CancellationToken,
    task: JoinHandle<()>,
    _claim: NodeClaim,
}

impl Running {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the gateway ends in peace");
        self.store.close().await.expect("closed");
    }

    /// A new token; its secret.
    pub(crate) async fn token(&self, name: &str, approver: bool) -> String {
        use secrecy::ExposeSecret as _;
        let secret = TokenSecret::random().expect("random numbers");
        let new = NewToken { name: name.to_owned(), approver, ..NewToken::default() };
        self.store.create_token(&new, &secret).await.expect("a token");
        secret.reveal().expose_secret().to_owned()
    }

    /// Somebody who decides.
    pub(crate) async fn approver(&self) -> Approver<'_> {
        Approver { gateway: self, token: self.token("bob", true).await }
    }

    /// How often a tool of the fixture ran.
    pub(crate) async fn ran(&self, tool: &str, token: Option<&str>) -> u64 {
        let stats = Caller { token, ..Caller::new(self) }.call("stats", json!({})).await;
        stats["result"]["structuredContent"]["calls"][tool].as_u64().unwrap_or_default()
    }

    /// Somebody at a client of 2025-11-25.
    pub(crate) async fn human(&self, human: Human) -> Old {
        self.human_with(human, None).await
    }

    pub(crate) async fn human_with(&self, human: Human, token: Option<&str>) -> Old {
        let mut config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", self.address));
        if let Some(token) = token {
            config = config.auth_header(token);
        }
        let transport = StreamableHttpClientTransport::from_config(config);
        human.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.expect("the gateway answers")
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    /// The last message of the body, which may be a stream of events.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let line = self.body.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&self.body);
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The stable code of a refusal of the HTTP interface.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// One request as anybody can send it.
pub(crate) async fn send(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    send_text(address, method, path, headers, body).await
}

pub(crate) async fn send_text(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Answer {
    let mut request = Request::builder().method(method).uri(format!("http://{address}{path}"));
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/json");
    }
    request = request.header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body))).expect("a request");
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let (head, body) = client.request(request).await.expect("an answer").into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    Answer { status: head.status, headers: head.headers, body: String::from_utf8_lossy(&body).into_owned() }
}

/// Somebody with a token that decides.
pub(crate) struct Approver<'g> {
    gateway: &'g Running,
    pub(crate) token: String,
}

impl Approver<'_> {
    pub(crate) async fn ask(&self, method: Method, path: &str, body: &Value) -> Answer {
        let shown = format!("Bearer {}", self.token);
        send(self.gateway.address, method, path, &[("authorization", &shown)], body).await
    }

    /// The questions that are open, newest first.
    pub(crate) async fn open(&self) -> Vec<Value> {
        let answer = self.ask(Method::GET, "/api/approvals", &Value::Null).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        answer.json()["approvals"].as_array().expect("a list").clone()
    }

    /// The one question that is open, once it is.
    pub(crate) async fn asked(&self) -> Value {
        until(async || {
            let mut open = self.open().await;
            assert!(open.len() < 2, "{open:?}");
            open.pop()
        })
        .await
    }

    pub(crate) async fn decide(&self, id: &Value, decision: &Value) -> Answer {
        let path = format!("/api/approvals/{}/decision", id.as_str().expect("an id"));
        self.ask(Method::POST, &path, decision).await
    }

    /// Decides about the one question that is open.
    pub(crate) async fn decides(&self, decision: Value) -> Value {
        let ask = self.asked().await;
        let answer = self.decide(&ask["id"], &decision).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        answer.json()
    }
}

/// A client of 2026-07-28, as plain requests.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'g> {
    pub(crate) address: SocketAddr,
    pub(crate) path: &'g str,
    pub(crate) token: Option<&'g str>,
    /// Whether it can ask its user.
    pub(crate) able: bool,
}

impl<'g> Caller<'g> {
    pub(crate) fn new(gateway: &Running) -> Self {
        Self { address: gateway.address, path: "/mcp", token: None, able: true }
    }

    /// One whose user cannot be asked.
    pub(crate) fn mute(gateway: &Running) -> Self {
        Self { able: false, ..Self::new(gateway) }
    }

    pub(crate) fn with(self, token: &'g str) -> Self {
        Self { token: Some(token), ..self }
    }

    pub(crate) fn at(self, path: &'g str) -> Self {
        Self { path, ..self }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_with(tool, arguments, Value::Null).await
    }

    /// Comes back with a state and an answer.
    pub(crate) async fn comes_back(&self, tool: &str, arguments: Value, state: &Value, answer: Value) -> Value {
        self.call_with(tool, arguments, json!({"requestState": state, "inputResponses": {KEY: answer}})).await
    }

    pub(crate) async fn call_with(&self, tool: &str, arguments: Value, more: Value) -> Value {
        let capabilities = if self.able { json!({"elicitation": {"form": {}}}) } else { json!({}) };
        let mut params = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        let shown = self.token.map(|token| format!("Bearer {token}"));
        let mut headers =
            vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)];
        headers.extend(shown.as_deref().map(|shown| ("authorization", shown)));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        send(self.address, Method::POST, self.path, &headers, &body).await.json()
    }
}

/// What is said about a call.
pub(crate) fn code(answer: &Value) -> &str {
    let meta = &answer["result"]["_meta"]["dev.toolmark/call"]["code"];
    meta.as_str().or_else(|| answer["error"]["data"]["code"].as_str()).unwrap_or_default()
}

/// The text of a result.
pub(crate) fn said(answer: &Value) -> String {
    let blocks = answer["result"]["content"].as_array().cloned().unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// A person is asked, and the client was sent away with the question; its state, and the question.
#[track_caller]
pub(crate) fn handed(answer: &Value) -> (Value, Value) {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    (answer["result"]["requestState"].clone(), answer["result"]["inputRequests"][KEY]["params"].clone())
}

/// It waits for a person whom the client cannot ask.
#[track_caller]
pub(crate) fn waits(answer: &Value) {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(said(answer).contains("waits for a person"), "{answer}");
}

#[track_caller]
pub(crate) fn ran(answer: &Value) {
    assert!(answer["result"]["content"].is_array() && answer["result"]["isError"] != true, "{answer}");
}

pub(crate) fn accept(decision: &str) -> Value {
    json!({"action": "accept", "content": {"decision": decision}})
}

/// What somebody does with a form.
#[derive(Clone, Debug)]
pub(crate) enum Does {
    /// Fills it in.
    Accepts(Value),
    Declines,
    Cancels,
    /// Leaves it open until it is taken away.
    Thinks,
}

/// Somebody at a client of 2025-11-25.
#[derive(Clone, Default)]
pub(crate) struct Human {
    heard: Arc<Mutex<Vec<(String, Value)>>>,
    does: Arc<Mutex<VecDeque<Does>>>,
    withdrawn: Arc<Mutex<usize>>,
    mute: bool,
}

pub(crate) type Old = RunningService<RoleClient, Human>;

impl Human {
    /// Somebody who does these things with the forms they see, one after the other.
    pub(crate) fn who(does: impl IntoIterator<Item = Does>) -> Self {
        Self { does: Arc::new(Mutex::new(does.into_iter().collect())), ..Self::default() }
    }

    /// Somebody whose client shows no forms.
    pub(crate) fn mute() -> Self {
        Self { mute: true, ..Self::default() }
    }

    /// Every form that was seen: its text and its schema.
    pub(crate) fn heard(&self) -> Vec<(String, Value)> {
        self.heard.lock().expect("no test panics with it").clone()
    }

    /// How many forms were taken away.
    pub(crate) fn withdrawn(&self) -> usize {
        *self.withdrawn.lock().expect("no test panics with it")
    }
}

impl ClientHandler for Human {
    fn get_info(&self) -> ClientConfig {
        let able = ClientCapabilities::builder().enable_elicitation().build();
        let capabilities = if self.mute { ClientCapabilities::default() } else { able };
        ClientConfig::new(capabilities, Implementation::new("a-test", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Err(ErrorData::invalid_params("only forms are shown here", None));
        };
        let schema = serde_json::to_value(requested_schema).unwrap_or_default();
        self.heard.lock().expect("no test panics with it").push((message, schema));
        let does = self.does.lock().expect("no test panics with it").pop_front();
        match does.expect("nobody is asked more often than expected") {
            Does::Accepts(content) => Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content)),
            Does::Declines => Ok(ElicitResult::new(ElicitationAction::Decline)),
            Does::Cancels => Ok(ElicitResult::new(ElicitationAction::Cancel)),
            Does::Thinks => {
                context.ct.cancelled().await;
                *self.withdrawn.lock().expect("no test panics with it") += 1;
                Err(ErrorData::invalid_request("the form was taken away", None))
            }
        }
    }
}

/// Calls a tool as a client of 2025-11-25.
pub(crate) async fn call(client: &Old, tool: &str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    let result: CallToolResult = client.call_tool(request).await.unwrap_or_else(|error| panic!("`{tool}`: {error}"));
    json!({"result": serde_json::to_value(result).expect("JSON")})
}

/// Waits until something is so. The patience only keeps a broken test from hanging.
pub(crate) async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..2_000 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to that")
}
