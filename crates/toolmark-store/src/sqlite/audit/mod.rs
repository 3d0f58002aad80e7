//! The audit in SQLite: appended in batches, read in pages, trimmed from its beginning.

mod append;
mod kinds;
mod read;
mod stretches;
mod trim;

pub(super) use self::kinds::Kinds;
