//! A real gateway with real servers behind it and clients of both eras in front, none of which share its code.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod addresses;
mod audit;
mod baselines;
mod eras;
mod failures;
mod instructions;
mod languages;
mod memory;
mod origins;
mod packs;
mod pins;
mod questions;
mod raw;
mod refused;
mod reload;
mod replaced;
mod resources;
mod spans;
mod starting;
mod support;
mod tasks;
mod views;
