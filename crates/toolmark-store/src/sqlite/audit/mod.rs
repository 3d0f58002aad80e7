//! The audit in SQLite: appended in batches, read in pages, trimmed from its beginning.

mod append;
mod kinds;
mod read;
mod trim;

pub(super) use self::kinds::Kinds;
