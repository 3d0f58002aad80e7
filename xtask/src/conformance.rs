//! `cargo xtask conformance`: runs the official MCP conformance suite against a server, every check of every revision, and prints what failed.

mod install;
mod results;
mod server;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use self::install::Suites;
use self::results::Results;
use self::server::Server;
use crate::run::{cargo, say, succeeds, target};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Conformance {
    /// The MCP endpoint to check; the fixture is built and started if left out
    #[arg(long)]
    url: Option<String>,
}

/// One run of the suite: its version, and what of it is asked for.
struct Run {
    version: &'static str,
    arguments: &'static [&'static str],
}

/// What a server has to pass: the released suite, and what each revision requires by the newer one.
const RUNS: &[Run] = &[
    Run { version: install::RELEASED, arguments: &["--suite", "all"] },
    Run { version: install::NEWEST, arguments: &["--requirements", "2025-11-25"] },
    Run { version: install::NEWEST, arguments: &["--requirements", "2026-07-28"] },
];

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

impl Conformance {
    pub(crate) fn run(&self) -> ExitCode {
        let held = match &self.url {
            Some(url) => passes(|| Ok((url.clone(), ()))),
            None => fixture_passes(),
        };
        if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether the fixture, with nothing in front of it, passes every check.
pub(crate) fn fixture_passes() -> bool {
    passes(|| {
        let server = start_fixture()?;
        Ok((server.url().to_owned(), server))
    })
}

/// Starts the fixture on a free port.
fn start_fixture() -> Result<Server, String> {
    let build = ["build", "--locked", "--quiet", "--package", "toolmark-fixture"];
    if !succeeds("cargo build: the fixture", &mut cargo(&build)) {
        return Err("the fixture does not build".to_owned());
    }
    let mut fixture = Command::new(target().join("debug/toolmark-fixture"));
    Server::start(fixture.args(["--port", "0"]))
}

/// Whether a server passes every run. `start` returns its address and whatever has to live for as long as it is needed.
fn passes<G>(start: impl FnOnce() -> Result<(String, G), String>) -> bool {
    match check_all(start) {
        Ok(held) => held,
        Err(error) => {
            say(&error);
            false
        }
    }
}

fn check_all<G>(start: impl FnOnce() -> Result<(String, G), String>) -> Result<bool, String> {
    let suites = Suites::ensure()?;
    let (url, _guard) = start()?;
    let mut rows = Vec::new();
    for run in RUNS {
        let name = run.name();
        say(&format!("conformance suite {name} against {url}"));
        rows.push((name, run.check(&suites, &url)?));
    }
    print(&rows).map_err(|error| format!("cannot print the results: {error}"))?;
    Ok(rows.iter().all(|(_, results)| results.hold()))
}

impl Run {
    fn name(&self) -> String {
        format!("{} {}", self.version, self.arguments.join(" "))
    }

    fn check(&self, suites: &Suites, url: &str) -> Result<Results, String> {
        let folder = cache().join("results").join(self.name().replace([' ', '-'], "_"));
        let cannot = |error: io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(cannot)?;
        }
        fs::create_dir_all(&folder).map_err(cannot)?;
        let log = folder.join("output.txt");
        let mut command = suites.command(self.version);
        command.args(["server", "--url", url]).args(self.arguments).arg("-o").arg(&folder);
        let ended = finish(&mut command, &log).map_err(cannot)?;
        let output = fs::read_to_string(&log).map_err(cannot)?;
        Results::read(&folder, &output, ended).map_err(cannot)
    }
}

/// Runs a command with its output in a file; tells whether it succeeded, and ends it when it hangs.
fn finish(command: &mut Command, log: &Path) -> io::Result<bool> {
    let output = File::create(log)?;
    let mut child = command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            say(&format!("the suite did not end within {PATIENCE:?}"));
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn print(rows: &[(String, Results)]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<42} {:>9} {:>7} {:>7} {:>8} {:>8}",
        "run", "scenarios", "passed", "failed", "warnings", "skipped"
    )?;
    for (name, results) in rows {
        let counts = [results.scenarios(), results.passed(), results.failed(), results.warnings(), results.skipped()];
        let [scenarios, passed, failed, warnings, skipped] = counts;
        writeln!(out, "{name:<42} {scenarios:>9} {passed:>7} {failed:>7} {warnings:>8} {skipped:>8}")?;
    }
    for (name, results) in rows {
        for problem in results.problems() {
            writeln!(out, "{name}: {problem}")?;
        }
    }
    Ok(())
}

/// Where the suite and its results are kept between runs.
fn cache() -> PathBuf {
    target().join("conformance")
}

#[cfg(test)]
mod tests;
