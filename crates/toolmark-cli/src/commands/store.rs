//! `toolmark store`: brings a store up to date, writes all of it out, and reads it in elsewhere.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncWriteExt as _, BufReader};
use toolmark_core::explain::{Code, Explain};
use toolmark_store::audit::Verification;
use toolmark_store::transfer::{ExportStoreError, Exported, ImportStoreError, Imported};
use toolmark_store::{Location, Migration, Store};

use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::output;
use crate::place::Place;
use crate::place::{close, migrate};
use crate::workspace::Written;

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Bring the store up to date, and say from which version to which
    Migrate(StoreMigrate),
    /// Write everything that the store holds as JSON Lines, without the keys that nodes share
    Export(StoreExport),
    /// Read an export into a store that is empty, all of it or nothing
    Import(StoreImport),
}

#[derive(Debug, Args)]
pub(crate) struct StoreMigrate {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StoreExport {
    /// Where to: a file that is not there yet, or `-` for standard output
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct StoreImport {
    /// An export, or `-` for standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A store that there is nothing to do with.
#[derive(Debug, thiserror::Error)]
#[error("a store in memory is gone when this command ends")]
struct StoreUnusable;

impl StoreCommand {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Migrate(arguments) => arguments.json,
            Self::Export(_) => false,
            Self::Import(arguments) => arguments.json,
        }
    }
}

pub(crate) fn run(command: &StoreCommand) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        match command {
            StoreCommand::Migrate(arguments) => bring_up_to_date(arguments).await,
            StoreCommand::Export(arguments) => export(arguments).await,
            StoreCommand::Import(arguments) => import(arguments).await,
        }
    })
}

async fn bring_up_to_date(arguments: &StoreMigrate) -> Result<Exit, Failure> {
    let (store, place, done) = open(&arguments.place).await?;
    close(&store).await;
    let Migration { from, to } = done;
    if arguments.json {
        output::json(&json!({ "store": place.to_string(), "from": from, "to": to, "changed": from != to }))?;
    } else if from == 0 {
        output::line(format_args!("made `{place}` with version {to}"))?;
    } else if from == to {
        output::line(format_args!("`{place}` has version {to} already"))?;
    } else {
        output::line(format_args!("brought `{place}` from version {from} to {to}"))?;
    }
    Ok(Exit::Success)
}

async fn export(arguments: &StoreExport) -> Result<Exit, Failure> {
    let (store, place) = to_read(&arguments.place).await?;
    let bar = progress(None);
    let told = |done: &Exported| show(&bar, done.bytes, done.rows);
    let done = if is_standard(&arguments.file) {
        store.export(&mut tokio::io::stdout(), told).await
    } else {
        to_file(&store, &arguments.file, told).await?
    };
    bar.finish_and_clear();
    close(&store).await;
    let done = done.map_err(|error| match error {
        // A reader that has seen enough is no failure.
        ExportStoreError::Write(error) if is_standard(&arguments.file) => Failure::Output(error),
        error => Failure::refused(Exit::Failed, &error),
    })?;
    let (rows, bytes) = (output::count(size(done.rows), "row"), HumanBytes(done.bytes));
    output::note(&format!("exported `{place}`: {rows}, {} of the audit, {bytes}", done.records));
    Ok(Exit::Success)
}

/// Into a file that only its owner may read, and that is there only when it is whole.
async fn to_file(
    store: &Store,
    path: &Path,
    told: impl FnMut(&Exported),
) -> Result<Result<Exported, ExportStoreError>, Failure> {
    let fail = |error: &std::io::Error| Failure::refused(Exit::Failed, &FileError::writing(path, error));
    if path.exists() {
        return Err(fail(&std::io::ErrorKind::AlreadyExists.into()));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let draft = path.with_file_name(name);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = tokio::fs::File::from_std(options.open(&draft).map_err(|error| fail(&error))?);
    let done = store.export(&mut file, told).await;
    let kept = match &done {
        Ok(_) => file.shutdown().await.and(file.sync_all().await).and_then(|()| std::fs::rename(&draft, path)),
        Err(_) => Ok(()),
    };
    if done.is_err() || kept.is_err() {
        // It is of no use to anybody; what matters is the first error.
        let _ = std::fs::remove_file(&draft);
    }
    kept.map_err(|error| fail(&error))?;
    Ok(done)
}

async fn import(arguments: &StoreImport) -> Result<Exit, Failure> {
    let unreadable =
        |error: &std::io::Error| Failure::refused(Exit::BadInput, &FileError::reading(&arguments.file, error));
    if is_standard(&arguments.file) && std::io::stdin().is_terminal() {
        output::note("reading an export from standard input");
    }
    let (mut from, size): (Box<dyn AsyncBufRead + Unpin>, _) = if is_standard(&arguments.file) {
        (Box::new(BufReader::new(tokio::io::stdin())), None)
    } else {
        let file = tokio::fs::File::open(&arguments.file).await.map_err(|error| unreadable(&error))?;
        let size = file.metadata().await.map_err(|error| unreadable(&error))?.len();
        (Box::new(BufReader::with_capacity(256 * 1024, file)), Some(size))
    };
    let (store, place, _) = open(&arguments.place).await?;
    let bar = progress(size);
    let done = store.import(&mut from, |done| show(&bar, done.bytes, done.rows)).await;
    bar.finish_and_clear();
    let done = done.map_err(|error| match error {
        ImportStoreError::Store(error) => Failure::refused(Exit::Failed, &error),
        error => Failure::refused(Exit::BadInput, &error),
    })?;
    // Whoever takes a store along wants to know that its chains came with it.
    let found = store.verify_audit(&[]).await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    close(&store).await;
    tell(arguments, &place, &done, &found)?;
    Ok(if found.is_whole() { Exit::Success } else { Exit::Findings })
}

fn tell(arguments: &StoreImport, place: &Location, done: &Imported, found: &Verification) -> Result<(), Failure> {
    if arguments.json {
        let chains: Vec<Value> = found
            .chains
            .iter()
            .map(|chain| json!({ "node": &*chain.node, "rows": chain.rows, "seq": chain.head.seq, "hash": hex(&chain.head.hash) }))
            .collect();
        let breaks: Vec<Value> = found.breaks.iter().map(|one| one.report().to_json()).collect();
        output::json(&json!({
            "store": place.to_string(),
            "rows": done.rows,
            "records": done.records,
            "bytes": done.bytes,
            "version": done.version,
            "whole": found.is_whole(),
            "chains": chains,
            "breaks": breaks,
        }))?;
        return Ok(());
    }
    let (rows, chains) = (output::count(size(done.rows), "row"), output::count(found.chains.len(), "chain"));
    output::line(format_args!("imported into `{place}`: {rows}, {} of the audit in {chains}", done.records))?;
    if found.is_whole() {
        output::line("every chain is whole")?;
    }
    for one in &found.breaks {
        output::doubt(&one.report().to_string());
    }
    Ok(())
}

/// Opens the store of a place, or makes it.
async fn open(place: &Place) -> Result<(Store, Location, Migration), Failure> {
    let location = place.location(&Written::find(place.config.as_deref())?)?;
    if location == Location::Memory {
        return Err(Failure::refused(Exit::BadInput, &StoreUnusable));
    }
    let (store, done) = migrate(&location).await?;
    Ok((store, location, done))
}

/// Opens the store of a place to read it. It must be there: an empty one would pass for it.
async fn to_read(place: &Place) -> Result<(Store, Location), Failure> {
    let written = Written::find(place.config.as_deref())?;
    Ok((place.existing(&written, &StoreUnusable).await?, place.location(&written)?))
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Shown on a terminal, and not before it takes a while.
fn progress(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (ProgressBar::new(bytes), "{wide_bar} {bytes}/{total_bytes}, {msg}"),
        None => (ProgressBar::new_spinner(), "{spinner} {bytes}, {msg}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

fn show(bar: &ProgressBar, bytes: u64, rows: u64) {
    if bar.elapsed() < Duration::from_secs(1) {
        return;
    }
    bar.set_position(bytes);
    bar.set_message(output::count(size(rows), "row"));
}

impl Explain for StoreUnusable {
    fn code(&self) -> Code {
        Code::new("store-volatile")
    }

    fn why(&self) -> String {
        "whatever is done to it would be done to nothing".into()
    }

    fn fix(&self) -> String {
        "name the store that the gateway uses with `--store`, or leave it out".into()
    }
}
