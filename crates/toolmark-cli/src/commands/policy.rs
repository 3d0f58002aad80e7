//! `toolmark policy check`: are the rules and policies right, and what does each apply to?

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolmark_policy::Author;
use toolmark_runtime::Workspace;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::StoreName;
use crate::workspace::Written;
use crate::{input, output, place};

/// How many tools of a rule are named.
const MOST_NAMED: usize = 5;

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Check rules and policies against tools, and show what each applies to
    Check(PolicyCheck),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyCheck {
    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The configuration with the rules [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(command: &Policy) -> Result<Exit, Failure> {
    match command {
        Policy::Check(arguments) => check(arguments),
    }
}

fn check(arguments: &PolicyCheck) -> Result<Exit, Failure> {
    let written = Written::find(arguments.config.as_deref())?;
    let catalog = place::tools(&written, &arguments.tools.paths, arguments.store.name.as_deref())?;
    let exit = input::show_problems(&catalog);
    let workspace = written.workspace(catalog, None, None)?;
    let applying = applying(&workspace);
    if arguments.json {
        output::json(&to_json(&workspace, &applying))?;
        return Ok(exit);
    }
    let policy = workspace.policy();
    output::line(format_args!("policy {} (preset {})", policy.version(), policy.preset()))?;
    for (author, tools) in &applying {
        let mut named: Vec<String> = tools.iter().take(MOST_NAMED).map(|tool| output::safe(tool)).collect();
        if tools.len() > MOST_NAMED {
            named.push(format!("and {} more", tools.len() - MOST_NAMED));
        }
        let count = output::count(tools.len(), "tool");
        output::line(format_args!("{}: {count}: {}", output::safe(&author.to_string()), named.join(", ")))?;
    }
    for note in policy.notes() {
        output::note(&note.to_string());
    }
    for task in workspace.tasks().iter() {
        let expected = match (task.expectation().shown(), task.expectation().baseline()) {
            (patterns, None) => patterns,
            (patterns, Some(_)) if patterns.is_empty() => "what its baseline knows".into(),
            (patterns, Some(_)) => format!("{patterns}, and what its baseline knows"),
        };
        output::line(format_args!("task `{}` expects {expected}", task.name()))?;
    }
    let rules = output::count(applying.len(), "rule");
    output::line(format_args!("{rules} for {}: all right", output::count(workspace.catalog().len(), "tool")))?;
    Ok(exit)
}

/// Each rule and policy with the tools that it can apply to. One that waits for its pack applies to none.
fn applying(workspace: &Workspace) -> BTreeMap<Author, Vec<String>> {
    let policy = workspace.policy();
    let mut all: BTreeMap<Author, Vec<String>> =
        policy.rules().map(|(id, _)| (Author::Rule(id.into()), Vec::new())).collect();
    for tool in workspace.catalog().tools() {
        for author in policy.applying_to(tool) {
            all.entry(author).or_default().push(tool.canonical().to_string());
        }
    }
    all
}

fn to_json(workspace: &Workspace, applying: &BTreeMap<Author, Vec<String>>) -> Value {
    let policy = workspace.policy();
    let rules = applying.iter().map(|(author, tools)| {
        let kind = if matches!(author, Author::Rule(_)) { "rule" } else { "cedar" };
        json!({"kind": kind, "id": author.id(), "tools": tools})
    });
    let task = |task: &toolmark_runtime::Task| {
        let patterns: Vec<String> = task.expectation().patterns().iter().map(ToString::to_string).collect();
        json!({"name": task.name().as_str(), "expect": patterns, "baseline": task.expectation().baseline().is_some()})
    };
    json!({
        "version": policy.version().to_string(),
        "preset": policy.preset(),
        "rules": rules.collect::<Vec<_>>(),
        "tasks": workspace.tasks().iter().map(|one| task(one)).collect::<Vec<_>>(),
        "notes": policy.notes().iter().map(toolmark_core::problem::Problem::to_json).collect::<Vec<_>>(),
        "tools": workspace.catalog().len(),
    })
}
