//! The project's own chores, one file a command: `cargo xtask test | vectors | conformance | e2e | agui | console | bench | postgres | fuzz | live | index | schema`.

mod agui;
mod bench;
mod conformance;
mod console;
mod e2e;
mod fuzz;
mod index;
mod live;
mod postgres;
mod run;
mod schema;
mod test;
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
    /// Run every check there is, and install what is missing for it
    Test(test::Test),
    /// Check this workspace against recorded vectors
    Vectors(vectors::Vectors),
    /// Run the official MCP conformance suite against the fixture, bare or behind the gateway, or against any server
    Conformance(conformance::Conformance),
    /// Try the gateway with real servers and real clients
    E2e(e2e::EndToEnd),
    /// Try the console's pages in a real browser
    Console(console::Console),
    /// Try agents with the real AG-UI client
    Agui(agui::Agui),
    /// Measure the budgets: each a ratio against something measured in the same run
    Bench(bench::Bench),
    /// Start a PostgreSQL for one command, or for all tests that need one
    Postgres(postgres::WithPostgres),
    /// Feed the parsers with hostile input for a while
    Fuzz(fuzz::Fuzz),
    /// Ask a real model that is served on this machine
    Live(live::Live),
    /// Write the index of error pages
    Index(index::Index),
    /// Write the JSON schema of `toolmark.toml`
    Schema(schema::Schema),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Test(command) => command.run(),
        Command::Vectors(command) => command.run(),
        Command::Conformance(command) => command.run(),
        Command::E2e(command) => command.run(),
        Command::Console(command) => command.run(),
        Command::Agui(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Postgres(command) => command.run(),
        Command::Fuzz(command) => command.run(),
        Command::Live(command) => command.run(),
        Command::Index(command) => command.run(),
        Command::Schema(command) => command.run(),
    }
}
