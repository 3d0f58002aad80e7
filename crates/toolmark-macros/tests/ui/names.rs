//! Names that no provider takes.

use toolmark_macros::tool;

#[tool(name = "get weather!")]
fn spaced() {}

#[tool(name = "")]
fn empty() {}

#[tool(name = "a_name_that_is_much_too_long_for_any_provider_of_models_to_be_accepted_at_all")]
fn long() {}

#[tool(name = weather)]
fn word() {}

fn main() {}
