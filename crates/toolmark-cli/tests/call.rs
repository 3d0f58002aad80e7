//! `toolmark tools` and `toolmark call` against the demo workspace, as people use them.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A gateway that is ended with the test.
struct Running {
    child: Child,
    url: String,
}

/// What a command said and how it ended.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Running {
    fn start() -> Self {
        let mut up = toolmark();
        up.args(["up", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:"]);
        let mut child = up.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("toolmark starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let url =
            lines.find_map(|line| Some(line.strip_prefix("listening on ")?.to_owned())).expect("where it listens");
        assert!(lines.any(|line| line == "30 tools in 5 packs"));
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Said {
        said(toolmark().arg(command).args(arguments).args(["--url", &self.url]))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn toolmark() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    // A folder without a configuration.
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).env_remove("TOOLMARK_TOKEN").env("NO_COLOR", "1");
    command.stdin(Stdio::null());
    command
}

fn said(command: &mut Command) -> Said {
    let done = command.output().expect("toolmark runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Said { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) }
}

#[test]
fn tools_are_listed_with_their_packs_and_what_they_do() {
    let gateway = Running::start();
    let listed = gateway.run("tools", &[]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let row = |name: &str| {
        let found = listed.out.lines().find(|line| line.split_whitespace().next() == Some(name));
        found.map(|line| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(row("close_issue"), ["tracker", "MUTATES|UPDATE|ISSUE", "publisher"], "{}", listed.out);
    // Nothing changed and everybody is there: no column says so.
    assert!(!listed.out.contains("STATE"), "{}", listed.out);
    assert!(listed.out.ends_with("30 tools\n"), "{}", listed.out);

    let whole: Value = serde_json::from_str(&gateway.run("tools", &["--json"]).out).expect("JSON");
    let tools = whole["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), 30);
    assert!(tools.iter().all(|tool| tool["_meta"]["dev.toolmark/identity"]["mark"].is_string()));
}

#[test]
fn a_call_prints_what_the_tool_says_and_a_refused_one_why() {
    let gateway = Running::start();
    let done = gateway.run("call", &["read_query", r#"{"query":"SELECT count(*) AS n FROM users"}"#]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains('8'), "{}", done.out);

    let blocked = gateway.run("call", &["read_query", r#"{"query":"DELETE FROM users"}"#]);
    assert_eq!(blocked.code, Some(1), "{}", blocked.err);
    assert!(blocked.out.contains("`read_query` was not called"), "{}", blocked.out);

    let whole = gateway.run("call", &["read_query", r#"{"query":"DELETE FROM users"}"#, "--json"]);
    assert_eq!(whole.code, Some(1));
    let whole: Value = serde_json::from_str(&whole.out).expect("JSON");
    assert_eq!(whole["_meta"]["dev.toolmark/call"]["verdict"], "deny");

    let bound = gateway.run("call", &["create_issue", r#"{"title":"A new one"}"#, "--task", "read-only"]);
    assert_eq!(bound.code, Some(1), "{}", bound.err);
    assert!(bound.out.contains("task `read-only`"), "{}", bound.out);
}

#[test]
fn arguments_come_from_the_command_line_a_file_or_standard_input() {
    let gateway = Running::start();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("call-arguments");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("arguments.json");
    std::fs::write(&file, r#"{"query": "SELECT 40 + 2 AS n"}"#).expect("a file");
    let done = gateway.run("call", &["read_query", &format!("@{}", file.display())]);
    assert!(done.out.contains("42"), "{}{}", done.out, done.err);

    let mut command = toolmark();
    command.args(["call", "read_query", "-", "--url", &gateway.url]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("toolmark starts");
    child.stdin.take().expect("its input").write_all(br#"{"query": "SELECT 40 + 3 AS n"}"#).expect("written");
    let done = child.wait_with_output().expect("it ends");
    assert!(String::from_utf8_lossy(&done.stdout).contains("43"), "{done:?}");

    for wrong in ["[1]", "{", r#"{"query":"a","query":"b"}"#] {
        let refused = gateway.run("call", &["read_query", wrong]);
        assert_eq!(refused.code, Some(3), "{wrong}");
        assert!(refused.err.contains("error[call-arguments]"), "{}", refused.err);
    }
    assert_eq!(gateway.run("call", &["read_query", "@nowhere.json"]).code, Some(3));
}

#[test]
fn a_name_that_means_no_tool_or_several_is_refused_with_what_could_be_meant() {
    let gateway = Running::start();
    let unknown = gateway.run("call", &["raed_query", "{}"]);
    assert_eq!(unknown.code, Some(4), "{}", unknown.err);
    assert!(unknown.err.contains("error[tool-not-found]"), "{}", unknown.err);
    assert!(unknown.err.contains("use read_query"), "{}", unknown.err);
}

#[test]
fn a_gateway_that_is_not_there_or_not_ours_is_named_with_the_way_out() {
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let nobody = said(toolmark().args(["tools", "--url", &format!("http://{free}/mcp")]));
    assert_eq!(nobody.code, Some(6));
    assert!(nobody.err.contains("error[gateway-unreachable]"), "{}", nobody.err);
    assert!(nobody.err.contains("start it with `toolmark up`"), "{}", nobody.err);

    let gateway = Running::start();
    let nothing = gateway.run("tools", &["--task", "no-such-task"]);
    assert_eq!(nothing.code, Some(3), "{}", nothing.err);
    assert!(nothing.err.contains("error[gateway-address-unknown]"), "{}", nothing.err);

    let wrong = said(toolmark().args(["tools", "--url", "127.0.0.1:7319"]));
    assert!(wrong.err.contains("error[gateway-url]"), "{}", wrong.err);
    let token = said(toolmark().args(["tools", "--token-env", "TOOLMARK_NO_SUCH_VARIABLE"]));
    assert_eq!(token.code, Some(3));
    assert!(token.err.contains("error[gateway-token-missing]"), "{}", token.err);
}

#[test]
fn the_address_is_spelled_in_one_way_everywhere_and_one_without_mcp_is_explained() {
    let gateway = Running::start();
    for command in ["tools", "call"] {
        let arguments: &[&str] = if command == "call" { &["list_tables"] } else { &[] };
        let done = said(toolmark().arg(command).args(arguments).args(["--at", &gateway.url]));
        assert_eq!(done.code, Some(0), "{}", done.err);
    }
    for without in [gateway.url.trim_end_matches("/mcp").to_owned(), gateway.url.replace("/mcp", "/elsewhere")] {
        let nothing = said(toolmark().args(["tools", "--url", &without]));
        assert_eq!(nothing.code, Some(3), "{}", nothing.err);
        assert!(nothing.err.contains("error[gateway-address-unknown]"), "{}", nothing.err);
        assert!(nothing.err.contains("end `--url` with `/mcp`"), "{}", nothing.err);
    }
}

/// A gateway that answers every request with this.
fn answering(status: &'static str, body: String) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
            lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n");
            let _ = stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    url
}

#[test]
fn a_gateway_that_turns_a_host_away_is_not_taken_for_one_that_wants_a_token() {
    let gateway = Running::start();
    let address = gateway.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    let request = "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("sent");
    let answer = std::io::read_to_string(stream).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    let error: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(error["error"]["data"]["code"], "host-refused", "{error}");

    let refused = said(toolmark().args(["tools", "--url", &answering("403 Forbidden", body.to_owned())]));
    assert_eq!(refused.code, Some(6), "{}", refused.err);
    assert!(refused.err.contains("error[host-refused]"), "{}", refused.err);
    assert!(refused.err.contains("the host `evil.example` is not served here"), "{}", refused.err);
    assert!(!refused.err.contains("TOOLMARK_TOKEN"), "{}", refused.err);

    let scope = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"the token is not for this address","data":{"code":"access-scope"}}}"#;
    let denied = said(toolmark().args(["tools", "--url", &answering("403 Forbidden", scope.to_owned())]));
    assert!(denied.err.contains("error[gateway-denied]"), "{}", denied.err);
    assert!(denied.err.contains("the token is not for this address"), "{}", denied.err);
}
