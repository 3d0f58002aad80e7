//! Where the suite runs. Opening a place again gives another handle on the same data, as another process would have.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use toolmark_store::{Location, Micros, Settings, Store};
use toolmark_testkit::Database;

/// A back end with somewhere to keep things.
pub(crate) trait Place: Sync {
    fn open(&self) -> impl Future<Output = Store> + Send;
    fn clock(&self) -> &TestClock;
}

/// A clock that stands still until it is told.
#[derive(Clone, Default)]
pub(crate) struct TestClock(Arc<AtomicI64>);

pub(crate) struct File {
    folder: TempDir,
    clock: TestClock,
}

pub(crate) struct Memory {
    store: Store,
    clock: TestClock,
}

pub(crate) struct Postgres {
    database: Database,
    clock: TestClock,
}

impl TestClock {
    pub(crate) fn set(&self, micros: i64) {
        self.0.store(micros, Ordering::SeqCst);
    }

    fn settings(&self) -> Settings {
        let clock = self.clone();
        Settings::new(move || Micros::new(clock.0.load(Ordering::SeqCst)))
    }
}

impl File {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder"), clock: TestClock::default() }
    }
}

impl Place for File {
    async fn open(&self) -> Store {
        let location = Location::File(self.folder.path().join("deep").join("store.db"));
        Store::open(&location, &self.clock.settings()).await.expect("a store")
    }

    fn clock(&self) -> &TestClock {
        &self.clock
    }
}

impl Memory {
    pub(crate) async fn new() -> Self {
        let clock = TestClock::default();
        Self { store: Store::in_memory(&clock.settings()).await.expect("a store"), clock }
    }
}

impl Place for Memory {
    async fn open(&self) -> Store {
        self.store.clone()
    }

    fn clock(&self) -> &TestClock {
        &self.clock
    }
}

impl Postgres {
    pub(crate) async fn new() -> Self {
        Self { database: Database::new().await, clock: TestClock::default() }
    }
}

impl Place for Postgres {
    async fn open(&self) -> Store {
        let location = Location::parse(self.database.url()).expect("an address");
        // Machines under load take their time to connect.
        let settings = Settings { patience: Duration::from_secs(60), ..self.clock.settings() };
        Store::open(&location, &settings).await.expect("a store")
    }

    fn clock(&self) -> &TestClock {
        &self.clock
    }
}
