use super::*;
use crate::snapshot::Snapshot;

fn catalog(text: &str) -> Catalog {
    Snapshot::of(&Document::new("t.jsonl", text.to_owned()), "p").into_builder().build().unwrap()
}

fn read(text: &str) -> Result<Lock, ReadLockError> {
    Lock::read(&Document::new("toolmark.lock", text.to_owned()))
}

const TOOLS: &str = r#"[{"name":"a","description":"x","inputSchema":{}},{"name":"b","mutability":"PURE","action":"READ","output_domain":"DATA"}]"#;

#[test]
fn a_lock_survives_writing_and_reading() {
    let lock = Lock::of(&catalog(TOOLS));
    let text = lock.to_string();
    assert!(Lock::looks_like(&text));
    assert_eq!(read(&text).unwrap(), lock);
    assert_eq!(lock.len(), 2);
}

#[test]
fn a_tool_is_pinned_changed_or_new() {
    let lock = Lock::of(&catalog(TOOLS));
    let now = catalog(
        r#"[{"name":"a","description":"y","inputSchema":{}},{"name":"b","mutability":"PURE","action":"READ","output_domain":"DATA"},{"name":"c"}]"#,
    );
    let states: Vec<_> = now.tools().map(|tool| lock.state(tool).as_str()).collect();
    assert_eq!(states, ["changed", "pinned", "new"]);
}

/// Invariant: a tool with the same definition from another source is not the tool that was pinned.
#[test]
fn the_source_is_part_of_what_is_pinned() {
    let row = |package: &str| catalog(&format!(r#"{{"server":"s","package":"{package}","version":"1","name":"a"}}"#));
    let lock = Lock::of(&row("npm:good"));
    assert_eq!(lock.state(row("npm:good").tools().next().unwrap()), PinState::Pinned);
    assert_eq!(lock.state(row("npm:evil").tools().next().unwrap()), PinState::Changed);
}

#[test]
fn broken_locks_are_refused_with_a_code() {
    let text = Lock::of(&catalog(TOOLS)).to_string();
    let code = |text: &str| read(text).unwrap_err().code().as_str();
    assert_eq!(code("{"), "json-truncated");
    assert_eq!(code("{}"), "lock-syntax");
    assert_eq!(code(&text.replace("\"lockfile\": 1", "\"lockfile\": 2")), "lock-version");
    assert_eq!(code(&text.replace("\"mark\"", "\"mork\"")), "lock-syntax");
    assert_eq!(code(&text.replace("tm1:", "tm9:")), "digest-syntax");
    assert_eq!(code(&text.replace("p.b", "p.a")), "lock-syntax");
}
