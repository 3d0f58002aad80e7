//! The audit in PostgreSQL.

mod append;
mod read;
mod trim;

pub(super) use append::Doubts;
