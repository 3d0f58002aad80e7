//! Words that say nothing about what a tool does.

use toolmark_macros::tool;

#[tool(behavior(mutates, creat, isue))]
fn misspelt() {}

#[tool(behavior(pure, delete, user))]
fn contradiction() {}

#[tool(behavior(mutates))]
fn too_few() {}

#[tool(behavior(changes, send, letter, paper))]
fn other_words() {}

#[tool(behavior = "MUTATES|CREATE|ISSUE")]
fn as_text() {}

fn main() {}
