//! Log lines of `toolmark up` and `toolmark stdio`, as the configuration or the environment wants them.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::{Value, json};

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Tells it to end, and gives the lines until it has.
    fn stop(self, lines: BufReader<ChildStderr>) -> Vec<String> {
        let child = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(child, rustix::process::Signal::TERM).expect("it can be told");
        lines.lines().map_while(Result::ok).collect()
    }
}

/// A folder with a configuration, or without one.
fn folder(name: &str, config: Option<&str>) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    if let Some(config) = config {
        std::fs::write(folder.join("toolmark.toml"), config).expect("a file");
    }
    folder
}

fn toolmark(arguments: &[&str], folder: &PathBuf, log: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.args(arguments).args(["--store", "sqlite::memory:"]).current_dir(folder);
    command.env_remove("TOOLMARK_LOG").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(log) = log {
        command.env("TOOLMARK_LOG", log);
    }
    command
}

fn up(folder: &PathBuf, log: Option<&str>) -> (Running, BufReader<ChildStderr>) {
    let mut child = toolmark(&["up", "--listen", "127.0.0.1:0"], folder, log).spawn().expect("toolmark starts");
    let lines = BufReader::new(child.stderr.take().expect("its log"));
    (Running(child), lines)
}

/// The first line that holds a text, and those before it.
fn line(lines: &mut BufReader<ChildStderr>, text: &str) -> (String, Vec<String>) {
    let mut before = Vec::new();
    for line in lines.lines().map_while(Result::ok) {
        if line.contains(text) {
            return (line, before);
        }
        before.push(line);
    }
    unreachable!("`{text}` is not in {before:#?}")
}

#[test]
fn lines_for_machines_are_objects() {
    let config = "[telemetry.log]\nformat = \"json\"\n[packs.away]\ncommand = \"/nowhere/to-be-found\"\n";
    let folder = folder("logs-json", Some(config));
    let (running, mut lines) = up(&folder, None);
    let (said, before) = line(&mut lines, "a server is not there");
    let said: Value = serde_json::from_str(&said).expect("an object");
    assert_eq!((&said["level"], &said["pack"]), (&json!("WARN"), &json!("away")), "{said}");
    assert!(said["timestamp"].is_string() && said["target"] == "toolmark_gateway::pack", "{said}");
    let all: Vec<String> = before.into_iter().chain(running.stop(lines)).collect();
    let objects = all.iter().filter(|line| line.starts_with('{'));
    let messages: Vec<Value> = objects.map(|line| serde_json::from_str(line).expect("an object")).collect();
    for message in ["the gateway listens", "the gateway is stopping", "the gateway has stopped"] {
        assert!(messages.iter().any(|line| line["message"] == message), "{message}: {all:#?}");
    }
}

#[test]
fn a_refused_call_is_a_line_without_its_arguments() {
    let folder = folder("logs-refused", None);
    let (mut running, mut lines) = up(&folder, Some("info"));
    let mut first = String::new();
    let mut output = BufReader::new(running.0.stdout.take().expect("its output"));
    output.read_line(&mut first).expect("a line");
    let address = first.trim().strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
    let address = address.expect("where it listens");
    let ready = output.lines().map_while(Result::ok).find(|line| line.contains("tools in"));
    assert!(ready.is_some());
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "read_query", "arguments": {"query": "DELETE FROM users WHERE name = 'never-told'"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read_query\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (said, before) = line(&mut lines, "a call was refused");
    for part in ["INFO", "tool=", "read_query", "mark=", "verdict=\"deny\"", "code=", "caller=local"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("never-told") && !before.iter().any(|line| line.contains("never-told")), "{said}");
}

#[test]
fn what_a_program_wrote_before_it_ended_is_told_without_its_secrets() {
    let script = "echo 'no access with api_key=never-told-1234' >&2; exit 1";
    let config = format!("[packs.ill]\ncommand = \"/bin/sh\"\nargs = {}\n", json!(["-c", script]));
    let folder = folder("logs-secrets", Some(&config));
    let (running, mut lines) = up(&folder, None);
    let (said, before) = line(&mut lines, "it wrote to standard error");
    assert!(said.contains("no access with [redacted]"), "{said}");
    let all: Vec<String> = before.into_iter().chain([said]).chain(running.stop(lines)).collect();
    assert!(!all.iter().any(|line| line.contains("never-told")), "{all:#?}");
}

#[test]
fn the_environment_comes_before_the_file() {
    let config = "[telemetry.log]\nfilter = \"info\"\n[packs.away]\ncommand = \"/nowhere/to-be-found\"\n";
    let folder = folder("logs-environment", Some(config));
    let (running, mut lines) = up(&folder, Some("warn"));
    let (_, before) = line(&mut lines, "a server is not there");
    let all: Vec<String> = before.into_iter().chain(running.stop(lines)).collect();
    assert!(!all.iter().any(|line| line.contains("INFO")), "{all:#?}");
}

#[test]
fn a_filter_that_is_none_is_an_error_wherever_it_stands() {
    let wrong = folder("logs-wrong", Some("[telemetry.log]\nfilter = \"loud\"\n"));
    let right = folder("logs-right", Some("[telemetry.log]\nfilter = \"info\"\n"));
    for arguments in [&["up", "--listen", "127.0.0.1:0"][..], &["stdio"]] {
        for (folder, log) in [(&wrong, None), (&right, Some("toolmark_mcp=loud")), (&right, Some("verbose"))] {
            let output = toolmark(arguments, folder, log).stdin(Stdio::null()).output().expect("toolmark starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains("log-filter"), "{arguments:?} {log:?}: {said}");
        }
    }
}
