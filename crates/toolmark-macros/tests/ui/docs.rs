//! Doc comments that describe something else.
#![allow(unused)]

use toolmark_macros::tool;

/// Says what the weather is.
///
/// # Arguments
/// * `cty`: The city.
/// * `days`: How many.
/// * `days`: How many, again.
#[tool]
fn weather(city: String, days: u8) {}

/// Does nothing.
///
/// # Arguments
/// * `what`: Nothing.
#[tool]
fn nothing() {}

fn main() {}
