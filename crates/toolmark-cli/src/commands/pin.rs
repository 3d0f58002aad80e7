//! `toolmark pin`: writes the marks of all tools, and says what that approves.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::drift::{Drift, Side};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_gateway::GatewayBuilder;
use toolmark_store::Location;

use crate::commands::diff;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::Place;
use crate::workspace::Written;
use crate::{file, input, output, place};

#[derive(Debug, Args)]
pub(crate) struct Pin {
    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Without --tools: pin the packs of a configuration, as its gateway last saw them
    #[command(flatten)]
    pub(crate) place: Place,

    /// The lock file to write [default: toolmark.lock, beside the configuration where one is pinned]
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Keep the definitions too, so that a gateway can list the tools before their servers are there [default: as in the lock
    /// file that is there]
    #[arg(long, overrides_with = "no_definitions")]
    pub(crate) definitions: bool,

    /// Keep no definitions
    #[arg(long, overrides_with = "definitions")]
    pub(crate) no_definitions: bool,

    /// Write nothing; exit with 1 when the lock file would change
    #[arg(long)]
    pub(crate) check: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Packs of which nothing is remembered.
#[derive(Debug, thiserror::Error)]
#[error("nobody has seen the tools of {}", names(packs))]
struct NeverSeen {
    packs: Vec<PackName>,
}

pub(crate) fn run(arguments: &Pin) -> Result<Exit, Failure> {
    let (catalog, path) = tools(arguments)?;
    // A lock of half the tools would make the other half look new, not broken.
    if !catalog.problems().is_empty() {
        return Err(Failure::Problems(catalog.problems().to_vec()));
    }
    let old = if path.exists() { Some(input::lock(&path)?) } else { None };
    let kept = old.as_ref().is_some_and(Lock::has_definitions) && !arguments.no_definitions;
    let new = if arguments.definitions || kept { Lock::with_definitions(&catalog) } else { Lock::of(&catalog) };
    let drift = old.as_ref().map(|old| Drift::between(Side::Lock(old), Side::Catalog(&catalog)));
    let same = old.as_ref() == Some(&new);
    if !same && !arguments.check {
        file::write(&path, &new.to_string())?;
    }
    if arguments.json {
        output::json(&json!({
            "lock": path.display().to_string(),
            "tools": new.len(),
            "definitions": new.has_definitions(),
            "written": !same && !arguments.check,
            "drift": drift.as_ref().map(Drift::to_json),
        }))?;
    } else {
        tell(arguments, &path, &new, drift.as_ref(), same)?;
    }
    Ok(if arguments.check && !same { Exit::Findings } else { Exit::Success })
}

/// The tools that were named, or those of the packs of a configuration as its gateway last saw them; and where their lock is.
fn tools(arguments: &Pin) -> Result<(Catalog, PathBuf), Failure> {
    let named = |usual: PathBuf| arguments.lock.clone().unwrap_or(usual);
    if !arguments.tools.paths.is_empty() {
        return Ok((input::catalog(&arguments.tools.paths)?, named(input::LOCK.into())));
    }
    let place = &arguments.place;
    if place.config.is_none() && !Path::new(crate::workspace::CONFIG).is_file() {
        input::require_tools(&[])?;
    }
    let written = Written::find(place.config.as_deref())?;
    let path = named(written.lock_path());
    Ok((seen(place, written)?, path))
}

/// The tools of all packs of a configuration as its gateway last saw them. One pack that nobody has seen is an error: its tools would
/// look as if they were gone.
pub(crate) fn seen(place: &Place, written: Written) -> Result<Catalog, Failure> {
    let location = place.location(&written)?;
    let directory = written.directory().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(remembered(GatewayBuilder::new(written.config, directory), &location))
}

async fn remembered(builder: GatewayBuilder, location: &Location) -> Result<Catalog, Failure> {
    let store = place::open(location).await?;
    let builder = builder.store(store.clone()).unattended().recall().await;
    let builder = builder.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let known = builder.remembered().map_err(|error| Failure::Problems(error.problems().to_vec()))?;
    // Everything is read.
    drop(store.close().await);
    match known.unseen {
        packs if packs.is_empty() => Ok(known.catalog),
        packs => Err(Failure::refused(Exit::BadInput, &NeverSeen { packs })),
    }
}

fn names(packs: &[PackName]) -> String {
    packs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Explain for NeverSeen {
    fn code(&self) -> Code {
        Code::new("pack-never-seen")
    }

    fn why(&self) -> String {
        "half of the tools would make the other half look new, or gone".into()
    }

    fn fix(&self) -> String {
        "start the gateway once with `toolmark up` and wait until it says that these packs are ready".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("packs", json!(self.packs.iter().map(PackName::as_str).collect::<Vec<_>>()))])
    }
}

fn tell(arguments: &Pin, path: &Path, new: &Lock, drift: Option<&Drift>, same: bool) -> Result<(), Failure> {
    let path = path.display();
    if let Some(drift) = drift.filter(|drift| !drift.is_empty()) {
        diff::print(drift)?;
        output::line("")?;
    }
    let with = if new.has_definitions() { " with their definitions" } else { "" };
    let tools = format!("{}{with}", output::count(new.len(), "tool"));
    output::line(match (same, arguments.check) {
        (true, _) => format!("{path} is up to date: {tools}"),
        (false, true) => format!("{path} would change: {tools}"),
        (false, false) => format!("wrote {path}: {tools}"),
    })?;
    Ok(())
}
