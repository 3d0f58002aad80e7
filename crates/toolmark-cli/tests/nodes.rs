//! Gateways as real processes that share a store, are killed at the worst moment and come back: no decision is lost, nothing runs twice.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

#[path = "nodes/crash.rs"]
mod crash;
#[path = "nodes/outages.rs"]
mod outages;
#[path = "nodes/pair.rs"]
mod pair;
#[path = "nodes/starts.rs"]
mod starts;
#[path = "nodes/support.rs"]
mod support;
#[cfg(unix)]
#[path = "nodes/who.rs"]
mod who;
