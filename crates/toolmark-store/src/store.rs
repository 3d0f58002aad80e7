//! The store itself: one back end, one clock, and what every part of it shares.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::Backend;
use crate::error::StoreError;
use crate::location::Location;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::time::{Clock, Micros};

/// What outlives the process. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    clock: Arc<dyn Clock>,
    path: Option<Arc<Path>>,
}

/// How a store is opened.
#[derive(Clone)]
pub struct Settings {
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// How long to wait for another program that holds the store.
    pub patience: Duration,
    /// How many connections read at once.
    pub readers: u32,
    /// How large the store may become. None: as large as the disk.
    pub max_bytes: Option<u64>,
}

/// From which version a store was brought to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The version it had; zero for one that was not there.
    pub from: u64,
    /// The version it has now.
    pub to: u64,
}

impl Settings {
    /// The usual settings with this clock.
    pub fn new(clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), patience: Duration::from_secs(5), readers: 3, max_bytes: None }
    }
}

impl Store {
    /// Opens the store at a place, makes it if there is none, and brings an older one up to date.
    ///
    /// Folders that are made are readable by their owner only, and so is the file.
    ///
    /// # Errors
    /// [`StoreError`]; a file that is not ours, or newer than we are, is left as it was.
    pub async fn open(location: &Location, settings: &Settings) -> Result<Self, StoreError> {
        Self::migrate(location, settings).await.map(|(store, _)| store)
    }

    /// Opens the store at a place to look into it: also a file that may not be written, such as one on a medium that is read only, or whose
    /// disk is full. Nothing is made or brought up to date, and whatever would write is refused.
    ///
    /// # Errors
    /// [`StoreError`] when there is none, or it cannot be read.
    pub async fn open_to_read(location: &Location, settings: &Settings) -> Result<Self, StoreError> {
        let Location::File(path) = location else { return Self::open(location, settings).await };
        let backend: Arc<dyn Backend> = Arc::new(Sqlite::open_to_read(path, settings).await?);
        Ok(Self { path: Some(Arc::from(path.as_path())), ..Self::with(backend, Arc::clone(&settings.clock)) })
    }

    /// The same, and says from which version it was brought to which.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn migrate(location: &Location, settings: &Settings) -> Result<(Self, Migration), StoreError> {
        let (backend, before): (Arc<dyn Backend>, _) = match location {
            Location::File(path) => {
                let (sqlite, before) = Sqlite::open_from(path, settings).await?;
                (Arc::new(sqlite), before)
            }
            Location::Postgres(address) => {
                let (postgres, before) = Postgres::open_from(address, settings).await?;
                (Arc::new(postgres), before)
            }
            Location::Memory => (Arc::new(Sqlite::in_memory(settings).await?), 0),
        };
        let path = if let Location::File(path) = location { Some(Arc::from(path.as_path())) } else { None };
        let migration = Migration { from: u64::try_from(before).unwrap_or_default(), to: backend.version() };
        Ok((Self { path, ..Self::with(backend, Arc::clone(&settings.clock)) }, migration))
    }

    /// A store that is gone with the process.
    ///
    /// # Errors
    /// [`StoreError`] when there is no memory for it.
    pub async fn in_memory(settings: &Settings) -> Result<Self, StoreError> {
        Self::open(&Location::Memory, settings).await
    }

    /// A store over any back end.
    #[must_use]
    pub fn with(backend: Arc<dyn Backend>, clock: Arc<dyn Clock>) -> Self {
        Self { backend, clock, path: None }
    }

    /// The file that it is kept in, where that is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Ends all connections after what is under way. Sinks are closed before, each by itself.
    ///
    /// # Errors
    /// [`StoreError`] when the last pages cannot be written; they are written when the store is opened next.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.backend.close().await
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    pub(crate) fn now(&self) -> Micros {
        self.clock.now()
    }
}
