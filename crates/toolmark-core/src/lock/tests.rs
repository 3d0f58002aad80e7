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

#[test]
fn a_lock_with_definitions_survives_and_says_what_the_tools_said() {
    let said = r#"[{"name":"a.b","description":"é \u2028 \"q\"","inputSchema":{"properties":{"z":{"maximum":1e3},"a":{"const":9007199254740993}}},"title":null}]"#;
    let before = catalog(said);
    let lock = Lock::with_definitions(&before);
    assert!(lock.has_definitions() && !Lock::of(&before).has_definitions());
    let again = read(&lock.to_string()).unwrap();
    assert_eq!(again, lock);
    assert_eq!(again.to_string(), lock.to_string());
    let (_, pinned) = again.tools().next().unwrap();
    let text = pinned.definition().unwrap();
    let now = catalog(&format!("[{text}]"));
    assert_eq!(again.state(now.tools().next().unwrap()), PinState::Pinned);
}

/// Invariant: what a lock shows of a tool is what was pinned.
#[test]
fn a_definition_that_is_not_the_pinned_one_is_refused() {
    let text = Lock::with_definitions(&catalog(TOOLS)).to_string();
    for (was, is) in [
        (r#""description":"x""#, r#""description":"y""#),
        (r#""definition":{"#, r#""definition":{"x":1,"#),
        (r#""tool":"p.a""#, r#""tool":"p.c""#),
        (r#""definition":{"#, r#""definition":7,"x":{"#),
    ] {
        let changed = text.replacen(was, is, 1);
        assert_ne!(changed, text);
        let error = read(&changed).unwrap_err();
        assert_eq!(error.code().as_str(), "lock-syntax", "{was}");
        assert!(matches!(error.kind(), ReadLockErrorKind::Entry { field: "definition", .. }), "{error}");
    }
}

#[test]
fn the_deepest_definition_can_be_locked() {
    let deepest = Limits::default().depth - 2;
    let nested = format!("{}1{}", r#"{"a":"#.repeat(deepest), "}".repeat(deepest));
    let lock = Lock::with_definitions(&catalog(&format!(r#"[{{"name":"a","x":{nested}}}]"#)));
    assert_eq!(read(&lock.to_string()).unwrap(), lock);
}
