//! `kill -9` at random moments under `durability = "strict"`, while many call and somebody approves.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolmark_core::digest::ArgumentDigest;

use crate::support::{Effects, Node, approver, call, decide, json_of, question};

/// How many calls; `cargo xtask test` asks for all ten thousand.
const VARIABLE: &str = "TOOLMARK_CRASH_CALLS";
const CALLERS: u64 = 8;

/// A number that looks random and is the same in every run.
fn spread(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// One call from first to last: asked about where it must be, approved, made again. A call whose outcome is not known is not repeated.
fn one(address: &impl Fn() -> String, token: &str, number: u64) {
    let nothing = json!({});
    let tool = if number.is_multiple_of(2) { "write" } else { "note" };
    if tool == "note" {
        let _ = call(&address(), tool, number, &nothing, &nothing);
        return;
    }
    // Asking has no effect, so it is repeated until somebody is asked.
    let id = loop {
        match call(&address(), tool, number, &nothing, &nothing) {
            Ok(answer) => match question(&answer) {
                Some(id) => break id,
                // It starts: the server behind is not there yet, or the call ran under an approval that was made before a crash.
                None if answer.to_string().contains("wrote") => return,
                None => std::thread::sleep(Duration::from_millis(20)),
            },
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    loop {
        match decide(&address(), token, &id, &json!({"decision": "approve"})) {
            Ok((200 | 409, _)) => break,
            Ok((status, answer)) => assert!(status >= 500, "{status} {answer}"),
            Err(_) => {}
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // From here on nobody knows whether it ran when the connection breaks.
    let _ = call(&address(), tool, number, &nothing, &nothing);
}

#[test]
fn whatever_moment_a_node_is_killed_every_effect_has_one_record_and_no_call_ran_twice() {
    let calls: u64 = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let effects = Effects::start();
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("toolmark.toml"), effects.configuration("")).expect("written");
    let store = folder.path().join("store.db");
    let store = store.to_str().expect("a path");
    let token = approver(folder.path(), store);
    let node = Arc::new(Mutex::new(Node::start(folder.path(), store)));
    let (next, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (node, next, token) = (Arc::clone(&node), Arc::clone(&next), token.clone());
            std::thread::spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= calls {
                        return;
                    }
                    one(&|| node.lock().expect("not poisoned").address.clone(), &token, number);
                }
            })
        })
        .collect();
    let killer = {
        let (node, over) = (Arc::clone(&node), Arc::clone(&over));
        let (path, store) = (folder.path().to_owned(), store.to_owned());
        std::thread::spawn(move || {
            let (mut state, mut kills) = (0x9e37_79b9_7f4a_7c15, 0);
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200 + spread(&mut state) % 900));
                let mut current = node.lock().expect("not poisoned");
                current.kill();
                *current = Node::start(&path, &store);
                kills += 1;
            }
            kills
        })
    };
    for caller in callers {
        caller.join().expect("it ended");
    }
    over.store(true, Ordering::Relaxed);
    let kills: u32 = killer.join().expect("it ended");
    assert!(kills > 0, "nobody was killed");
    // The last node writes what became of the calls that were under way when the one before was killed.
    let waited = Instant::now();
    let records = loop {
        let records = records(&folder, store, calls);
        let open = effects.seen().keys().any(|number| !records.contains_key(number));
        if !open || waited.elapsed() > Duration::from_secs(20) {
            break records;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let seen = effects.seen();
    assert!(seen.len() as u64 > calls / 2, "only {} of {calls} had an effect", seen.len());
    for (number, times) in &seen {
        assert_eq!(*times, 1, "{number} ran {times} times");
        assert_eq!(records.get(number), Some(&1), "records of {number}");
    }
    let verified = json_of(folder.path(), &["audit", "verify", "--json", "--store", store]);
    assert!(!verified.to_string().contains("\"whole\":false"), "{verified}");
}

/// How many records of calls that ran, or may have run, there are for each number.
fn records(folder: &TempDir, store: &str, calls: u64) -> BTreeMap<u64, u32> {
    let digest = |number: u64| {
        let text = json!({ "n": number }).to_string();
        ArgumentDigest::of(&toolmark_core::json::read(&text).expect("JSON")).to_string()
    };
    let numbers: BTreeMap<String, u64> = (0..calls).map(|number| (digest(number), number)).collect();
    let listed = json_of(folder.path(), &["audit", "--json", "--limit", "0", "--store", store]);
    let text = listed.as_str().map_or_else(|| listed.to_string(), str::to_owned);
    let mut all = BTreeMap::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("a record");
        let outcome = record["outcome"].as_str().unwrap_or_default();
        // Calls that never reached the server: asked about, or refused because it was not there.
        if matches!(outcome, "asked" | "unavailable" | "denied" | "busy") {
            continue;
        }
        let digest = record["arguments"]["digest"].as_str().unwrap_or_default();
        let number = numbers.get(digest).unwrap_or_else(|| panic!("nobody called that: {record}"));
        *all.entry(*number).or_default() += 1;
    }
    all
}
