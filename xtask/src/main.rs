//! The project's own chores: `cargo xtask vectors`, one file a command.

mod vectors;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own chores")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check this workspace against recorded vectors.
    Vectors(vectors::Vectors),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Vectors(command) => command.run(),
    }
}
