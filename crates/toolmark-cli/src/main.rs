//! The `toolmark` binary: reads what people ask for, runs one command, answers with a documented exit code.

mod asking;
mod cli;
mod clients;
mod commands;
mod demo;
mod exit;
mod failure;
mod file;
mod input;
mod logs;
mod memory;
mod models;
mod output;
mod place;
mod questions;
mod remote;
mod who;
mod wish;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.apply();
    let json = cli.wants_json();
    let done = match cli.command {
        Command::Up(arguments) => commands::up::run(&arguments),
        Command::Stdio(arguments) => commands::stdio::run(&arguments),
        Command::Console(arguments) => commands::console::run(&arguments),
        Command::Tools(arguments) => commands::tools::run(&arguments),
        Command::Call(arguments) => commands::call::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Sessions(command) => commands::sessions::run(&command),
        Command::Token(command) => commands::token::run(&command),
        Command::Approvals(command) => commands::approvals::run(&command),
        Command::Store(command) => commands::store::run(&command),
        Command::Audit(arguments) => commands::audit::run(&arguments),
        Command::Replay(arguments) => commands::replay::run(&arguments),
        Command::Login(arguments) => commands::login::login(&arguments),
        Command::Logout(arguments) => commands::login::forget(&arguments),
        Command::Inspect(arguments) => commands::inspect::run(&arguments),
        Command::Resolve(arguments) => commands::resolve::run(&arguments),
        Command::Lint(arguments) => commands::lint::run(&arguments),
        Command::Names(command) => commands::names::run(&command),
        Command::Pin(arguments) => commands::pin::run(&arguments),
        Command::Pins(command) => commands::pins::run(&command),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Policy(command) => commands::policy::run(&command),
        Command::Baseline(command) => commands::baseline::run(&command),
        Command::Eval(arguments) => commands::eval::run(&arguments),
        Command::Classify(arguments) => commands::classify::run(&arguments),
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Config(command) => commands::config::run(&command),
        Command::Wrap(arguments) => commands::wrap::run(&arguments),
        Command::Unwrap(arguments) => commands::wrap::undo(&arguments),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => failure.show(json).into(),
    }
}
