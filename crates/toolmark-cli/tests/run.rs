//! `toolmark run`: an agent in the terminal, its calls judged, asked about and recorded like any other.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn toolmark(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolmark"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("TOOLMARK_LOG", "error")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("its input").write_all(input.as_bytes());
    child.wait_with_output().expect("its output")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn events(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn of<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

fn saved(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let mut files = files.filter(|path| path.to_string_lossy().ends_with(".run.json"));
    let found = files.next().expect("a saved run");
    assert!(files.next().is_none());
    found
}

#[test]
fn the_demo_shows_calls_is_refused_once_and_waits_and_another_process_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let output = toolmark(path, &["run", "demo", "clean up"], "");
    let (said, beside) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}{beside}");
    assert!(said.contains("Two packs have a tool called search."), "{said}");
    for line in [
        "→ Search issues tracker.search PURE|SEARCH|ISSUE {\"query\":\"refund\"}",
        "→ Search the wiki wiki.search PURE|SEARCH|",
        "→ Query the shop shop.read_query PURE|",
        "✗ read_query [",
        "→ Change the shop shop.write_query MUTATES|",
        "waits: shop.write_query {\"query\":\"DELETE FROM orders\"}",
        "--resume demo-",
    ] {
        assert!(beside.contains(line), "{line}\nis not in\n{beside}");
    }
    let file = saved(path);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "a conversation is for its owner only");
    }
    let file = file.to_str().expect("a path");

    // Nobody decided: it still waits, and nothing is lost.
    let waiting = toolmark(path, &["run", "demo", "--resume", file], "");
    assert_eq!(waiting.status.code(), Some(1), "{}", text(&waiting.stderr));
    let wrong = toolmark(path, &["run", "demo", "--resume", file, "--approve", "call_99", "--json"], "");
    assert_eq!(wrong.status.code(), Some(4), "{}{}", text(&wrong.stdout), text(&wrong.stderr));

    let done = toolmark(path, &["run", "demo", "--resume", file, "--approve", "all", "--json"], "");
    assert_eq!(done.status.code(), Some(0), "{}{}", text(&done.stdout), text(&done.stderr));
    let events = events(&done);
    assert_eq!(of(&events, "call").len() + of(&events, "started").len(), 1, "only what waited runs: {events:?}");
    let finished = of(&events, "finished");
    assert!(finished[0]["output"].as_str().expect("text").contains("\"rows_changed\":10"), "{finished:?}");

    let audit = toolmark(path, &["audit", "--json"], "");
    let audit = text(&audit.stdout);
    for tool in ["tracker.search", "wiki.search", "shop.read_query", "shop.write_query"] {
        assert!(audit.contains(tool), "{tool} is not recorded: {audit}");
    }
    // It ran once: the same state cannot run it again.
    let twice = toolmark(path, &["run", "demo", "--resume", file, "--approve", "all", "--json"], "");
    let twice = text(&twice.stdout);
    assert!(!twice.contains("rows_changed"), "{twice}");
}

#[test]
fn whoever_sits_there_says_no_with_a_word_or_yes_for_more_than_this_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let output = toolmark(path, &["run", "demo", "clean up", "--ask"], "what?\nno keep the orders\n");
    let (said, beside) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{beside}");
    assert!(beside.contains("that is none of them"), "{beside}");
    assert!(beside.contains("write_query wants to run") || beside.contains("shop.write_query"), "{beside}");
    assert!(said.contains("keep the orders"), "the model reads why: {said}");

    // A no stands for exactly this call until its question runs out, as everywhere; elsewhere nobody has said it.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let output = toolmark(path, &["run", "demo", "clean up", "--ask"], "always\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("rows_changed"), "{}", text(&output.stdout));
    // It was meant for later calls too: nobody is asked now.
    let output = toolmark(path, &["run", "demo", "clean up"], "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("rows_changed"), "{}", text(&output.stdout));
}

#[test]
fn a_question_of_a_run_can_be_answered_by_whoever_reads_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let output = toolmark(path, &["run", "demo", "clean up", "--json", "--save", "kept.json"], "");
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output.stdout), text(&output.stderr));
    let events = events(&output);
    let interrupted = of(&events, "interrupted")[0];
    assert_eq!(interrupted["saved"], "kept.json");
    let id = interrupted["pending"][0]["question"].as_str().expect("an id").to_owned();
    let codes: Vec<&Value> =
        of(&events, "result").iter().map(|event| &event["code"]).filter(|code| !code.is_null()).collect();
    assert_eq!(codes.len(), 1, "one call was refused: {codes:?}");
    let approved = toolmark(path, &["approvals", "approve", &id], "");
    assert_eq!(approved.status.code(), Some(0), "{}", text(&approved.stderr));
    let done = toolmark(path, &["run", "demo", "--resume", "kept.json"], "");
    assert_eq!(done.status.code(), Some(0), "{}{}", text(&done.stdout), text(&done.stderr));
    assert!(text(&done.stdout).contains("rows_changed"), "{}", text(&done.stdout));
}

/// A configuration whose one server is a gateway with the demo workspace, as a process of its own.
fn configured(path: &Path, tools: &str) {
    let script = json!({"version": 1, "turns": [
        {"when": {"user": "start"}, "calls": [{"name": "transfer_to_second", "arguments": {}}]},
        {"when": {"output": "second"}, "calls": [
            {"namespace": "inner", "name": "read_query", "arguments": {"query": "SELECT count(*) AS users FROM users"}},
            {"namespace": "inner", "name": "write_query", "arguments": {"query": "UPDATE users SET city = 'Delft' WHERE id = 1"}},
        ]},
        {"text": "It said {output}."},
    ]});
    std::fs::write(path.join("script.json"), script.to_string()).expect("a script");
    std::fs::create_dir_all(path.join("empty")).expect("a folder");
    let program = env!("CARGO_BIN_EXE_toolmark");
    let config = format!(
        "[packs.inner]\ncommand = {program:?}\nargs = [\"stdio\", \"--store\", \"sqlite::memory:\"]\ncwd = \"empty\"\n\n\
         [packs.inner.tools.read_query]\ndisplay_name = \"Look it up\"\n\n\
         [models.script]\nmodel = \"scripted:script.json\"\n\n\
         [agents.first]\nmodel = \"script\"\nhandoffs = [\"second\"]\n\n\
         [agents.second]\nmodel = \"scripted:script.json\"\ntools = [{tools}]\ntask = \"read-only\"\nhandoffs = [\"first\"]\n",
    );
    std::fs::write(path.join("toolmark.toml"), config).expect("a configuration");
}

#[test]
fn an_agent_of_a_configuration_runs_with_a_server_that_is_started_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    configured(path, "\"read_query\", \"inner.write*\"");
    let output = toolmark(path, &["run", "first", "start", "--json"], "");
    let all = events(&output);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(of(&all, "handoff")[0]["to"], "second");
    let calls = of(&all, "call");
    let look = calls.iter().find(|call| call["tool"] == "inner.read_query").expect("the call");
    assert_eq!(look["display_name"], "Look it up", "the operator's words");
    let results = of(&all, "result");
    let ended = |name: &str| results.iter().find(|result| result["name"] == name).expect("a result");
    assert!(ended("read_query")["output"].as_str().expect("text").contains("\"users\":8"), "{results:?}");
    assert_eq!(ended("read_query")["code"], Value::Null);
    assert_ne!(ended("write_query")["code"], Value::Null, "the task of the second agent is read-only: {results:?}");

    // What the gateway has seen is what names are held against, without anything being started.
    let shown = toolmark(path, &["inspect", "--agents", "--json"], "");
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let shown: Value = serde_json::from_str(&text(&shown.stdout)).expect("JSON");
    let second = &shown["agents"][1];
    assert_eq!(second["tools"][0]["spelling"], "own");
    assert_eq!(second["tools"][1]["tools"][0]["canonical"], "inner.write_query");
    let checked = toolmark(path, &["config", "check"], "");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    configured(path, "\"read_qery\", \"inner.*\"");
    let checked = toolmark(path, &["config", "check"], "");
    assert_eq!(checked.status.code(), Some(3));
    let said = text(&checked.stderr);
    assert!(said.contains("agent-tool-unknown") && said.contains("inner.read_query"), "{said}");
    let refused = toolmark(path, &["run", "first", "start"], "");
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("agent-tool-unknown"), "{}", text(&refused.stderr));
    let unknown = toolmark(path, &["run", "third", "start"], "");
    assert_eq!(unknown.status.code(), Some(4));
    assert!(text(&unknown.stderr).contains("use one of first, second"), "{}", text(&unknown.stderr));
}

#[test]
fn a_model_that_fails_leaves_a_run_to_go_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    configured(path, "\"read_query\"");
    let script = json!({"version": 1, "turns": [{"fail": "overloaded"}, {"text": "late"}]});
    std::fs::write(path.join("script.json"), script.to_string()).expect("a script");
    let failed = toolmark(path, &["run", "second", "start", "--save", "kept.json"], "");
    assert_eq!(failed.status.code(), Some(6), "{}", text(&failed.stderr));
    assert!(text(&failed.stderr).contains("model-overloaded"), "{}", text(&failed.stderr));
    let better = json!({"version": 1, "turns": [{"text": "there again"}]});
    std::fs::write(path.join("script.json"), better.to_string()).expect("a script");
    let done = toolmark(path, &["run", "second", "--resume", "kept.json"], "");
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(0), "there again\n"), "{}", text(&done.stderr));
    let other = toolmark(path, &["run", "first", "--resume", "toolmark.toml"], "");
    assert_eq!(other.status.code(), Some(3), "{}", text(&other.stderr));
}
