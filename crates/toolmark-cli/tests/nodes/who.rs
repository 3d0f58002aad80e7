//! Whose decision is it? Recorded by name, or at least by number, and never as nobody's.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Effects, Node, question, toolmark, write};

/// Decides about a call on the command line, with nothing but these variables to tell who does, and says under whose name it is kept.
fn decided(folder: &Path, id: &str, variables: &[(&str, &str)], options: &[&str]) -> String {
    let mut approve = toolmark(folder);
    for name in ["USER", "LOGNAME", "USERNAME"] {
        approve.env_remove(name);
    }
    approve.envs(variables.iter().copied());
    approve.args(["approvals", "approve", id, "--json", "--store", "store.db"]).args(options);
    let output = approve.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ask: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    ask["decision"]["given"]["by"].as_str().expect("a name").to_owned()
}

#[test]
fn a_decision_on_the_command_line_is_somebodys() {
    let effects = Effects::start();
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("toolmark.toml"), effects.configuration("")).expect("written");
    let node = Node::start(folder.path(), "store.db");
    let mut number = 0;
    let mut by = |variables: &[(&str, &str)], options: &[&str]| {
        number += 1;
        let id = question(&write(&node.address, number)).expect("a question");
        decided(folder.path(), &id, variables, options)
    };
    let user = std::process::Command::new("id").arg("-un").output().expect("it runs");
    let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
    let known = if user.is_empty() { format!("uid {}", rustix::process::getuid().as_raw()) } else { user };
    assert_eq!(by(&[("USER", "ann"), ("LOGNAME", "bob")], &[]), "ann");
    assert_eq!(by(&[("LOGNAME", "bob")], &[]), "bob");
    assert_eq!(by(&[("USER", ""), ("LOGNAME", " ")], &[]), known, "nothing that says so");
    assert_eq!(by(&[("USER", "ann")], &["--as", "carl"]), "carl");
    assert_eq!(by(&[], &["--by", "dora"]), "dora");
}
