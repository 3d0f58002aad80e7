//! `cargo xtask conformance`: runs the official MCP conformance suite against a server, or against a gateway in front of it: every check of
//! every revision, with what failed.

mod gateway;
pub(crate) mod install;
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

    /// Put a gateway in front of the fixture, one that passes its names through
    #[arg(long, conflicts_with = "url")]
    gateway: bool,
}

/// One run of the suite: its version, and what of it is asked for.
struct Run {
    version: &'static str,
    arguments: &'static [&'static str],
}

/// What a server has to pass as old clients see it: the released suite, and what the revision requires by the newer one.
const OLD: [Run; 2] = [
    Run { version: install::RELEASED, arguments: &["--suite", "all"] },
    Run { version: install::NEWEST, arguments: &["--requirements", "2025-11-25"] },
];
/// The same, and what the newest revision requires.
const ALL: [Run; 3] = {
    let [released, required] = OLD;
    [released, required, Run { version: install::NEWEST, arguments: &["--requirements", "2026-07-28"] }]
};

/// Something to check: where it is, what sets it apart in the results, and what it has to pass.
struct Subject {
    url: String,
    note: &'static str,
    runs: &'static [Run],
}

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

impl Conformance {
    pub(crate) fn run(&self) -> ExitCode {
        let held = match &self.url {
            Some(url) => passes(|| Ok((vec![Subject { url: url.clone(), note: "", runs: &ALL }], ()))),
            None if self.gateway => gateway_passes(),
            None => fixture_passes(),
        };
        if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether the fixture, with nothing in front of it, passes every check.
pub(crate) fn fixture_passes() -> bool {
    passes(|| {
        let server = start_fixture()?;
        Ok((vec![Subject { url: server.url().to_owned(), note: "", runs: &ALL }], server))
    })
}

/// Whether the fixture passes every check from behind a gateway as well: what fails here alone, the gateway broke.
pub(crate) fn gateway_passes() -> bool {
    passes(|| {
        let fixture = start_fixture()?;
        gateway::build()?;
        // A new client would be asked by an old server in words of its own, which are not those that the suite waits for.
        let new = gateway::in_front_of(fixture.url(), "2026-07-28")?;
        let old = gateway::in_front_of(fixture.url(), "2025-11-25")?;
        let subject = |url: &str, note, runs| Subject { url: url.to_owned(), note, runs };
        let subjects =
            vec![subject(new.url(), " (new server)", &ALL[..]), subject(old.url(), " (old server)", &OLD[..])];
        Ok((subjects, (new, old, fixture)))
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

/// Whether everything passes that has to. `start` returns it and whatever has to live for as long as it is needed.
fn passes<G>(start: impl FnOnce() -> Result<(Vec<Subject>, G), String>) -> bool {
    match check_all(start) {
        Ok(held) => held,
        Err(error) => {
            say(&error);
            false
        }
    }
}

fn check_all<G>(start: impl FnOnce() -> Result<(Vec<Subject>, G), String>) -> Result<bool, String> {
    let suites = Suites::ensure()?;
    let (subjects, _guard) = start()?;
    let mut rows = Vec::new();
    for Subject { url, note, runs } in &subjects {
        for run in *runs {
            let name = format!("{} {}{note}", run.version, run.arguments.join(" "));
            say(&format!("conformance suite {name} against {url}"));
            let results = run.check(&suites, url, &name)?;
            rows.push((name, results));
        }
    }
    print(&rows).map_err(|error| format!("cannot print the results: {error}"))?;
    Ok(rows.iter().all(|(_, results)| results.hold()))
}

impl Run {
    fn check(&self, suites: &Suites, url: &str, name: &str) -> Result<Results, String> {
        let folder = cache().join("results").join(name.replace([' ', '-'], "_"));
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
        "{:<55} {:>9} {:>7} {:>7} {:>8} {:>8}",
        "run", "scenarios", "passed", "failed", "warnings", "skipped"
    )?;
    for (name, results) in rows {
        let counts = [results.scenarios(), results.passed(), results.failed(), results.warnings(), results.skipped()];
        let [scenarios, passed, failed, warnings, skipped] = counts;
        writeln!(out, "{name:<55} {scenarios:>9} {passed:>7} {failed:>7} {warnings:>8} {skipped:>8}")?;
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
