//! A client that is not ours, over a socket and over a pipe, in both eras.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on should say where")]

#[path = "../examples/endpoint/fixture.rs"]
mod fixture;

#[path = "clients/bridge.rs"]
mod bridge;

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, ProgressNotificationParam, ProtocolVersion, ServerNotification,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _};
use serde_json::{Value, json};
use toolmark_mcp::downstream::{Caller, Changed, Endpoint, Service, Settings};

use fixture::Fixture;

const TOO_LONG: Duration = Duration::from_secs(60);

/// A person who answers every form with the same name.
#[derive(Clone, Default)]
struct Person {
    asked: Arc<Mutex<Vec<String>>>,
    progress: Arc<Mutex<Vec<f64>>>,
    changes: Arc<Mutex<usize>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities = ClientCapabilities::builder().enable_elicitation().build();
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.asked.lock().expect("a lock").push(message);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada", "ok": true})))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().expect("a lock").push(params.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        *self.changes.lock().expect("a lock") += 1;
    }
}

fn endpoint() -> Endpoint<Fixture> {
    let fixture = Arc::new(Fixture::default());
    let endpoint = Endpoint::new(Arc::clone(&fixture), Settings::default());
    fixture.announce_through(&endpoint);
    endpoint
}

/// Serves on a free port and says where.
async fn serve<S: Service>(endpoint: &Endpoint<S>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let endpoint = endpoint.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let endpoint = endpoint.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request| {
                    let endpoint = endpoint.clone();
                    async move { Ok::<_, Infallible>(endpoint.http(request, Caller::new("alice")).await) }
                });
                drop(auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer).await);
            });
        }
    });
    format!("http://{address}/mcp")
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn text(result: &CallToolResult) -> String {
    let result = serde_json::to_value(result).expect("JSON");
    result["content"][0]["text"].as_str().expect("text").to_owned()
}

fn call(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().expect("an object").clone())
}

async fn until(mut done: impl FnMut() -> bool) {
    let waiting = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(TOO_LONG, waiting).await.expect("it to happen");
}

/// What every client must be able to do, whatever it speaks and over which transport.
async fn exercise(client: &RunningService<RoleClient, Person>, person: &Person, endpoint: &Endpoint<Fixture>) {
    let tools = client.list_all_tools().await.expect("tools");
    assert!(tools.iter().any(|tool| tool.name == "echo"));
    let echo = client.call_tool(call("echo", &json!({"a": "é"}))).await.expect("an answer");
    assert_eq!(text(&echo), r#"{"a":"é"}"#);
    // A service that waits for the answer, and one that is called again.
    let asked = client.call_tool(call("test_elicitation", &json!({"message": "Who?"}))).await.expect("an answer");
    assert!(text(&asked).contains("Ada"), "{asked:?}");
    let rounds = client.call_tool(call("test_input_required_result_multi_round", &json!({}))).await.expect("an answer");
    assert_eq!(text(&rounds), "two rounds");
    assert_eq!(person.asked.lock().expect("a lock").len(), 3);
    // rmcp gives every request a progress token.
    client.call_tool(call("test_tool_with_progress", &json!({}))).await.expect("an answer");
    assert_eq!(*person.progress.lock().expect("a lock"), [0.0, 50.0, 100.0]);
    assert!(client.call_tool(call("no_such_tool", &json!({}))).await.is_err());
    let slow =
        ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(call("wait", &json!({"progress": true}))));
    let running = client.send_cancellable_request(slow, PeerRequestOptions::no_options()).await.expect("to send");
    until(|| person.progress.lock().expect("a lock").len() == 4).await;
    running.cancel(Some("enough".to_owned())).await.expect("to cancel");
    until(|| endpoint.service().dropped.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn an_old_client_over_http() {
    let (endpoint, person) = (endpoint(), Person::default());
    let transport = StreamableHttpClientTransport::from_uri(serve(&endpoint).await);
    let client =
        person.clone().serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.expect("a client");
    exercise(&client, &person, &endpoint).await;
    endpoint.broadcast(&Changed::Tools);
    until(|| *person.changes.lock().expect("a lock") == 1).await;
    assert_eq!(endpoint.held().sessions, 1);
    client.cancel().await.expect("to end");
    until(|| endpoint.held().sessions == 0).await;
}

#[tokio::test]
async fn a_new_client_over_http() {
    let (endpoint, person) = (endpoint(), Person::default());
    let transport = StreamableHttpClientTransport::from_uri(serve(&endpoint).await);
    let client = person.clone().serve_with_lifecycle(transport, modern()).await.expect("a client");
    exercise(&client, &person, &endpoint).await;
    listen(&client, &endpoint).await;
    assert_eq!((endpoint.held().sessions, endpoint.held().parked), (0, 0));
}

#[tokio::test]
async fn a_client_that_finds_out_what_we_speak() {
    let (endpoint, person) = (endpoint(), Person::default());
    let transport = StreamableHttpClientTransport::from_uri(serve(&endpoint).await);
    let auto =
        ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None };
    let client = person.clone().serve_with_lifecycle(transport, auto).await.expect("a client");
    exercise(&client, &person, &endpoint).await;
    assert_eq!(endpoint.held().sessions, 0, "it found the new era");
}

async fn listen(client: &RunningService<RoleClient, Person>, endpoint: &Endpoint<Fixture>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut changes = client.listen(filter).await.expect("a subscription");
    assert_eq!(changes.acknowledged().tools_list_changed, Some(true));
    endpoint.broadcast(&Changed::Prompts);
    endpoint.broadcast(&Changed::Tools);
    let change = tokio::time::timeout(TOO_LONG, changes.next()).await.expect("a change").expect("no error");
    assert!(matches!(change, Some(ServerNotification::ToolListChangedNotification(_))), "{change:?}");
    changes.cancel().await.expect("to cancel");
    until(|| endpoint.held().listeners == 0).await;
}

async fn over_a_pipe(
    lifecycle: ClientLifecycleMode,
) -> (RunningService<RoleClient, Person>, Person, Endpoint<Fixture>) {
    let (endpoint, person) = (endpoint(), Person::default());
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = endpoint.clone();
    tokio::spawn(async move { serving.stdio(reader, writer, Caller::new("pipe")).await });
    let client = person.clone().serve_with_lifecycle(tokio::io::split(ours), lifecycle).await.expect("a client");
    (client, person, endpoint)
}

#[tokio::test]
async fn an_old_client_over_a_pipe() {
    let (client, person, endpoint) = over_a_pipe(ClientLifecycleMode::Initialize).await;
    exercise(&client, &person, &endpoint).await;
    endpoint.broadcast(&Changed::Tools);
    until(|| *person.changes.lock().expect("a lock") == 1).await;
}

#[tokio::test]
async fn a_new_client_over_a_pipe() {
    let (client, person, endpoint) = over_a_pipe(modern()).await;
    exercise(&client, &person, &endpoint).await;
    listen(&client, &endpoint).await;
}
