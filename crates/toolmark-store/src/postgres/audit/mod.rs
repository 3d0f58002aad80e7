//! The audit in PostgreSQL.

mod append;
mod doubts;
mod read;
mod trim;

pub(super) use doubts::Doubts;
