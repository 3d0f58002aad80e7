//! `toolmark diff`: what changed between two snapshots, or since the lock was written.

use std::path::{Path, PathBuf};

use clap::Args;
use toolmark_core::catalog::Catalog;
use toolmark_core::drift::{Change, Drift, PartChange, PartTexts, Side, What};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::lock::Lock;

use crate::commands::pin;
use crate::exit::{Exit, FailOn};
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::Place;
use crate::workspace::{CONFIG, Written};
use crate::{input, output};

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// What was: a lock file, a snapshot or a folder [default: toolmark.lock]
    pub(crate) old: Option<PathBuf>,

    /// What is: a lock file, a snapshot or a folder [default: --tools, or the packs of toolmark.toml as they were last seen]
    pub(crate) new: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// Without NEW and --tools: compare with the packs of a configuration, as its gateway last saw them
    #[command(flatten)]
    pub(crate) place: Place,

    /// Exit with 1 when a change is at least this severe: info, low, medium, high, critical, or never
    #[arg(long, value_name = "SEVERITY", default_value = "info")]
    pub(crate) fail_on: FailOn,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A side as it was read.
enum Read {
    Catalog(Catalog),
    Lock(Lock),
}

/// There is nothing to compare with.
#[derive(Debug, thiserror::Error)]
#[error("there is no `{}` here to compare with", input::LOCK)]
struct NothingPinned;

/// The new side was given twice.
#[derive(Debug, thiserror::Error)]
#[error("both NEW and --tools say what is")]
struct TwoNewSides;

pub(crate) fn run(arguments: &Diff) -> Result<Exit, Failure> {
    let beside = arguments.place.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let lock = beside.join(input::LOCK);
    let old = match &arguments.old {
        Some(path) => read(path)?,
        None if lock.is_file() => Read::Lock(input::lock(&lock)?),
        None => return Err(Failure::refused(Exit::BadInput, &NothingPinned)),
    };
    let new = match (&arguments.new, arguments.tools.paths.as_slice()) {
        (Some(_), [_, ..]) => return Err(Failure::refused(Exit::BadInput, &TwoNewSides)),
        (Some(path), []) => read(path)?,
        (None, []) => Read::Catalog(without_problems(configured(&arguments.place)?)?),
        (None, paths) => Read::Catalog(whole(paths)?),
    };
    let new = as_the_same_pack(&old, new, arguments)?;
    let drift = Drift::between(old.side(), new.side());
    if arguments.json {
        output::json(&drift.to_json())?;
    } else if drift.is_empty() {
        output::line("no drift")?;
    } else {
        print(&drift)?;
    }
    Ok(if arguments.fail_on.is_reached_by(drift.worst()) { Exit::Findings } else { Exit::Success })
}

/// Prints drift for people, gravest first.
pub(crate) fn print(drift: &Drift) -> Result<(), Failure> {
    for change in drift.changes() {
        print_change(change)?;
    }
    let count = |word: &str| drift.changes().iter().filter(|change| change.what().as_str() == word).count();
    let counts = ["added", "removed", "renamed", "changed"].map(|word| format!("{} {word}", count(word)));
    Ok(output::line(output::painted(output::DIM, format_args!("\n{}", counts.join(", "))))?)
}

fn print_change(change: &Change) -> Result<(), Failure> {
    let severity =
        output::painted(output::severity(change.severity()), format_args!("{:<8}", change.severity().as_str()));
    let tool = output::painted(output::BOLD, output::safe(change.tool()));
    match change.what() {
        What::Renamed { from } => output::line(format_args!("{severity} renamed  {tool}, was {}", output::safe(from)))?,
        what => output::line(format_args!("{severity} {:<8} {tool}", what.as_str()))?,
    }
    if let What::Changed { parts } = change.what() {
        for part in parts {
            let severity = output::painted(output::severity(part.severity()), part.severity());
            output::line(format_args!("           {} ({severity})", output::safe(&part.to_string())))?;
            for detail in part.details() {
                output::line(output::painted(output::DIM, format_args!("             {detail}")))?;
            }
        }
    }
    Ok(())
}

/// Prints the parts of a tool that changed, gravest first, with what they said and say.
pub(crate) fn print_texts(parts: &[PartChange], texts: &[PartTexts]) -> Result<(), Failure> {
    let at = |text: &&PartTexts| parts.iter().position(|part| part.part() == text.part()).unwrap_or(usize::MAX);
    let mut texts: Vec<&PartTexts> = texts.iter().collect();
    texts.sort_by_key(at);
    for text in texts {
        let known = at(&text);
        match parts.get(known) {
            Some(part) => {
                let severity = output::painted(output::severity(part.severity()), part.severity());
                output::line(format_args!("  {} ({severity})", output::safe(&part.to_string())))?;
            }
            None => output::line(format_args!("  {}", text.part()))?,
        }
        output::line(output::painted(output::DIM, format_args!("    was: {}", text.was())))?;
        output::line(format_args!("    is:  {}", text.is()))?;
    }
    Ok(())
}

/// Reads a lock, a snapshot or a folder.
fn read(path: &PathBuf) -> Result<Read, Failure> {
    if path.is_file() && Lock::looks_like(input::document(path)?.text()) {
        return input::lock(path).map(Read::Lock);
    }
    whole(std::slice::from_ref(path)).map(Read::Catalog)
}

/// Two files of one pack each are two versions of one pack, whatever the files are called.
fn as_the_same_pack(old: &Read, new: Read, arguments: &Diff) -> Result<Read, Failure> {
    let only_pack = |side: &Read| match side {
        Read::Catalog(catalog) => {
            let mut packs = catalog.packs().filter_map(|(pack, _)| pack.name().cloned());
            packs.next().filter(|_| packs.next().is_none())
        }
        Read::Lock(_) => None,
    };
    match (only_pack(old), only_pack(&new), &arguments.old, &arguments.new) {
        (Some(was), Some(is), Some(before), Some(after)) if was != is && before.is_file() && after.is_file() => {
            output::note(&format!("comparing `{was}` with `{is}` as two versions of one pack"));
            Ok(Read::Catalog(input::catalog_as(after, was.as_str())?))
        }
        _ => Ok(new),
    }
}

/// The tools of the packs that are configured, as their gateway last saw them.
fn configured(place: &Place) -> Result<Catalog, Failure> {
    if place.config.is_none() && !Path::new(CONFIG).is_file() {
        input::require_tools(&[])?;
    }
    let written = Written::find(place.config.as_deref())?;
    if written.config.packs.is_empty() {
        input::require_tools(&[])?;
    }
    pin::seen(place, written)
}

fn whole(paths: &[PathBuf]) -> Result<Catalog, Failure> {
    without_problems(input::catalog(paths)?)
}

/// A catalog without problems: a tool that was left out would look removed.
fn without_problems(catalog: Catalog) -> Result<Catalog, Failure> {
    if catalog.problems().is_empty() { Ok(catalog) } else { Err(Failure::Problems(catalog.problems().to_vec())) }
}

impl Read {
    fn side(&self) -> Side<'_> {
        match self {
            Self::Catalog(catalog) => Side::Catalog(catalog),
            Self::Lock(lock) => Side::Lock(lock),
        }
    }
}

impl Explain for NothingPinned {
    fn code(&self) -> Code {
        Code::new("nothing-pinned")
    }

    fn why(&self) -> String {
        "without what was approved, everything would look new".into()
    }

    fn fix(&self) -> String {
        "review the tools and write the lock with `toolmark pin --tools FILE`, or name the old side: `toolmark diff OLD NEW`".into()
    }
}

impl Explain for TwoNewSides {
    fn code(&self) -> Code {
        Code::new("two-new-sides")
    }

    fn why(&self) -> String {
        "a comparison has one new side, and guessing which is meant could hide a change".into()
    }

    fn fix(&self) -> String {
        "leave out one of them: `toolmark diff OLD NEW`, or `toolmark diff OLD --tools NEW`".into()
    }
}
