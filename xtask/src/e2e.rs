//! `cargo xtask e2e`: real servers from the registries behind one gateway, used by real clients. The scenarios are in `e2e/`; here is what
//! they need: pinned packages, installed once, and a gateway that is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use crate::conformance::install::node;
use crate::run::{cargo, exists, root, say, succeeds, target};

/// The command; it has no options.
#[derive(Args)]
pub(crate) struct EndToEnd;

/// The folders of Python packages, each with its list in `e2e/python/`.
const PYTHON: [&str; 3] = ["servers", "sqlite", "client"];

/// What is played, and by whom.
const SCRIPTS: [&str; 15] = [
    "run.py",
    "stage.py",
    "scenarios.py",
    "client.ts",
    "loopback.mjs",
    "toolmark.toml",
    "desk.py",
    "approvals.py",
    "approve.ts",
    "approvals.toml",
    "authority.ts",
    "login.py",
    "pipes.py",
    "pipe.ts",
    "pipes.toml",
];

impl EndToEnd {
    pub(crate) fn run(&self) -> ExitCode {
        if holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether every scenario holds.
pub(crate) fn holds() -> bool {
    match play() {
        Ok(held) => held,
        Err(error) => {
            say(&error);
            false
        }
    }
}

fn play() -> Result<bool, String> {
    let build = ["build", "--locked", "--quiet", "--package", "toolmark-cli"];
    if !succeeds("cargo build: the gateway", &mut cargo(&build)) {
        return Err("the gateway does not build".to_owned());
    }
    let node = node()?;
    npm()?;
    for folder in PYTHON {
        pip(folder)?;
    }
    // Modules are looked for beside the scripts that want them, so the scripts go to the packages.
    for script in SCRIPTS {
        copy(&root().join("e2e").join(script), &stage().join(script))?;
    }
    let mut scenarios = Command::new(python("client"));
    scenarios.arg("run.py").current_dir(stage()).stdin(Stdio::null());
    scenarios.env("TOOLMARK", target().join("debug/toolmark")).env("NODE", node).env("WORK", target().join("e2e/work"));
    scenarios.env("NPM", stage().join("node_modules"));
    scenarios.env("SERVERS", environment("servers").join("bin")).env("SQLITE", environment("sqlite").join("bin"));
    Ok(succeeds("the scenarios of e2e/", &mut scenarios))
}

/// Where the scripts run, beside the packages from npm.
fn stage() -> PathBuf {
    target().join("e2e/stage")
}

fn environment(name: &str) -> PathBuf {
    target().join("e2e").join(name)
}

fn python(name: &str) -> PathBuf {
    environment(name).join("bin/python")
}

/// Installs what `e2e/package.json` names.
fn npm() -> Result<(), String> {
    let list = root().join("e2e/package.json");
    once(&list, &stage(), || {
        say(&format!("installing the packages of {} with npm into {}", list.display(), stage().display()));
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", "--ignore-scripts"]);
        npm.current_dir(stage()).stdin(Stdio::null()).stdout(Stdio::null());
        copy(&list, &stage().join("package.json"))?;
        done(&mut npm, "npm could not install the packages")
    })
}

/// Installs what a list in `e2e/python/` names, into a folder of its own: servers and clients want different versions of the SDK.
fn pip(name: &str) -> Result<(), String> {
    let list = root().join(format!("e2e/python/{name}.txt"));
    once(&list, &environment(name), || {
        say(&format!("installing the packages of {} with pip into {}", list.display(), environment(name).display()));
        let mut venv = Command::new("python3");
        done(
            venv.args(["-m", "venv", "--clear"]).arg(environment(name)),
            "python3 could not make a folder for packages",
        )?;
        let mut pip = Command::new(python(name));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(&list);
        done(&mut pip, "pip could not install the packages")
    })
}

/// Installs into a folder, unless the list that was installed there last is the same.
fn once(list: &Path, folder: &Path, install: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let wanted = fs::read(list).map_err(|error| format!("{}: {error}", list.display()))?;
    let marker = folder.join("installed.txt");
    if fs::read(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    install()?;
    fs::write(&marker, wanted).map_err(|error| format!("{}: {error}", marker.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

fn done(command: &mut Command, otherwise: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    if !exists(&program) {
        return Err(format!("`{program}` is missing; it is needed to install the packages"));
    }
    let ended = command.status().is_ok_and(|status| status.success());
    if ended {
        Ok(())
    } else {
        Err(format!("{otherwise}; they are downloaded once, so the first time needs a network"))
    }
}
