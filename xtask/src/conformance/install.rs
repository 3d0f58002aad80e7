//! The suite itself: two pinned versions from npm, and a Node that is new enough for them, kept in the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::cache;
use crate::run::{exists, say};

/// The suite that most servers are checked with; it knows revisions up to 2025-11-25.
pub(super) const RELEASED: &str = "0.1.16";
/// The suite that knows 2026-07-28.
pub(super) const NEWEST: &str = "0.2.0-alpha.12";

const SUITE: &str = "@modelcontextprotocol/conformance";
/// The suite dies on anything older.
const NODE_MAJOR: u32 = 22;
const NODE: &str = "22.23.3";

/// What is needed to run the suite, all of it there.
pub(super) struct Suites {
    node: PathBuf,
}

impl Suites {
    /// Installs what is missing.
    pub(super) fn ensure() -> Result<Self, String> {
        for version in [RELEASED, NEWEST] {
            install(SUITE, version, &["--ignore-scripts"])?;
        }
        Ok(Self { node: node()? })
    }

    /// The suite of a version, without arguments.
    pub(super) fn command(&self, version: &str) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(package(SUITE, version).join("dist/index.js"));
        command
    }
}

/// The Node of this machine if it is new enough, and one of our own otherwise.
pub(crate) fn node() -> Result<PathBuf, String> {
    let ours = package("node", NODE).join("bin/node");
    if major(Path::new("node")).is_some_and(|major| major >= NODE_MAJOR) {
        return Ok("node".into());
    }
    // The package fetches the program for this machine in a script of its own.
    install("node", NODE, &[])?;
    match major(&ours) {
        Some(NODE_MAJOR..) => Ok(ours),
        _ => Err(format!("Node {NODE_MAJOR} is needed, and npm's package `node` brought none that runs; install it")),
    }
}

fn major(program: &Path) -> Option<u32> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

fn folder(name: &str, version: &str) -> PathBuf {
    cache().join(format!("{}-{version}", name.rsplit('/').next().unwrap_or(name)))
}

fn package(name: &str, version: &str) -> PathBuf {
    folder(name, version).join("node_modules").join(name)
}

fn installed(name: &str, version: &str) -> bool {
    let manifest = fs::read_to_string(package(name, version).join("package.json")).unwrap_or_default();
    serde_json::from_str::<Value>(&manifest).is_ok_and(|manifest| manifest.get("version") == Some(&version.into()))
}

fn install(name: &str, version: &str, options: &[&str]) -> Result<(), String> {
    if installed(name, version) {
        return Ok(());
    }
    if !exists("npm") {
        return Err(format!("`npm` is missing; it is needed to install `{name}`"));
    }
    let folder = folder(name, version);
    say(&format!("installing `{name}@{version}` with npm into {}", folder.display()));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--prefix"])
        .arg(&folder)
        .args(options);
    npm.arg(format!("{name}@{version}")).stdin(Stdio::null()).stdout(Stdio::null());
    let done = npm.status().is_ok_and(|status| status.success());
    if done && installed(name, version) {
        return Ok(());
    }
    Err(format!("npm could not install `{name}@{version}`; it is downloaded once, so the first time needs a network"))
}
