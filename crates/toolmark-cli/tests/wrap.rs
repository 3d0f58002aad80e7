//! `toolmark wrap` and `toolmark unwrap` where the client's file and the configuration do not fit, or the file is gone.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

const CONFIG: &str = "[packs.gh]\ncommand = \"node\"\nargs = [\"gh.js\", \"--token\", \"${TOKEN}\"]\nprefix = \"hub\"\n\
                      [tasks.sort]\nexpect = [\"PURE|READ|DATA\"]\n";
const GH: &str = r#"{"mcpServers": {"gh": {"command": "node", "args": ["gh.js", "--token", "s3cret"]}}}"#;

/// A folder with a configuration and a client's file.
fn folder(config: &str, file: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("toolmark.toml"), config).expect("a configuration");
    fs::write(folder.path().join("mcp.json"), file).expect("a file");
    folder
}

/// What a command about `mcp.json` prints to both, and how it ends.
fn toolmark(folder: &Path, words: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).args(words).args(["--file", "mcp.json"]).env("NO_COLOR", "1");
    let done = command.stdin(Stdio::null()).output().expect("toolmark runs");
    let text = [done.stdout, done.stderr].map(|text| String::from_utf8(text).expect("text")).concat();
    (text, done.status.code())
}

fn file(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("mcp.json")).expect("a file")
}

#[test]
fn wrap_takes_a_server_only_for_the_pack_that_is_the_same() {
    let (said, code) = toolmark(folder(CONFIG, GH).path(), &["wrap", "cursor"]);
    assert!(said.contains("Cursor now reaches 1 server (gh)") && code == Some(0), "{said}");
    assert!(!said.contains("as well"), "{said}");
    let more = format!("{CONFIG}[packs.bank]\ncommand = \"bank\"\n[packs.off]\ncommand = \"off\"\nenabled = false\n");
    let (said, _) = toolmark(folder(&more, GH).path(), &["wrap", "cursor"]);
    let what =
        "it reaches 1 other of toolmark.toml as well (bank); `packs` in `[profiles.cursor]` says which it should reach";
    assert!(said.contains(what), "{said}");
    let evil = r#"{"mcpServers": {"gh": {"url": "https://evil.example/mcp"}}}"#;
    let here = folder(CONFIG, evil);
    let (said, code) = toolmark(here.path(), &["wrap", "cursor"]);
    let what =
        "error[wrap-not-configured]: `toolmark.toml` has something else under the name of 1 server of Cursor: `gh`";
    assert!(said.contains(what) && said.contains("`NAME-cursor`"), "{said}");
    assert_eq!((code, file(&here).as_str()), (Some(3), evil));
    let beside = format!("{CONFIG}[packs.gh-cursor]\nurl = \"https://evil.example/mcp\"\n");
    let (said, code) = toolmark(folder(&beside, evil).path(), &["wrap", "cursor"]);
    assert_eq!(code, Some(0), "{said}");
    // The one that is the same counts, not the one that is on.
    let off = format!("{beside}enabled = false\n");
    let (said, code) = toolmark(folder(&off, evil).path(), &["wrap", "cursor"]);
    assert!(said.contains("has switched off 1 server of Cursor: `gh`") && code == Some(3), "{said}");
}

#[test]
fn wrap_does_not_claim_servers_that_no_pack_can_be_made_of() {
    let text = GH.replace("}}}", "}, \"日本\": {\"command\": \"y\"}, \"none\": {}}}");
    let here = folder(CONFIG, &text);
    for more in [&[][..], &["--url", "http://127.0.0.1:7319/mcp", "--config", "none.toml"]] {
        let (said, code) = toolmark(here.path(), &[&["wrap", "cursor"], more].concat());
        assert!(said.contains("error[wrap-not-configured]") && said.contains("lacks 2 servers of Cursor"), "{said}");
        assert!(said.contains("rename, repair or remove `日本`, `none` in the client"), "{said}");
        assert_eq!((code, file(&here)), (Some(3), text.clone()));
    }
}

#[test]
fn wrap_writes_nothing_that_the_client_could_not_use() {
    let here = folder(CONFIG, GH);
    for (more, said_so, ends) in [
        (["--url", "garbage"], "error[gateway-url]: `garbage` is no address", 3),
        (["--url", "ftp://a.example/mcp"], "error[gateway-url]", 3),
        (["--url", "http://"], "error[gateway-url]", 3),
        (["--url", "http://:80/mcp"], "error[gateway-url]", 3),
        (["--task", "nosuch"], "error[task-unknown]: there is no task `nosuch`", 3),
        (["--task", ""], "error[task-unknown]", 3),
        (["--command", ""], "a program has a name", 2),
        (["--command", " "], "a program has a name", 2),
    ] {
        let (said, code) = toolmark(here.path(), &[&["wrap", "cursor"], &more[..]].concat());
        assert!(said.contains(said_so), "{more:?}: {said}");
        assert_eq!((code, file(&here).as_str()), (Some(ends), GH), "{more:?}: {said}");
    }
    for more in [["--task", "sort"], ["--task", "read-only"], ["--url", "https://[::1]:7319/mcp"], ["--command", "tm"]]
    {
        let (said, code) = toolmark(here.path(), &[&["wrap", "cursor", "--dry-run"], &more[..]].concat());
        assert_eq!(code, Some(0), "{more:?}: {said}");
    }
}

#[test]
fn unwrap_writes_a_file_anew_that_was_removed_when_it_is_told_to() {
    let here = folder(CONFIG, GH);
    assert_eq!(toolmark(here.path(), &["wrap", "cursor"]).1, Some(0));
    fs::remove_file(here.path().join("mcp.json")).expect("a file");
    let (said, code) = toolmark(here.path(), &["unwrap", "cursor"]);
    assert!(said.contains("error[unwrap-changed]: the file was removed") && said.contains("--force"), "{said}");
    assert_eq!(code, Some(3));
    let (said, code) = toolmark(here.path(), &["unwrap", "cursor", "--force", "--dry-run"]);
    assert!(said.contains("would restore mcp.json") && code == Some(0), "{said}");
    assert!(!here.path().join("mcp.json").exists());
    let (said, code) = toolmark(here.path(), &["unwrap", "cursor", "--force"]);
    assert!(said.contains("restored mcp.json, byte for byte") && code == Some(0), "{said}");
    assert_eq!(file(&here), GH);
    assert!(!here.path().join("mcp.json.toolmark-backup").exists());
}

#[test]
fn wrap_lets_gemini_cli_use_toolmark_where_it_names_the_only_servers_that_it_uses() {
    let text = GH.replace("}}}", "}}, \"mcp\": {\"allowed\": [\"gh\"]}}");
    let here = folder(CONFIG, &text);
    let (said, code) = toolmark(here.path(), &["wrap", "gemini-cli"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(file(&here).contains(r#""mcp": {"allowed": ["toolmark", "gh"]}"#), "{}", file(&here));
    let (said, code) = toolmark(here.path(), &["unwrap", "gemini-cli"]);
    assert_eq!((code, file(&here)), (Some(0), text), "{said}");
}
