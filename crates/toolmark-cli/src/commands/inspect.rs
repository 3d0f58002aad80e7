//! `toolmark inspect`: all tools as a table, or one tool's whole identity.

mod behavior;
mod card;

use serde_json::{Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::exposure::{Exposed, ExposedTable, Profile, Published};
use toolmark_core::lock::Lock;

use crate::cli::Inspect;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{input, output};

pub(crate) fn run(arguments: &Inspect) -> Result<Exit, Failure> {
    let catalog = input::without(input::catalog(&arguments.tools.paths)?, &arguments.disable)?;
    let written = Written::find(arguments.config.as_deref())?;
    let lock = input::lock_if_any(arguments.lock.as_deref())?;
    let profile = Profile::with_server(arguments.profile, &arguments.server);
    let profile = profile.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let table = ExposedTable::build(&catalog, &profile, arguments.exposure, &Published::default());
    let table = table.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    match &arguments.tool {
        Some(name) => card::show(arguments, &written, &catalog, &table, lock.as_ref(), name),
        None => list(arguments, &written, &catalog, &table, lock.as_ref()),
    }
}

fn list(
    arguments: &Inspect,
    written: &Written,
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
        let tools: Vec<Value> = rows.iter().map(|row| row_json(row, written, lock)).collect();
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
            tool.display_name().to_string(),
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

fn row_json(row: &Exposed<'_>, written: &Written, lock: Option<&Lock>) -> Value {
    let tool = row.tool;
    let mut json = Value::Object(tool.identity_json());
    if let Some(object) = json.as_object_mut() {
        object.insert("kind".into(), json!(tool.kind()));
        object.insert("source".into(), json!(tool.source()));
        object.insert("exposed".into(), json!(row.name));
        object.insert("display".into(), json!(tool.display_name()));
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
