//! Starting other programs, from the root of the project, saying what is started.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    // A relative path is relative to where cargo is started, and that is the root.
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A cargo command in the root of the project.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Says what is done, on standard error, where cargo speaks too.
pub(crate) fn say(text: &str) {
    // There is nobody to tell when standard error is closed.
    let _ = writeln!(io::stderr(), "xtask: {text}");
}

/// Runs a command and tells whether it succeeded.
pub(crate) fn succeeds(what: &str, command: &mut Command) -> bool {
    say(what);
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            say(&format!("{what}: {error}"));
            false
        }
    }
}

/// Whether a program can be started.
pub(crate) fn exists(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Makes sure that a program is there, from Debian's packages if it is not.
pub(crate) fn ensure(program: &str, package: &str) -> bool {
    exists(program) || (install(program, package) && exists(program))
}

/// Installs one of Debian's packages, for a program that is missing, and tells whether that worked.
pub(crate) fn install(program: &str, package: &str) -> bool {
    say(&format!("`{program}` is missing; installing the Debian package `{package}`"));
    let apt =
        |arguments: &[&str]| Command::new("apt-get").args(arguments).status().is_ok_and(|status| status.success());
    let installed =
        apt(&["install", "-y", "-qq", package]) || (apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", package]));
    if !installed {
        say(&format!("could not install `{package}`; install it by hand and try again"));
    }
    installed
}
