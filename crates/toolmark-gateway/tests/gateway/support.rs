//! A gateway in this process, fixtures behind it over HTTP and over standard input and output, and clients of both eras.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_fixture::{Fixture, Listening, Options, Person, serve_http};
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

    pub(crate) async fn of(builder: GatewayBuilder) -> Self {
        let gateway = builder.start().expect("the gateway starts");
        gateway.settled().await;
        Self::listening(gateway).await
    }

    /// A gateway whose packs may still be starting.
    pub(crate) async fn at_once(builder: GatewayBuilder) -> Self {
        Self::listening(builder.start().expect("the gateway starts")).await
    }

    async fn listening(gateway: Arc<Gateway>) -> Self {
        let serve = Serve::bind(Arc::clone(&gateway), (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
        let (address, stop) = (serve.address(), CancellationToken::new());
        let task = tokio::spawn(serve.run(stop.clone()));
        Self { gateway, address, stop, task }
    }

    pub(crate) async fn client(&self, era: Era) -> Client {
        self.client_at(era, "/mcp").await
    }

    pub(crate) async fn client_at(&self, era: Era, path: &str) -> Client {
        client_of(&format!("http://{}{path}", self.address), era).await
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

/// A client of whatever listens there.
pub(crate) async fn client_of(url: &str, era: Era) -> Client {
    let transport = StreamableHttpClientTransport::from_uri(url.to_owned());
    Person::default().serve_with_lifecycle(transport, lifecycle(era)).await.expect("the server answers")
}

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
