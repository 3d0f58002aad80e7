//! Exit codes, in one place. `docs/exit-codes.md` and `toolmark --help` show the same table.

use std::process::ExitCode;
use std::str::FromStr;

use toolmark_core::severity::Severity;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is as it should be.
    Success,
    /// The command worked and found something: lint findings or drift at or above `--fail-on`, a call that was refused or failed.
    Findings,
    /// The input cannot be read, or the catalog has problems.
    BadInput,
    /// The name means no tool, token, pack or agent.
    NotFound,
    /// The name means several tools.
    Ambiguous,
    /// Something outside failed: a file cannot be written, standard output is closed.
    Failed,
}

/// From which severity on a command fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailOn(Option<Severity>);

impl Exit {
    const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            // 2 is clap's, for a command line that cannot be understood.
            Self::BadInput => 3,
            Self::NotFound => 4,
            Self::Ambiguous => 5,
            Self::Failed => 6,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl FailOn {
    /// Whether the worst that was found is bad enough.
    pub(crate) fn is_reached_by(self, worst: Option<Severity>) -> bool {
        matches!((self.0, worst), (Some(limit), Some(worst)) if worst >= limit)
    }
}

impl FromStr for FailOn {
    type Err = <Severity as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "never" { Ok(Self(None)) } else { text.parse().map(|severity| Self(Some(severity))) }
    }
}

/// The table under `toolmark --help`.
pub(crate) const TABLE: &str = "Exit codes:
  0  everything is as it should be
  1  findings or drift at or above --fail-on, a call that was refused or failed, or a run that waits for a person
  2  the command line cannot be understood
  3  the input cannot be read, or the catalog has problems
  4  the name means no tool, token, pack, agent or session
  5  the name means several tools or sessions
  6  something outside failed, such as writing a file or asking a model";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_table_lists_every_code_once() {
        let page = include_str!("../../../docs/exit-codes.md");
        let all = [Exit::Success, Exit::Findings, Exit::BadInput, Exit::NotFound, Exit::Ambiguous, Exit::Failed];
        for code in all.iter().map(|exit| exit.code()).chain([2]) {
            assert_eq!(page.matches(&format!("\n| {code} |")).count(), 1, "docs/exit-codes.md, code {code}");
            assert_eq!(TABLE.matches(&format!("\n  {code}  ")).count(), 1, "--help, code {code}");
        }
    }
}
