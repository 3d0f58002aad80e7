//! `toolmark config check`: is the configuration right, and what does it need?

use std::fs;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use toolmark_config::values::Template;
use toolmark_config::{Config, env_file};
use toolmark_core::catalog::Catalog;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::names::PackName;
use toolmark_core::pins::Pins;
use toolmark_core::problem::Problem;
use toolmark_gateway::agents;
use toolmark_gateway::assemble::{self, Strictness, Surroundings};
use toolmark_gateway::labels::Labels;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::StoreName;
use crate::workspace::{CONFIG, Written};
use crate::{input, output, place};

#[derive(Debug, Subcommand)]
pub(crate) enum Configuration {
    /// Check a configuration and show every problem with its place; nothing is started
    Check(ConfigCheck),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigCheck {
    /// The configuration [default: toolmark.toml]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The same, as other commands call it
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) config: Option<PathBuf>,

    /// Tools to check the names of agents against [default: what the gateway of this configuration has seen]
    #[command(flatten)]
    pub(crate) tools: Tools,

    #[command(flatten)]
    pub(crate) store: StoreName,

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
    let file = arguments.file.as_ref().or(arguments.config.as_ref()).cloned().unwrap_or_else(|| CONFIG.into());
    let document = input::document(&file)?;
    let label = output::safe(&file.display().to_string());
    let config = match Config::read(document.text(), &label) {
        Ok(config) => config,
        Err(error) => return refuse(arguments, &label, error.problems(), error.more()),
    };
    let written = Written { config, path: Some(file), digest: [0; 32] };
    let known = known(arguments, &written)?;
    let mut problems = names_of_agents(&known, &written)?;
    problems.extend(files(&known, &written)?);
    if !problems.is_empty() {
        return refuse(arguments, &label, &problems, 0);
    }
    let config = written.config;
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
            "models": config.models.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            "agents": config.agents.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
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
        "{label} is all right: {}, {}, {}{}",
        output::count(config.packs.len(), "pack"),
        output::count(config.tasks.len(), "task"),
        output::count(config.rules.len(), "rule"),
        if config.agents.is_empty() {
            String::new()
        } else {
            format!(", {}", output::count(config.agents.len(), "agent"))
        },
    ))?;
    Ok(exit)
}

/// The tools that names are held against.
struct Known {
    catalog: Catalog,
    /// Packs that nobody has seen.
    unseen: Vec<PackName>,
    /// False where nobody can tell which tools there are.
    told: bool,
}

/// Tools that were named, or those that a gateway has seen. Nothing is started.
fn known(arguments: &ConfigCheck, written: &Written) -> Result<Known, Failure> {
    let (catalog, unseen) = match arguments.tools.paths.as_slice() {
        [] => match place::remembered(written, arguments.store.name.as_deref()) {
            Ok(known) => known,
            // Which tools there are cannot be told; the configuration is not wrong for that.
            Err(_) => {
                let catalog = Catalog::builder().build_partly();
                return Ok(Known { catalog, unseen: Vec::new(), told: false });
            }
        },
        paths => (input::catalog(paths)?, Vec::new()),
    };
    Ok(Known { catalog, unseen, told: true })
}

/// What a gateway would refuse to start with, besides the file itself: policies, baselines, translations and variables in files that it
/// names, and rules for packs that are not there.
fn files(known: &Known, written: &Written) -> Result<Vec<Problem>, Failure> {
    let config = &written.config;
    let mut problems = Vec::new();
    // Variables that are not set are a matter of their own.
    let environment = |name: &str| Some(std::env::var(name).unwrap_or_else(|_| name.to_owned()));
    for (name, pack) in config.packs.iter().filter(|(_, pack)| pack.enabled) {
        // Where it is, and what it is called: nobody is told what variables hold.
        let place = |template: Option<&Template>| {
            let path = template?.expand(&|name: &str| std::env::var(name).ok()).ok()?;
            let path = written.directory().join(path.expose());
            let shown = template?.named().unwrap_or_else(|| path.display().to_string());
            Some((path, output::safe(&shown)))
        };
        if let Some((_, path)) = place(pack.cwd.as_ref()).filter(|(path, _)| !path.is_dir()) {
            let error = NoDirectory { pack: name.to_string(), path };
            problems.push(Problem::refused(error.report(), None));
        }
        let Some((path, shown)) = place(pack.env_file.as_ref()) else { continue };
        let read = fs::read_to_string(&path).map_err(|error| error.to_string());
        let read = read.and_then(|text| env_file::read(&text, &shown).map(drop).map_err(|error| error.to_string()));
        if let Err(why) = read {
            let error = EnvFileUnusable { pack: name.to_string(), path: shown.clone(), why };
            problems.push(Problem::refused(error.report(), None));
        }
    }
    if let Err(more) = Labels::read(config, written.directory()) {
        problems.extend(more);
    }
    let baselines = match place::baselines(written) {
        Ok(baselines) => baselines,
        Err(_) => {
            output::note("baselines in the store were not checked: it cannot be read");
            return Ok(problems);
        }
    };
    let pins = || written.lock().map(Pins::new);
    let directory = written.directory();
    let surroundings = Surroundings { directory, environment: &environment, baselines: &baselines, effects: None };
    let judged = |strictness| {
        let workspace = assemble::workspace(config, known.catalog.clone(), pins()?, &surroundings, strictness);
        Ok::<_, Failure>(workspace.err().map(|error| error.problems().to_vec()).unwrap_or_default())
    };
    problems.extend(judged(Strictness::Running)?);
    if problems.is_empty() {
        // A server may get a tool that it does not have now; whoever looks should know.
        for doubt in judged(Strictness::Checking)? {
            output::doubt(&doubt.to_string());
        }
    }
    Ok(problems)
}

/// A file with variables of a pack that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`packs.{pack}.env_file` names `{path}`, which cannot be read: {why}")]
struct EnvFileUnusable {
    pack: String,
    path: String,
    why: String,
}

/// A directory that a program is to be started in and that is not there.
#[derive(Debug, thiserror::Error)]
#[error("`packs.{pack}.cwd` names `{path}`, which is no directory")]
struct NoDirectory {
    pack: String,
    path: String,
}

impl Explain for NoDirectory {
    fn code(&self) -> Code {
        Code::new("config-file-missing")
    }

    fn why(&self) -> String {
        "the program cannot be started there, and elsewhere it might work on other files".into()
    }

    fn fix(&self) -> String {
        "check the path: it is relative to the configuration".into()
    }
}

impl Explain for EnvFileUnusable {
    fn code(&self) -> Code {
        Code::new("config-file-missing")
    }

    fn why(&self) -> String {
        "the program would be started without what it was to be given".into()
    }

    fn fix(&self) -> String {
        "check the path: it is relative to the configuration".into()
    }
}

/// What is wrong with the names of tools that agents have. Names are held against tools that were named or seen before, and those of packs
/// that nobody has seen are noted.
fn names_of_agents(known: &Known, written: &Written) -> Result<Vec<Problem>, Failure> {
    let config = &written.config;
    if config.agents.iter().all(|(_, agent)| agent.tools.is_empty()) {
        return Ok(Vec::new());
    }
    let Known { catalog, unseen, told } = known;
    if !told {
        output::note("the names of tools that agents have were not checked: what the gateway has seen cannot be read");
        return Ok(Vec::new());
    }
    let table = agents::table(catalog, config).map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let mut problems = Vec::new();
    let mut unchecked = 0;
    for (name, agent) in &config.agents {
        let Err(errors) = agents::tools_of(catalog, &table, name.as_str(), &agent.tools) else { continue };
        for error in errors {
            // A name that may be of a pack that was never there may be right.
            let of = error.name().split_once('.').map(|(pack, _)| pack);
            let configured = of.is_none_or(|of| config.packs.iter().any(|(pack, _)| pack.as_str() == of));
            let waits =
                !unseen.is_empty() && configured && of.is_none_or(|of| unseen.iter().any(|pack| pack.as_str() == of));
            if waits && !error.is_ambiguous() {
                unchecked += 1;
            } else {
                problems.push(Problem::refused(error.report(), None));
            }
        }
    }
    if unchecked > 0 {
        let packs: Vec<String> = unseen.iter().map(|pack| format!("`{pack}`")).collect();
        output::note(&format!(
            "{} of agents were not checked: nobody has seen the tools of {}",
            output::count(unchecked, "name"),
            packs.join(", ")
        ));
    }
    Ok(problems)
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
