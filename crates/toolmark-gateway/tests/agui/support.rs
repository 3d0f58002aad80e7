//! A gateway over one store in a file, a fixture behind it, agents that follow scripts, and pages that send plain requests.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_fixture::{Fixture, Listening, Options, serve_http};
use toolmark_gateway::{Gateway, GatewayBuilder, Serve};
use toolmark_store::audit::{NodeClaim, SinkSettings};
use toolmark_store::{Location, Micros, NewToken, Settings, Store, TokenSecret};

/// An agent that repeats what it is told to, after somebody agreed, and says what came of it.
pub(crate) const ASKING: &str = r#"
[packs.fixture.tools.echo]
behavior = "PURE|READ|DATA"
display_name = { en = "Echo", nl = "Nazeggen" }
spoken = "I repeat it"

[packs.fixture.tools.sleep_ms]
behavior = "PURE|READ|DATA"

[[rules]]
id = "careful"
verdict = "ask"
tools = "fixture.echo"

[agents.parrot]
model = "scripted:parrot.json"
tools = ["fixture.*"]
"#;

const SCRIPT: &str = r#"{"version": 1, "turns": [
  {"when": {"user": "say"}, "text": "I say it.", "calls": [{"namespace": "fixture", "name": "echo", "arguments": {"text": "hello"}}]},
  {"when": {"user": "slow"}, "calls": [{"namespace": "fixture", "name": "sleep_ms", "arguments": {"ms": 1500}}]},
  {"when": {"user": ""}, "text": "You said: {user}"},
  {"when": {"output": ""}, "text": "It brought: {output}"}
]}"#;

/// A fixture, a folder with a script, and a file in which everything is remembered.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) fixture: Listening,
}

/// A gateway that listens, until it is stopped.
pub(crate) struct Running {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    /// The key of the console.
    pub(crate) key: String,
    stop: CancellationToken,
    task: JoinHandle<()>,
    _claim: NodeClaim,
}

/// What came back: the events of a stream, or an answer without one.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) events: Vec<Value>,
    pub(crate) body: String,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("parrot.json"), SCRIPT).expect("a script");
        let fixture = Fixture::new(Options::default()).expect("a fixture");
        let fixture = serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        Self { folder, fixture }
    }

    /// The same, where the server says something else of a tool.
    pub(crate) async fn with_another(self, description: &str) -> Self {
        let options = Options { describe: vec![description.parse().expect("a pair")], ..Options::default() };
        let fixture = Fixture::new(options).expect("a fixture");
        let fixture = serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        Self { fixture, ..self }
    }

    /// A gateway under a name of its own.
    pub(crate) async fn node(&self, name: &str, config: &str) -> Running {
        let text = format!("{config}\n[packs.fixture]\nurl = \"{}\"\n", self.fixture.url());
        let config = Config::read(&text, "toolmark.toml").expect("the configuration can be read");
        let settings = Settings::new(|| Micros::from(SystemTime::now()));
        let location = Location::File(self.folder.path().join("store.db"));
        let store = Store::open(&location, &settings).await.expect("a store");
        let builder = GatewayBuilder::new(config, self.folder.path().to_owned()).store(store.clone());
        let claim = store.claim_node(name).await.expect("a name");
        let builder = builder.audit(store.audit_sink(SinkSettings::new(claim.node())));
        let gateway = builder.recall().await.expect("a store").start().expect("the gateway starts");
        gateway.settled().await;
        let serve = Serve::bind(Arc::clone(&gateway), (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        let (address, stop) = (serve.address(), CancellationToken::new());
        let key = serve.console_key().expect("a key").to_owned();
        let task = tokio::spawn(serve.run(stop.clone()));
        Running { gateway, address, store, key, stop, task, _claim: claim }
    }
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
        format!("Bearer {}", secret.reveal().expose_secret())
    }

    /// Sends something to an agent.
    pub(crate) async fn run(&self, agent: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        send(self.address, Method::POST, &format!("/agui/{agent}"), headers, body.to_string()).await
    }

    /// A run that waits for an answer: what was sent, and the questions.
    pub(crate) async fn waiting(&self, thread: &str, headers: &[(&str, &str)]) -> (Value, Vec<Value>) {
        let body = said(thread, "say it");
        let answer = self.run("parrot", &body, headers).await;
        let questions = answer.last()["outcome"]["interrupts"].as_array().cloned();
        (body, questions.unwrap_or_else(|| panic!("it does not wait: {:#?}", answer.events)))
    }
}

impl Answer {
    pub(crate) fn last(&self) -> Value {
        self.events.last().cloned().unwrap_or_default()
    }

    pub(crate) fn outcome(&self) -> String {
        self.last()["outcome"]["type"].as_str().unwrap_or_default().to_owned()
    }

    /// The code of what ended it.
    pub(crate) fn code(&self) -> String {
        let whole: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let code = self.last()["code"].as_str().map(str::to_owned);
        code.or_else(|| whole["error"]["code"].as_str().map(str::to_owned)).unwrap_or_default()
    }

    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }
}

/// A thread in which somebody says one thing.
pub(crate) fn said(thread: &str, text: &str) -> Value {
    json!({"threadId": thread, "runId": "r1", "messages": [{"id": "u1", "role": "user", "content": text}]})
}

/// The same, with answers.
pub(crate) fn answered(body: &Value, questions: &[Value], payload: &Value) -> Value {
    let mut body = body.clone();
    body["runId"] = json!("r2");
    let answer = |question: &Value| json!({"interruptId": question["id"], "status": "resolved", "payload": payload});
    body["resume"] = questions.iter().map(answer).collect();
    body
}

pub(crate) async fn send(
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
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body))).expect("a request");
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let (head, body) = client.request(request).await.expect("an answer").into_parts();
    let body = String::from_utf8(body.collect().await.expect("a body").to_bytes().to_vec()).expect("UTF-8");
    let events = body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    Answer { status: head.status, headers: head.headers, events, body }
}
