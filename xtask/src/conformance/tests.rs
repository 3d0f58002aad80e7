use std::fs;
use std::path::PathBuf;
use std::process::{self, Command};

use super::results::Results;
use super::server::{Server, address};

/// A folder as the suite writes it, gone when the test ends.
struct Written(PathBuf);

impl Written {
    fn new(test: &str, scenarios: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("toolmark-conformance-{test}-{}", process::id()));
        for (scenario, checks) in scenarios {
            let path = folder.join(format!("server-{scenario}-2026-11-15T23-49-15-951Z"));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("checks.json"), checks).unwrap();
        }
        Self(folder)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FINE: &str = r#"[
    {"id": "ping", "name": "Ping", "description": "", "status": "SUCCESS", "timestamp": ""},
    {"id": "wire", "name": "Wire", "description": "", "status": "INFO", "timestamp": "", "details": {"n": 1}},
    {"id": "later", "name": "Later", "description": "", "status": "SKIPPED", "timestamp": "", "errorMessage": "not yet"}
]"#;
const BROKEN: &str = r#"[
    {"id": "a", "name": "A", "description": "", "status": "FAILURE", "timestamp": "", "errorMessage": "got 200"},
    {"id": "b", "name": "B", "description": "", "status": "WARNING", "timestamp": ""}
]"#;

#[test]
fn a_run_without_failures_holds_and_is_counted() {
    let written = Written::new("fine", &[("ping", FINE), ("tools-list", FINE)]);
    let results = Results::read(&written.0, "Running all suite (2 scenarios) against http://x\n", true).unwrap();
    assert!(results.hold());
    assert_eq!((results.scenarios(), results.passed(), results.failed()), (2, 2, 0));
    assert_eq!((results.warnings(), results.skipped()), (0, 2));
}

#[test]
fn failures_and_warnings_are_named_with_their_scenario_and_reason() {
    let written = Written::new("broken", &[("dns-rebinding-protection", BROKEN)]);
    let results = Results::read(&written.0, "Running all suite (1 scenarios) against http://x\n", true).unwrap();
    assert!(!results.hold());
    assert_eq!(
        results.problems(),
        [
            "FAILED: dns-rebinding-protection: a (A): got 200",
            "warning: dns-rebinding-protection: b (B): no reason given",
        ]
    );
}

#[test]
fn a_scenario_without_results_does_not_go_unnoticed() {
    let written = Written::new("missing", &[("ping", FINE)]);
    let results = Results::read(&written.0, "Running requirements 2026-07-28 (50 scenarios) against http://x", true);
    assert_eq!(results.unwrap().problems(), ["FAILED: 1 of 50 scenarios have results"]);
}

#[test]
fn a_run_that_says_nothing_or_ends_badly_does_not_hold() {
    let written = Written::new("silent", &[("ping", FINE)]);
    assert!(!Results::read(&written.0, "", true).unwrap().hold());
    assert!(!Results::read(&written.0, "Running x (1 scenarios) against http://x", false).unwrap().hold());
}

#[test]
fn the_address_is_found_in_what_a_server_prints() {
    assert_eq!(address("listening on http://127.0.0.1:4000/mcp").as_deref(), Some("http://127.0.0.1:4000/mcp"));
    assert_eq!(
        address("ready, listening on http://127.0.0.1:1/mcp (3 upstreams)").as_deref(),
        Some("http://127.0.0.1:1/mcp")
    );
    assert_eq!(address("listening on everything"), None);
    assert_eq!(address("starting"), None);
}

#[test]
fn a_server_that_ends_without_listening_is_an_error() {
    let error = Server::start(Command::new("echo").arg("hello")).err().unwrap();
    assert!(error.contains("`echo` ended before"), "{error}");
}
