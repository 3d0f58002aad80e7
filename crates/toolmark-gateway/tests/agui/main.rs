//! Agents for user interfaces, from outside: what clients do that they should not, and what must not be lost by it. The real client is tried
//! in `agui-check/`.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod bad_input;
mod elsewhere;
mod settings;
mod support;
mod threads;
