//! Exit codes, in one place. `docs/exit-codes.md` and `toolmark --help` show the same table.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is as it should be.
    Success,
    /// The command worked and found something: lint findings or drift at or above `--fail-on`.
    Findings,
    /// The input cannot be read, or the catalog has problems.
    BadInput,
    /// The name means no tool, token or pack.
    NotFound,
    /// The name means several tools.
    Ambiguous,
    /// Something outside failed: a file cannot be written, standard output is closed.
    Failed,
}

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

/// The table under `toolmark --help`.
pub(crate) const TABLE: &str = "Exit codes:
  0  everything is as it should be
  1  findings or drift at or above --fail-on
  2  the command line cannot be understood
  3  the input cannot be read, or the catalog has problems
  4  the name means no tool, token or pack
  5  the name means several tools
  6  something outside failed, such as writing a file";

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
