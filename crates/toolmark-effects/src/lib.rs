//! Arguments → facts: what a call would do, read from what it carries. Pure, bounded, never a guess.
pub mod cypher;
pub mod graphql;
pub mod mongo;
pub mod redis;
pub mod sql;
