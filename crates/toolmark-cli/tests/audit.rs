//! `toolmark audit` beside a running gateway and after it: what was called is found, exported, verified and trimmed.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use parquet::basic::LogicalType;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::Value;

fn toolmark(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).env("NO_COLOR", "1").args(arguments).output().expect("toolmark runs")
}

/// What a command that succeeds prints.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let done = toolmark(folder, arguments);
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

fn records(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let whole = [&["audit", "--store", "store.db", "--json"], arguments].concat();
    printed(folder, &whole).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The demo gateway, ended with the test.
struct Running(Child, String);

impl Running {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
        command.current_dir(folder).args(["up", "--listen", "127.0.0.1:0", "--store", "store.db"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("toolmark starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("text");
        let url = first.strip_prefix("listening on ").expect("where it listens").to_owned();
        // The tools of the demo are there once it has introduced itself.
        assert!(lines.any(|line| line.is_ok_and(|line| line.contains("tools in"))));
        std::thread::spawn(move || lines.for_each(drop));
        Self(child, url)
    }

    fn call(&self, folder: &Path, tool: &str, arguments: &str) {
        self.call_at("", folder, tool, arguments);
    }

    /// Through the address of a task.
    fn call_at(&self, task: &str, folder: &Path, tool: &str, arguments: &str) {
        toolmark(folder, &["call", tool, arguments, "--url", &format!("{}{task}", self.1)]);
    }

    /// Asks it to end, and waits until it has written everything.
    fn end(mut self) {
        let id = i32::try_from(self.0.id()).expect("a process");
        let id = rustix::process::Pid::from_raw(id).expect("a process");
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("told");
        self.0.wait().expect("ended");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder whose store holds four calls: allowed, denied, one that would have changed something, and one of no tool.
fn with_calls() -> tempfile::TempDir {
    let folder = tempfile::TempDir::new().expect("a folder");
    let gateway = Running::start(folder.path());
    for (tool, arguments) in [
        ("read_query", r#"{"query":"SELECT 1"}"#),
        ("read_query", r#"{"query":"DELETE FROM users"}"#),
        ("write_query", r#"{"query":"INSERT INTO nowhere (name) VALUES ('x')"}"#),
        ("no_such_tool_a", "{}"),
    ] {
        gateway.call(folder.path(), tool, arguments);
    }
    // While it runs, and from another process.
    while records(folder.path(), &[]).len() < 4 {
        std::thread::sleep(Duration::from_millis(50));
    }
    gateway.end();
    folder
}

#[test]
fn calls_are_found_by_what_they_were_and_one_is_shown_whole() {
    let folder = with_calls();
    let folder = folder.path();
    let outcomes: Vec<String> =
        records(folder, &[]).iter().map(|one| one["outcome"].as_str().expect("a word").to_owned()).collect();
    assert_eq!(outcomes, ["ok", "denied", "tool-error", "unknown-tool"]);
    assert_eq!(records(folder, &["--rows"]).len(), 5, "what was intended is a row of its own");
    assert_eq!(records(folder, &["--verdict", "deny"]).len(), 1);
    assert_eq!(records(folder, &["--outcome", "unknown-tool", "--since", "1h"]).len(), 1);
    assert_eq!(records(folder, &["--until", "1h"]).len(), 0);
    assert_eq!(records(folder, &["--limit", "1"])[0]["called"], "no_such_tool_a");
    assert_eq!(records(folder, &["--tool", "write_query"]).len(), 1, "a short name is found in the store");
    let denied = &records(folder, &["--outcome", "denied"])[0];
    let id = denied["id"].as_str().expect("an id");
    let shown = printed(folder, &["audit", "show", id, "--store", "store.db"]);
    for part in [id, "read_query", "verdict    deny", "effect-exceeds-behavior", "row 2 of `local`"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let table = printed(folder, &["audit", "--store", "store.db"]);
    assert!(table.trim_start().starts_with("TIME") && table.contains("unknown-tool") && table.contains(id), "{table}");
}

#[test]
fn questions_that_cannot_be_answered_are_refused_with_their_code() {
    let folder = tempfile::TempDir::new().expect("a folder");
    for (arguments, exit, code) in [
        (&["audit", "--store", "nowhere.db"][..], 4, "audit-no-store"),
        (&["audit", "--store", "sqlite::memory:"], 3, "audit-store-volatile"),
        (&["audit", "show", "x", "--store", "nowhere.db"], 3, "audit-not-found"),
        (&["audit", "verify", "--noted", "x", "--store", "nowhere.db"], 3, "audit-head"),
        (&["audit", "--since", "soon"], 2, "is no time"),
        (&["audit", "--outcome", "odd"], 2, "use one of ok"),
    ] {
        let done = toolmark(folder.path(), arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(exit), "{arguments:?}: {said}");
        assert!(said.contains(code), "{arguments:?}: {said}");
    }
    assert!(!folder.path().join("nowhere.db").exists(), "looking makes no store");
}

#[test]
fn a_changed_row_is_found_and_named() {
    let folder = with_calls();
    let folder = folder.path();
    let whole = printed(folder, &["audit", "verify", "--store", "store.db"]);
    assert!(whole.contains("local: whole, 5 rows from 1 to 5"), "{whole}");
    let head = whole.lines().find_map(|line| line.trim().strip_prefix("head ")).expect("a head").to_owned();
    printed(folder, &["audit", "verify", "--store", "store.db", "--noted", &head]);
    let path = folder.join("store.db");
    let mut bytes = fs::read(&path).expect("the store");
    let at = bytes.windows(14).position(|part| part == b"no_such_tool_a").expect("the name");
    bytes[at + 13] = b'b';
    fs::write(&path, bytes).expect("tampered with");
    let done = toolmark(folder, &["audit", "verify", "--store", "store.db"]);
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.contains("BROKEN") && said.contains("row 5 of `local` was changed"), "{said}");
}

#[test]
fn an_export_is_whole_typed_and_can_be_read_by_others() {
    let folder = with_calls();
    let folder = folder.path();
    printed(folder, &["audit", "export", "all.jsonl", "--rows", "--store", "store.db"]);
    let lines = fs::read_to_string(folder.join("all.jsonl")).expect("a file");
    assert_eq!(lines.lines().count(), 5);
    let first: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    printed(folder, &["audit", "export", "all.parquet", "--format", "parquet", "--rows", "--store", "store.db"]);
    let reader =
        SerializedFileReader::new(fs::File::open(folder.join("all.parquet")).expect("a file")).expect("Parquet");
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let kind = |name: &str| {
        let column = schema.columns().iter().find(|column| column.name() == name).expect("a column");
        column.logical_type_ref().cloned()
    };
    assert!(matches!(kind("time"), Some(LogicalType::Timestamp { .. })), "{:?}", kind("time"));
    assert_eq!(kind("id"), Some(LogicalType::Uuid));
    let rows: Vec<Value> = reader.get_row_iter(None).expect("rows").map(|row| text_of(&row.expect("a row"))).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[0]["called"], first["called"]);
    assert_eq!(rows[0]["mark"], first["tool"]["mark"]);
    assert_eq!(rows[4]["tool"], Value::Null);
    let left = fs::read_dir(folder).expect("a folder").filter_map(Result::ok).map(|one| one.file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().ends_with(".part")));
    let done = toolmark(folder, &["audit", "export", "no/such/folder.jsonl", "--store", "store.db"]);
    assert_eq!(done.status.code(), Some(6));
}

/// The texts of a row.
fn text_of(row: &parquet::record::Row) -> Value {
    use parquet::record::Field;
    let text = |field: &Field| match field {
        Field::Str(text) => Value::from(text.as_str()),
        Field::Null => Value::Null,
        other => Value::from(other.to_string()),
    };
    row.get_column_iter().map(|(name, field)| (name.clone(), text(field))).collect()
}

#[test]
fn old_records_go_when_told_and_the_rest_stays_whole() {
    let folder = with_calls();
    let folder = folder.path();
    assert!(printed(folder, &["audit", "trim", "--before", "1h", "--store", "store.db"]).contains("removed 0 rows"));
    assert!(printed(folder, &["audit", "trim", "--before", "0s", "--store", "store.db"]).contains("removed 5 rows"));
    let verified = printed(folder, &["audit", "verify", "--store", "store.db"]);
    assert!(verified.contains("local: whole, 0 rows from 6 to 5"), "{verified}");
}

#[test]
fn recorded_calls_are_judged_again_under_another_policy() {
    let folder = with_calls();
    let folder = folder.path();
    let replay = |policy: &str, text: &str, more: &[&str]| {
        fs::write(folder.join(policy), text).expect("written");
        toolmark(folder, &[&["replay", "--policy", policy, "--store", "store.db"], more].concat())
    };
    let json = |done: Output| -> Value { serde_json::from_slice(&done.stdout).expect("JSON") };
    let same = json(replay("same.toml", "[policy]\npreset = \"balanced\"\n", &["--json", "--check"]));
    assert_eq!((&same["calls"], &same["unchanged"], &same["not_judged"]), (&4.into(), &3.into(), &1.into()), "{same}");
    let rule = "[[rules]]\nid = \"no-reads\"\nverdict = \"deny\"\nbehavior = \"PURE|*|*\"\n[[rules]]\nid = \"inserts\"\nverdict = \"ask\"\ntools = [\"shop.write_query\"]\n";
    let done = replay("new.toml", rule, &["--json"]);
    assert!(done.status.success());
    let found = json(done);
    assert_eq!(
        (&found["newly_denied"], &found["newly_asked"], &found["unchanged"]),
        (&1.into(), &1.into(), &1.into()),
        "{found}"
    );
    assert_eq!(found["by_rule"][0]["rule"], "rule `no-reads`");
    assert_eq!(found["by_tool"][1]["tool"], "shop.write_query");
    let shown = replay("new.toml", rule, &["--check"]);
    assert_eq!(shown.status.code(), Some(1), "something would change");
    let shown = String::from_utf8(shown.stdout).expect("text");
    assert!(shown.contains("newly denied: 1 call") && shown.contains("by rule `no-reads`"), "{shown}");
    let example = found["by_rule"][0]["examples"][0].as_str().expect("an id");
    assert!(printed(folder, &["audit", "show", example, "--store", "store.db"]).contains("shop.read_query"));
    let about = "[[rules]]\nid = \"ids\"\nverdict = \"deny\"\ntools = [\"shop.write_query\"]\narguments = { query = \"*users*\" }\n";
    let found = json(replay("arguments.toml", about, &["--json"]));
    assert_eq!(found["not_judged"], 2, "{found}");
    assert_eq!(found["why_not_judged"][1]["rules"][0], "rule `ids`", "{found}");
    let cedar = "@id(\"mine\") forbid(principal, action, resource) when { context.behavior.mutability == \"PURE\" };";
    let found = json(replay("new.cedar", cedar, &["--json"]));
    assert_eq!(found["newly_denied"], 1, "{found}");
    assert_eq!(found["by_rule"][0]["rule"], "policy `mine`");
    let wrong = toolmark(folder, &["replay", "--policy", "nowhere.toml", "--store", "store.db"]);
    assert_eq!(wrong.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("replay-policy"));
}

#[test]
fn what_was_allowed_for_a_task_is_learned_from_the_audit_and_kept_in_the_store() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let folder = folder.path();
    let gateway = Running::start(folder);
    for query in ["SELECT 1", "SELECT 2", "DELETE FROM users"] {
        gateway.call_at("/read-only", folder, "read_query", &format!(r#"{{"query":"{query}"}}"#));
    }
    gateway.call(folder, "list_issues", "{}");
    gateway.end();
    let learned = ["baseline", "learn", "--task", "read-only", "--from-audit", "--store", "store.db"];
    assert!(printed(folder, &learned).contains("2 calls learned for the task `read-only`: 1 tool known"));
    let shown = printed(folder, &["baseline", "show", "store:read-only", "--store", "store.db", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((&shown["tools"][0]["tool"], &shown["tools"][0]["calls"]), (&"shop.read_query".into(), &2.into()));
    printed(folder, &[&learned[..], &["--output", "file.json"]].concat());
    printed(folder, &["baseline", "diff", "file.json", "store:read-only", "--store", "store.db"]);
    let missing = toolmark(folder, &["baseline", "show", "store:other", "--store", "store.db"]);
    assert_eq!(missing.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("baseline-missing"));
    // A task takes it from there.
    for (name, exit) in [("read-only", 0), ("other", 3)] {
        let task = format!("[tasks.report]\nexpect = [\"*|*|*\"]\nbaseline = \"store:{name}\"\n");
        let config = format!("[gateway]\nstore = \"store.db\"\n{task}");
        std::fs::write(folder.join("baseline.toml"), config).expect("written");
        let checked = toolmark(folder, &["policy", "check", "--config", "baseline.toml"]);
        let said = String::from_utf8_lossy(&checked.stderr);
        assert_eq!((checked.status.code(), said.contains("baseline-missing")), (Some(exit), exit != 0), "{said}");
    }
}
