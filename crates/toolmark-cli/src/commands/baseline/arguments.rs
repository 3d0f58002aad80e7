//! What can be asked about baselines.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::commands::audit::when::When;
use crate::input::Tools;
use crate::place::{Place, StoreName};

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Learn from the audit, or from a file of approved calls, one `{"name", "namespace"?, "arguments"}` a line
    Learn(BaselineLearn),
    /// Show what a baseline knows
    Show(BaselineShow),
    /// Show in what two baselines differ
    Diff(BaselineDiff),
}

#[derive(Debug, Args)]
pub(crate) struct BaselineLearn {
    /// The approved calls
    #[arg(value_name = "CALLS.jsonl", required_unless_present = "from_audit", conflicts_with = "from_audit")]
    pub(crate) calls: Option<PathBuf>,

    /// Learn from the audit: calls for the task that were allowed or approved, and succeeded
    #[arg(long)]
    pub(crate) from_audit: bool,

    /// From the audit: calls from then on, such as `7d` or `2026-11-01`
    #[arg(long, value_name = "TIME", value_parser = When::parse, requires = "from_audit")]
    pub(crate) since: Option<When>,

    /// From the audit: calls before then
    #[arg(long, value_name = "TIME", value_parser = When::parse, requires = "from_audit")]
    pub(crate) until: Option<When>,

    /// The task that they belong to
    #[arg(long, value_name = "NAME")]
    pub(crate) task: String,

    /// The baseline to write; one that is there already is added to [default: the one of the task in the store]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The configuration with behaviors and languages [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineShow {
    /// The baseline: a file, or `store:TASK`
    pub(crate) file: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineDiff {
    /// What was: a file, or `store:TASK`
    pub(crate) old: String,

    /// What is: a file, or `store:TASK`
    pub(crate) new: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl BaselineCommand {
    /// Whether errors are to be printed as JSON.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Learn(arguments) => arguments.json,
            Self::Show(arguments) => arguments.json,
            Self::Diff(arguments) => arguments.json,
        }
    }
}
