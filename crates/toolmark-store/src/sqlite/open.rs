//! How a file becomes a store: looked at first, changed only when it is ours, and kept from other users' eyes.

use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Connection as _, Executor as _};

use super::audit::Kinds;
use super::{Sqlite, error_at, migrate};
use crate::error::{Fault, StoreError};
use crate::location::Location;
use crate::store::Settings;

/// Rows of the audit have a few hundred bytes and come in batches: larger pages are written more seldom than SQLite's 4,096.
const PAGE_BYTES: u32 = 8192;

/// What a connection keeps of the file, in KiB as SQLite spells them. Rows are added at the end and read in order, so that little is read
/// twice; and what the system caches anyway need not be held here too.
const WRITER_CACHE: &str = "-1000";
const READER_CACHE: &str = "-256";

impl Sqlite {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// [`StoreError`]; a file that is not ours is left as it was.
    pub async fn open(path: &Path, settings: &Settings) -> Result<Self, StoreError> {
        Self::open_from(path, settings).await.map(|(store, _)| store)
    }

    /// The same, with the version that the file had before.
    pub(crate) async fn open_from(path: &Path, settings: &Settings) -> Result<(Self, i64), StoreError> {
        let place = Location::File(path.into());
        prepare(path).map_err(|(fault, detail)| StoreError::new(&place, fault, &detail))?;
        let plain =
            SqliteConnectOptions::new().filename(path).busy_timeout(settings.patience).disable_statement_logging();
        let before = look(&plain, &place).await?;
        let options = writing(&plain, settings);
        // Going over to WAL needs the file for a moment alone, which SQLite itself does not wait for.
        let mut connection = patiently(settings.patience, &place, || options.connect()).await?;
        migrate::run(&mut connection, &place).await?;
        connection.close().await.map_err(|error| error_at(&place, &error))?;
        let writer = pool(1, settings).connect_with(options.clone()).await.map_err(|error| error_at(&place, &error))?;
        let reading = plain.pragma("query_only", "ON").pragma("cache_size", READER_CACHE);
        let readers = pool(settings.readers.max(1), settings).connect_lazy_with(reading);
        Ok((Self { writer, readers, place, kinds: Kinds::default() }, before))
    }

    /// Opens a file that need not be writable, to look into it. Nothing beside it is made, and whatever would write is refused.
    pub(crate) async fn open_to_read(path: &Path, settings: &Settings) -> Result<Self, StoreError> {
        let place = Location::File(path.into());
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        // What was not taken over into the file yet stands in its log. Without one, nobody else can be writing.
        let alone = fs::metadata(log).map_or(true, |log| log.len() == 0);
        let plain = SqliteConnectOptions::new().filename(path).read_only(true).immutable(alone);
        let plain = plain.busy_timeout(settings.patience).disable_statement_logging();
        let version = look(&plain, &place).await?;
        if version < migrate::NEWEST {
            let detail = format!("its version is {version}, and it would have to be brought to {}", migrate::NEWEST);
            return Err(StoreError::new(&place, Fault::ReadOnly, &detail));
        }
        let reading = plain.pragma("query_only", "ON").pragma("cache_size", READER_CACHE);
        let readers = pool(settings.readers.max(1), settings).connect_lazy_with(reading);
        Ok(Self { writer: readers.clone(), readers, place, kinds: Kinds::default() })
    }

    /// A database in memory, with one connection for everything.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be made.
    pub async fn in_memory(settings: &Settings) -> Result<Self, StoreError> {
        let place = Location::Memory;
        let options = SqliteConnectOptions::from_str("sqlite::memory:").map_err(|error| error_at(&place, &error))?;
        let options = limited(options.shared_cache(false).page_size(PAGE_BYTES).disable_statement_logging(), settings);
        let writer = pool(1, settings).connect_with(options).await.map_err(|error| error_at(&place, &error))?;
        let mut connection = writer.acquire().await.map_err(|error| error_at(&place, &error))?;
        migrate::run(&mut connection, &place).await?;
        drop(connection);
        Ok(Self { readers: writer.clone(), writer, place, kinds: Kinds::default() })
    }

    /// Lets the log go into the file, and ends all connections.
    pub(super) async fn end(&self) -> Result<(), StoreError> {
        self.readers.close().await;
        let optimized = match self.writer.acquire().await {
            Ok(mut connection) => connection.execute("PRAGMA optimize").await.map(|_| ()),
            Err(sqlx::Error::PoolClosed) => return Ok(()),
            Err(error) => Err(error),
        };
        self.writer.close().await;
        optimized.map_err(|error| self.error(&error))
    }
}

/// A connection is used until the store is closed: in memory it *is* the store.
fn pool(connections: u32, settings: &Settings) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .min_connections(0)
        .max_connections(connections)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        // Somebody else in this process may hold the connection while waiting for another process.
        .acquire_timeout(settings.patience * 4 + Duration::from_secs(1))
        // Whoever was cancelled or failed half-way leaves a transaction behind. Without one, this is an error that says so.
        .after_release(|connection, _| {
            Box::pin(async move {
                let _ = connection.execute("ROLLBACK").await;
                Ok(true)
            })
        })
}

fn writing(plain: &SqliteConnectOptions, settings: &Settings) -> SqliteConnectOptions {
    let options = plain
        .clone()
        .page_size(PAGE_BYTES)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("journal_size_limit", "67108864")
        .pragma("wal_autocheckpoint", "2000")
        .pragma("cache_size", WRITER_CACHE)
        .pragma("trusted_schema", "OFF");
    limited(options, settings)
}

fn limited(options: SqliteConnectOptions, settings: &Settings) -> SqliteConnectOptions {
    match settings.max_bytes {
        None => options,
        Some(bytes) => options.pragma("max_page_count", (bytes / u64::from(PAGE_BYTES)).max(1).to_string()),
    }
}

/// Is there a database, is it ours, and can we read it? Changes nothing.
async fn look(plain: &SqliteConnectOptions, place: &Location) -> Result<i64, StoreError> {
    let mut connection: SqliteConnection = plain.connect().await.map_err(|error| error_at(place, &error))?;
    let version = migrate::check(&mut connection, place).await?;
    connection.close().await.map_err(|error| error_at(place, &error))?;
    Ok(version)
}

async fn patiently<F, T>(patience: Duration, place: &Location, mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let ends = tokio::time::Instant::now() + patience;
    loop {
        match attempt().await.map_err(|error| error_at(place, &error)) {
            Err(error) if error.fault() == Fault::Busy && tokio::time::Instant::now() < ends => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            result => return result,
        }
    }
}

/// Makes folder and file where they are missing, for their owner only, and finds out what SQLite would only say later.
fn prepare(path: &Path) -> Result<(), (Fault, String)> {
    let unreachable = |error: io::Error| (fault_of(&error), error.to_string());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folders(folder).map_err(unreachable)?;
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err((Fault::Unreachable, "it is a folder".into())),
        Ok(metadata) if metadata.permissions().readonly() => Err((Fault::ReadOnly, String::new())),
        Ok(_) => fs::OpenOptions::new().read(true).write(true).open(path).map(|_| ()).map_err(|error| {
            // It is there and cannot be opened for writing: whether it can be read does not matter any more.
            let denied = matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
            (if denied { Fault::ReadOnly } else { Fault::Unreachable }, error.to_string())
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match private_file(path) {
            // Somebody else made it in between.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(unreachable),
        },
        Err(error) => Err(unreachable(error)),
    }
}

fn fault_of(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => Fault::ReadOnly,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Fault::Full,
        _ => Fault::Unreachable,
    }
}

#[cfg(unix)]
fn private_folders(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(|_| ())
}

#[cfg(not(unix))]
fn private_folders(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).open(path).map(|_| ())
}
