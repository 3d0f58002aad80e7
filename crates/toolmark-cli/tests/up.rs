//! `toolmark up` as people run it: the demo workspace answers on a free port, blocks what it should, and ends when it is told to.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A gateway that is ended with the test.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start() -> Self {
        // A folder without a configuration.
        Self::start_in(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")), "30 tools in 5 packs")
    }

    fn start_in(folder: &std::path::Path, tools: &str) -> Self {
        Self::start_with(folder, "sqlite::memory:", tools)
    }

    fn start_with(folder: &std::path::Path, store: &str, tools: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolmark"))
            .args(["up", "--listen", "127.0.0.1:0", "--store", store])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("toolmark starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("text");
        let address = first.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.expect("where it listens").to_owned();
        // The packs are named when they are there; what follows is read so that nothing waits for a full pipe.
        let ready = lines.by_ref().map_while(Result::ok).find(|line| line.contains("tools in"));
        assert_eq!(ready.as_deref(), Some(tools));
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    fn send(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = format!("{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, body.to_owned())
    }

    fn call(&self, path: &str, tool: &str, arguments: &Value) -> Value {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}",
            self.address
        );
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (status, answer) = self.send(&head, &body.to_string());
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).expect("JSON")
    }

    fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is told to stop");
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(answer: &Value) -> &str {
    answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn the_demo_runs_what_is_allowed_and_blocks_what_is_not() {
    let gateway = Running::start();
    let read = |sql: &str| gateway.call("/mcp", "read_query", &json!({"query": sql}));

    let rows = read("SELECT count(*) AS n FROM users");
    assert_eq!(rows["result"]["structuredContent"]["rows"][0]["n"], 8, "{rows}");
    assert_eq!(rows["result"]["_meta"]["dev.toolmark/call"]["verdict"], "allow");

    let blocked = read("DELETE FROM users");
    assert_eq!(blocked["result"]["isError"], true);
    assert!(text(&blocked).contains("`read_query` was not called"), "{blocked}");
    assert!(text(&blocked).contains("`write_query` does that"), "{blocked}");
    assert_eq!(blocked["result"]["_meta"]["dev.toolmark/call"]["verdict"], "deny");
    assert_eq!(read("SELECT count(*) AS n FROM users")["result"]["structuredContent"]["rows"][0]["n"], 8);

    let wrong = gateway.call("/mcp", "read_query", &json!({"sql": "SELECT 1"}));
    assert!(text(&wrong).contains("its arguments do not fit"), "{wrong}");

    let unknown = gateway.call("/mcp", "raed_query", &json!({}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(unknown["error"]["data"]["candidates"], json!(["read_query"]));

    let issue = json!({"title": "A new one"});
    assert_eq!(gateway.call("/mcp", "create_issue", &issue)["result"]["isError"], false);
    let refused = gateway.call("/mcp/read-only", "create_issue", &issue);
    assert!(text(&refused).contains("task `read-only`"), "{refused}");
    gateway.stop();
}

#[test]
fn a_foreign_origin_and_a_foreign_host_are_each_turned_away() {
    let gateway = Running::start();
    let address = gateway.address.clone();
    let get = |headers: &str| gateway.send(&format!("GET /healthz HTTP/1.1\r\n{headers}"), "").0;
    assert_eq!(get(&format!("Host: {address}")), 200);
    assert_eq!(get(&format!("Host: {address}\r\nOrigin: https://evil.example")), 403);
    assert_eq!(get("Host: evil.example"), 403);
    gateway.stop();
}

#[test]
fn a_gateway_that_cannot_check_callers_does_not_listen_where_others_reach_it() {
    let done = Command::new(env!("CARGO_BIN_EXE_toolmark"))
        .args(["up", "--store", "sqlite::memory:", "--listen", "0.0.0.0:0"])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("toolmark runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("error[config-listen-without-auth]"), "{said}");
}

#[test]
fn a_file_that_changes_is_taken_over_and_one_that_is_wrong_is_not() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("up-reload");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("toolmark.toml");
    let write = |text: &str| std::fs::write(&file, text).expect("a file");
    let (before, task) = ("[names]\nexposure = \"auto\"\n", "[tasks.look]\nexpect = [\"PURE|*|*\"]\n");
    write(before);
    let gateway = Running::start_in(&folder, "0 tools in 0 packs");
    let status = |name: &str| gateway.send(&format!("GET /mcp/{name} HTTP/1.1\r\nHost: {}", gateway.address), "").0;
    let becomes = |name: &str, there: bool| {
        (0..1_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            (status(name) != 404) == there
        })
    };
    assert_eq!(status("look"), 404);
    write(&format!("{before}{task}"));
    assert!(becomes("look", true), "the task is there");
    write(&format!("{before}{task}nonsense ="));
    let other = task.replace("look", "other");
    // Nothing says when a file was refused, so the next good one tells that the bad one was seen.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_ne!(status("look"), 404, "the old one still holds");
    write(&format!("{before}{other}"));
    assert!(becomes("other", true), "the next one is taken over");
    assert!(becomes("look", false), "and what it lacks is gone");
    gateway.stop();
}

#[test]
fn a_file_that_is_emptied_while_it_is_written_takes_nothing_away() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("up-emptied");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("toolmark.toml");
    let task = |name: &str| format!("[tasks.{name}]\nexpect = [\"PURE|*|*\"]\n");
    std::fs::write(&file, task("look")).expect("a file");
    let gateway = Running::start_in(&folder, "0 tools in 0 packs");
    let status = |name: &str| gateway.send(&format!("GET /mcp/{name} HTTP/1.1\r\nHost: {}", gateway.address), "").0;
    for empty in ["", "\n  \n", "# Written by a program.\n\n\t# to be continued", "\u{feff}# mine\r\n"] {
        std::fs::write(&file, empty).expect("a file");
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert_ne!(status("look"), 404, "the one before still holds");
    }
    std::fs::write(&file, task("other")).expect("a file");
    let taken_over = (0..1_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        status("other") != 404 && status("look") == 404
    });
    assert!(taken_over, "what is written then is taken over");
    gateway.stop();
}

#[test]
fn a_lock_with_definitions_brings_tools_to_where_their_server_never_was() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("up-lock");
    let (home, away) = (folder.join("home"), folder.join("away"));
    drop(std::fs::remove_dir_all(&folder));
    for folder in [&home, &away, &folder.join("empty")] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    let toolmark = std::path::Path::new(env!("CARGO_BIN_EXE_toolmark"));
    let config = |command: &std::path::Path| {
        let args = "args = [\"stdio\", \"--store\", \"sqlite::memory:\"]\ncwd = \"../empty\"\n";
        format!("[packs.demo]\ncommand = {}\n{args}", json!(command.to_str().expect("text")))
    };
    std::fs::write(home.join("toolmark.toml"), config(toolmark)).expect("a file");
    let pin = |folder: &std::path::Path, arguments: &[&str]| {
        let mut command = Command::new(toolmark);
        let done = command.args(["pin", "--store", "toolmark.db"]).args(arguments).current_dir(folder).output();
        let done = done.expect("toolmark runs");
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    assert_eq!(pin(&home, &[]).0, Some(3), "nothing is known yet");
    Running::start_with(&home, "toolmark.db", "30 tools in 1 pack").stop();
    let (code, said) = pin(&home, &["--definitions"]);
    assert_eq!((code, said.as_str()), (Some(0), "wrote toolmark.lock: 30 tools with their definitions\n"));
    assert_eq!(pin(&home, &["--check"]).0, Some(0));
    // The same program by its name and arguments, but it is not there.
    std::fs::write(away.join("toolmark.toml"), config(&away.join("toolmark"))).expect("a file");
    std::fs::copy(home.join("toolmark.lock"), away.join("toolmark.lock")).expect("a copy");
    let gateway = Running::start_in(&away, "30 tools in 1 pack");
    let answer = gateway.call("/mcp", "read_query", &json!({"query": "SELECT 1"}));
    assert!(text(&answer).contains("its server is not there"), "{answer}");
    gateway.stop();
}

/// A receiver of spans, which may come in several requests. It says what was in them all once somebody comes and says nothing.
fn receiver() -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let taken = std::thread::spawn(move || {
        let mut all = String::new();
        loop {
            let (stream, _) = listener.accept().expect("somebody comes");
            match received(stream) {
                text if text.is_empty() => return all,
                text => all.push_str(&text),
            }
        }
    });
    (address, taken)
}

/// One request, answered.
fn received(mut stream: TcpStream) -> String {
    let (mut all, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        let length = text.to_lowercase().split_once("content-length: ").map(|(_, rest)| {
            rest.lines().next().and_then(|length| length.trim().parse::<usize>().ok()).expect("a length")
        });
        let head = all.windows(4).position(|four| four == b"\r\n\r\n");
        if head.zip(length).is_some_and(|(head, length)| all.len() >= head + 4 + length) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            return text;
        }
        match stream.read(&mut bytes) {
            Ok(count @ 1..) => all.extend_from_slice(bytes.get(..count).unwrap_or_default()),
            _ => return text,
        }
    }
}

#[test]
fn runs_of_agents_are_told_to_the_receiver_of_the_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    let (endpoint, taken) = receiver();
    let script = r#"{"version": 1, "turns": [{"when": {"user": ""}, "text": "You said: {user}"}]}"#;
    std::fs::write(folder.path().join("talker.json"), script).expect("a script");
    let config =
        format!("[telemetry.otlp]\nendpoint = \"{endpoint}\"\n\n[agents.talker]\nmodel = \"scripted:talker.json\"\n");
    std::fs::write(folder.path().join("toolmark.toml"), config).expect("a configuration");
    let gateway = Running::start_in(folder.path(), "0 tools in 0 packs");
    let head = format!("POST /agui/talker HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json", gateway.address);
    let said = json!({"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "a-secret"}]});
    let (status, answer) = gateway.send(&head, &said.to_string());
    assert!(status == 200 && answer.contains("RUN_FINISHED"), "{answer}");
    gateway.stop();
    drop(TcpStream::connect(endpoint.trim_start_matches("http://")).expect("it listens"));
    let told = taken.join().expect("it was told");
    for wanted in ["POST /agui/{agent}", "invoke_agent talker", "turn 1", "chat "] {
        assert!(told.contains(wanted), "{wanted} is not in {told:?}");
    }
    assert!(!told.contains("a-secret"), "{told:?}");
}

#[test]
fn an_address_of_the_console_is_printed_only_if_the_gateway_there_knows_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let gateway = Running::start_with(folder.path(), "own.db", "30 tools in 5 packs");
    let console = |at: &str, store: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
        command.args(["console", "--url", "--at", at, "--store", store]).current_dir(folder.path());
        command.output().expect("toolmark runs")
    };
    let at = format!("http://{}", gateway.address);
    let good = console(&at, "own.db");
    assert!(good.status.success() && good.stderr.is_empty(), "{good:?}");
    let address = String::from_utf8(good.stdout).expect("text");
    let (_, key) = address.trim().split_once("#key=").expect("a key");
    let head = format!("GET /api/me HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}", gateway.address);
    assert_eq!(gateway.send(&head, "").0, 200);

    let strange = console(&at, "other.db");
    assert_eq!(strange.status.code(), Some(3), "{strange:?}");
    assert!(strange.stdout.is_empty());
    assert!(String::from_utf8_lossy(&strange.stderr).contains("console-address"), "{strange:?}");

    gateway.stop();
    let nobody = console(&at, "own.db");
    assert!(nobody.status.success(), "{nobody:?}");
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("no gateway answers"), "{nobody:?}");
}
