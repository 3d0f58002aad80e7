//! `toolmark audit export`: records as a file that other programs read. A file is there whole or not at all.

use std::path::{Path, PathBuf};

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use toolmark_store::audit::{AuditReader, ExportError, Order};

use super::{AuditExport, Format, failed, parquet};
use crate::exit::Exit;
use crate::failure::{Failure, FileError};
use crate::output;

pub(super) async fn run(arguments: &AuditExport) -> Result<Exit, Failure> {
    let store = super::store(&arguments.place).await?;
    let mut filter = arguments.which.filter(&store).await?;
    (filter.rows, filter.bodies) = (arguments.rows, arguments.bodies);
    let records = store.audit(filter, Order::Oldest);
    let standard = arguments.file.as_os_str() == "-";
    let count = match arguments.format {
        Format::Jsonl if standard => {
            let mut out = tokio::io::stdout();
            records.export(&mut out).await.map_err(interrupted)?
        }
        Format::Parquet if standard => {
            parquet::write(records, std::io::stdout(), arguments.bodies).await.map_err(failed)?
        }
        format => whole(&arguments.file, format, records, arguments.bodies).await?,
    };
    store.close().await.map_err(failed)?;
    if standard {
        return Ok(Exit::Success);
    }
    if arguments.json {
        output::json(&json!({"written": count, "file": arguments.file.display().to_string()}))?;
    } else {
        let count = output::count(usize::try_from(count).unwrap_or(usize::MAX), "record");
        output::line(format_args!("{count} written to {}", output::safe(&arguments.file.display().to_string())))?;
    }
    Ok(Exit::Success)
}

/// Writes beside the file, and puts it in its place when it is done.
async fn whole(file: &Path, format: Format, records: AuditReader, bodies: bool) -> Result<u64, Failure> {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let unwritable = |error: std::io::Error| Failure::refused(Exit::Failed, &FileError::writing(file, &error));
    let written = write(&part, format, records, bodies).await;
    match written {
        Ok(count) => {
            std::fs::rename(&part, file).map_err(unwritable)?;
            Ok(count)
        }
        Err(error) => {
            // What is half written must not be found later.
            let _ = std::fs::remove_file(&part);
            match error {
                ExportError::Write(error) => Err(unwritable(error)),
                error @ ExportError::Store(_) => Err(failed(error)),
            }
        }
    }
}

async fn write(part: &Path, format: Format, records: AuditReader, bodies: bool) -> Result<u64, ExportError> {
    let file = private(part)?;
    match format {
        Format::Jsonl => {
            let mut out = tokio::io::BufWriter::with_capacity(1 << 18, tokio::fs::File::from_std(file));
            let count = records.export(&mut out).await?;
            out.flush().await?;
            out.into_inner().sync_all().await?;
            Ok(count)
        }
        Format::Parquet => {
            let count = parquet::write(records, std::io::BufWriter::new(file.try_clone()?), bodies).await?;
            file.sync_all()?;
            Ok(count)
        }
    }
}

/// Who called what is for its owner's eyes.
fn private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// A reader of standard output that has seen enough is no failure.
fn interrupted(error: ExportError) -> Failure {
    match error {
        ExportError::Write(error) => Failure::Output(error),
        error @ ExportError::Store(_) => failed(error),
    }
}
