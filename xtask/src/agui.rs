//! `cargo xtask agui`: the real AG-UI client against the agents of a gateway. The scenarios are in `agui-check/`; here is what they need: the
//! pinned packages, installed once, and a gateway that is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use crate::conformance::install::node;
use crate::run::{cargo, exists, root, say, succeeds, target};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Agui {
    /// Only scenarios whose name holds this
    filter: Option<String>,
}

impl Agui {
    pub(crate) fn run(&self) -> ExitCode {
        match play(self.filter.as_deref()) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                say(&error);
                ExitCode::FAILURE
            }
        }
    }
}

/// Whether the client accepts everything, and the check itself notices what is wrong.
pub(crate) fn holds() -> bool {
    play(None).unwrap_or_else(|error| {
        say(&error);
        false
    })
}

fn play(filter: Option<&str>) -> Result<bool, String> {
    let build = ["build", "--locked", "--quiet", "--package", "toolmark-cli"];
    if !succeeds("cargo build: the gateway", &mut cargo(&build)) {
        return Err("the gateway does not build".to_owned());
    }
    let node = node()?;
    install()?;
    let own = root().join("agui-check");
    for entry in fs::read_dir(&own).map_err(|error| format!("{}: {error}", own.display()))?.flatten() {
        if entry.path().extension().is_some_and(|kind| kind == "mjs" || kind == "json") {
            copy(&entry.path(), &stage().join(entry.file_name()))?;
        }
    }
    let workspace = stage().join("workspace");
    fs::create_dir_all(&workspace).map_err(|error| format!("{}: {error}", workspace.display()))?;
    for entry in fs::read_dir(own.join("workspace")).map_err(|error| error.to_string())?.flatten() {
        copy(&entry.path(), &workspace.join(entry.file_name()))?;
    }
    let script = |name: &str| {
        let mut command = Command::new(&node);
        command.arg(name).current_dir(stage()).stdin(Stdio::null());
        command
    };
    let check = filter.is_some() || succeeds("what the check itself notices", &mut script("selftest.mjs"));
    let mut scenarios = script("scenarios.mjs");
    scenarios.arg(target().join("debug/toolmark")).args(filter);
    Ok(succeeds("the scenarios of agui-check/", &mut scenarios) && check)
}

/// Where the scripts run, beside the packages from npm.
fn stage() -> PathBuf {
    target().join("agui-check")
}

/// Installs exactly what `package-lock.json` names, unless that was installed last.
fn install() -> Result<(), String> {
    let (own, stage) = (root().join("agui-check"), stage());
    let lock = own.join("package-lock.json");
    let wanted = fs::read(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let marker = stage.join("installed.txt");
    if fs::read(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if !exists("npm") {
        return Err("`npm` is missing; it is needed to install the AG-UI client".to_owned());
    }
    fs::create_dir_all(&stage).map_err(|error| format!("{}: {error}", stage.display()))?;
    for file in ["package.json", "package-lock.json"] {
        copy(&own.join(file), &stage.join(file))?;
    }
    say(&format!("installing the packages of agui-check/ with npm into {}", stage.display()));
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"]).current_dir(&stage);
    let done = npm.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !done {
        return Err(
            "npm could not install the AG-UI client; it is downloaded once, so the first time needs a network".into()
        );
    }
    fs::write(&marker, wanted).map_err(|error| format!("{}: {error}", marker.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}
