//! `toolmark login` as people run it: a gateway that waits for it, a browser that comes back, calls that go through, and a logout.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

#[path = "../../toolmark-mcp/tests/oauth/server.rs"]
#[expect(dead_code, reason = "the tests of the module itself use more of it")]
mod server;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use server::{Servers, browse};

fn toolmark(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command
        .current_dir(folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What a command says, and its exit code.
fn said(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let done = toolmark(folder, arguments).output().expect("toolmark runs");
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn call(address: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "echo", "arguments": {"text": "hello"}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (_, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    serde_json::from_str(body).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_waits_for_a_login_and_calls_go_through_after_it() {
    let kept = waits_for_a_login("gateway.db").await;
    assert_eq!(kept, "gateway.db.oauth/tracker.json", "beside the store");
}

mod postgres {
    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    async fn with_a_store_that_is_shared_the_token_of_a_login_stays_on_its_machine() {
        let database = toolmark_testkit::Database::new().await;
        let kept = super::waits_for_a_login(database.url()).await;
        assert!(kept.contains("/data/toolmark/") && kept.ends_with(".db.oauth/tracker.json"), "{kept}");
    }
}

/// A gateway with this store waits for a login and goes on after it; says where the token was kept.
async fn waits_for_a_login(store: &str) -> String {
    let servers = Servers::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let config = format!(
        "[gateway]\nstore = \"{store}\"\n[packs.tracker]\nurl = \"{}\"\nauth.oauth = {{}}\n[packs.plain]\nurl = \"https://mcp.example.com\"\nenabled = false\n",
        servers.url()
    );
    std::fs::write(folder.join("toolmark.toml"), config).expect("a file");

    let mut gateway = Running(toolmark(folder, &["up", "--listen", "127.0.0.1:0"]).spawn().expect("toolmark starts"));
    let mut lines = BufReader::new(gateway.0.stdout.take().expect("its output")).lines().map_while(Result::ok);
    let first = lines.next().expect("a line");
    let address = first.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
    let address = address.expect("where it listens").to_owned();
    let state = lines.find(|line| line.contains("tracker:")).expect("its pack");
    assert!(state.contains("needs `toolmark login tracker`"), "{state}");
    assert!(servers.state().shown.iter().all(String::is_empty), "nothing was shown");
    std::thread::spawn(move || lines.for_each(drop));

    let mut login = Running(toolmark(folder, &["login", "tracker", "--no-browser"]).spawn().expect("toolmark starts"));
    let mut lines = BufReader::new(login.0.stdout.take().expect("its output")).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.trim().strip_prefix("http").map(|rest| format!("http{rest}")));
    browse(&url.expect("an address")).await;
    let last = lines.last().expect("how it went");
    let kept = last.strip_prefix("logged in to `tracker`; the token is in ").and_then(|rest| rest.split(',').next());
    let kept = kept.unwrap_or_else(|| panic!("{last}")).to_owned();
    assert!(folder.join(&kept).is_file(), "{kept}");
    assert!(login.0.wait().expect("it ends").success());

    // The gateway looks for the login every second or so.
    let result = loop {
        let answer = call(&address);
        if answer.get("result").is_some_and(|result| result["isError"] == false) {
            break answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert!(result.to_string().contains("hello"), "{result}");

    let (code, text) = said(folder, &["logout", "tracker"]);
    assert!(code == Some(0) && text.contains("logged out of `tracker`"), "{text}");
    assert_eq!(servers.state().revoked.len(), 1);
    let (code, text) = said(folder, &["logout", "tracker"]);
    assert!(code == Some(0) && text.contains("nobody was logged in to `tracker`"), "{text}");
    // Whoever could not be told is named, and the token is gone from here all the same.
    let file = folder.join(&kept);
    let record = json!({
        "version": 1, "server": servers.url(), "resource": servers.url(), "token_endpoint": format!("http://{}/token", servers.address),
        "revocation_endpoint": format!("http://{}/gone", servers.address), "client_id": "client-1", "client_secret": null,
        "secret_in_form": false, "redirect": "http://127.0.0.1:1/callback", "issuer": null,
        "token": {"access": "a", "refresh": "r", "scope": null, "issued": 0, "expires": null},
    });
    std::fs::write(&file, record.to_string()).expect("a file");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("for its owner only");
    let (code, text) = said(folder, &["logout", "tracker"]);
    assert!(code == Some(6) && text.contains("error[oauth-not-revoked]") && text.contains("status 404"), "{text}");
    assert!(!file.exists() && !text.contains("logged out of"), "{text}");
    for (pack, exit) in [("plain", 3), ("nobody", 4)] {
        let (code, text) = said(folder, &["login", pack, "--no-browser"]);
        assert!(code == Some(exit) && text.contains("error[oauth-not-configured]"), "{text}");
    }
    kept
}
