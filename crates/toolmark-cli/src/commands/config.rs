//! `toolmark config check`: is the configuration right, and what does it need?

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolmark_config::Config;
use toolmark_core::explain::Explain as _;
use toolmark_core::problem::Problem;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::CONFIG;
use crate::{input, output};

#[derive(Debug, Subcommand)]
pub(crate) enum Configuration {
    /// Check a configuration and show every problem with its place; nothing is started
    Check(ConfigCheck),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigCheck {
    /// The configuration
    #[arg(value_name = "FILE", default_value = CONFIG)]
    pub(crate) file: PathBuf,

    /// Also fail when a variable that is needed is not set
    #[arg(long)]
    pub(crate) variables: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Configuration {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Check(arguments) => arguments.json,
        }
    }
}

pub(crate) fn run(command: &Configuration) -> Result<Exit, Failure> {
    match command {
        Configuration::Check(arguments) => check(arguments),
    }
}

fn check(arguments: &ConfigCheck) -> Result<Exit, Failure> {
    let document = input::document(&arguments.file)?;
    let label = output::safe(&arguments.file.display().to_string());
    let config = match Config::read(document.text(), &label) {
        Ok(config) => config,
        Err(error) => return refuse(arguments, &label, error.problems(), error.more()),
    };
    let missing = config.expand(&|name| std::env::var(name).ok()).err();
    let exit = if arguments.variables && missing.is_some() { Exit::BadInput } else { Exit::Success };
    if arguments.json {
        let missing = missing.map(|error| error.facts().remove("missing").unwrap_or_default());
        output::json(&json!({
            "file": label,
            "problems": [],
            "packs": config.packs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            "tasks": config.tasks.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            "profiles": config.profiles.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            "rules": config.rules.len(),
            "missing_variables": missing.unwrap_or_else(|| json!([])),
        }))?;
        return Ok(exit);
    }
    if let Some(error) = missing {
        if arguments.variables {
            return Err(Failure::refused(Exit::BadInput, &error));
        }
        for missing in error.missing() {
            output::note(&format!("the variable {missing}"));
        }
    }
    output::line(format_args!(
        "{label} is all right: {}, {}, {}",
        output::count(config.packs.len(), "pack"),
        output::count(config.tasks.len(), "task"),
        output::count(config.rules.len(), "rule"),
    ))?;
    Ok(exit)
}

fn refuse(arguments: &ConfigCheck, label: &str, problems: &[Problem], more: usize) -> Result<Exit, Failure> {
    if arguments.json {
        let all: Vec<Value> = problems.iter().map(Problem::to_json).collect();
        output::json(&json!({"file": label, "problems": all}))?;
    } else {
        for problem in problems {
            output::error(&problem.to_string());
        }
        output::line(format_args!("{label} has {}", output::count(problems.len() + more, "problem")))?;
    }
    Ok(Exit::BadInput)
}
