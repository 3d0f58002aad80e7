//! `toolmark init`: takes over the servers of every client that is found, shows the configuration, and writes it after a yes.

mod gather;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};
use toolmark_config::Config;
use toolmark_config::render::Secrets;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

use crate::clients::Places;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::file::write_private;
use crate::output;
use crate::workspace::CONFIG;
use gather::Gathered;

#[derive(Debug, Args)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) places: Places,

    /// The configuration to write
    #[arg(long, value_name = "FILE", default_value = CONFIG)]
    pub(crate) config: PathBuf,

    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,

    /// Show what would be written and stop
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Why nothing is written.
#[derive(Debug, thiserror::Error)]
enum InitError {
    #[error("`{0}` is there already")]
    Exists(String),
    #[error("no client's file with servers was found")]
    NothingFound,
    #[error("nobody is there to confirm what would be written")]
    NeedsConfirmation,
}

pub(crate) fn run(arguments: &Init) -> Result<Exit, Failure> {
    let gathered = gather::gather(&arguments.places);
    let exit = if gathered.problems.is_empty() { Exit::Success } else { Exit::BadInput };
    let shown = output::safe(&arguments.config.display().to_string());
    if gathered.packs.is_empty() {
        return match exit {
            Exit::Success => Err(Failure::refused(Exit::BadInput, &InitError::NothingFound)),
            _ => Err(Failure::Problems(gathered.problems)),
        };
    }
    let text = gathered.text(Secrets::Written);
    // What is written is read first: a configuration that nobody can use helps nobody.
    Config::read(&text, &shown).map_err(|error| Failure::Problems(error.problems().to_vec()))?;
    if !arguments.json {
        output::line(gathered.text(Secrets::Masked).trim_end())?;
        output::line("")?;
    }
    show_notes(arguments, &gathered);
    let write = !arguments.dry_run && (arguments.config.exists() || confirmed(arguments, &shown)?);
    if write {
        if arguments.config.exists() {
            return Err(Failure::refused(Exit::BadInput, &InitError::Exists(shown)));
        }
        write_private(&arguments.config, &text)?;
    }
    if arguments.json {
        output::json(&to_json(&gathered, &shown, write))?;
    } else {
        let packs = output::count(gathered.packs.len(), "pack");
        let verb = match (write, arguments.dry_run) {
            (true, _) => "wrote",
            (false, true) => "would write",
            (false, false) => "did not write",
        };
        output::line(format_args!("{verb} {shown}: {packs}; nothing was started"))?;
        if write {
            output::line("next: `toolmark wrap CLIENT` for each client, or `toolmark up`")?;
        }
    }
    Ok(exit)
}

/// What has to be known before a yes.
fn show_notes(arguments: &Init, gathered: &Gathered) {
    if arguments.json {
        return;
    }
    for problem in &gathered.problems {
        output::error(&problem.to_string());
    }
    for note in &gathered.notes {
        output::note(note);
    }
    for required in &gathered.required {
        let asked =
            required.description.as_deref().map(|text| format!(" ({})", visible(text, 120))).unwrap_or_default();
        output::note(&format!("set the variable `{}`{asked} before Toolmark starts", required.variable));
    }
    if gathered.holds_secrets() {
        output::warn(
            "the file will hold secrets as they stand in the clients' files (shown as ••••); only you may read it",
        );
    }
}

/// Asks, where somebody can answer.
fn confirmed(arguments: &Init, shown: &str) -> Result<bool, Failure> {
    if arguments.yes {
        return Ok(true);
    }
    if arguments.json || !io::stdin().is_terminal() {
        return Err(Failure::refused(Exit::BadInput, &InitError::NeedsConfirmation));
    }
    let mut prompt = anstream::stderr().lock();
    write!(prompt, "write {shown}? [y/N] ").and_then(|()| prompt.flush())?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn to_json(gathered: &Gathered, shown: &str, written: bool) -> Value {
    let packs =
        gathered.packs.iter().map(|found| json!({"name": found.name.as_str(), "key": found.key, "from": found.from}));
    let required = gathered.required.iter();
    json!({
        "config": shown,
        "written": written,
        "packs": packs.collect::<Vec<_>>(),
        "required_variables":
            required.map(|one| json!({"variable": one.variable, "description": one.description})).collect::<Vec<_>>(),
        "notes": gathered.notes,
        "problems": gathered.problems.iter().map(Problem::to_json).collect::<Vec<_>>(),
        "preview": gathered.text(Secrets::Masked),
    })
}

impl Explain for InitError {
    fn code(&self) -> Code {
        match self {
            Self::Exists(_) => Code::new("init-exists"),
            Self::NothingFound => Code::new("init-nothing-found"),
            Self::NeedsConfirmation => Code::new("init-needs-confirmation"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Exists(_) => "it may hold rules and settings that nobody else has",
            Self::NothingFound => "an empty configuration would guard nothing",
            Self::NeedsConfirmation => "nothing is written before somebody has seen it",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Exists(_) => {
                "see what is missing with `toolmark init --dry-run`, or choose another file with `--config`"
            }
            Self::NothingFound => "name the directory of a project with `--project`, or write the first pack by hand",
            Self::NeedsConfirmation => "look at it with `--dry-run`, then say `--yes`",
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Exists(path) => facts([("config", path.as_str().into())]),
            _ => Map::new(),
        }
    }
}
