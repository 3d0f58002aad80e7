//! `toolmark token` and a running gateway: what is made lets in, what is revoked does not, and nothing is started again.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn toolmark(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).stderr(Stdio::null());
    command
}

/// What a command prints.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let done = toolmark(folder).args(arguments).output().expect("toolmark runs");
    assert!(done.status.success(), "{arguments:?}");
    String::from_utf8(done.stdout).expect("text").trim().to_owned()
}

/// A gateway that is ended with the test.
struct Running(Child, String);

impl Running {
    fn start(folder: &Path) -> Self {
        let child = toolmark(folder).args(["up", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("toolmark starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("text");
        let address = first.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.expect("where it listens").to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self(child, address)
    }

    fn status(&self, path: &str, token: Option<&str>) -> u16 {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let shown = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n{shown}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.1,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.1).expect("it listens");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_token_lets_in_from_when_it_is_made_until_it_is_revoked_without_a_restart() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("token-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let config =
        "[gateway]\nstore = \"gateway.db\"\n[gateway.auth]\ntokens = true\n[tasks.triage]\nexpect = [\"PURE|*|*\"]\n";
    std::fs::write(folder.join("toolmark.toml"), config).expect("a file");

    let early = printed(&folder, &["token", "create", "early"]);
    let gateway = Running::start(&folder);
    assert_eq!(gateway.status("/mcp", None), 401);
    assert_eq!(gateway.status("/mcp", Some(&format!("tmk_{}", "0".repeat(64)))), 401);
    assert_eq!(gateway.status("/mcp", Some(&early)), 200);

    let late = printed(&folder, &["token", "create", "late", "--task", "triage"]);
    // A token that is not known yet may have been made a moment ago; the gateway looks again after a tenth of a second.
    while gateway.status("/mcp/triage", Some(&late)) == 401 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(gateway.status("/mcp/triage", Some(&late)), 200);
    assert_eq!(gateway.status("/mcp", Some(&late)), 403);
    assert_eq!(gateway.status("/mcp/read-only", Some(&late)), 403);

    assert_eq!(printed(&folder, &["token", "revoke", "early"]), "`early` is revoked");
    while gateway.status("/mcp", Some(&early)) == 200 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(gateway.status("/mcp", Some(&early)), 401);
    assert_eq!(gateway.status("/mcp/triage", Some(&late)), 200, "the other is as good as before");

    let file = std::fs::read(folder.join("gateway.db")).expect("the store");
    for secret in [&early, &late] {
        let digits = secret.strip_prefix("tmk_").expect("a token");
        assert!(!file.windows(digits.len()).any(|part| part == digits.as_bytes()), "the store holds no secret");
    }
    drop(gateway);
    let _ = std::fs::remove_dir_all(&folder);
}
