//! The audit in PostgreSQL.

mod append;
mod calls;
mod doubts;
mod read;
mod trim;

pub(super) use doubts::Doubts;
