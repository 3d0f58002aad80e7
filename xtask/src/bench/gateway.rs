//! `cargo xtask bench gateway`: the gateway, whole pipeline on, beside the floor (a proxy that knows nothing of MCP) and the bare
//! server, in one run. Every budget is a ratio taken within a round, so that it holds on a slow machine as well as on a fast one.

mod budgets;
mod measure;
mod peers;
mod process;
mod rounds;
mod setup;

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use self::measure::Work;
use self::rounds::Rounds;
use self::setup::{Setup, Shape};
use crate::run::{cargo, say, succeeds};

/// The command and its options.
#[derive(Args)]
pub(crate) struct Gateway {
    /// How often everything is measured; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long one measurement takes, in seconds
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Also measure other gateways, installed from PyPI and npm
    #[arg(long)]
    peers: bool,
    /// Also measure calls on a store that holds ten million records and 100,000 open questions, which takes some 4 GB
    #[arg(long)]
    large: bool,
    /// Also so many minutes at full load, during which memory must not grow
    #[arg(long, num_args = 0..=1, default_missing_value = "10")]
    soak: Option<u64>,
}

/// What is sent in each shape.
const ONE: &[Work] = &[Work::echo(1), Work::echo(16), Work::echo(64), Work::blob(8)];
const TWENTY: &[Work] = &[Work::list(1), Work::echo(16)];
const PROGRAM: &[Work] = &[Work::echo(1), Work::echo(16)];

impl Gateway {
    pub(crate) fn run(&self) -> ExitCode {
        let build = ["build", "--release", "--locked", "-p", "toolmark-cli", "-p", "toolmark-bench"];
        if !succeeds("cargo build --release", &mut cargo(&build)) {
            return ExitCode::FAILURE;
        }
        match self.measure() {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                say(&error);
                ExitCode::FAILURE
            }
        }
    }

    fn measure(&self) -> Result<bool, String> {
        let setup = Setup::new(self.peers, self.large)?;
        let mut rounds = Rounds::new(self.rounds.max(1), Duration::from_secs_f64(self.seconds));
        let starts = (0..self.rounds.max(3)).map(|_| setup.cold_start()).collect::<Result<Vec<_>, _>>()?;
        let idle = [setup.idle_memory(Shape::One)?, setup.idle_memory(Shape::Twenty)?];
        for (shape, works) in [(Shape::One, ONE), (Shape::Twenty, TWENTY), (Shape::Program, PROGRAM)] {
            rounds.take(&setup, shape, works)?;
        }
        let sessions = setup.held_memory(1_000, false)?;
        let stateless = setup.held_memory(10_000, true)?;
        rounds.print();
        let mut held = budgets::of_rounds(&rounds);
        held &= budgets::of_audit(&rounds, self.large);
        held &= budgets::of_memory(&starts, idle, sessions, stateless);
        if let Some(minutes) = self.soak {
            held &= budgets::of_soak(&setup.soak(Duration::from_secs(60 * minutes))?);
        }
        Ok(held)
    }
}
