//! Both eras on one pipe.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::Semaphore;
use toolmark_core::explain::Code;
use toolmark_mcp::downstream::{Caller, Changed, Endpoint, Fault, Settings};
use toolmark_mcp::wire::Limits;

use crate::fixture::Fixture;
use crate::support::*;

struct Pipe {
    endpoint: Endpoint<Fixture>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Pipe {
    fn open(settings: Settings) -> Self {
        let endpoint = endpoint_with(settings);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let serving = endpoint.clone();
        let served = tokio::spawn(async move { serving.stdio(reader, writer, Caller::new("pipe")).await });
        let (reader, writer) = tokio::io::split(ours);
        Self { endpoint, lines: BufReader::new(reader).lines(), writer, served }
    }

    async fn write(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.expect("to write");
    }

    async fn close(&mut self) {
        self.writer.shutdown().await.expect("to close");
    }

    async fn send(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    async fn read(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(TOO_LONG, self.lines.next_line()).await.expect("a line").expect("to read")?;
        Some(serde_json::from_str(&line).expect("JSON"))
    }

    async fn next(&mut self) -> Value {
        self.read().await.expect("a message")
    }

    async fn initialize(&mut self) {
        self.send(
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "0"}}}),
        )
        .await;
        assert_eq!(self.next().await["result"]["protocolVersion"], "2025-11-25");
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }

    async fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }
}

#[tokio::test]
async fn an_old_client_calls_asks_and_hears_of_changes_on_one_pipe() {
    let mut pipe = Pipe::open(Settings::default());
    pipe.call(9, "echo", json!({})).await;
    assert_eq!(pipe.next().await["error"]["data"]["code"], "session-required");
    pipe.initialize().await;
    pipe.call(1, "wait", json!({"ms": 50, "progress": true})).await;
    assert_eq!(pipe.next().await["method"], "notifications/progress");
    pipe.call(2, "echo", json!({"a": 1})).await;
    // The quick call overtakes the slow one.
    assert_eq!(pipe.next().await["id"], 2);
    assert_eq!(content(&pipe.next().await), "waited");
    pipe.call(3, "test_elicitation", json!({"message": "?"})).await;
    let question = pipe.next().await;
    assert_eq!(question["method"], "elicitation/create");
    pipe.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})).await;
    assert_eq!(content(&pipe.next().await), r#"{"action":"decline"}"#);
    pipe.endpoint.broadcast(&Changed::Tools);
    assert_eq!(pipe.next().await["method"], "notifications/tools/list_changed");
    pipe.close().await;
    assert_eq!(pipe.read().await, None);
    assert!(pipe.served.await.expect("a task").is_ok());
    assert_eq!(pipe.endpoint.held().sessions, 0);
}

#[tokio::test]
async fn a_new_client_on_the_same_pipe_needs_no_handshake() {
    let mut pipe = Pipe::open(Settings::default());
    let request = |id: u64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": modern(params)});
    pipe.send(request(1, "server/discover", json!({}))).await;
    assert_eq!(pipe.next().await["result"]["supportedVersions"][0], "2026-07-28");
    pipe.send(request(2, "tools/call", json!({"name": "test_elicitation", "arguments": {}}))).await;
    let asked = pipe.next().await["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    let more = json!({"name": "test_elicitation", "arguments": {}, "requestState": asked["requestState"],
        "inputResponses": {"form": {"action": "accept"}}});
    pipe.send(request(3, "tools/call", more)).await;
    assert_eq!(content(&pipe.next().await), r#"{"action":"accept"}"#);
    pipe.send(request(4, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))).await;
    assert_eq!(pipe.next().await["method"], "notifications/subscriptions/acknowledged");
    pipe.endpoint.broadcast(&Changed::Tools);
    assert_eq!(pipe.next().await["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 4);
    let slow = json!({"name": "wait", "arguments": {"progress": true}, "_meta": {"progressToken": 1}});
    pipe.send(request(5, "tools/call", slow)).await;
    assert_eq!(pipe.next().await["method"], "notifications/progress");
    for id in [4, 5] {
        pipe.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
    }
    let (service, endpoint) = (Arc::clone(pipe.endpoint.service()), pipe.endpoint.clone());
    until(|| service.dropped.load(std::sync::atomic::Ordering::SeqCst) == 1 && endpoint.held().listeners == 0).await;
    pipe.send(request(6, "ping", json!({}))).await;
    assert_eq!(pipe.next().await["error"]["code"], -32601);
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_the_pipe_goes_on() {
    let mut pipe = Pipe::open(Settings { limits: Limits { bytes: 200, ..Limits::default() }, ..Settings::default() });
    pipe.write("{").await;
    assert_eq!(pipe.next().await["error"]["code"], -32700);
    pipe.write("").await;
    pipe.write(&format!("[{}]", " ".repeat(100_000))).await;
    assert_eq!(pipe.next().await["error"]["data"]["code"], "body-too-large");
    let text = "é".repeat(50_000);
    pipe.write(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"text":"{text}"}}}}"#)).await;
    let refused = pipe.next().await;
    assert_eq!((&refused["id"], &refused["error"]["data"]["code"]), (&json!(7), &json!("body-too-large")));
    pipe.write(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).await;
    assert_eq!(pipe.next().await["error"]["code"], -32600);
    pipe.write(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    assert_eq!(pipe.next().await["error"]["data"]["code"], "session-required");
}

#[tokio::test]
async fn whether_anybody_is_there_may_be_asked_before_anything_else() {
    let mut pipe = Pipe::open(Settings::default());
    pipe.write(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).await;
    assert_eq!(pipe.next().await, json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
    pipe.initialize().await;
}

#[tokio::test]
async fn a_script_that_closes_the_pipe_still_gets_its_answers() {
    let mut pipe = Pipe::open(Settings::default());
    pipe.initialize().await;
    pipe.call(1, "wait", json!({"ms": 30})).await;
    pipe.close().await;
    assert_eq!(content(&pipe.next().await), "waited");
}

#[tokio::test]
async fn whoever_is_told_to_end_gives_up_calls_and_a_request_that_is_not_admitted_is_answered() {
    let endpoint = endpoint_with(Settings::default());
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let (serving, places) = (endpoint.clone(), Arc::new(Semaphore::new(1)));
    let (told, end) = tokio::sync::oneshot::channel::<()>();
    let free = Arc::clone(&places);
    let served = tokio::spawn(async move {
        let full = || Fault::new(-32_000, "enough").coded(Code::new("caller-limit"));
        let admit = || Arc::clone(&places).try_acquire_owned().map_err(|_| full());
        let ended = async move { drop(end.await) };
        serving.stdio_until(reader, writer, Caller::new("pipe"), admit, ended).await
    });
    let (reader, writer) = tokio::io::split(ours);
    let mut pipe = Pipe { endpoint, lines: BufReader::new(reader).lines(), writer, served };
    pipe.initialize().await;
    pipe.call(1, "wait", json!({"progress": true})).await;
    assert_eq!(pipe.next().await["method"], "notifications/progress");
    pipe.call(2, "echo", json!({})).await;
    let refused = pipe.next().await;
    assert_eq!((&refused["id"], &refused["error"]["data"]["code"]), (&json!(2), &json!("caller-limit")));
    // Neither the pipe nor the call ends by itself.
    drop(told);
    assert!(pipe.served.await.expect("a task").is_ok());
    assert_eq!(pipe.endpoint.service().dropped.load(std::sync::atomic::Ordering::SeqCst), 1, "the call is over");
    assert_eq!((free.available_permits(), pipe.endpoint.held().sessions), (1, 0));
}
