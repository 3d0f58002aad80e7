//! `cargo xtask bench agents`: what a run costs beside the model and the tools, measured beside `rig` in a crate of its own.

use std::process::ExitCode;

use clap::Args;

use crate::run::{cargo, succeeds, target};

/// Where the crate is. It has a lock file of its own, so that what `rig` needs does not enter the product's.
const MANIFEST: &str = "bench/agents/Cargo.toml";

/// The command, which has no options.
#[derive(Args)]
pub(super) struct Agents {}

impl Agents {
    pub(super) fn run(&self) -> ExitCode {
        if holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether all budgets of agents are kept.
fn holds() -> bool {
    let mut command = cargo(&["run", "--release", "--locked", "--quiet", "--manifest-path", MANIFEST]);
    succeeds("cargo run in bench/agents", command.arg("--target-dir").arg(target()))
}
