//! `toolmark sessions`: conversations and threads of a store, whoever keeps it.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolmark_runtime::sessions::SessionKeeper as _;
use toolmark_store::{Location, Micros, Settings, Store, TakenThread, ThreadClaim};

fn toolmark(folder: &Path, store: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).arg("sessions").args(arguments).args(["--store", store]);
    command.env("XDG_DATA_HOME", folder.join("data")).env("NO_COLOR", "1").stdin(Stdio::null());
    command.output().expect("toolmark runs")
}

fn told(done: &Output) -> String {
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout.clone()).expect("text")
}

fn read(done: &Output) -> Value {
    serde_json::from_str(&told(done)).unwrap_or_else(|error| panic!("{error}: {}", told(done)))
}

/// How it ended, and the code of what it says.
fn refused(done: &Output) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    let code = text.split_once("error[").and_then(|(_, rest)| rest.split_once(']')).map(|(code, _)| code.to_owned());
    (done.status.code(), code.unwrap_or(text))
}

fn item(text: &str) -> String {
    let part = json!({"type": "text", "text": text});
    json!({"version": 1, "item": {"type": "message", "role": "user", "parts": [part]}}).to_string()
}

fn thread(agent: &str, caller: &str, id: &str) -> String {
    format!("agui:{}", json!([agent, caller, id]))
}

/// A store with a session that is free, one that a run has, and threads of two callers.
async fn filled(location: &Location) {
    let store = Store::open(location, &Settings::new(|| Micros::from(SystemTime::now()))).await.expect("a store");
    store.add("free", &[item("hello\n\u{1b}[2J"), "not an item".to_owned()]).await.expect("kept");
    store.claim("held", "run-1", None, false).await.expect("claimed");
    let soon = Micros::from(SystemTime::now()).after(Duration::from_secs(600));
    for (name, waits) in [
        (thread("helper", "ann", "t1"), None),
        (thread("helper", "bob", "t1"), None),
        (thread("helper", "ann", "t2"), Some("{}")),
    ] {
        let claim = ThreadClaim { thread: &name, owner: "anybody", most: 99, holder: "one", until: soon };
        assert!(matches!(store.take_thread(claim).await.expect("asked"), TakenThread::Ours { .. }));
        assert!(store.leave_thread(&name, "one", &[item("hi")], waits).await.expect("left"));
    }
    store.close().await.expect("closed");
}

fn everything_is_seen_and_only_what_nobody_needs_goes(folder: &Path, store: &str) {
    let all = read(&toolmark(folder, store, &["list", "--json"]));
    assert_eq!(all["more"], false);
    let sessions = all["sessions"].as_array().expect("a list");
    let of =
        |name: &str| sessions.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} in {all:#}"));
    assert_eq!(sessions.len(), 5);
    assert_eq!(
        (&of("free")["items"], &of("free")["state"], &of("free")["agent"]),
        (&json!(2), &json!("idle"), &json!(null))
    );
    assert_eq!((&of("held")["state"], &of("held")["held"]["run"]), (&json!("held"), &json!("run-1")));
    let waiting = of(&thread("helper", "ann", "t2"));
    assert_eq!(
        (&waiting["state"], &waiting["caller"], &waiting["thread"]),
        (&json!("waits"), &json!("ann"), &json!("t2"))
    );
    let some = read(&toolmark(folder, store, &["list", "--json", "--limit", "2"]));
    assert_eq!((some["sessions"].as_array().map(Vec::len), &some["more"]), (Some(2), &json!(true)));
    let table = told(&toolmark(folder, store, &["list", "--limit", "0"]));
    assert_eq!(table.lines().count(), 6, "{table}");

    let shown = told(&toolmark(folder, store, &["show", "free"]));
    assert!(shown.starts_with("user: hello\n    ") && shown.ends_with("? not an item\n"), "{shown:?}");
    assert!(!shown.contains('\u{1b}'), "what strangers say does not steer the terminal: {shown:?}");
    let said = read(&toolmark(folder, store, &["show", "t2", "--json"]));
    assert_eq!((&said["said"][0]["parts"][0]["text"], &said["waits"]), (&json!("hi"), &json!(true)));

    // An id that two threads have names neither; the whole name does.
    let both = toolmark(folder, store, &["show", "t1"]);
    assert_eq!(refused(&both), (Some(5), "stored-session-ambiguous".to_owned()));
    let whole = thread("helper", "bob", "t1");
    assert!(String::from_utf8_lossy(&both.stderr).contains(&whole));
    assert_eq!(told(&toolmark(folder, store, &["delete", &whole])).lines().count(), 1);
    assert_eq!(read(&toolmark(folder, store, &["show", "t1", "--json"]))["caller"], "ann");

    for name in ["held", "t2"] {
        assert_eq!(refused(&toolmark(folder, store, &["delete", name])), (Some(6), "stored-session-in-use".to_owned()));
        told(&toolmark(folder, store, &["show", name]));
        told(&toolmark(folder, store, &["delete", name, "--force"]));
        for force in [&[][..], &["--force"]] {
            let again = toolmark(folder, store, &[&["delete", name], force].concat());
            assert_eq!(refused(&again), (Some(4), "stored-session-unknown".to_owned()));
        }
    }
    assert_eq!(read(&toolmark(folder, store, &["list", "--json"]))["sessions"].as_array().map(Vec::len), Some(2));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

#[test]
fn sessions_in_a_file_are_seen_and_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    runtime().block_on(filled(&Location::File(folder.path().join("one.db"))));
    everything_is_seen_and_only_what_nobody_needs_goes(folder.path(), "one.db");
}

mod in_postgres {
    use super::*;

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn sessions_in_a_database_are_seen_and_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = runtime();
        let database = runtime.block_on(toolmark_testkit::Database::new());
        runtime.block_on(filled(&Location::parse(database.url()).expect("a location")));
        everything_is_seen_and_only_what_nobody_needs_goes(folder.path(), database.url());
    }
}
