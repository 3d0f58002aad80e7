//! `cargo xtask vectors`: does this workspace answer what was recorded from the systems that it must agree with?
//!
//! Everything in the directory is run or refused by name; a file that cannot be read, or a function that nobody knows, is an
//! error and never a vector less.

mod document;
mod identity;
mod report;
mod resolution;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use self::document::{Document, ReadVectorsError};
use self::report::Report;

/// The command and its options.
#[derive(Args)]
pub(crate) struct Vectors {
    /// Where the `*.json` files are; the ones in the repository if left out.
    dir: Option<PathBuf>,
    /// Fail when anything is pending too.
    #[arg(long)]
    strict: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
    /// How many misses to print for each function.
    #[arg(long, default_value_t = 5, value_name = "N")]
    misses: usize,
}

/// What came of one vector.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) id: String,
    pub(crate) function: String,
    pub(crate) verdict: Verdict,
}

/// How a vector went.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The answer is the recorded one.
    Passed,
    /// It is not.
    Missed {
        /// What was recorded.
        expected: Value,
        /// What came out.
        got: Value,
    },
    /// Nothing here answers it yet.
    Pending {
        /// What it waits for.
        waits_for: &'static str,
    },
}

impl Vectors {
    /// The vectors of the repository, as `cargo xtask test` runs them.
    pub(crate) fn of_the_repository() -> Self {
        Self { dir: None, strict: false, json: false, misses: 5 }
    }

    /// Runs the command: success unless something missed, or is pending and `--strict` was given.
    pub(crate) fn run(&self) -> ExitCode {
        if self.succeeds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Prints the report and tells whether the vectors hold.
    pub(crate) fn succeeds(&self) -> bool {
        let default = repository_vectors();
        let dir = self.dir.as_deref().unwrap_or(&default);
        let mut out = io::stdout().lock();
        let written = match run_all(dir) {
            Err(error) => writeln!(io::stderr(), "{error}").map(|()| false),
            Ok(report) => {
                let text = if self.json { report.to_json() } else { report.to_text(self.misses) };
                writeln!(out, "{text}").map(|()| report.is_success(self.strict))
            }
        };
        written.unwrap_or(false)
    }
}

/// Runs every file of a directory, in the order of their names.
fn run_all(dir: &Path) -> Result<Report, ReadVectorsError> {
    let mut outcomes = Vec::new();
    for path in document::files(dir)? {
        let text = document::text(&path)?;
        outcomes.extend(match Document::read(&path, &text)? {
            Document::Identity(vectors) => identity::run(&path, &vectors)?,
            Document::Resolution(document) => resolution::run(&path, &document)?,
        });
    }
    Ok(Report::of(outcomes))
}

fn repository_vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors")
}

#[cfg(test)]
mod tests;
