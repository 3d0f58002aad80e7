//! `toolmark stdio` as clients run it: it ends with whoever started it and leaves no server behind, and the limits, the task and the profile
//! that it was given hold.
#![cfg(unix)]
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

const TOO_LONG: Duration = Duration::from_secs(30);

/// A gateway on pipes that is ended with the test.
struct Piped {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Piped {
    fn start(folder: &Path, store: &str, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolmark"))
            .args(["stdio", "--store", store])
            .args(options)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("toolmark starts");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        Self { input: child.stdin.take(), child, lines }
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().expect("its input");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("it reads");
    }

    /// The next message that answers something.
    fn answer(&mut self) -> Value {
        let messages = self.lines.by_ref().map(|line| line.expect("text"));
        let mut messages = messages.map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
        messages.find(|message| message.get("method").is_none()).expect("an answer")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.write(&request(method, params));
        self.answer()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is told");
    }

    /// Waits until it has ended well.
    fn ended(&mut self) {
        let until = Instant::now() + TOO_LONG;
        let status = loop {
            match self.child.try_wait().expect("its state") {
                Some(status) => break status,
                None => assert!(Instant::now() < until, "it does not end"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "{status}");
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request of 2026-07-28.
fn request(method: &str, mut params: Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params.as_object_mut().expect("an object").insert("_meta".to_owned(), meta);
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn text(answer: &Value) -> &str {
    answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default()
}

/// A folder with a configuration of one pack that is a shell script; it writes who it is into `pid`.
fn with_script(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    let script = format!("echo $$ > ../pid.new && mv ../pid.new ../pid\n{script}");
    let config = format!(
        "[packs.stubborn]\ncommand = \"sh\"\nargs = [\"-c\", {}, \"sh\", {}]\ncwd = \"empty\"\n",
        json!(script),
        json!(env!("CARGO_BIN_EXE_toolmark"))
    );
    std::fs::write(folder.path().join("toolmark.toml"), config).expect("a configuration");
    folder
}

/// The script, once it runs.
fn pid(folder: &Path) -> Pid {
    let until = Instant::now() + TOO_LONG;
    loop {
        let written = std::fs::read_to_string(folder.join("pid")).ok();
        match written.and_then(|text| Pid::from_raw(text.trim().parse().ok()?)) {
            Some(pid) => return pid,
            None => assert!(Instant::now() < until, "it does not start"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process is no more; one that only waits to be counted is none.
fn is_gone(pid: Pid) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let counted = state.is_ok_and(|state| state.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z')));
    test_kill_process(pid).is_err() || counted
}

/// Serves the demo, and goes on when its input has ended.
const DEAF: &str = "\"$1\" stdio --store sqlite::memory:\nwhile :; do sleep 1; done";

/// The same, and it does not end when it is asked to either.
const STUBBORN: &str = "trap '' TERM\n\"$1\" stdio --store sqlite::memory:\nwhile :; do sleep 1; done";

/// Never says who it is.
const SILENT: &str = "trap '' TERM\nwhile :; do sleep 1; done";

#[test]
fn a_server_that_does_not_end_by_itself_is_gone_when_the_client_closes_the_pipe() {
    for script in [DEAF, STUBBORN] {
        let folder = with_script(script);
        let mut gateway = Piped::start(folder.path(), "sqlite::memory:", &[]);
        assert_eq!(gateway.call("read_query", &json!({"query": "SELECT 1 AS one"}))["result"]["isError"], false);
        let server = pid(folder.path());
        assert!(!is_gone(server));
        gateway.input = None;
        gateway.ended();
        assert!(is_gone(server), "{script}");
    }
}

#[test]
fn a_server_that_does_not_end_by_itself_is_gone_when_toolmark_is_told_to_end() {
    for (script, signal) in [(DEAF, Signal::TERM), (STUBBORN, Signal::INT)] {
        let folder = with_script(script);
        let mut gateway = Piped::start(folder.path(), "sqlite::memory:", &[]);
        assert_eq!(gateway.call("read_query", &json!({"query": "SELECT 1 AS one"}))["result"]["isError"], false);
        let server = pid(folder.path());
        gateway.signal(signal);
        gateway.ended();
        assert!(is_gone(server), "{script}");
    }
}

#[test]
fn a_server_that_never_said_who_it_is_is_gone_too() {
    for end in [Some(Signal::TERM), None] {
        let folder = with_script(SILENT);
        let mut gateway = Piped::start(folder.path(), "sqlite::memory:", &[]);
        let server = pid(folder.path());
        match end {
            Some(signal) => gateway.signal(signal),
            None => gateway.input = None,
        }
        gateway.ended();
        assert!(is_gone(server), "{end:?}");
    }
}

#[test]
fn a_gateway_that_is_told_to_end_twice_does_not_wait_for_servers() {
    let folder = with_script(STUBBORN);
    let said = folder.path().join("said");
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.args(["up", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:"]).current_dir(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(std::fs::File::create(&said).expect("a file")).spawn().expect("toolmark starts");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut gateway = Piped { input: child.stdin.take(), child, lines };
    // The last that it writes: from now on it hears when it is asked to end.
    let is_last = |line: &std::io::Result<String>| line.as_ref().expect("text").starts_with("console ");
    gateway.lines.find(is_last).expect("it listens").expect("text");
    let server = pid(folder.path());
    gateway.signal(Signal::TERM);
    // What comes sooner is the same wish.
    std::thread::sleep(Duration::from_millis(700));
    gateway.signal(Signal::TERM);
    gateway.ended();
    let said = std::fs::read_to_string(said).expect("what it said");
    assert!(said.contains("stopping at once"), "{said}");
    let until = Instant::now() + TOO_LONG;
    while !is_gone(server) {
        assert!(Instant::now() < until, "the server is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_last_call_is_in_the_audit_when_toolmark_is_told_to_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut gateway = Piped::start(folder.path(), "calls.db", &[]);
    assert_eq!(gateway.call("read_query", &json!({"query": "SELECT 1 AS one"}))["result"]["isError"], false);
    gateway.signal(Signal::TERM);
    gateway.ended();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    let listed = command.args(["audit", "--store", "calls.db"]).current_dir(folder.path()).output();
    let listed = String::from_utf8(listed.expect("toolmark runs").stdout).expect("text");
    assert!(listed.contains("read_query"), "{listed}");
}

#[test]
fn the_limits_of_the_configuration_hold_on_pipes_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "[gateway.limits]\nbody_bytes = \"2KiB\"\ndepth = 12\nrate = \"4/h\"\n";
    std::fs::write(folder.path().join("toolmark.toml"), config).expect("a configuration");
    let mut gateway = Piped::start(folder.path(), "sqlite::memory:", &[]);
    let code = |answer: &Value| answer["error"]["data"]["code"].as_str().map(ToOwned::to_owned);

    let large = gateway.ask("ping", json!({"text": "x".repeat(3000)}));
    assert_eq!(code(&large).as_deref(), Some("body-too-large"), "{large}");
    let deep = gateway.ask(
        "ping",
        json!({"list": serde_json::from_str::<Value>(&("[".repeat(20) + &"]".repeat(20))).expect("JSON")}),
    );
    assert_eq!(code(&deep).as_deref(), Some("message-too-deep"), "{deep}");
    // What cannot be read is no request yet, so all four are left.
    for _ in 0..4 {
        let listed = gateway.ask("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"], json!([]), "{listed}");
    }
    let often = gateway.ask("tools/list", json!({}));
    assert_eq!((code(&often).as_deref(), &often["id"]), (Some("caller-limit"), &json!(1)), "{often}");
}

#[test]
fn the_task_and_the_profile_of_the_command_line_hold_for_every_call() {
    let folder = with_script("exec \"$1\" stdio --store sqlite::memory:");
    let mut config = std::fs::read_to_string(folder.path().join("toolmark.toml")).expect("a configuration");
    config.push_str("[profiles.pair]\nclient = \"codex\"\nexposure = \"prefixed\"\n");
    std::fs::write(folder.path().join("toolmark.toml"), config).expect("a configuration");
    let names = |gateway: &mut Piped| -> Vec<String> {
        let listed = gateway.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().filter_map(|tool| tool["name"].as_str()).map(ToOwned::to_owned).collect()
    };
    let mut plain = Piped::start(folder.path(), "sqlite::memory:", &[]);
    assert!(names(&mut plain).contains(&"read_query".to_owned()));
    drop(plain);

    let mut gateway = Piped::start(folder.path(), "sqlite::memory:", &["--task", "read-only", "--profile", "pair"]);
    let made = names(&mut gateway);
    let name = made.iter().find(|name| name.ends_with("read_query")).cloned().unwrap_or_default();
    assert!(name.starts_with("stubborn"), "{made:?}");
    let read = gateway.call(&name, &json!({"query": "SELECT count(*) AS n FROM users"}));
    assert_eq!(read["result"]["structuredContent"]["rows"][0]["n"], 8, "{read}");
    let refused = gateway.call(&name.replace("read_query", "create_issue"), &json!({"title": "A new one"}));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text(&refused).contains("task `read-only`"), "{refused}");
}

#[test]
fn a_task_or_a_profile_that_nobody_knows_is_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    for (option, unknown) in [("--task", "no-such-task"), ("--profile", "no-such-profile")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
        command.args(["stdio", "--store", "sqlite::memory:", option, unknown]).current_dir(folder.path());
        let done = command.stdin(Stdio::null()).output().expect("toolmark runs");
        assert_eq!(done.status.code(), Some(3), "{}", String::from_utf8_lossy(&done.stderr));
    }
}
