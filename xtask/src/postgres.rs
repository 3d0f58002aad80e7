//! A real PostgreSQL for the tests that need one: installed where it is missing, started on a free port, stopped again.
//!
//! Such tests are ignored by plain `cargo test`, and their path holds the word `postgres`.

use std::process::{Command, ExitCode};

use clap::Args;
use toolmark_testkit::postgres::{Server, VARIABLE, installed};

use crate::run::{cargo, install, say, succeeds};

/// The command and its options.
#[derive(Args)]
pub(crate) struct WithPostgres {
    /// What to run, with the address in `TOOLMARK_TEST_POSTGRES` [default: all tests that need PostgreSQL]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

impl WithPostgres {
    pub(crate) fn run(&self) -> ExitCode {
        let done = match self.command.split_first() {
            None => tested(),
            Some((program, arguments)) => with_server(|url| {
                succeeds(&self.command.join(" "), Command::new(program).args(arguments).env(VARIABLE, url))
            }),
        };
        if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether they hold, on the server that the variable names, or on one that is started for them.
pub(crate) fn tested() -> bool {
    with_server(|url| {
        // All crates at once, as they are built for the other tests.
        let arguments = ["test", "--workspace", "--locked", "--quiet", "postgres", "--", "--ignored"];
        succeeds("cargo test: what needs PostgreSQL", cargo(&arguments).env(VARIABLE, url))
    })
}

/// Runs something with the address of a server.
pub(crate) fn with_server(work: impl FnOnce(&str) -> bool) -> bool {
    if let Ok(url) = std::env::var(VARIABLE) {
        say(&format!("using the PostgreSQL that {VARIABLE} names"));
        return work(&url);
    }
    if installed().is_none() && !install("postgres", "postgresql") {
        return false;
    }
    match Server::start() {
        Ok(server) => {
            say("started a PostgreSQL on a free port");
            work(&server.url())
        }
        Err(error) => {
            say(&error.to_string());
            false
        }
    }
}
