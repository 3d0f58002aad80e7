//! MCP servers as toolsets of a program: real servers, over HTTP and in processes of their own.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

mod calls;
mod changes;
mod servers;
mod wrappers;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use toolmark::mcp::{McpCallError, McpServer, McpServerBuilder};
use toolmark::prelude::*;
use toolmark::serde_json::Value;
use toolmark::tools::{Answer, Ended, Turn};
use toolmark_fixture::{Era, Fixture, Listening, Options, serve_http, serve_stdio};

/// A server over HTTP.
pub(crate) async fn listening(era: Era) -> Listening {
    let fixture = Fixture::new(Options { era, ..Options::default() }).expect("a fixture");
    serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port")
}

/// What tells a server from a test that somebody wants to run.
const SERVES: &str = "TOOLMARK_TEST_SERVES";

/// This very program, started again as a server on its standard input and output.
pub(crate) fn program(pack: &str) -> McpServerBuilder {
    let own = std::env::current_exe().expect("this program has a path");
    McpServer::program(pack, own.to_string_lossy()).env(SERVES, "yes").args([
        "--ignored",
        "--exact",
        "serves_on_standard_input_and_output",
        "--nocapture",
    ])
}

/// No test, but what [`program`] starts: the test harness says a few words first, which are no messages.
#[tokio::test]
#[ignore = "a server for the other tests"]
async fn serves_on_standard_input_and_output() {
    if std::env::var_os(SERVES).is_some() {
        serve_stdio(Fixture::new(Options::default()).expect("a fixture")).await.expect("a client");
    }
}

pub(crate) fn context() -> TurnContext {
    TurnContext::new("assistant", RunContext::new())
}

pub(crate) async fn turn(toolset: impl Toolset + 'static) -> (Toolbox, Turn) {
    let toolbox = Toolbox::builder().toolset(toolset).build();
    let turn = toolbox.turn(context()).await.expect("a turn");
    (toolbox, turn)
}

pub(crate) async fn answer(turn: &Turn, pack: &str, name: &str, arguments: Value) -> Answer {
    let (id, arguments) = ("call_1".parse().expect("an id"), arguments.to_string());
    let call = ToolCall::new(name, &id, &arguments).in_namespace(Some(pack).filter(|pack| !pack.is_empty()));
    match turn.call(&call).await {
        Called::Answered(answer) => answer,
        other => panic!("no answer: {other:?}"),
    }
}

pub(crate) async fn text(turn: &Turn, pack: &str, name: &str, arguments: Value) -> String {
    let answer = answer(turn, pack, name, arguments).await;
    assert!(matches!(answer.ended, Ended::Ran), "{answer:?}");
    answer.output.to_text()
}

/// What the model reads of a call that failed, and the error behind it.
pub(crate) fn failed(answer: &Answer) -> (String, McpCallError) {
    let Ended::Failed { error, .. } = &answer.ended else { panic!("{answer:?}") };
    let source = error.source().and_then(|source| source.downcast_ref::<McpCallError>());
    (answer.output.to_text(), source.expect("the error of a call").clone())
}

pub(crate) fn names(turn: &Turn) -> Vec<String> {
    turn.offered().map(|(_, tool)| tool.canonical().to_string()).collect()
}

/// A server in a few lines of shell. It counts its starts in a file, and says in the description of `note` how often it was started.
pub(crate) fn script(pack: &str, folder: &std::path::Path, body: &str) -> McpServerBuilder {
    let tools = r#"[{\"name\":\"note\",\"description\":\"start $starts\",\"inputSchema\":{\"type\":\"object\"}}]"#;
    let text = format!(
        r#"
starts=$(cat starts 2>/dev/null || echo 0); starts=$((starts + 1)); echo $starts > starts
while read -r line; do
  id=${{line#*\"id\":}}; id=${{id%%,*}}
  answer() {{ echo "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}}"; }}
  case $line in
    *server/discover*) echo "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{{\"code\":-32601,\"message\":\"no\"}}}}" ;;
    *\"initialize\"*) answer "{{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"sh\"}}}}" ;;
    *notifications/*) : ;;
    {body}
    *tools/list*) answer "{{\"tools\":{tools}}}" ;;
    *tools/call*) echo "$line" >> calls; answer "{{\"content\":[{{\"type\":\"text\",\"text\":\"noted\"}}]}}" ;;
  esac
done
"#
    );
    McpServer::program(pack, "sh").args(["-c", &text]).folder(folder)
}

/// Waits for something that another process does in its own time.
pub(crate) async fn eventually<T, F: Future<Output = Option<T>>>(mut look: impl FnMut() -> F) -> T {
    let waiting = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it happens at last")
}

pub(crate) fn shared<T>(value: T) -> Arc<T> {
    Arc::new(value)
}
