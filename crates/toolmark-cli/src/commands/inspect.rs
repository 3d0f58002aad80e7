//! `toolmark inspect`: all tools as a table, or one tool's whole identity.

mod agents;
mod behavior;
mod card;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::catalog::Catalog;
use toolmark_core::display::{Languages, NameTable};
use toolmark_core::exposure::{Exposed, ExposedTable, Mode, Profile, ProfileName, Published};
use toolmark_core::lock::Lock;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::StoreName;
use crate::workspace::Written;
use crate::{input, output, place};

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// One tool, by canonical name, unique short name or exposed name
    pub(crate) tool: Option<String>,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Show the agents of the configuration, with the tools that they name and what those names mean
    #[arg(long, conflicts_with_all = ["tool", "pack", "lock"])]
    pub(crate) agents: bool,

    /// The client whose names are shown: claude-code, cursor, vscode, codex, openai, anthropic or generic
    #[arg(long, value_name = "CLIENT", default_value = "generic")]
    pub(crate) profile: ProfileName,

    /// The name under which the client knows Toolmark; its length counts
    #[arg(long, value_name = "NAME", default_value = "toolmark")]
    pub(crate) server: String,

    /// How exposed names are chosen: auto, prefixed or bare
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub(crate) exposure: Mode,

    /// Show only the tools of this pack
    #[arg(long, value_name = "PACK")]
    pub(crate) pack: Option<String>,

    /// Leave out a pack; may be repeated
    #[arg(long, value_name = "PACK")]
    pub(crate) disable: Vec<String>,

    /// The lock file that decides whether a tool is pinned, changed or new [default: toolmark.lock, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// The configuration with what the operator says about tools [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,

    /// Show display names in these languages, the best first, such as `nl` or `nl-BE, en;q=0.5`
    #[arg(long, value_name = "LANGUAGES", value_parser = Languages::accept)]
    pub(crate) lang: Option<Languages>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Inspect {
    /// The languages that names are shown in.
    fn languages(&self) -> Languages {
        self.lang.clone().unwrap_or_default()
    }
}

/// What a tool does, in its first three fields.
pub(crate) fn behavior_in_short(known: &KnownBehavior) -> String {
    behavior::in_short(known).0
}

pub(crate) fn run(arguments: &Inspect) -> Result<Exit, Failure> {
    if arguments.agents {
        return agents::show(arguments);
    }
    let written = Written::find(arguments.config.as_deref())?;
    let catalog = place::tools(&written, &arguments.tools.paths, arguments.store.name.as_deref())?;
    let catalog = input::without(catalog, &arguments.disable)?;
    let lock = input::lock_if_any(arguments.lock.as_deref())?;
    let profile = Profile::with_server(arguments.profile, &arguments.server);
    let profile = profile.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let table = ExposedTable::build(&catalog, &profile, arguments.exposure, &Published::default());
    let table = table.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let names = written.labels()?.table(catalog.tools());
    match &arguments.tool {
        Some(name) => card::show(arguments, &written, &names, &catalog, &table, lock.as_ref(), name),
        None => list(arguments, &written, &names, &catalog, &table, lock.as_ref()),
    }
}

fn list(
    arguments: &Inspect,
    written: &Written,
    names: &NameTable,
    catalog: &Catalog,
    table: &ExposedTable,
    lock: Option<&Lock>,
) -> Result<Exit, Failure> {
    let mut rows: Vec<Exposed<'_>> = table.listed().collect();
    if let Some(pack) = &arguments.pack {
        input::require_pack(catalog, pack)?;
        rows.retain(|row| row.tool.pack() == Some(pack.as_str()));
    }
    rows.sort_by_cached_key(|row| row.tool.canonical().clone());
    if arguments.json {
        let tools: Vec<Value> = rows.iter().map(|row| row_json(row, arguments, written, names, lock)).collect();
        output::json(
            &json!({"profile": arguments.profile.as_str(), "tools": tools, "problems": input::problems_json(catalog)}),
        )?;
        return Ok(input::exit_of(catalog));
    }
    let mut shown =
        output::table(&["pack", "tool", "exposed name", "display name", "behavior", "known", "digest", "state"]);
    for row in &rows {
        let tool = row.tool;
        let state = state(row, lock);
        let known = written.known(tool);
        let (does, says) = behavior::in_short(&known);
        shown.add_row([
            tool.pack().unwrap_or("–").to_owned(),
            output::safe(tool.raw().as_str()),
            row.name.to_string(),
            names.shown(tool, &arguments.languages()).name.to_string(),
            does,
            says,
            tool.digest().short(),
            output::painted(output::state(state), state),
        ]);
    }
    output::line(shown.trim_fmt())?;
    let packs = rows.iter().map(|row| row.tool.pack()).collect::<std::collections::BTreeSet<_>>().len();
    output::line(output::painted(
        output::DIM,
        format_args!(
            "\n{} in {}, named for {}",
            output::count(rows.len(), "tool"),
            output::count(packs, "pack"),
            arguments.profile
        ),
    ))?;
    let profile = table.profile();
    if let Some(most) = profile.max_tools().filter(|&most| table.len() > most) {
        output::warn(&format!("{} takes {most} tools; {} are exposed", arguments.profile, table.len()));
    }
    Ok(input::show_problems(catalog))
}

fn row_json(
    row: &Exposed<'_>,
    arguments: &Inspect,
    written: &Written,
    names: &NameTable,
    lock: Option<&Lock>,
) -> Value {
    let tool = row.tool;
    let mut json = Value::Object(tool.identity_json());
    if let Some(object) = json.as_object_mut() {
        object.insert("kind".into(), json!(tool.kind()));
        object.insert("source".into(), json!(tool.source()));
        object.insert("exposed".into(), json!(row.name));
        let shown = names.shown(tool, &arguments.languages());
        object.insert("display".into(), json!(shown.name));
        object.insert("display_layer".into(), json!(shown.layer));
        object.insert("display_lang".into(), json!(shown.lang));
        let known = written.known(tool);
        object.insert("behavior".into(), json!(known.behavior()));
        object.insert("known".into(), known.to_json());
        object.insert("state".into(), json!(state(row, lock)));
    }
    json
}

/// How a tool stands: to the lock if there is one.
fn state(row: &Exposed<'_>, lock: Option<&Lock>) -> &'static str {
    lock.map_or("unpinned", |lock| lock.state(row.tool).as_str())
}
