//! The audit in SQLite: appended in batches, read in pages, trimmed from its beginning.

mod append;
mod read;
mod trim;
