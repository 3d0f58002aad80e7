//! `cargo xtask console`: do the console's pages work in a real browser? The scenarios are in `console-check/`; here is what they need: a
//! gateway that is built, Debian's Chromium, and one package from npm, installed once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use crate::run::{cargo, ensure, root, say, succeeds, target};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Console {
    /// Play only scenarios whose names hold one of these words; `--pictures FOLDER` takes the pictures of the README instead
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Console {
    pub(crate) fn run(&self) -> ExitCode {
        if played(&self.words) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether every scenario holds.
pub(crate) fn works() -> bool {
    played(&[])
}

fn played(words: &[String]) -> bool {
    play(words).unwrap_or_else(|problem| {
        say(&problem);
        false
    })
}

fn play(words: &[String]) -> Result<bool, String> {
    let build = ["build", "--locked", "--quiet", "--package", "toolmark-cli", "--package", "toolmark-fixture"];
    if !succeeds("cargo build: the gateway and a server", &mut cargo(&build)) {
        return Err("the gateway does not build".to_owned());
    }
    if !ensure("chromium", "chromium") {
        return Err("there is no browser".to_owned());
    }
    let stage = target().join("console-check");
    install(&stage)?;
    // Modules are looked for beside the scripts that want them, so the scripts go to the package.
    let from = root().join("console-check");
    copy(&from, &stage)?;
    let mut scenarios = Command::new("node");
    scenarios.arg("run.mjs").args(words).current_dir(&stage).stdin(Stdio::null());
    scenarios.env("TOOLMARK", target().join("debug/toolmark")).env("FIXTURE", target().join("debug/toolmark-fixture"));
    scenarios
        .env("ROOT", root())
        .env("WORK", target().join("console-work"))
        .env("CONSOLE", root().join("crates/toolmark-gateway/console"));
    Ok(succeeds("the scenarios of console-check/", &mut scenarios))
}

/// Installs what `console-check/package.json` names, unless the same was installed before.
fn install(stage: &Path) -> Result<(), String> {
    let list = root().join("console-check/package.json");
    let wanted = fs::read(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let marker = stage.join("installed.json");
    if fs::read(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let problem = |error: std::io::Error| format!("{}: {error}", stage.display());
    fs::create_dir_all(stage).map_err(problem)?;
    fs::write(stage.join("package.json"), &wanted).map_err(problem)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", "--ignore-scripts"]);
    npm.current_dir(stage).stdin(Stdio::null()).stdout(Stdio::null());
    if !succeeds("npm install: what drives the browser", &mut npm) {
        return Err("npm could not install the package, which needs a network the first time".into());
    }
    fs::write(marker, wanted).map_err(problem)
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{} to {}: {error}", from.display(), to.display());
    fs::create_dir_all(to).map_err(problem)?;
    for entry in fs::read_dir(from).map_err(problem)? {
        let path: PathBuf = entry.map_err(problem)?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).map(drop).map_err(problem)?;
        }
    }
    Ok(())
}
