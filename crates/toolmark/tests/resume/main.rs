//! Runs that outlive their process: saved by one, decided about and resumed by another.
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]
#![cfg(feature = "store")]

mod desk;
mod processes;

use std::path::Path;

use toolmark::store::{Location, Settings, Store};
use toolmark::time::Micros;

/// The time, as a program has it.
pub(crate) fn now() -> Micros {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Micros::new(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The store in a file of a folder.
pub(crate) async fn store(folder: &Path) -> Store {
    Store::open(&Location::File(folder.join("store.db")), &Settings::new(now)).await.expect("a store")
}
