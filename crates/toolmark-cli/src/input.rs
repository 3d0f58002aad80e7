//! Finds and reads what a command is about: files, folders of files, or the demo workspace.

use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use toolmark_core::catalog::Catalog;
use toolmark_core::document::Document;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::lock::Lock;
use toolmark_core::names::PackName;
use toolmark_core::pack::Pack;
use toolmark_core::problem::Problem;
use toolmark_core::snapshot::{Snapshot, SnapshotReader};
use toolmark_core::text::visible;

use crate::demo;
use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::output;

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 30;
/// From so many bytes on, reading shows a progress bar.
const LONG: u64 = 16 << 20;

/// The lock file of a project.
pub(crate) const LOCK: &str = "toolmark.lock";

/// Where tools are read from.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// A `tools/list` result, a JSONL file, or a folder of them; may be repeated [default: the packs of toolmark.toml as its gateway last saw them, or the demo workspace]
    #[arg(id = "tools", long = "tools", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// A pack that is not in the catalog.
#[derive(Debug, thiserror::Error)]
#[error("there is no pack `{name}`")]
struct UnknownPack {
    name: String,
    known: Vec<String>,
}

/// A command that needs tools of somebody's own.
#[derive(Debug, thiserror::Error)]
#[error("no tools were named")]
struct NoTools;

/// A folder in which there is nothing to read.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` holds no `.json` or `.jsonl` file")]
struct EmptyFolder(String);

/// Reads tools from paths, or the demo workspace when there are none.
pub(crate) fn snapshot(paths: &[PathBuf]) -> Result<Snapshot, Failure> {
    let mut reader = SnapshotReader::default();
    if paths.is_empty() {
        output::note("no --tools given: this is the built-in demo workspace");
        demo::read(&mut reader);
    }
    let mut files = Vec::new();
    for path in paths {
        files.extend(list(path)?);
    }
    let bar = progress(&files);
    for path in &files {
        let document = document(path)?;
        bar.inc(document.text().len() as u64);
        reader.read(&document, &key(path));
    }
    bar.finish_and_clear();
    let snapshot = reader.finish();
    for note in snapshot.notes() {
        output::note(note);
    }
    Ok(snapshot)
}

/// The catalog of what was read, without what has problems. They are shown, so that nothing is left out silently.
pub(crate) fn catalog(paths: &[PathBuf]) -> Result<Catalog, Failure> {
    let catalog = snapshot(paths)?.into_builder().build_partly();
    if catalog.is_empty() && !catalog.problems().is_empty() {
        return Err(Failure::Problems(catalog.problems().to_vec()));
    }
    Ok(catalog)
}

/// The catalog of one file whose tools belong to the pack `key`.
pub(crate) fn catalog_as(path: &Path, key: &str) -> Result<Catalog, Failure> {
    let mut reader = SnapshotReader::default();
    reader.read(&document(path)?, key);
    reader.finish().into_builder().build().map_err(|error| Failure::Problems(error.problems().to_vec()))
}

/// Refuses to go on without tools: a lock of the demo workspace protects nobody.
pub(crate) fn require_tools(paths: &[PathBuf]) -> Result<(), Failure> {
    if paths.is_empty() { Err(Failure::refused(Exit::BadInput, &NoTools)) } else { Ok(()) }
}

/// Prints what was left out, and tells whether anything was.
pub(crate) fn show_problems(catalog: &Catalog) -> Exit {
    for problem in catalog.problems() {
        output::error(&problem.to_string());
    }
    exit_of(catalog)
}

/// Bad input when anything was left out.
pub(crate) fn exit_of(catalog: &Catalog) -> Exit {
    if catalog.problems().is_empty() { Exit::Success } else { Exit::BadInput }
}

/// What was left out, as JSON.
pub(crate) fn problems_json(catalog: &Catalog) -> Value {
    catalog.problems().iter().map(Problem::to_json).collect()
}

/// The same catalog with some packs switched off.
pub(crate) fn without(catalog: Catalog, disabled: &[String]) -> Result<Catalog, Failure> {
    let mut builder = catalog.rebuild();
    for name in disabled {
        let name: PackName = name.parse().map_err(|error| Failure::refused(Exit::BadInput, &error))?;
        require_pack(&catalog, name.as_str())?;
        builder = builder.disable(&name);
    }
    Ok(if disabled.is_empty() { catalog } else { builder.build_partly() })
}

/// Refuses a pack that is not there.
pub(crate) fn require_pack(catalog: &Catalog, name: &str) -> Result<(), Failure> {
    if catalog.pack(name).is_some() {
        return Ok(());
    }
    let known = catalog.packs().filter_map(|(pack, _)| pack.name()).map(ToString::to_string).collect();
    Err(Failure::refused(Exit::BadInput, &UnknownPack { name: visible(name, 80), known }))
}

/// The disabled pack that would own a name.
pub(crate) fn disabled_owner<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c PackName> {
    let owns =
        |pack: &Pack| pack.tools().iter().any(|tool| tool.canonical().as_str() == name || tool.raw().as_str() == name);
    catalog.packs().filter(|(_, enabled)| !enabled).map(|(pack, _)| pack).find(|pack| owns(pack))?.name()
}

/// Reads the lock file that was named, or `toolmark.lock` where there is one.
pub(crate) fn lock_if_any(path: Option<&Path>) -> Result<Option<Lock>, Failure> {
    match path {
        Some(path) => lock(path).map(Some),
        None if Path::new(LOCK).is_file() => lock(Path::new(LOCK)).map(Some),
        None => Ok(None),
    }
}

/// Reads a lock file.
pub(crate) fn lock(path: &Path) -> Result<Lock, Failure> {
    Lock::read(&document(path)?).map_err(|error| Failure::refused(Exit::BadInput, &error))
}

/// Refuses what is not a folder that can be opened.
pub(crate) fn require_folder(path: &Path) -> Result<(), Failure> {
    fs::read_dir(path).map(drop).map_err(|error| Failure::refused(Exit::BadInput, &FileError::reading(path, &error)))
}

/// Reads one file as text.
pub(crate) fn document(path: &Path) -> Result<Arc<Document>, Failure> {
    let refuse = |error: FileError| Failure::refused(Exit::BadInput, &error);
    let size = fs::metadata(path).map_err(|error| refuse(FileError::reading(path, &error)))?.len();
    if size > MOST_BYTES {
        return Err(refuse(FileError::too_large(path, size, MOST_BYTES)));
    }
    let mut bytes = Vec::new();
    // Some files have no size until they are read.
    let read = fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| refuse(FileError::reading(path, &error)))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(refuse(FileError::too_large(path, bytes.len() as u64, MOST_BYTES)));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        refuse(FileError::reading(path, &format!("byte {at} is not UTF-8")))
    })?;
    Ok(Document::new(path.display().to_string(), text))
}

/// The files that a path stands for: itself, or the snapshots in a folder, by name.
fn list(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let refuse = |error: FileError| Failure::refused(Exit::BadInput, &error);
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| refuse(FileError::reading(path, &error)))? {
        let file = entry.map_err(|error| refuse(FileError::reading(path, &error)))?.path();
        let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        if !matches!(ending.as_str(), "json" | "jsonl" | "ndjson") {
            continue;
        }
        if file.is_dir() {
            output::note(&format!(
                "`{}` is a folder inside a folder and is not read",
                output::safe(&file.display().to_string())
            ));
        } else {
            // A file that cannot be read is an error later; it is never skipped.
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Failure::refused(Exit::BadInput, &EmptyFolder(visible(&path.display().to_string(), 300))));
    }
    files.sort();
    Ok(files)
}

/// The pack of a file that does not say whose tools it holds: its name without the ending.
fn key(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn progress(files: &[PathBuf]) -> ProgressBar {
    let bytes: u64 = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|data| data.len()).sum();
    if bytes < LONG || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(bytes);
    if let Ok(style) = ProgressStyle::with_template("reading {wide_bar} {bytes}/{total_bytes}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Explain for UnknownPack {
    fn code(&self) -> Code {
        Code::new("no-such-pack")
    }

    fn why(&self) -> String {
        "a setting that names nothing protects nothing".into()
    }

    fn fix(&self) -> String {
        format!("use one of {}", self.known.join(", "))
    }
}

impl Explain for NoTools {
    fn code(&self) -> Code {
        Code::new("no-tools")
    }

    fn why(&self) -> String {
        "the demo workspace would take the place of the tools that are meant".into()
    }

    fn fix(&self) -> String {
        "name them: `--tools FILE`, a saved `tools/list` result, a JSONL file or a folder of them; or the configuration of a gateway: `--config FILE`".into()
    }
}

impl Explain for EmptyFolder {
    fn code(&self) -> Code {
        Code::new("folder-empty")
    }

    fn why(&self) -> String {
        "an empty catalog would look like one in which nothing is wrong".into()
    }

    fn fix(&self) -> String {
        "name a folder with the saved results of `tools/list`, one file a server".into()
    }
}
