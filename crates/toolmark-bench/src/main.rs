//! What the gateway is measured with, one process each: a server behind it, a client in front of it, and the floor, a proxy that
//! knows nothing of MCP. Uses nothing of ours: what is measured must not measure itself.

mod failure;
mod floor;
mod load;
mod process;
mod tools;
mod upstream;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

#[derive(Parser)]
#[command(name = "toolmark-bench", about = "What the gateway is measured with")]
struct Cli {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    /// An MCP server that does as little as it can
    Upstream(upstream::Upstream),
    /// A reverse proxy that knows nothing of MCP: the least that a hop can cost
    Floor(floor::Floor),
    /// A client that sends as fast as it is answered, and says how fast that was
    Load(load::Load),
    /// Waits until a server lists its tools
    Ready(load::Ready),
}

fn main() -> ExitCode {
    let done = match Cli::parse().part {
        Part::Upstream(upstream) => block_on(1, upstream.run()),
        Part::Floor(floor) => block_on(2, floor.run()),
        Part::Load(load) => block_on(1, load.run()),
        Part::Ready(ready) => block_on(1, ready.run()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show();
            ExitCode::FAILURE
        }
    }
}

fn block_on(threads: usize, work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = match threads {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        many => tokio::runtime::Builder::new_multi_thread().worker_threads(many).enable_all().build(),
    };
    runtime?.block_on(work)
}
