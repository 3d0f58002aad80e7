//! What one run of the suite found: every check of every scenario, as the suite wrote it down.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

/// What one run found.
pub(super) struct Results {
    /// How many scenarios the suite said it would run.
    announced: Option<usize>,
    scenarios: Vec<Scenario>,
    /// Whether the suite itself ended well.
    ended: bool,
}

struct Scenario {
    name: String,
    checks: Vec<Check>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    name: String,
    status: Status,
    error_message: Option<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

impl Results {
    /// Reads the folder that the suite wrote, and what it printed.
    pub(super) fn read(folder: &Path, output: &str, ended: bool) -> io::Result<Self> {
        let mut scenarios = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let checks = path.join("checks.json");
            if !checks.exists() {
                continue;
            }
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let checks = serde_json::from_str(&fs::read_to_string(checks)?)?;
            scenarios.push(Scenario { name: scenario_name(&name).to_owned(), checks });
        }
        scenarios.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { announced: output.lines().find_map(announced), scenarios, ended })
    }

    pub(super) fn scenarios(&self) -> usize {
        self.scenarios.len()
    }

    pub(super) fn passed(&self) -> usize {
        self.count(Status::Success)
    }

    pub(super) fn failed(&self) -> usize {
        self.count(Status::Failure)
    }

    pub(super) fn warnings(&self) -> usize {
        self.count(Status::Warning)
    }

    pub(super) fn skipped(&self) -> usize {
        self.count(Status::Skipped)
    }

    /// Whether nothing is wrong, not even what the suite only warns of.
    pub(super) fn hold(&self) -> bool {
        self.problems().is_empty()
    }

    /// Everything that is wrong, in the words of the suite.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for scenario in &self.scenarios {
            for check in &scenario.checks {
                let word = match check.status {
                    Status::Failure => "FAILED",
                    Status::Warning => "warning",
                    Status::Success | Status::Skipped | Status::Info => continue,
                };
                let why = check.error_message.as_deref().unwrap_or("no reason given");
                problems.push(format!("{word}: {}: {} ({}): {why}", scenario.name, check.id, check.name));
            }
        }
        // A scenario that could not be run leaves nothing behind, and a run that checks nothing must not look clean.
        match self.announced {
            Some(announced) if announced == self.scenarios.len() => {}
            Some(announced) => {
                problems.push(format!("FAILED: {} of {announced} scenarios have results", self.scenarios.len()));
            }
            None => problems.push("FAILED: the suite did not say how many scenarios it runs".to_owned()),
        }
        if !self.ended && problems.is_empty() {
            problems.push("FAILED: the suite ended with an error; see its output".to_owned());
        }
        problems
    }

    fn count(&self, status: Status) -> usize {
        self.scenarios.iter().flat_map(|scenario| &scenario.checks).filter(|check| check.status == status).count()
    }
}

/// The scenario in the name of its folder: `server-ping-2026-01-31T12-00-00-000Z`.
fn scenario_name(folder: &str) -> &str {
    const TIME: usize = "-2026-01-31T12-00-00-000Z".len();
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    name.len().checked_sub(TIME).and_then(|end| name.get(..end)).filter(|name| !name.is_empty()).unwrap_or(name)
}

/// The number in a line such as `Running all suite (32 scenarios) against …`.
fn announced(line: &str) -> Option<usize> {
    let (before, _) = line.split_once(" scenarios) against ")?;
    before.rsplit_once('(')?.1.parse().ok()
}
