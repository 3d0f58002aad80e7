//! The direction of dependencies, held by a test over `cargo metadata`: arrows point down only.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// What each crate of ours may use. A crate that is missing here fails the test, so that a new one states its place.
const MAY_USE: &[(&str, &[&str])] = &[
    ("toolmark-core", &[]),
    ("toolmark-tls", &["toolmark-core"]),
    ("toolmark-effects", &["toolmark-core"]),
    ("toolmark-lint", &["toolmark-core"]),
    ("toolmark-policy", &["toolmark-core"]),
    ("toolmark-config", &["toolmark-core", "toolmark-effects", "toolmark-policy"]),
    ("toolmark-runtime", &["toolmark-core", "toolmark-effects", "toolmark-policy"]),
    // What it writes is compiled where it is used; it needs nothing of ours for that.
    ("toolmark-macros", &[]),
    ("toolmark-models", &["toolmark-core", "toolmark-tls"]),
    ("toolmark-agents", &["toolmark-core", "toolmark-models", "toolmark-runtime"]),
    ("toolmark-agui", &["toolmark-core", "toolmark-models", "toolmark-agents", "toolmark-runtime"]),
    ("toolmark-mcp", &["toolmark-core", "toolmark-runtime", "toolmark-tls"]),
    ("toolmark-store", &["toolmark-core", "toolmark-policy", "toolmark-runtime"]),
    (
        "toolmark-gateway",
        &[
            "toolmark-core",
            "toolmark-effects",
            // Pure, and what the console draws is what `lint` finds.
            "toolmark-lint",
            "toolmark-policy",
            "toolmark-config",
            "toolmark-runtime",
            "toolmark-mcp",
            "toolmark-store",
            "toolmark-models",
            "toolmark-agents",
            "toolmark-agui",
            "toolmark-tls",
        ],
    ),
    (
        "toolmark",
        &[
            "toolmark-core",
            "toolmark-lint",
            "toolmark-macros",
            "toolmark-policy",
            "toolmark-runtime",
            "toolmark-models",
            "toolmark-agents",
            "toolmark-mcp",
            "toolmark-store",
        ],
    ),
    (
        "toolmark-cli",
        &[
            "toolmark-core",
            "toolmark-effects",
            "toolmark-lint",
            "toolmark-policy",
            "toolmark-config",
            "toolmark-runtime",
            "toolmark-mcp",
            "toolmark-store",
            "toolmark-models",
            "toolmark-agents",
            "toolmark-gateway",
        ],
    ),
    ("toolmark-testkit", &["toolmark-core"]),
    ("toolmark-fixture", &[]),
    // Nothing of ours: what is measured must not measure itself.
    ("toolmark-bench", &[]),
    ("xtask", &["toolmark-core", "toolmark-models", "toolmark-testkit"]),
];

/// Crates that any test may use.
const FOR_TESTS: &[&str] = &["toolmark-testkit", "toolmark-fixture"];

/// Crates that must stay pure: no runtime, no network.
const PURE: &[&str] = &["toolmark-core", "toolmark-effects", "toolmark-lint", "toolmark-policy", "toolmark-config"];
const IMPURE: &[&str] = &["tokio", "async-std", "smol", "reqwest", "hyper", "mio", "ureq", "rustls", "openssl", "ring"];

/// The platform this runs on, so that crates for others need not be there.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &host()])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn ours(metadata: &Value) -> Vec<&Value> {
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array().expect("members").iter().filter_map(Value::as_str).collect();
    metadata["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .filter(|package| members.contains(text(package, "id")))
        .collect()
}

#[test]
fn crates_depend_only_downwards() {
    let metadata = metadata();
    let names: BTreeSet<&str> = ours(&metadata).iter().map(|package| text(package, "name")).collect();
    for package in ours(&metadata) {
        let name = text(package, "name");
        let allowed = MAY_USE
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("`{name}` has no place in MAY_USE"))
            .1;
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let used = text(dependency, "name");
            let for_tests = dependency["kind"] == "dev";
            let fine = allowed.contains(&used) || (for_tests && FOR_TESTS.contains(&used));
            assert!(!names.contains(used) || fine, "`{name}` must not use `{used}`");
        }
    }
}

#[test]
fn pure_crates_reach_no_runtime_and_no_network() {
    let metadata = metadata();
    let nodes: BTreeMap<&str, &Value> =
        metadata["resolve"]["nodes"].as_array().expect("nodes").iter().map(|node| (text(node, "id"), node)).collect();
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| (text(package, "id"), text(package, "name")))
        .collect();
    for pure in PURE {
        let start =
            ours(&metadata).into_iter().find(|package| text(package, "name") == *pure).expect("a crate of ours");
        let mut waiting = vec![text(start, "id")];
        let mut seen = BTreeSet::new();
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            for dependency in nodes[id]["deps"].as_array().expect("deps") {
                let normal =
                    dependency["dep_kinds"].as_array().expect("kinds").iter().any(|kind| kind["kind"].is_null());
                if normal {
                    waiting.push(text(dependency, "pkg"));
                }
            }
        }
        for id in seen {
            assert!(!IMPURE.contains(&names[id]), "`{pure}` reaches `{}`", names[id]);
        }
    }
}

#[test]
fn there_is_one_binary_to_ship_and_plain_cargo_builds_no_other() {
    let metadata = metadata();
    let packages = ours(&metadata);
    let is_binary =
        |target: &Value| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"));
    let binaries: BTreeSet<&str> = packages
        .iter()
        .flat_map(|package| package["targets"].as_array().expect("targets"))
        .filter(|target| is_binary(target))
        .map(|target| text(target, "name"))
        .collect();
    assert_eq!(binaries, BTreeSet::from(["toolmark", "toolmark-bench", "toolmark-fixture", "xtask"]));
    let default = metadata["workspace_default_members"].as_array().expect("default members").len();
    assert_eq!(default, packages.len() - 3, "default-members is every crate but xtask, the fixture and the bench");
}
