//! `toolmark store`: a store that is brought up to date, taken along to another place and back is the same store.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn toolmark(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).args(arguments).env("XDG_DATA_HOME", folder.join("data")).env("NO_COLOR", "1");
    command.stdin(Stdio::null()).output().expect("toolmark runs")
}

fn told(done: &Output) -> String {
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout.clone()).expect("text")
}

fn read(done: &Output) -> Value {
    serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&done.stderr)))
}

/// A store with a token, in a folder of its own.
fn with_token() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    told(&toolmark(folder.path(), &["token", "create", "laptop", "--store", "one.db"]));
    folder
}

#[test]
fn a_store_is_made_once_and_then_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let migrate = || read(&toolmark(folder.path(), &["store", "migrate", "--store", "one.db", "--json"]));
    let made = migrate();
    assert_eq!((made["from"].as_u64(), made["changed"].as_bool()), (Some(0), Some(true)));
    assert!(made["to"].as_u64() > Some(0));
    let again = migrate();
    assert_eq!((&again["from"], &again["changed"]), (&made["to"], &Value::Bool(false)));
}

#[test]
fn an_export_goes_into_an_empty_store_and_comes_out_the_same() {
    let folder = with_token();
    let path = folder.path();
    told(&toolmark(path, &["store", "export", "one.jsonl", "--store", "one.db"]));
    let printed = told(&toolmark(path, &["store", "export", "--store", "one.db"]));
    let written = fs::read_to_string(path.join("one.jsonl")).expect("a file");
    assert_eq!(printed, written);
    let done = read(&toolmark(path, &["store", "import", "one.jsonl", "--store", "two.db", "--json"]));
    assert_eq!(done["whole"], true);
    assert_eq!(done["rows"].as_u64(), Some(written.lines().count() as u64 - 2));
    assert_eq!(told(&toolmark(path, &["store", "export", "--store", "two.db"])), written);
    assert!(told(&toolmark(path, &["token", "list", "--store", "two.db"])).contains("laptop"));
}

#[cfg(unix)]
#[test]
fn an_export_is_for_its_owner_only_and_nothing_is_written_over() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = with_token();
    told(&toolmark(folder.path(), &["store", "export", "one.jsonl", "--store", "one.db"]));
    let mode = fs::metadata(folder.path().join("one.jsonl")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = toolmark(folder.path(), &["store", "export", "one.jsonl", "--store", "one.db"]);
    assert_eq!(again.status.code(), Some(6));
    assert!(String::from_utf8_lossy(&again.stderr).contains("error[file-unwritable]"));
    let left: Vec<_> = fs::read_dir(folder.path()).expect("files").flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{left:?}");
}

#[test]
fn what_cannot_be_taken_along_is_refused_with_its_code() {
    let folder = with_token();
    let path = folder.path();
    told(&toolmark(path, &["store", "export", "one.jsonl", "--store", "one.db"]));
    let text = fs::read_to_string(path.join("one.jsonl")).expect("a file");
    fs::write(path.join("half.jsonl"), &text[..text.len() / 2]).expect("written");
    fs::write(path.join("touched.jsonl"), text.replace("laptop", "laptoq")).expect("written");
    fs::write(path.join("other.jsonl"), "{}\n").expect("written");
    let cases: [(&[&str], i32, &str); 8] = [
        (&["import", "one.jsonl", "--store", "one.db"], 3, "store-import-not-empty"),
        (&["import", "half.jsonl", "--store", "two.db"], 3, "store-import-broken"),
        (&["import", "touched.jsonl", "--store", "two.db"], 3, "store-import-broken"),
        (&["import", "other.jsonl", "--store", "two.db"], 3, "store-import-format"),
        (&["import", "none.jsonl", "--store", "two.db"], 3, "file-unreadable"),
        (&["export", "--store", "none.db"], 4, "store-missing"),
        (&["migrate", "--store", "sqlite::memory:"], 3, "store-volatile"),
        (&["migrate", "--store", "postgres://me:hidden@127.0.0.1:1/db"], 6, "store-unreachable"),
    ];
    for (arguments, status, code) in cases {
        let done = toolmark(path, &[&["store"], arguments].concat());
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {error}");
        assert!(error.contains(&format!("error[{code}]")) && !error.contains("hidden"), "{arguments:?}: {error}");
    }
    told(&toolmark(path, &["store", "import", "one.jsonl", "--store", "two.db"]));
}

#[test]
fn an_export_comes_from_standard_input_where_no_file_is_named() {
    let folder = with_token();
    let text = told(&toolmark(folder.path(), &["store", "export", "--store", "one.db"]));
    let mut import = Command::new(env!("CARGO_BIN_EXE_toolmark"))
        .current_dir(folder.path())
        .args(["store", "import", "--store", "two.db"])
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("toolmark runs");
    import.stdin.take().expect("its input").write_all(text.as_bytes()).expect("sent");
    let done = import.wait_with_output().expect("it ends");
    assert!(told(&done).contains("every chain is whole"));
}

mod in_postgres {
    use super::*;

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn a_file_becomes_a_database_without_loss() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let database = runtime.block_on(toolmark_testkit::Database::new());
        let folder = with_token();
        let path = folder.path();
        told(&toolmark(path, &["store", "export", "one.jsonl", "--store", "one.db"]));
        let done = toolmark(path, &["store", "import", "one.jsonl", "--store", database.url()]);
        let text = told(&done);
        let password = database.url().split(['/', ':', '@']).nth(4).expect("a password");
        assert!(!text.contains(password) && text.contains("every chain is whole"), "{text}");
        told(&toolmark(path, &["store", "export", "two.jsonl", "--store", database.url()]));
        let file = |name: &str| fs::read(path.join(name)).expect("a file");
        assert!(file("one.jsonl") == file("two.jsonl"));
        assert!(told(&toolmark(path, &["token", "list", "--store", database.url()])).contains("laptop"));
        let migrated = read(&toolmark(path, &["store", "migrate", "--store", database.url(), "--json"]));
        assert_eq!(migrated["changed"], false);
    }
}
