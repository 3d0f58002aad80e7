//! A gateway in this process, fixtures behind it over HTTP and over standard input and output, and clients of both eras.
#![expect(
    deprecated,
    reason = "sampling, roots and logging are on their way out of the protocol, but clients still have them"
)]

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    ResourceUpdatedNotificationParam, Root, SamplingMessage,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_fixture::{Fixture, Listening, Options, serve_http};
use toolmark_gateway::{Gateway, GatewayBuilder, Serve};
use toolmark_store::{Location, Micros, Settings, Store};

/// A gateway that listens, until it is stopped.
pub(crate) struct Running {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// A gateway for a configuration, once its packs have started or failed.
    pub(crate) async fn start(config: &str) -> Self {
        Self::of(GatewayBuilder::new(read(config), PathBuf::new())).await
    }

    /// A gateway that remembers.
    pub(crate) async fn start_with(config: &str, store: &Store) -> Self {
        let builder = GatewayBuilder::new(read(config), PathBuf::new()).store(store.clone());
        Self::of(builder.recall().await.expect("a store")).await
    }

    async fn of(builder: GatewayBuilder) -> Self {
        let gateway = builder.start().expect("the gateway starts");
        gateway.settled().await;
        let serve = Serve::bind(Arc::clone(&gateway), (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        let (address, stop) = (serve.address(), CancellationToken::new());
        let task = tokio::spawn(serve.run(stop.clone()));
        Self { gateway, address, stop, task }
    }

    pub(crate) async fn client(&self, era: Era) -> Client {
        self.client_at(era, "/mcp").await
    }

    pub(crate) async fn client_at(&self, era: Era, path: &str) -> Client {
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{}{path}", self.address));
        Person::default().serve_with_lifecycle(transport, lifecycle(era)).await.expect("the gateway answers")
    }

    /// Stops it and waits until it has.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the gateway ends in peace");
    }
}

/// A configuration.
pub(crate) fn read(text: &str) -> Config {
    Config::read(text, "toolmark.toml").expect("the configuration can be read")
}

/// A store that ends with the test.
pub(crate) async fn store() -> Store {
    let settings = Settings::new(|| Micros::from(std::time::SystemTime::now()));
    Store::open(&Location::Memory, &settings).await.expect("a store in memory")
}

/// The names of all tools that a client sees.
pub(crate) async fn names(client: &Client) -> Vec<String> {
    client.list_all_tools().await.expect("tools").into_iter().map(|tool| tool.name.into_owned()).collect()
}

/// A fixture of an era over HTTP.
pub(crate) async fn http_fixture(era: toolmark_fixture::Era) -> Listening {
    let fixture = Fixture::new(Options { era, ..Options::default() }).expect("a fixture");
    serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port")
}

/// A pack whose server is reached by HTTP.
pub(crate) fn by_http(name: &str, fixture: &Listening) -> String {
    format!("[packs.{name}]\nurl = \"{}\"\n", fixture.url())
}

/// A pack whose server is a program.
pub(crate) fn by_stdio(name: &str, arguments: &[&str]) -> String {
    let program = json!(program().display().to_string());
    let arguments = json!([&["--stdio"], arguments].concat());
    format!("[packs.{name}]\ncommand = {program}\nargs = {arguments}\n")
}

/// The fixture's program, built if nobody has yet.
fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let own = std::env::current_exe().expect("a test is a program");
        let folder = own.parent().and_then(|deps| deps.parent()).expect("tests are below the programs");
        let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "toolmark-fixture"]).status();
        assert!(built.expect("cargo starts").success(), "the fixture builds");
        folder.join("toolmark-fixture")
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Old,
    New,
}

/// The two eras, as clients and as fixtures know them.
pub(crate) const ERAS: [Era; 2] = [Era::Old, Era::New];

impl Era {
    pub(crate) fn of_fixture(self) -> toolmark_fixture::Era {
        match self {
            Self::Old => toolmark_fixture::Era::Old,
            Self::New => toolmark_fixture::Era::New,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

pub(crate) type Client = RunningService<RoleClient, Person>;

fn lifecycle(era: Era) -> ClientLifecycleMode {
    match era {
        Era::Old => ClientLifecycleMode::Initialize,
        Era::New => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    }
}

/// Calls a tool and expects an answer from it.
pub(crate) async fn call(client: &Client, tool: &str, arguments: Value) -> CallToolResult {
    client.call_tool(request(tool, arguments)).await.unwrap_or_else(|error| panic!("`{tool}`: {error}"))
}

pub(crate) fn request(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

/// All the text in a result.
pub(crate) fn text(result: &CallToolResult) -> String {
    result.content.iter().fold(String::new(), |mut text, block| {
        let _ = write!(text, "{}", block.as_text().map_or("", |block| &block.text));
        text
    })
}

/// A person who answers every question, and remembers what they hear.
#[derive(Clone, Default)]
pub(crate) struct Person {
    heard: Arc<Mutex<Vec<String>>>,
}

impl Person {
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("no test panics with it").clone()
    }

    /// Waits until something was heard; the patience only keeps a broken test from hanging.
    pub(crate) async fn hears(&self, what: &str, times: usize) {
        for _ in 0..1_000 {
            if self.heard().iter().filter(|heard| heard.starts_with(what)).count() >= times {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("`{what}` was not heard {times} times, but {:?}", self.heard());
    }

    fn hear(&self, what: String) {
        self.heard.lock().expect("no test panics with it").push(what);
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let able = ClientCapabilities::builder().enable_elicitation().enable_sampling().enable_roots().build();
        ClientConfig::new(able, Implementation::new("a-test", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.hear(format!("asked {message}"));
        let content = json!({ "answer": "blue", "name": "Alice", "color": "green", "ok": true, "confirm": true });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("Paris"), "a-model".to_owned()))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///home/alice")]))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear(format!("progress {}", progress.progress));
    }

    async fn on_logging_message(&self, message: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear(format!("log {}", message.data));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hear("tools changed".to_owned());
    }

    async fn on_resource_updated(&self, update: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear(format!("updated {}", update.uri));
    }
}
